-- name: create
INSERT INTO projects (id, tenant_id, name, name_norm, slug, key, description, base_url,
                      repository, base_branch, settings, created_at, updated_at)
VALUES (:id, :tenant, :name, :name_norm, :slug, :key, :description, :base_url,
        :repository, :base_branch, :settings, :now, :now);

-- name: save
UPDATE projects
SET    name = :name, name_norm = :name_norm, description = :description, base_url = :base_url,
       repository = :repository, base_branch = :base_branch, settings = :settings,
       updated_at = :now
WHERE  tenant_id = :tenant AND id = :id;

-- name: find
-- one: the id is unique.
SELECT id, tenant_id, name, slug, key, description, base_url, repository, base_branch, settings,
       created_at, updated_at
FROM   projects
WHERE  tenant_id = :tenant AND id = :id;

-- name: find_by_key
-- one: the key is unique in a tenant.
SELECT id, tenant_id, name, slug, key, description, base_url, repository, base_branch, settings,
       created_at, updated_at
FROM   projects
WHERE  tenant_id = :tenant AND key = :key;

-- name: find_by_slug
-- one: the slug is unique in a tenant.
SELECT id, tenant_id, name, slug, key, description, base_url, repository, base_branch, settings,
       created_at, updated_at
FROM   projects
WHERE  tenant_id = :tenant AND slug = :slug;

-- name: list_by_name
SELECT id, tenant_id, name, slug, key, description, base_url, repository, base_branch, settings,
       created_at, updated_at
FROM   projects
WHERE  tenant_id = :tenant AND name_norm = :name_norm
ORDER  BY id
LIMIT  100;

-- name: list
-- :only is a JSON list of the ids that the caller may touch, or null for all.
SELECT id, tenant_id, name, slug, key, description, base_url, repository, base_branch, settings,
       created_at, updated_at
FROM   projects
WHERE  tenant_id = :tenant
AND    (:only IS NULL OR lower(hex(id)) IN (SELECT value FROM json_each(:only)))
AND    (:after IS NULL OR (name_norm, id) > (SELECT p.name_norm, p.id FROM projects AS p
                                             WHERE  p.tenant_id = :tenant AND p.id = :after))
ORDER  BY name_norm, id
LIMIT  :limit;

-- name: key_taken
-- one: EXISTS answers once.
SELECT EXISTS (SELECT 1 FROM projects WHERE tenant_id = :tenant AND key = :key) AS taken;

-- name: slug_taken
-- one: EXISTS answers once.
SELECT EXISTS (SELECT 1 FROM projects WHERE tenant_id = :tenant AND slug = :slug) AS taken;

-- name: next_number
UPDATE projects SET last_seq = last_seq + 1 WHERE tenant_id = :tenant AND id = :id
RETURNING last_seq;

-- name: create_environment
INSERT INTO environments (id, tenant_id, project_id, name, slug, base_url, is_default, created_at)
VALUES (:id, :tenant, :project, :name, :slug, :base_url, :is_default, :now);

-- name: list_environments
SELECT id, name, slug, base_url, is_default
FROM   environments
WHERE  tenant_id = :tenant AND project_id = :project
ORDER  BY is_default DESC, slug
LIMIT  100;

-- name: set_default_url
UPDATE environments
SET    base_url = :base_url
WHERE  tenant_id = :tenant AND project_id = :project AND is_default = 1;

-- name: change_environment
UPDATE environments
SET    name = :name, slug = :slug, base_url = :base_url, is_default = :is_default
WHERE  tenant_id = :tenant AND project_id = :project AND id = :id;

-- name: park_environments
-- Frees every name and the default, for the statements that follow.
UPDATE environments
SET    slug = lower(hex(id)), is_default = 0
WHERE  tenant_id = :tenant AND project_id = :project;

-- name: delete_environment
DELETE FROM environments WHERE tenant_id = :tenant AND project_id = :project AND id = :id;

-- name: create_category
INSERT INTO categories (id, tenant_id, project_id, name, name_norm, created_at)
VALUES (:id, :tenant, :project, :name, :name_norm, :now);

-- name: find_category
-- one: the name is unique among those that are not deleted.
SELECT id, project_id, name
FROM   categories
WHERE  tenant_id = :tenant AND project_id = :project AND name_norm = :name_norm
AND    deleted_at IS NULL;

-- name: get_category
-- one: the id is unique.
SELECT id, project_id, name, created_at, deleted_at,
       (SELECT count(*) FROM tickets
        WHERE  category_id = categories.id AND +tenant_id = :tenant
               AND status IN ('queued', 'blocked', 'running', 'awaiting_input')) AS open_tickets
FROM   categories
WHERE  tenant_id = :tenant AND id = :id;

-- name: count_categories
-- :deleted says whether those that were deleted are listed too.
SELECT id, project_id, name, created_at, deleted_at,
       (SELECT count(*) FROM tickets
        WHERE  category_id = categories.id AND +tenant_id = :tenant
               AND status IN ('queued', 'blocked', 'running', 'awaiting_input')) AS open_tickets
FROM   categories
WHERE  tenant_id = :tenant AND project_id = :project AND (:deleted OR deleted_at IS NULL)
ORDER  BY name_norm, deleted_at, id
LIMIT  :limit;

-- name: rename_category
UPDATE categories SET name = :name, name_norm = :name_norm
WHERE  tenant_id = :tenant AND id = :id AND deleted_at IS NULL;

-- name: delete_category
UPDATE categories SET deleted_at = :now
WHERE  tenant_id = :tenant AND id = :id AND deleted_at IS NULL;

-- name: list_categories
SELECT id, project_id, name
FROM   categories
WHERE  tenant_id = :tenant AND project_id = :project AND deleted_at IS NULL
ORDER  BY name_norm
LIMIT  200;
