-- name: list
SELECT name, sealed FROM ticket_secrets
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY name LIMIT :limit;

-- name: missing
-- What was given and is not there, in the words in which it was first asked for.
SELECT q.secret AS name, q.text AS asked, min(q.asked_at) AS first
FROM   questions q
WHERE  q.ticket_id = :ticket AND q.tenant_id = :tenant AND q.secret IS NOT NULL
       AND q.answer IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ticket_secrets s
                       WHERE s.ticket_id = q.ticket_id AND s.tenant_id = q.tenant_id
                             AND s.name = q.secret)
GROUP  BY q.secret ORDER BY first, name LIMIT :limit;

-- name: first_asked
SELECT text FROM questions
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND secret = :name
ORDER  BY asked_at, id LIMIT 1;

-- name: keep
INSERT INTO ticket_secrets (ticket_id, tenant_id, name, sealed, given_by, given_at)
VALUES (:ticket, :tenant, :name, :sealed, :by, :now)
ON CONFLICT (ticket_id, name) DO UPDATE
SET    sealed = excluded.sealed, given_by = excluded.given_by, given_at = excluded.given_at;

-- name: overwrite
UPDATE ticket_secrets SET sealed = zeroblob(length(sealed))
WHERE  ticket_id = :ticket AND tenant_id = :tenant;

-- name: erase
DELETE FROM ticket_secrets WHERE ticket_id = :ticket AND tenant_id = :tenant;

-- name: add_link
INSERT INTO secret_links (token_hash, tenant_id, ticket_id, question_id, made_by, created_at,
                          expires_at)
VALUES (:token, :tenant, :ticket, :question, :by, :now, :expires_at);

-- name: find_link
-- cross-tenant: whoever holds the token has no other key; it says whose the ticket is.
SELECT tenant_id, question_id, expires_at, used_at FROM secret_links
WHERE  token_hash = :token LIMIT 1;

-- name: use_link
UPDATE secret_links SET used_at = :now
WHERE  token_hash = :token AND tenant_id = :tenant AND used_at IS NULL AND expires_at > :now;

-- name: erase_links
DELETE FROM secret_links WHERE ticket_id = :ticket AND tenant_id = :tenant;
