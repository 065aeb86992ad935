-- name: list
SELECT * FROM saved_views
WHERE  tenant_id = :tenant AND user_id = :user ORDER BY created_at, id LIMIT :limit;

-- name: insert
INSERT INTO saved_views (id, tenant_id, user_id, name, name_norm, query, created_at)
VALUES (:id, :tenant, :user, :name, :name_norm, :query, :now);

-- name: rename
UPDATE saved_views SET name = :name, name_norm = :name_norm
WHERE  tenant_id = :tenant AND user_id = :user AND id = :id;

-- name: remove
DELETE FROM saved_views WHERE tenant_id = :tenant AND user_id = :user AND id = :id;
