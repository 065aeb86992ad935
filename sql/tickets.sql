-- name: find
SELECT * FROM ticket_rows WHERE tenant_id = :tenant AND id = :id LIMIT 1;

-- name: find_any
-- cross-tenant: a folder of the data directory is named by the ticket alone.
SELECT * FROM ticket_rows WHERE id = :id LIMIT 1;

-- name: find_by_key
SELECT * FROM ticket_rows
WHERE  project_id = (SELECT id FROM projects WHERE tenant_id = :tenant AND key = :key)
       AND seq = :seq AND +tenant_id = :tenant LIMIT 1;

-- name: find_by_number
SELECT * FROM ticket_rows
WHERE  tenant_id = :tenant AND project_id = :project AND seq = :seq LIMIT 1;

-- name: list_by_number
-- A tenant has few projects, and each has at most one ticket of a number.
SELECT t.* FROM projects own JOIN ticket_rows t ON t.project_id = own.id
WHERE  own.tenant_id = :tenant AND +t.tenant_id = :tenant AND t.seq = :seq
ORDER  BY t.n LIMIT :limit;

-- name: find_by_operation_key
SELECT * FROM ticket_rows WHERE tenant_id = :tenant AND operation_key = :key LIMIT 1;

-- name: list_scope
SELECT * FROM ticket_rows
WHERE  scope_id = :scope AND +tenant_id = :tenant ORDER BY n LIMIT :limit;

-- name: list
-- One statement a combination of filters: each has an index that ends in the order of the list, so
-- a page costs the same among a thousand tickets and among a million.
SELECT * FROM ticket_rows
WHERE  tenant_id = :tenant AND n < :before ORDER BY n DESC LIMIT :limit;

-- name: list_status
SELECT * FROM ticket_rows
WHERE  tenant_id = :tenant AND status = :status AND n < :before ORDER BY n DESC LIMIT :limit;

-- name: list_project
SELECT * FROM ticket_rows
WHERE  project_id = :project AND +tenant_id = :tenant AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: list_project_status
SELECT * FROM ticket_rows
WHERE  project_id = :project AND +tenant_id = :tenant AND status = :status AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: list_category
SELECT * FROM ticket_rows
WHERE  category_id = :category AND +tenant_id = :tenant AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: list_category_status
SELECT * FROM ticket_rows
WHERE  category_id = :category AND +tenant_id = :tenant AND status = :status AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: list_landed
-- The last that landed first, whenever they were filed.
SELECT * FROM ticket_rows
WHERE  tenant_id = :tenant AND status = 'succeeded' ORDER BY completed_at DESC LIMIT :limit;

-- name: count_landed
-- bounded: one row; those of a day.
SELECT count(*) AS tickets FROM tickets
WHERE  tenant_id = :tenant AND status = 'succeeded' AND completed_at >= :since LIMIT 1;

-- name: counts
-- bounded: one row a status.
SELECT status, tickets FROM ticket_counts WHERE tenant_id = :tenant AND tickets > 0;

-- name: counts_of_all
-- bounded: one row a status.
-- cross-tenant: figures of the whole server.
SELECT status, sum(tickets) AS tickets FROM ticket_counts GROUP BY status;

-- name: insert
-- scan: rows that lack their ticket are looked for where some do, which none ever does.
INSERT INTO tickets (id, tenant_id, project_id, seq, title, description, status, kind, preset,
    pass_profile, origin, graph_status, source, depends_on_reason, scope_id, local_name,
    replaces_id, seed_from_ref, operation_key, category_id,
    requester_name, requester_email, requester_avatar_url, requester_channel, requester_ref,
    filed_by, created_at)
VALUES (:id, :tenant, :project, :seq, :title, :description, :status, :kind, :preset,
    :pass_profile, :origin, 'ready', :source, :depends_on_reason, :scope, :local_name,
    :replaces, :seed, :operation_key, :category,
    :requester_name, :requester_email, :requester_avatar_url, :requester_channel, :requester_ref,
    :filed_by, :now);

-- name: add_dependency
INSERT INTO ticket_dependencies (ticket_id, parent_id, tenant_id)
VALUES (:ticket, :parent, :tenant)
ON CONFLICT DO NOTHING;

-- name: remove_dependency
DELETE FROM ticket_dependencies
WHERE  ticket_id = :ticket AND parent_id = :parent AND tenant_id = :tenant;

-- name: belongings
-- Which kinds of rows a ticket has beside its nodes: most have few, and each kind that is absent
-- saves a statement.
SELECT EXISTS (SELECT 1 FROM assertions
               WHERE ticket_id = :ticket AND tenant_id = :tenant) AS assertions,
       EXISTS (SELECT 1 FROM ticket_items
               WHERE ticket_id = :ticket AND tenant_id = :tenant) AS items,
       EXISTS (SELECT 1 FROM questions
               WHERE ticket_id = :ticket AND tenant_id = :tenant AND closed_at IS NULL) AS question,
       EXISTS (SELECT 1 FROM ticket_dependencies
               WHERE ticket_id = :ticket AND tenant_id = :tenant) AS parents,
       EXISTS (SELECT 1 FROM ticket_dependencies
               WHERE parent_id = :ticket AND tenant_id = :tenant) AS children
LIMIT  1;

-- name: parents
-- In the order of filing.
SELECT t.* FROM ticket_dependencies d JOIN ticket_rows t ON t.id = d.parent_id
WHERE  d.ticket_id = :ticket AND d.tenant_id = :tenant ORDER BY t.n LIMIT :limit;

-- name: parent_ids
SELECT parent_id FROM ticket_dependencies
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY parent_id LIMIT :limit;

-- name: children
SELECT t.* FROM ticket_dependencies d JOIN ticket_rows t ON t.id = d.ticket_id
WHERE  d.parent_id = :ticket AND d.tenant_id = :tenant AND t.n > :after
ORDER  BY t.n LIMIT :limit;

-- name: blocked_children
SELECT t.* FROM ticket_dependencies d JOIN ticket_rows t ON t.id = d.ticket_id
WHERE  d.parent_id = :ticket AND d.tenant_id = :tenant AND t.status = 'blocked' AND t.n > :after
ORDER  BY t.n LIMIT :limit;

-- name: is_ancestor
-- Whether :ticket stands anywhere above :from, which a new edge from it would close to a cycle.
WITH RECURSIVE above (id) AS (
    SELECT parent_id FROM ticket_dependencies WHERE ticket_id = :from AND tenant_id = :tenant
    UNION
    SELECT d.parent_id FROM above a JOIN ticket_dependencies d ON d.ticket_id = a.id
)
SELECT 1 AS found FROM above WHERE id = :ticket LIMIT 1;

-- name: unmet_parents
SELECT count(*) AS unmet FROM ticket_dependencies d JOIN tickets t ON t.id = d.parent_id
WHERE  d.ticket_id = :ticket AND d.tenant_id = :tenant AND t.status <> 'succeeded' LIMIT 1;

-- name: running_in_project
-- Tickets that hold a place: those whose work is under way.
SELECT count(*) AS running FROM tickets
WHERE  project_id = :project AND +tenant_id = :tenant AND status = 'running' LIMIT 1;

-- name: oldest_queued
-- Oldest first: a ticket that waits is overtaken by nobody.
SELECT * FROM ticket_rows
WHERE  project_id = :project AND +tenant_id = :tenant AND status = 'queued' AND n > :after
       AND held_for IS NULL
ORDER  BY n LIMIT :limit;

-- name: hold_for
UPDATE tickets SET held_for = :profile
WHERE  tenant_id = :tenant AND id = :id AND held_for IS NOT :profile;

-- name: let_go
UPDATE tickets SET held_for = NULL WHERE tenant_id = :tenant AND id = :id;

-- name: held_for_which
SELECT DISTINCT held_for FROM tickets
WHERE  project_id = :project AND +tenant_id = :tenant AND held_for IS NOT NULL LIMIT :limit;

-- name: held_for
SELECT * FROM ticket_rows
WHERE  project_id = :project AND +tenant_id = :tenant AND held_for = :profile
ORDER  BY n LIMIT :limit;

-- name: set_status
-- A ticket that has ended stays as it is, whoever comes late.
UPDATE tickets SET status = :status, graph_status = :graph
WHERE  tenant_id = :tenant AND id = :id
       AND status NOT IN ('succeeded', 'failed', 'timeout', 'cancelled');

-- name: start
UPDATE tickets
SET    status = 'running', graph_status = 'running', held_at = NULL,
       started_at = coalesce(started_at, :now)
WHERE  tenant_id = :tenant AND id = :id AND status IN ('queued', 'running');

-- name: set_pass
UPDATE tickets SET current_pass = :pass WHERE tenant_id = :tenant AND id = :id;

-- name: set_workspace
UPDATE tickets SET branch = :branch, base_branch = :base_branch, base_commit = :base_commit
WHERE  tenant_id = :tenant AND id = :id;

-- name: finish
-- Never before it was filed, wherever the clock was set meanwhile: searches count on that.
UPDATE tickets
SET    status = :status, graph_status = :graph, completed_at = max(:now, created_at),
       failure_reason = :failure_reason, completion_summary = :completion_summary,
       lost_parent_id = :lost_parent, held_for = NULL
WHERE  tenant_id = :tenant AND id = :id
       AND status NOT IN ('succeeded', 'failed', 'timeout', 'cancelled');

-- name: reopen
UPDATE tickets
SET    status = :status, graph_status = 'running', completed_at = NULL, failure_reason = NULL,
       completion_summary = NULL, auto_merge_status = NULL, lost_parent_id = NULL
WHERE  tenant_id = :tenant AND id = :id AND status IN ('failed', 'timeout', 'cancelled');

-- name: revive
-- A ticket that was cancelled for no other reason than that its parent did not land.
UPDATE tickets
SET    status = 'blocked', graph_status = 'ready', completed_at = NULL, completion_summary = NULL,
       lost_parent_id = NULL
WHERE  tenant_id = :tenant AND id = :id AND status = 'cancelled' AND lost_parent_id IS NOT NULL;

-- name: set_commit
UPDATE tickets SET commit_sha = :commit, auto_merge_status = 'merged'
WHERE  tenant_id = :tenant AND id = :id;

-- name: set_merge_status
UPDATE tickets SET auto_merge_status = :merge WHERE tenant_id = :tenant AND id = :id;

-- name: set_checkpoint
UPDATE tickets SET checkpoint_commits = :commits WHERE tenant_id = :tenant AND id = :id;

-- name: count_interrupt
UPDATE tickets SET interrupt_count = interrupt_count + 1
WHERE  tenant_id = :tenant AND id = :id;

-- name: add_usage
UPDATE tickets
SET    turns_used = turns_used + :turns, input_tokens = input_tokens + :input,
       output_tokens = output_tokens + :output,
       latest_phase_summary = coalesce(:summary, latest_phase_summary)
WHERE  tenant_id = :tenant AND id = :id;

-- name: unfinished
-- cross-tenant: the sweep at start-up looks at everybody's tickets, a page at a time.
SELECT id, tenant_id, n FROM tickets
WHERE  status IN ('queued', 'running', 'blocked') AND n > :after ORDER BY n LIMIT :limit;
