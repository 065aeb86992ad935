-- name: met
SELECT ticket_n FROM ticket_keys
WHERE  key = :key AND tenant_id = :tenant
ORDER  BY ticket_n DESC LIMIT :limit;

-- name: met_lately
-- Tickets after :after, of which there are few: those that are not in the index of keys yet.
SELECT ticket_n, (k0 = :k0) + (k1 = :k1) + (k2 = :k2) + (k3 = :k3) + (k4 = :k4) + (k5 = :k5)
       AS shared
FROM   ticket_prints
WHERE  ticket_n > :after AND tenant_id = :tenant
       AND (k0 = :k0 OR k1 = :k1 OR k2 = :k2 OR k3 = :k3 OR k4 = :k4 OR k5 = :k5)
ORDER  BY ticket_n DESC LIMIT :limit;

-- name: page
-- cross-tenant: the sweep goes through the keys of everybody's tickets.
SELECT k.key, k.ticket_n, k.tenant_id,
       (t.completed_at IS NOT NULL AND t.completed_at < :since) AS is_over
FROM   ticket_keys k JOIN tickets t ON t.n = k.ticket_n
WHERE  (k.key, k.ticket_n) > (:key, :n) ORDER BY k.key, k.ticket_n LIMIT :limit;

-- name: forget
DELETE FROM ticket_keys WHERE key = :key AND ticket_n = :n AND tenant_id = :tenant;

-- name: remember_again
INSERT OR IGNORE INTO ticket_keys (key, ticket_n, tenant_id)
SELECT k0, ticket_n, tenant_id FROM ticket_prints WHERE ticket_n = :n AND tenant_id = :tenant
UNION ALL SELECT k1, ticket_n, tenant_id FROM ticket_prints
WHERE  ticket_n = :n AND tenant_id = :tenant
UNION ALL SELECT k2, ticket_n, tenant_id FROM ticket_prints
WHERE  ticket_n = :n AND tenant_id = :tenant
UNION ALL SELECT k3, ticket_n, tenant_id FROM ticket_prints
WHERE  ticket_n = :n AND tenant_id = :tenant
UNION ALL SELECT k4, ticket_n, tenant_id FROM ticket_prints
WHERE  ticket_n = :n AND tenant_id = :tenant
UNION ALL SELECT k5, ticket_n, tenant_id FROM ticket_prints
WHERE  ticket_n = :n AND tenant_id = :tenant;

-- name: candidate
-- A ticket that was split is compared as a whole.
SELECT t.id, coalesce(c.title, t.title) AS title,
       coalesce(c.description, t.description) AS description
FROM   tickets t LEFT JOIN chains c ON c.root_id = t.id AND c.tenant_id = t.tenant_id
WHERE  t.n = :n AND +t.tenant_id = :tenant AND +t.project_id = :project
       AND (t.completed_at IS NULL OR (t.status <> 'cancelled' AND t.completed_at >= :since))
LIMIT  1;
