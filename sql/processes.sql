-- name: insert
INSERT INTO processes (run_id, tenant_id, node_id, boot_id, pid, started, created_at)
VALUES (:run, :tenant, :node, :boot, :pid, :started, :now);

-- name: delete
-- cross-tenant: a run id is its own proof; the server forgets what it started.
DELETE FROM processes WHERE run_id = :run;

-- name: orphans
-- cross-tenant: what a dead server left running is ended whoever it ran for.
SELECT run_id, pid, started FROM processes WHERE boot_id <> :boot LIMIT :limit;
