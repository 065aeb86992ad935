-- name: remember
-- A short brief can have the same key twice.
INSERT OR IGNORE INTO ticket_keys (key, ticket_n, tenant_id)
VALUES (:k0, :n, :tenant), (:k1, :n, :tenant), (:k2, :n, :tenant), (:k3, :n, :tenant),
       (:k4, :n, :tenant), (:k5, :n, :tenant);

-- name: met
SELECT ticket_n FROM ticket_keys
WHERE  key = :key AND ticket_n > :after AND tenant_id = :tenant
ORDER  BY ticket_n DESC LIMIT :limit;

-- name: newest
-- cross-tenant: the number says only which tickets came before this moment
-- scan: one step from the end of the table
SELECT n FROM tickets ORDER BY n DESC LIMIT 1;

-- name: candidate
-- A ticket that was split is compared as a whole.
SELECT t.id, coalesce(c.title, t.title) AS title,
       coalesce(c.description, t.description) AS description
FROM   tickets t LEFT JOIN chains c ON c.root_id = t.id AND c.tenant_id = t.tenant_id
WHERE  t.n = :n AND t.tenant_id = +:tenant AND t.project_id = +:project
       AND (t.completed_at IS NULL OR (t.status <> 'cancelled' AND t.completed_at >= :since))
LIMIT  1;
