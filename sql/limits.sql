-- name: add
INSERT INTO project_usage (project_id, month, tenant_id, tokens, cost_micros)
VALUES (:project, :month, :tenant, :tokens, :cost)
ON CONFLICT (project_id, month) DO UPDATE
SET tokens = tokens + excluded.tokens, cost_micros = cost_micros + excluded.cost_micros;

-- name: month
SELECT tokens, cost_micros FROM project_usage
WHERE  project_id = :project AND month = :month AND tenant_id = :tenant LIMIT 1;

-- name: to_hold
SELECT id FROM tickets
WHERE  project_id = :project AND +tenant_id = :tenant AND status = 'queued' AND held_at IS NULL
ORDER  BY n LIMIT :limit;

-- name: hold
UPDATE tickets SET held_at = :now, credit_block_count = credit_block_count + 1
WHERE  tenant_id = :tenant AND id = :id AND status = 'queued' AND held_at IS NULL;
