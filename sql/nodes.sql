-- name: list
SELECT * FROM nodes
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY position, id LIMIT :limit;

-- name: find
SELECT * FROM nodes WHERE id = :id AND tenant_id = :tenant LIMIT 1;

-- name: edges
SELECT node_id, parent_id FROM node_edges
WHERE  ticket_id = :ticket AND tenant_id = :tenant LIMIT :limit;

-- name: insert
INSERT INTO nodes (id, tenant_id, ticket_id, position, ref, kind, status, brief, created_at)
VALUES (:id, :tenant, :ticket, :position, :ref, :kind, 'queued', :brief, :now);

-- name: add_edge
INSERT INTO node_edges (node_id, parent_id, tenant_id, ticket_id)
VALUES (:node, :parent, :tenant, :ticket)
ON CONFLICT DO NOTHING;

-- name: waiting_for
SELECT node_id FROM node_edges
WHERE  ticket_id = :ticket AND parent_id = :parent AND tenant_id = :tenant LIMIT :limit;

-- name: wait_for
UPDATE node_edges SET parent_id = :to
WHERE  ticket_id = :ticket AND parent_id = :from AND node_id = :node AND tenant_id = :tenant;

-- name: assign_job
UPDATE nodes SET job_id = :job, offered_at = NULL, profile = :profile
WHERE  id = :id AND tenant_id = :tenant;

-- name: with_profile
-- Nodes that an agent profile does now or is about to, but :apart.
SELECT count(*) AS running FROM nodes n JOIN tickets t ON t.id = n.ticket_id
WHERE  n.tenant_id = :tenant AND n.profile = :profile AND n.job_id IS NOT NULL
       AND n.status IN ('queued', 'running') AND +t.project_id = :project AND n.id IS NOT :apart
LIMIT  1;

-- name: count_interrupt
UPDATE nodes SET interrupts = interrupts + 1 WHERE tenant_id = :tenant AND id = :id
RETURNING interrupts;

-- name: offer
-- From now on it waits to be claimed; one that does already keeps its place.
UPDATE nodes SET offered_at = :now, job_id = NULL
WHERE  id = :id AND tenant_id = :tenant AND status = 'queued' AND offered_at IS NULL;

-- name: next_offered
-- Of the nodes that a claim may have, the one that has waited longest. People work in a ticket's
-- one tree, so no other of its nodes is under way; a ticket that has not begun needs a place.
SELECT n.* FROM nodes n JOIN tickets t ON t.id = n.ticket_id
WHERE  n.tenant_id = :tenant AND n.offered_at IS NOT NULL AND n.status = 'queued'
       AND (:ticket IS NULL OR n.ticket_id = :ticket)
       AND (:projects IS NULL OR instr(:projects, hex(t.project_id)) > 0)
       AND (:kinds IS NULL OR instr(:kinds, ',' || n.kind || ',') > 0)
       AND (t.status = 'running'
            OR t.status = 'queued' AND instr(:full, hex(t.project_id)) = 0)
       AND NOT EXISTS (SELECT 1 FROM nodes o
                       WHERE o.ticket_id = n.ticket_id AND o.tenant_id = :tenant
                             AND o.status = 'running')
ORDER  BY n.offered_at, n.id LIMIT 1;

-- name: claim
-- One change decides who has it: whoever comes second finds it running.
UPDATE nodes
SET    status = 'running', attempt = attempt + 1, agent = :agent, started_at = :now,
       offered_at = NULL, asks = NULL, completed_at = NULL, failure_reason = NULL,
       exit_code = NULL
WHERE  id = :id AND tenant_id = :tenant AND status = 'queued' AND attempt = :attempt;

-- name: ask
-- What the agent of a node that runs wants to know, for when it ends.
UPDATE nodes SET asks = :asks
WHERE  id = :id AND tenant_id = :tenant AND status = 'running';

-- name: asked
SELECT asks FROM nodes WHERE id = :id AND tenant_id = :tenant LIMIT 1;

-- name: start
-- The attempt is the fence: what an earlier start still reports is not taken.
UPDATE nodes
SET    status = 'running', attempt = attempt + 1, agent = :agent, started_at = :now,
       offered_at = NULL, asks = NULL, completed_at = NULL, failure_reason = NULL,
       exit_code = NULL
WHERE  id = :id AND tenant_id = :tenant AND status IN ('queued', 'running')
RETURNING attempt;

-- name: begin_on
-- The branch's tip when the node first began: later starts go on from what it has done since.
UPDATE nodes SET began_on = coalesce(began_on, :head)
WHERE  id = :id AND tenant_id = :tenant
RETURNING began_on;

-- name: finish
UPDATE nodes
SET    status = :status, summary = :summary, report = :report, failure_reason = :failure_reason,
       wants_round = :wants_round, head_sha = :head,
       model = coalesce(:model, model), log_hash = :log,
       log_lines = :log_lines, exit_code = :exit_code, turns = turns + :turns,
       input_tokens = input_tokens + :input, output_tokens = output_tokens + :output,
       cost_micros = cost_micros + :cost,
       completed_at = :completed_at
WHERE  id = :id AND tenant_id = :tenant AND status = 'running' AND attempt = :attempt;

-- name: requeue
-- Puts a node back that was answered or interrupted; its next start is another attempt.
UPDATE nodes SET status = 'queued', job_id = NULL
WHERE  id = :id AND tenant_id = :tenant AND status IN ('running', 'awaiting_input');

-- name: requeue_any
-- The same whether or not its start is on record.
UPDATE nodes SET status = 'queued', job_id = NULL
WHERE  id = :id AND tenant_id = :tenant AND status IN ('queued', 'running');

-- name: put_back
-- Puts a node back whose run could not begin; its job tries again.
UPDATE nodes SET status = 'queued'
WHERE  id = :id AND tenant_id = :tenant AND status = 'running' AND attempt = :attempt;

-- name: cut_short
-- What a start without a result used up; its log, should it be the last.
UPDATE nodes
SET    model = coalesce(:model, model), log_hash = coalesce(:log, log_hash),
       log_lines = iif(:log IS NULL, log_lines, :log_lines), turns = turns + :turns,
       input_tokens = input_tokens + :input, output_tokens = output_tokens + :output,
       cost_micros = cost_micros + :cost
WHERE  id = :id AND tenant_id = :tenant AND attempt = :attempt;

-- name: cancel_open
UPDATE nodes SET status = 'cancelled', completed_at = :now, offered_at = NULL
WHERE  ticket_id = :ticket AND tenant_id = :tenant
       AND status IN ('queued', 'running', 'awaiting_input', 'blocked');

-- name: reopen_cancelled
-- Nodes that were cancelled before they ever started are as good as new.
UPDATE nodes SET status = 'queued', completed_at = NULL, job_id = NULL
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND status = 'cancelled' AND attempt = 0;

-- name: tenant_of
-- cross-tenant: the hook of a job that was given up knows the node alone.
SELECT tenant_id FROM nodes WHERE id = :id LIMIT 1;

-- name: outline
-- What a list shows of each ticket's graph: no report, no summary.
SELECT position, ref, kind, status, agent FROM nodes
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY position, id LIMIT :limit;
