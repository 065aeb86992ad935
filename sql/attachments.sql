-- name: announce
INSERT INTO attachments (id, tenant_id, project_id, job_id, token_hash, name, media_type,
                         size_bytes, announced_by, created_at, expires_at)
VALUES (:id, :tenant, :project, :job, :token, :name, :media_type, :size, :actor, :now,
        :expires_at);

-- name: of_job
SELECT * FROM attachments
WHERE  job_id = :job AND tenant_id = :tenant ORDER BY created_at, id LIMIT :limit;

-- name: of_ticket
SELECT * FROM attachments
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY created_at, id LIMIT :limit;

-- name: find_by_token
-- cross-tenant: whoever holds the token has no other key; it says whose the file is.
SELECT * FROM attachments WHERE token_hash = :token AND expires_at > :now LIMIT 1;

-- name: arrived
UPDATE attachments SET hash = :hash, uploaded_at = :now
WHERE  id = :id AND tenant_id = :tenant AND hash IS NULL;

-- name: attach
UPDATE attachments SET ticket_id = :ticket
WHERE  id = :id AND tenant_id = :tenant AND ticket_id IS NULL AND hash IS NOT NULL;

-- name: unused
-- cross-tenant: the sweep looks at everybody's files.
SELECT * FROM attachments
WHERE  ticket_id IS NULL AND created_at < :before ORDER BY created_at LIMIT :limit;

-- name: forget
DELETE FROM attachments WHERE id = :id AND tenant_id = :tenant AND ticket_id IS NULL;

-- name: is_named
-- cross-tenant: the same bytes lie on the disk once, whoever uploaded them.
SELECT 1 AS named FROM attachments WHERE hash = :hash LIMIT 1;
