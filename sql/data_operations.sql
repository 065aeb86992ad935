-- name: newest
SELECT approval_id, commit_sha, state FROM data_operations
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY started_at DESC LIMIT 1;

-- name: applied
SELECT commit_sha FROM data_operations
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND state = 'applied' LIMIT 1;

-- name: insert
INSERT INTO data_operations (approval_id, tenant_id, ticket_id, commit_sha, state, started_at)
VALUES (:approval, :tenant, :ticket, :commit, 'intended', :now);

-- name: settle
UPDATE data_operations SET state = :state, ended_at = :now
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND state = 'intended';
