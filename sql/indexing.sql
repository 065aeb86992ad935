-- name: state
-- cross-tenant: how far the indexes reach and which ticket is the newest; nothing of a ticket
-- scan: one step from the end of the table
SELECT i.upto, coalesce((SELECT n FROM tickets ORDER BY n DESC LIMIT 1), 0) AS newest
FROM   ticket_index i LIMIT 1;

-- name: note_print
INSERT INTO ticket_prints (ticket_n, tenant_id, k0, k1, k2, k3, k4, k5)
VALUES (:n, :tenant, :k0, :k1, :k2, :k3, :k4, :k5);

-- name: fill_keys
-- cross-tenant: each row keeps its tenant
-- In the order of the keys, so that a page of the index is changed once. A short brief can have the
-- same key twice.
INSERT OR IGNORE INTO ticket_keys (key, ticket_n, tenant_id)
SELECT key, ticket_n, tenant_id FROM (
    SELECT k0 AS key, ticket_n, tenant_id FROM ticket_prints
    WHERE  ticket_n > :after AND ticket_n <= :upto
    UNION ALL SELECT k1, ticket_n, tenant_id FROM ticket_prints
    WHERE  ticket_n > :after AND ticket_n <= :upto
    UNION ALL SELECT k2, ticket_n, tenant_id FROM ticket_prints
    WHERE  ticket_n > :after AND ticket_n <= :upto
    UNION ALL SELECT k3, ticket_n, tenant_id FROM ticket_prints
    WHERE  ticket_n > :after AND ticket_n <= :upto
    UNION ALL SELECT k4, ticket_n, tenant_id FROM ticket_prints
    WHERE  ticket_n > :after AND ticket_n <= :upto
    UNION ALL SELECT k5, ticket_n, tenant_id FROM ticket_prints
    WHERE  ticket_n > :after AND ticket_n <= :upto
) ORDER BY key;

-- name: fill_search
-- cross-tenant: whose a ticket is stands in the index
INSERT INTO ticket_search (rowid, title, description, ref, owner, place)
SELECT n, title, description, ref, owner, place FROM ticket_texts
WHERE  n > :after AND n <= :upto;

-- name: fill_days
-- cross-tenant: numbers of tickets by their day; nothing of a ticket
INSERT INTO ticket_days (day, first_n, last_n)
SELECT created_at / 86400000, min(n), max(n) FROM tickets
WHERE  n > :after AND n <= :upto GROUP BY 1
ON CONFLICT (day) DO UPDATE
SET    first_n = min(first_n, excluded.first_n), last_n = max(last_n, excluded.last_n);

-- name: reach
-- cross-tenant: how far the indexes reach
UPDATE ticket_index SET upto = :upto WHERE one = 1;
