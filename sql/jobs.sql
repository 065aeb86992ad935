-- The durable queue. A job is ready, then running under a lease, then done, failed or cancelled,
-- which is final. Whatever ends or renews a run names its claim: id, claims and boot. A run that
-- was asked for again while it went on leaves its job ready, with all its attempts.

-- name: enqueue
INSERT INTO jobs (id, tenant_id, kind, payload, unique_key, project_id, priority, state, run_at,
                  max_attempts, created_at)
VALUES (:id, :tenant, :kind, :payload, :unique_key, :project, :priority, 'ready', :run_at,
        :max_attempts, :now);

-- name: find_unique
SELECT id
FROM   jobs
WHERE  kind = :kind AND unique_key = :unique_key
  AND  ifnull(tenant_id, x'') = ifnull(:tenant, x'') AND state IN ('ready', 'running')
LIMIT  1;

-- name: find
SELECT id, tenant_id, kind, state, attempt, max_attempts, run_at, cancel_asked, progress, result,
       errors, created_at, started_at, finished_at
FROM   jobs
WHERE  id = :id AND tenant_id IS :tenant
LIMIT  1;

-- name: payload
SELECT payload
FROM   jobs
WHERE  id = :id AND tenant_id IS :tenant AND kind = :kind
LIMIT  1;

-- name: list
-- The newest first.
SELECT id, tenant_id, kind, state, attempt, max_attempts, run_at, cancel_asked, progress, result,
       errors, created_at, started_at, finished_at
FROM   jobs
WHERE  tenant_id IS :tenant AND state = :state
ORDER  BY n DESC
LIMIT  :limit;

-- name: page
-- The newest first.
SELECT id, tenant_id, kind, state, attempt, max_attempts, run_at, cancel_asked, progress, result,
       errors, created_at, started_at, finished_at
FROM   jobs
WHERE  tenant_id = :tenant AND state = :state AND (:kind IS NULL OR kind = :kind)
  AND  n < ifnull((SELECT n FROM jobs WHERE id = :after AND tenant_id = :tenant),
                  9223372036854775807)
ORDER  BY n DESC
LIMIT  :limit;

-- name: count_of_tenant
SELECT kind, sum(state = 'running') AS running,
       sum(state = 'ready' AND run_at <= :now) AS waiting,
       sum(state = 'ready' AND run_at > :now) AS later,
       min(CASE WHEN state = 'ready' AND run_at <= :now THEN run_at END) AS oldest
FROM   (SELECT * FROM (SELECT kind, state, run_at FROM jobs
                       WHERE  tenant_id = :tenant AND state = 'running' LIMIT :counted)
        UNION ALL
        SELECT * FROM (SELECT kind, state, run_at FROM jobs
                       WHERE  tenant_id = :tenant AND state = 'ready' ORDER BY n LIMIT :counted))
GROUP  BY kind
ORDER  BY kind
LIMIT  :limit;

-- name: cancel_ready
UPDATE jobs
SET    state = 'cancelled', cancel_asked = :now, finished_at = :now
WHERE  id = :id AND tenant_id IS :tenant AND state = 'ready';

-- name: ask_again
-- Whoever asks for work that runs already wants it to see what has changed since it started.
-- cross-tenant: the id was found by its tenant's key
UPDATE jobs
SET    again = 1
WHERE  id = :id AND state = 'running';

-- name: hasten
-- A job that waits for later is due at once.
UPDATE jobs
SET    run_at = :now
WHERE  kind = :kind AND unique_key = :unique_key
  AND  ifnull(tenant_id, x'') = ifnull(:tenant, x'') AND state = 'ready' AND run_at > :now;

-- name: cancel_running
-- The first asking counts. It undoes what was asked before it, and not what is asked after.
UPDATE jobs
SET    cancel_asked = ifnull(cancel_asked, :now), again = 0
WHERE  id = :id AND tenant_id IS :tenant AND state = 'running';

-- name: claim
-- There is one writer, so the rows need no lock. One kind and one priority at a time: the index
-- then gives the due rows in their order, however many wait for later.
-- cross-tenant: the worker serves every tenant
UPDATE jobs
SET    state = 'running', attempt = attempt + 1, claims = claims + 1, again = 0,
       boot_id = :boot, lease_until = :lease_until, started_at = :now
WHERE  n IN (SELECT n
             FROM   jobs
             WHERE  state = 'ready' AND kind = :kind AND priority = :priority AND run_at <= :now
             ORDER  BY run_at, n
             LIMIT  :limit)
RETURNING n, run_at, id, tenant_id, kind, payload, attempt, max_attempts, claims, recovered;

-- name: claim_in_turn
-- Of each project the jobs that run come first, and then those that are due in their order: whoever
-- has least under way is next. All that are due are looked at, so this is for kinds of which each
-- project has a few ready at a time.
-- cross-tenant: the worker serves every tenant
UPDATE jobs
SET    state = 'running', attempt = attempt + 1, claims = claims + 1, again = 0,
       boot_id = :boot, lease_until = :lease_until, started_at = :now
WHERE  n IN (SELECT n
             FROM   (SELECT due.n, due.run_at,
                            row_number() OVER (PARTITION BY due.project_id
                                               ORDER BY due.run_at, due.n)
                            + (SELECT count(*) FROM jobs busy
                               WHERE  busy.state = 'running' AND busy.kind = :kind
                                      AND busy.project_id IS due.project_id) AS turn
                     FROM   jobs due
                     WHERE  due.state = 'ready' AND due.kind = :kind
                            AND due.priority = :priority AND due.run_at <= :now)
             ORDER  BY turn, run_at, n
             LIMIT  :limit)
RETURNING n, run_at, id, tenant_id, kind, payload, attempt, max_attempts, claims, recovered;

-- name: next_due
-- cross-tenant: the worker serves every tenant
SELECT run_at
FROM   jobs
WHERE  state = 'ready' AND run_at > :now
ORDER  BY run_at
LIMIT  1;

-- name: renew
-- cross-tenant: the claim names one job
UPDATE jobs
SET    lease_until = :lease_until
WHERE  id = :id AND state = 'running' AND claims = :claims AND boot_id = :boot
RETURNING cancel_asked;

-- name: save_progress
-- cross-tenant: the claim names one job
UPDATE jobs
SET    progress = :progress
WHERE  id = :id AND state = 'running' AND claims = :claims AND boot_id = :boot;

-- name: finish
-- cross-tenant: the claim names one job
UPDATE jobs
SET    state = iif(again, 'ready', 'done'), finished_at = iif(again, NULL, :now),
       attempt = iif(again, 0, attempt), run_at = iif(again, :now, run_at),
       result = iif(again, NULL, :result), recovered = 0,
       cancel_asked = iif(again, NULL, cancel_asked), boot_id = NULL, lease_until = NULL
WHERE  id = :id AND state = 'running' AND claims = :claims AND boot_id = :boot
RETURNING state, tenant_id;

-- name: fail
-- cross-tenant: the claim names one job
UPDATE jobs
SET    state = CASE WHEN again THEN 'ready'
                    WHEN cancel_asked IS NOT NULL THEN 'cancelled'
                    ELSE 'failed' END,
       finished_at = iif(again, NULL, :now), attempt = iif(again, 0, attempt),
       run_at = iif(again, :now, run_at), recovered = 0,
       errors = json_insert(iif(json_array_length(errors) >= :errors_max,
                                json_remove(errors, '$[0]'), errors), '$[#]',
                            json_object('attempt', attempt, 'at', :now, 'message', :message)),
       cancel_asked = iif(again, NULL, cancel_asked), boot_id = NULL, lease_until = NULL
WHERE  id = :id AND state = 'running' AND claims = :claims AND boot_id = :boot
RETURNING state;

-- name: retry
-- cross-tenant: the claim names one job
UPDATE jobs
SET    state = CASE WHEN again THEN 'ready'
                    WHEN cancel_asked IS NOT NULL THEN 'cancelled'
                    WHEN attempt >= max_attempts THEN 'failed'
                    ELSE 'ready' END,
       finished_at = iif(NOT again AND (cancel_asked IS NOT NULL OR attempt >= max_attempts),
                         :now, NULL),
       attempt = iif(again, 0, attempt),
       run_at = :run_at, recovered = 0,
       errors = json_insert(iif(json_array_length(errors) >= :errors_max,
                                json_remove(errors, '$[0]'), errors), '$[#]',
                            json_object('attempt', attempt, 'at', :now, 'message', :message)),
       cancel_asked = iif(again, NULL, cancel_asked), boot_id = NULL, lease_until = NULL
WHERE  id = :id AND state = 'running' AND claims = :claims AND boot_id = :boot
RETURNING state;

-- name: put_back
-- The attempt does not count. `recovered` says whether the run was cut short.
-- cross-tenant: the claim names one job
UPDATE jobs
SET    state = iif(again OR cancel_asked IS NULL, 'ready', 'cancelled'),
       finished_at = iif(again OR cancel_asked IS NULL, NULL, :now),
       attempt = iif(again, 0, attempt - 1), run_at = :run_at, recovered = :recovered,
       cancel_asked = iif(again, NULL, cancel_asked), boot_id = NULL, lease_until = NULL
WHERE  id = :id AND state = 'running' AND claims = :claims AND boot_id = :boot
RETURNING state, kind, payload;

-- name: stale
-- Runs of a process that is gone, and runs that nobody renewed.
-- cross-tenant: the worker serves every tenant
SELECT id, claims, boot_id
FROM   jobs
WHERE  state = 'running' AND (boot_id <> :boot OR lease_until <= :now)
LIMIT  :limit;

-- name: recover
-- Says again what made the run stale: it may have ended or been renewed since it was seen.
-- cross-tenant: the claim names one job
UPDATE jobs
SET    state = CASE WHEN again THEN 'ready'
                    WHEN cancel_asked IS NOT NULL THEN 'cancelled'
                    WHEN attempt >= max_attempts THEN 'failed'
                    ELSE 'ready' END,
       finished_at = iif(NOT again AND (cancel_asked IS NOT NULL OR attempt >= max_attempts),
                         :now, NULL),
       attempt = iif(again, 0, attempt),
       run_at = :now, recovered = 1,
       errors = json_insert(iif(json_array_length(errors) >= :errors_max,
                                json_remove(errors, '$[0]'), errors), '$[#]',
                            json_object('attempt', attempt, 'at', :now, 'message', :message)),
       cancel_asked = iif(again, NULL, cancel_asked), boot_id = NULL, lease_until = NULL
WHERE  id = :id AND state = 'running' AND claims = :claims AND boot_id = :run_boot
  AND  (boot_id <> :boot OR lease_until <= :now)
RETURNING state, kind, payload;

-- name: cancels_asked
-- cross-tenant: the worker serves every tenant
SELECT id
FROM   jobs
WHERE  state = 'running' AND boot_id = :boot AND cancel_asked IS NOT NULL
LIMIT  :limit;

-- name: purge
-- cross-tenant: ended jobs of every tenant are kept equally long
DELETE FROM jobs
WHERE  n IN (SELECT n
             FROM   jobs
             WHERE  finished_at IS NOT NULL AND finished_at < :before
             ORDER  BY finished_at
             LIMIT  :limit);

-- name: count_ready
-- cross-tenant: the health of the whole queue
SELECT kind, count(*) AS jobs, min(run_at) AS first_run_at
FROM   jobs
WHERE  state = 'ready'
GROUP  BY kind
ORDER  BY kind
LIMIT  :limit;

-- name: depth
-- cross-tenant: figures of the whole queue
SELECT kind, sum(state = 'running') AS running,
       sum(state = 'ready' AND run_at <= :now) AS due,
       sum(state = 'ready' AND run_at > :now) AS later,
       min(CASE WHEN state = 'ready' AND run_at <= :now THEN run_at END) AS oldest
FROM   (SELECT * FROM (SELECT kind, state, run_at FROM jobs WHERE state = 'running' LIMIT :counted)
        UNION ALL
        SELECT * FROM (SELECT kind, state, run_at FROM jobs WHERE state = 'ready'
                       ORDER BY run_at LIMIT :counted))
GROUP  BY kind
ORDER  BY kind
LIMIT  :limit;

-- name: count_running
-- cross-tenant: the health of the whole queue
SELECT kind, count(*) AS jobs
FROM   jobs
WHERE  state = 'running'
GROUP  BY kind
ORDER  BY kind
LIMIT  :limit;

-- name: find_schedule
SELECT next_at
FROM   job_schedules
WHERE  kind = :kind
LIMIT  1;

-- name: set_schedule
INSERT INTO job_schedules (kind, next_at)
VALUES (:kind, :next_at)
ON CONFLICT (kind) DO UPDATE SET next_at = excluded.next_at;
