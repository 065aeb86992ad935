-- name: intended
SELECT * FROM landings
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND state = 'intended'
ORDER  BY created_at DESC LIMIT 1;

-- name: intended_in
-- cross-tenant: a checkout is one, whoever's ticket lands in it.
SELECT * FROM landings
WHERE  repository = :repository AND base_branch = :base_branch AND state = 'intended'
ORDER  BY created_at LIMIT :limit;

-- name: landed
SELECT * FROM landings
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND state = 'landed' LIMIT 1;

-- name: insert
INSERT INTO landings (id, tenant_id, ticket_id, repository, base_branch, base_before, commit_sha,
    head_sha, state, created_at)
VALUES (:id, :tenant, :ticket, :repository, :base_branch, :base_before, :commit, :head, 'intended',
    :now);

-- name: set_state
UPDATE landings SET state = :state, settled_at = :now
WHERE  id = :id AND tenant_id = :tenant AND state = 'intended';
