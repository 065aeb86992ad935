-- name: open
SELECT * FROM questions
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND closed_at IS NULL LIMIT 1;

-- name: answered
SELECT * FROM questions
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND answer IS NOT NULL
ORDER  BY asked_at, id LIMIT :limit;

-- name: waiting
SELECT * FROM questions
WHERE  tenant_id = :tenant AND closed_at IS NULL ORDER BY asked_at LIMIT :limit;

-- name: insert
INSERT INTO questions (id, tenant_id, ticket_id, node_id, text, choices, asked_at)
VALUES (:id, :tenant, :ticket, :node, :text, :choices, :now);

-- name: answer
UPDATE questions
SET    answer = :answer, answered_by = :actor, answered_at = :now, closed_at = :now
WHERE  id = :id AND tenant_id = :tenant AND closed_at IS NULL;

-- name: close
UPDATE questions SET closed_at = :now
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND closed_at IS NULL;
