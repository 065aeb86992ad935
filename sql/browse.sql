-- name: oldest
-- The lists of `tickets.sql` from their other end, with the same indexes.
SELECT * FROM ticket_rows
WHERE  tenant_id = :tenant AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_status
SELECT * FROM ticket_rows
WHERE  tenant_id = :tenant AND status = :status AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_project
SELECT * FROM ticket_rows
WHERE  project_id = :project AND tenant_id = +:tenant AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_project_status
SELECT * FROM ticket_rows
WHERE  project_id = :project AND tenant_id = +:tenant AND status = :status AND n > :after
ORDER  BY n LIMIT :limit;

-- name: oldest_category
SELECT * FROM ticket_rows
WHERE  category_id = :category AND tenant_id = +:tenant AND n > :after ORDER BY n LIMIT :limit;

-- name: oldest_category_status
SELECT * FROM ticket_rows
WHERE  category_id = :category AND tenant_id = +:tenant AND status = :status AND n > :after
ORDER  BY n LIMIT :limit;

-- name: changed
SELECT * FROM ticket_rows
WHERE  tenant_id = :tenant AND (changed_at, n) < (:changed, :before)
ORDER  BY changed_at DESC, n DESC LIMIT :limit;

-- name: changed_project
SELECT * FROM ticket_rows
WHERE  project_id = :project AND tenant_id = +:tenant AND (changed_at, n) < (:changed, :before)
ORDER  BY changed_at DESC, n DESC LIMIT :limit;
