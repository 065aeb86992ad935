-- name: create_tenant
INSERT INTO tenants (id, slug, name, plan, created_at)
VALUES (:id, :slug, :name, :plan, :now);

-- name: find_tenant
-- one: the id is unique.
SELECT id, slug, name, plan, created_at FROM tenants WHERE id = :tenant;

-- name: find_tenant_by_slug
-- one: the slug is unique.
SELECT id, slug, name, plan, created_at FROM tenants WHERE slug = :slug;

-- name: host_tenant
-- The order of their making is that of their rows, and there are few.
SELECT id, slug, name, plan, created_at FROM tenants ORDER BY created_at, rowid LIMIT 1;

-- name: list_tenants
SELECT id, slug, name, plan, created_at FROM tenants ORDER BY slug LIMIT 200;

-- name: rename_tenant
UPDATE tenants SET name = :name WHERE id = :tenant;

-- name: set_tenant_plan
UPDATE tenants SET plan = :plan WHERE id = :tenant;

-- name: create_user
INSERT INTO users (id, tenant_id, email, name, role, password_hash, created_at)
VALUES (:id, :tenant, :email, :name, :role, :password_hash, :now);

-- name: any_user
-- one: EXISTS answers once.
-- scan: it stops at the first row.
-- cross-tenant: set-up links exist only while no tenant has anybody.
SELECT EXISTS (SELECT 1 FROM users) AS found;

-- name: has_owner
-- one: EXISTS answers once.
SELECT EXISTS (
    SELECT 1 FROM users WHERE tenant_id = :tenant AND role = 'owner' AND disabled_at IS NULL
) AS found;

-- name: list_users
SELECT id, tenant_id, email, name, role, created_at, disabled_at
FROM   users
WHERE  tenant_id = :tenant
ORDER  BY email
LIMIT  500;

-- name: list_members
SELECT id, tenant_id, email, name, role, created_at, disabled_at, last_login_at
FROM   users
WHERE  tenant_id = :tenant
ORDER  BY email
LIMIT  500;

-- name: find_user
-- one: the id is unique.
SELECT id, tenant_id, email, name, role, created_at, disabled_at
FROM   users
WHERE  tenant_id = :tenant AND id = :id;

-- name: find_user_by_email
-- one: the address is unique.
SELECT id, tenant_id, email, name, role, created_at, disabled_at
FROM   users
WHERE  tenant_id = :tenant AND email = :email;

-- name: login
-- one: the address is unique.
-- cross-tenant: the address says whose the person is.
SELECT id, tenant_id, email, name, role, created_at, disabled_at, password_hash
FROM   users
WHERE  email = :email AND disabled_at IS NULL;

-- name: set_password
UPDATE users SET password_hash = :password_hash WHERE tenant_id = :tenant AND id = :id;

-- name: set_user_disabled
UPDATE users SET disabled_at = :at WHERE tenant_id = :tenant AND id = :id;

-- name: set_role
UPDATE users SET role = :role WHERE tenant_id = :tenant AND id = :id;

-- name: note_login
UPDATE users SET last_login_at = :now WHERE tenant_id = :tenant AND id = :user;

-- name: create_session
INSERT INTO sessions (token_hash, user_id, tenant_id, csrf, user_agent, address, created_at,
                      last_seen_at, expires_at)
VALUES (:token_hash, :user, :tenant, :csrf, :user_agent, :address, :now, :now, :expires_at);

-- name: authenticate_session
-- one: the token is unique.
-- cross-tenant: the token says who and whose it is.
SELECT users.id, users.tenant_id, users.email, users.name, users.role, users.created_at,
       users.disabled_at, tenants.plan, sessions.token_hash, sessions.user_id,
       sessions.tenant_id AS session_tenant_id, sessions.csrf, sessions.user_agent,
       sessions.address, sessions.created_at AS session_created_at, sessions.last_seen_at,
       sessions.expires_at
FROM   sessions
JOIN   users   ON users.id = sessions.user_id
JOIN   tenants ON tenants.id = sessions.tenant_id
WHERE  sessions.token_hash = :token_hash
AND    sessions.expires_at > :now
AND    users.disabled_at IS NULL;

-- name: note_session_use
UPDATE sessions
SET    last_seen_at = :now, expires_at = :expires_at
WHERE  token_hash = :token_hash AND tenant_id = :tenant AND last_seen_at < :now;

-- name: list_sessions
SELECT token_hash, user_id, tenant_id AS session_tenant_id, csrf, user_agent, address,
       created_at AS session_created_at, last_seen_at, expires_at
FROM   sessions
WHERE  user_id = :user AND tenant_id = :tenant AND expires_at > :now
ORDER  BY created_at DESC, token_hash
LIMIT  100;

-- name: end_session
DELETE FROM sessions
WHERE  user_id = :user AND tenant_id = :tenant AND lower(hex(token_hash)) = :id;

-- name: end_sessions_of_user
DELETE FROM sessions WHERE user_id = :user AND tenant_id = :tenant;

-- name: end_other_sessions
DELETE FROM sessions
WHERE  user_id = :user AND tenant_id = :tenant AND lower(hex(token_hash)) <> :id;

-- name: sweep_sessions
-- cross-tenant: logins of every tenant end by the clock.
DELETE FROM sessions
WHERE  token_hash IN (SELECT token_hash FROM sessions WHERE expires_at <= :now
                      ORDER BY expires_at LIMIT 500);

-- name: drop_invitations
-- That of an address, for another takes its place, and those whose time is over.
DELETE FROM invitations
WHERE  tenant_id = :tenant AND (email = :email OR expires_at <= :now);

-- name: create_invitation
INSERT INTO invitations (token_hash, tenant_id, email, role, invited_by, created_at, expires_at)
VALUES (:token_hash, :tenant, :email, :role, :invited_by, :now, :expires_at);

-- name: open_invitation
-- one: the token is unique.
-- cross-tenant: the token says whose it is.
SELECT token_hash, tenant_id, email, role, invited_by, created_at, expires_at
FROM   invitations
WHERE  token_hash = :token_hash AND expires_at > :now;

-- name: list_invitations
SELECT token_hash, tenant_id, email, role, invited_by, created_at, expires_at
FROM   invitations
WHERE  tenant_id = :tenant AND expires_at > :now
ORDER  BY email
LIMIT  200;

-- name: find_invitation
-- one: an address is invited once.
SELECT token_hash, tenant_id, email, role, invited_by, created_at, expires_at
FROM   invitations
WHERE  tenant_id = :tenant AND email = :email AND expires_at > :now;

-- name: end_invitation
DELETE FROM invitations WHERE tenant_id = :tenant AND email = :email;

-- name: drop_setup_links
DELETE FROM setup_links WHERE used_at IS NULL;

-- name: create_setup_link
INSERT INTO setup_links (token_hash, created_at, expires_at)
VALUES (:token_hash, :now, :expires_at);

-- name: open_setup_link
-- one: EXISTS answers once.
SELECT EXISTS (
    SELECT 1 FROM setup_links
    WHERE token_hash = :token_hash AND used_at IS NULL AND expires_at > :now
) AS found;

-- name: use_setup_link
UPDATE setup_links SET used_at = :now WHERE token_hash = :token_hash AND used_at IS NULL;

-- name: create_key
-- No row where the default project is not the tenant's.
INSERT INTO api_keys (id, tenant_id, name, scope, hash, shown, default_project_id, limited,
                      ticket_id, created_by, created_at, expires_at)
SELECT :id, :tenant, :name, :scope, :hash, :shown, :default_project, :limited, :ticket,
       :created_by, :now, :expires_at
WHERE  :default_project IS NULL
OR     EXISTS (SELECT 1 FROM projects WHERE id = :default_project AND tenant_id = :tenant);

-- name: add_key_project
-- No row where the project is not the tenant's.
INSERT INTO api_key_projects (key_id, project_id)
SELECT :key, id FROM projects WHERE id = :project AND tenant_id = :tenant;

-- name: authenticate_key
-- one: the hash is unique.
-- cross-tenant: the key says whose it is.
SELECT api_keys.id, api_keys.tenant_id, api_keys.name, scope, shown, default_project_id, limited,
       (SELECT group_concat(lower(hex(project_id))) FROM api_key_projects
        WHERE key_id = api_keys.id) AS project_ids,
       ticket_id, created_by, api_keys.created_at, expires_at, last_used_at, revoked_at,
       tenants.plan, coalesce(tickets.completed_at IS NOT NULL, 0) AS ticket_ended
FROM   api_keys
JOIN   tenants ON tenants.id = api_keys.tenant_id
LEFT   JOIN tickets ON tickets.id = api_keys.ticket_id
WHERE  api_keys.hash = :hash;

-- name: note_key_use
UPDATE api_keys
SET    last_used_at = :now
WHERE  tenant_id = :tenant AND id = :id AND (last_used_at IS NULL OR last_used_at <= :before);

-- name: list_keys
SELECT id, tenant_id, name, scope, shown, default_project_id, limited,
       (SELECT group_concat(lower(hex(project_id))) FROM api_key_projects
        WHERE key_id = api_keys.id) AS project_ids,
       ticket_id, created_by, created_at, expires_at, last_used_at, revoked_at
FROM   api_keys
WHERE  tenant_id = :tenant AND ticket_id IS NULL
ORDER  BY created_at DESC, id DESC
LIMIT  500;

-- name: find_key
-- one: the id is unique.
SELECT id, tenant_id, name, scope, shown, default_project_id, limited,
       (SELECT group_concat(lower(hex(project_id))) FROM api_key_projects
        WHERE key_id = api_keys.id) AS project_ids,
       ticket_id, created_by, created_at, expires_at, last_used_at, revoked_at
FROM   api_keys
WHERE  tenant_id = :tenant AND id = :id;

-- name: revoke_key
UPDATE api_keys
SET    revoked_at = :now
WHERE  tenant_id = :tenant AND id = :id AND revoked_at IS NULL;

-- name: revoke_keys_of_ticket
UPDATE api_keys
SET    revoked_at = :now
WHERE  tenant_id = :tenant AND ticket_id = :ticket AND revoked_at IS NULL;

-- name: record_audit
INSERT INTO audit (tenant_id, at, actor, via, action, subject, outcome, request_id)
VALUES (:tenant, :now, :actor, :via, :action, :subject, :outcome, :request);

-- name: list_audit
SELECT n, at, actor, via, action, subject, outcome, request_id
FROM   audit
WHERE  tenant_id = :tenant AND n < :before
ORDER  BY n DESC
LIMIT  :limit;

-- name: key_maker
SELECT created_by FROM api_keys WHERE id = :id AND tenant_id = :tenant LIMIT 1;
