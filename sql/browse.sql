-- name: whole
-- The tickets of some numbers, which a list has picked.
SELECT t.* FROM json_each(:numbers) picked CROSS JOIN ticket_rows t ON t.n = picked.value
WHERE  +t.tenant_id = :tenant LIMIT :limit;

-- name: newest
-- What a list picks from: one statement a combination of filters that an index knows.
SELECT * FROM ticket_glimpses
WHERE  tenant_id = :tenant AND n < :before ORDER BY n DESC LIMIT :limit;

-- name: newest_status
SELECT * FROM ticket_glimpses
WHERE  tenant_id = :tenant AND status = :status AND n < :before ORDER BY n DESC LIMIT :limit;

-- name: newest_project
SELECT * FROM ticket_glimpses
WHERE  project_id = :project AND +tenant_id = :tenant AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: newest_project_status
SELECT * FROM ticket_glimpses
WHERE  project_id = :project AND +tenant_id = :tenant AND status = :status AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: newest_category
SELECT * FROM ticket_glimpses
WHERE  category_id = :category AND +tenant_id = :tenant AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: newest_category_status
SELECT * FROM ticket_glimpses
WHERE  category_id = :category AND +tenant_id = :tenant AND status = :status AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: oldest
-- The lists below from their other end, with the same indexes.
SELECT * FROM ticket_glimpses
WHERE  tenant_id = :tenant AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_status
SELECT * FROM ticket_glimpses
WHERE  tenant_id = :tenant AND status = :status AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_project
SELECT * FROM ticket_glimpses
WHERE  project_id = :project AND +tenant_id = :tenant AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_project_status
SELECT * FROM ticket_glimpses
WHERE  project_id = :project AND +tenant_id = :tenant AND status = :status AND n > :after
ORDER  BY n LIMIT :limit;

-- name: oldest_category
SELECT * FROM ticket_glimpses
WHERE  category_id = :category AND +tenant_id = :tenant AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_category_status
SELECT * FROM ticket_glimpses
WHERE  category_id = :category AND +tenant_id = :tenant AND status = :status AND n > :after
ORDER  BY n LIMIT :limit;

-- name: changed
SELECT * FROM ticket_glimpses
WHERE  tenant_id = :tenant AND (changed_at, n) < (:changed, :before)
ORDER  BY changed_at DESC, n DESC LIMIT :limit;

-- name: changed_project
SELECT * FROM ticket_glimpses
WHERE  project_id = :project AND +tenant_id = :tenant AND (changed_at, n) < (:changed, :before)
ORDER  BY changed_at DESC, n DESC LIMIT :limit;
