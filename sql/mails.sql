-- Mails to those who asked for tickets, and how that went.

-- name: enabled
SELECT enabled FROM mail_settings WHERE one = 1 LIMIT 1;

-- name: switch
UPDATE mail_settings SET enabled = :enabled WHERE one = 1;

-- name: subject
-- What is said of a ticket to whoever asked for it; nothing where there is no mail server, where
-- nobody left an address, and where the server cancelled it for its parent's sake.
SELECT t.seq, t.title, t.status, t.commit_sha, t.base_branch, t.requester_email, t.failure_reason,
       t.completion_summary, p.key AS project_key, p.name AS project_name,
       q.id AS question_id, q.text AS question, coalesce(q.choices, '[]') AS choices, q.pause,
       q.secret
FROM   mail_settings s
       JOIN tickets t ON t.id = :ticket
       JOIN projects p ON p.id = t.project_id
       LEFT JOIN questions q ON q.ticket_id = t.id AND q.closed_at IS NULL
WHERE  s.one = 1 AND s.enabled = 1 AND +t.tenant_id = :tenant AND t.requester_email IS NOT NULL
       AND NOT (t.status = 'cancelled' AND t.lost_parent_id IS NOT NULL)
LIMIT  1;

-- name: lately
-- How many mails a ticket had for a reason, and an address for any, since then.
SELECT (SELECT count(*) FROM mails m
        WHERE m.ticket_id = :ticket AND +m.tenant_id = :tenant AND m.reason = :reason
              AND m.created_at > :apart AND m.state <> 'dropped') AS same,
       (SELECT count(*) FROM mails m
        WHERE m.tenant_id = :tenant AND m.inbox = :inbox AND m.created_at > :hour
              AND m.state <> 'dropped') AS hourly
LIMIT  1;

-- name: insert
INSERT INTO mails (id, tenant_id, ticket_id, question_id, address, inbox, reason, letter, state,
    next_at, created_at)
VALUES (:id, :tenant, :ticket, :question, :address, :inbox, :reason, :letter, 'pending', :now,
    :now);

-- name: find_pending
SELECT m.*, q.closed_at IS NOT NULL AS is_answered
FROM   mails m LEFT JOIN questions q ON q.id = m.question_id
WHERE  m.id = :id AND m.tenant_id = :tenant AND m.state = 'pending' LIMIT 1;

-- name: settle
UPDATE mails
SET    attempts = :attempt, state = :state, answer = :answer, next_at = :next_at,
       settled_at = :settled_at
WHERE  id = :id AND tenant_id = :tenant AND state = 'pending';

-- name: purge
-- cross-tenant: what is settled is kept equally long for everybody
DELETE FROM mails
WHERE  id IN (SELECT id FROM mails WHERE settled_at IS NOT NULL AND settled_at < :before
              ORDER BY settled_at LIMIT :limit);
