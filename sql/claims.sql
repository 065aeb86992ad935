-- name: insert
INSERT INTO claims (id, tenant_id, ticket_id, node_id, attempt, key_id, holder, agent, lease_ms,
    lease_until, claimed_at)
VALUES (:id, :tenant, :ticket, :node, :attempt, :key, :holder, :agent, :lease_ms, :until, :now);

-- name: find
SELECT * FROM claims WHERE id = :id AND tenant_id = :tenant LIMIT 1;

-- name: open_of_node
SELECT * FROM claims
WHERE  node_id = :node AND tenant_id = :tenant AND ended_at IS NULL LIMIT 1;

-- name: is_open
-- cross-tenant: a folder of the data directory is named by the node alone.
SELECT 1 AS found FROM claims
WHERE  node_id = :node AND attempt = :attempt AND ended_at IS NULL LIMIT 1;

-- name: of_ticket
-- The newest first; those that are open are always among them.
SELECT * FROM claims
WHERE  ticket_id = :ticket AND +tenant_id = :tenant ORDER BY claimed_at DESC LIMIT :limit;

-- name: due
-- cross-tenant: the sweep ends everybody's leases.
SELECT * FROM claims
WHERE  ended_at IS NULL AND lease_until <= :now ORDER BY lease_until LIMIT :limit;

-- name: note_head
UPDATE claims SET head = :head WHERE id = :id AND tenant_id = :tenant;

-- name: extend
-- A lease that is over is not extended, whether or not anybody has noticed yet.
UPDATE claims
SET    lease_until = max(lease_until, :until)
WHERE  id = :id AND tenant_id = :tenant AND ended_at IS NULL AND lease_until > :now;

-- name: say
-- What was used is the sum so far, so the same report again adds nothing.
UPDATE claims
SET    said = :said, percent = coalesce(:percent, percent), model = coalesce(:model, model),
       turns = max(turns, :turns), input_tokens = max(input_tokens, :input),
       output_tokens = max(output_tokens, :output), cost_micros = max(cost_micros, :cost)
WHERE  id = :id AND tenant_id = :tenant AND ended_at IS NULL;

-- name: close
UPDATE claims SET ended_at = :now, ended_as = :as
WHERE  id = :id AND tenant_id = :tenant AND ended_at IS NULL;

-- name: add_line
INSERT INTO claim_lines (tenant_id, claim_id, text) VALUES (:tenant, :claim, :text);

-- name: count_lines
SELECT count(*) AS lines FROM claim_lines
WHERE  claim_id = :claim AND tenant_id = :tenant LIMIT 1;

-- name: lines
SELECT text FROM claim_lines
WHERE  claim_id = :claim AND tenant_id = :tenant ORDER BY n LIMIT :limit;

-- name: forget_lines
DELETE FROM claim_lines WHERE claim_id = :claim AND tenant_id = :tenant;
