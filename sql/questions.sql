-- name: open
SELECT * FROM questions
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND closed_at IS NULL LIMIT 1;

-- name: find_open
SELECT * FROM questions
WHERE  id = :id AND tenant_id = :tenant AND closed_at IS NULL LIMIT 1;

-- name: answered
SELECT * FROM questions
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND answer IS NOT NULL
       AND (pause IS NULL OR pause = 'hold')
ORDER  BY asked_at, id LIMIT :limit;

-- name: waiting
SELECT * FROM questions
WHERE  tenant_id = :tenant AND closed_at IS NULL ORDER BY asked_at LIMIT :limit;

-- name: insert
INSERT INTO questions (id, tenant_id, ticket_id, node_id, text, choices, pause, secret, asked_at)
VALUES (:id, :tenant, :ticket, :node, :text, :choices, :pause, :secret, :now);

-- name: answer
UPDATE questions
SET    answer = :answer, answered_by = :actor, answered_at = :now, closed_at = :now
WHERE  id = :id AND tenant_id = :tenant AND closed_at IS NULL;

-- name: close
UPDATE questions SET closed_at = :now
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND closed_at IS NULL;

-- name: decide
UPDATE questions
SET    decision = :decision, answer = :reason, answered_by = :actor, answered_at = :now,
       closed_at = :now
WHERE  id = :id AND tenant_id = :tenant AND closed_at IS NULL;

-- name: approved
-- The approval of what a node did. One whose script failed or was never run is used up.
SELECT id FROM questions q
WHERE  q.ticket_id = :ticket AND q.tenant_id = :tenant AND q.node_id = :node AND q.pause = :pause
       AND q.decision = 'approve'
       AND NOT EXISTS (SELECT 1 FROM data_operations d
                       WHERE d.approval_id = q.id AND d.state IN ('failed', 'abandoned'))
LIMIT  1;
