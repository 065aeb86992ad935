-- Webhooks, what they are told, and how that went.

-- name: subject
-- What is said of a ticket, and whether its project tells anybody.
SELECT t.seq, t.title, t.status, t.commit_sha, t.base_branch, t.project_id, p.key AS project_key,
       p.name AS project_name,
       EXISTS (SELECT 1 FROM webhooks w WHERE w.project_id = t.project_id
               AND w.removed_at IS NULL AND w.enabled = 1) AS has_webhooks
FROM   tickets t JOIN projects p ON p.id = t.project_id
WHERE  t.id = :ticket AND +t.tenant_id = :tenant LIMIT 1;

-- name: project_subject
SELECT key AS project_key, name AS project_name
FROM   projects WHERE id = :project AND tenant_id = :tenant LIMIT 1;

-- name: listeners
-- Those of a project that are told of an event, and how much each has to be told already.
SELECT w.id, w.paused_until,
       (SELECT count(*) FROM webhook_messages m
        WHERE m.webhook_id = w.id AND m.state = 'pending') AS pending
FROM   webhooks w
WHERE  w.project_id = :project AND +w.tenant_id = :tenant AND w.removed_at IS NULL
       AND w.enabled = 1 AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = :event)
LIMIT  :limit;

-- name: insert
INSERT INTO webhooks (id, tenant_id, project_id, url, events, is_private, secret, created_by,
    created_at)
VALUES (:id, :tenant, :project, :url, :events, :private, :secret, :by, :now);

-- name: find
SELECT * FROM webhooks WHERE id = :id AND tenant_id = :tenant AND removed_at IS NULL LIMIT 1;

-- name: list
SELECT * FROM webhooks
WHERE  project_id = :project AND +tenant_id = :tenant AND removed_at IS NULL
ORDER  BY created_at, id LIMIT :limit;

-- name: switch_on
UPDATE webhooks
SET    enabled = 1, off_reason = NULL, failures = 0, failing_since = NULL, paused_until = NULL
WHERE  id = :id AND tenant_id = :tenant AND removed_at IS NULL;

-- name: switch_off
UPDATE webhooks SET enabled = 0, off_reason = :why
WHERE  id = :id AND tenant_id = :tenant AND removed_at IS NULL;

-- name: remove
UPDATE webhooks
SET    enabled = 0, off_reason = 'It was removed.', secret = x'', removed_at = :now
WHERE  id = :id AND tenant_id = :tenant AND removed_at IS NULL;

-- name: note_success
UPDATE webhooks SET failures = 0, failing_since = NULL, paused_until = NULL
WHERE  id = :id AND tenant_id = :tenant AND failures > 0;

-- name: note_failure
UPDATE webhooks
SET    failures = failures + 1, failing_since = coalesce(failing_since, :now),
       paused_until = :until
WHERE  id = :id AND tenant_id = :tenant;

-- name: unpause
UPDATE webhooks SET paused_until = NULL WHERE id = :id AND tenant_id = :tenant;

-- name: add_message
INSERT INTO webhook_messages (id, tenant_id, webhook_id, event, facts, state, attempts_max,
    next_at, created_at, settled_at)
VALUES (:id, :tenant, :webhook, :event, :facts, :state, :attempts_max, :next_at, :now,
    :settled_at);

-- name: next_message
-- The one that is due first, if need be later.
SELECT * FROM webhook_messages
WHERE  webhook_id = :webhook AND +tenant_id = :tenant AND state = 'pending'
ORDER  BY next_at, n LIMIT 1;

-- name: find_message
SELECT * FROM webhook_messages WHERE id = :id AND tenant_id = :tenant LIMIT 1;

-- name: list_messages
-- The newest first.
SELECT * FROM webhook_messages
WHERE  webhook_id = :webhook AND +tenant_id = :tenant ORDER BY n DESC LIMIT :limit;

-- name: count_pending
SELECT count(*) AS pending FROM webhook_messages
WHERE  webhook_id = :webhook AND +tenant_id = :tenant AND state = 'pending' LIMIT 1;

-- name: settle
-- What was asked for again meanwhile, and what somebody else has settled, stays as it is.
UPDATE webhook_messages
SET    attempts = :attempt, state = :state, next_at = :next_at, settled_at = :settled_at
WHERE  id = :id AND tenant_id = :tenant AND state = 'pending' AND attempts = :attempt - 1;

-- name: drop_pending
UPDATE webhook_messages SET state = 'dropped', next_at = NULL, settled_at = :now
WHERE  webhook_id = :webhook AND +tenant_id = :tenant AND state = 'pending';

-- name: send_again
UPDATE webhook_messages
SET    state = 'pending', next_at = :now, settled_at = NULL, attempts_max = attempts + :more
WHERE  id = :id AND tenant_id = :tenant;

-- name: add_attempt
INSERT INTO webhook_attempts (message_id, attempt, tenant_id, at, duration_ms, status, answer,
    error)
VALUES (:message, :attempt, :tenant, :at, :duration, :status, :answer, :error);

-- name: last_attempt
SELECT * FROM webhook_attempts
WHERE  message_id = :message AND tenant_id = :tenant ORDER BY attempt DESC LIMIT 1;

-- name: list_attempts
SELECT * FROM webhook_attempts
WHERE  message_id = :message AND tenant_id = :tenant ORDER BY attempt LIMIT :limit;

-- name: waiting
-- cross-tenant: the sweep looks at everybody's
SELECT DISTINCT m.webhook_id, m.tenant_id
FROM   webhook_messages m JOIN webhooks w ON w.id = m.webhook_id
WHERE  m.state = 'pending' AND m.next_at <= :now AND ifnull(w.paused_until, 0) <= :now
LIMIT  :limit;

-- name: purge_attempts
-- cross-tenant: what is settled is kept equally long for everybody
DELETE FROM webhook_attempts
WHERE  message_id IN (SELECT id FROM webhook_messages
                      WHERE settled_at IS NOT NULL AND settled_at < :before
                      ORDER BY settled_at LIMIT :limit);

-- name: purge_messages
-- cross-tenant: what is settled is kept equally long for everybody
DELETE FROM webhook_messages
WHERE  n IN (SELECT n FROM webhook_messages
             WHERE settled_at IS NOT NULL AND settled_at < :before
             ORDER BY settled_at LIMIT :limit);

-- name: purge_removed
-- cross-tenant: what is settled is kept equally long for everybody
DELETE FROM webhooks
WHERE  removed_at IS NOT NULL AND removed_at < :before
       AND NOT EXISTS (SELECT 1 FROM webhook_messages m WHERE m.webhook_id = webhooks.id);
