CREATE VIEW ticket_glimpses AS
SELECT n, tenant_id, project_id, category_id, status, kind, requester_name, requester_email,
       filed_by, changed_at
FROM   tickets;

CREATE VIEW ticket_rows AS
SELECT t.*, p.key AS project_key, c.name AS category_name, c.deleted_at AS category_deleted_at
FROM   tickets t
       JOIN projects p ON p.id = t.project_id
       LEFT JOIN categories c ON c.id = t.category_id;

CREATE VIEW ticket_texts AS
SELECT t.n, t.title, t.description, coalesce(p.key || '-', '#') || t.seq AS ref,
       lower(hex(t.tenant_id)) AS owner, lower(hex(t.project_id)) AS place
FROM   tickets t JOIN projects p ON p.id = t.project_id;

CREATE TRIGGER tickets_filed AFTER INSERT ON tickets BEGIN
    INSERT INTO ticket_counts (tenant_id, status, tickets) VALUES (new.tenant_id, new.status, 1)
    ON CONFLICT (tenant_id, status) DO UPDATE SET tickets = tickets + 1;
END;

CREATE TRIGGER tickets_gone AFTER DELETE ON tickets BEGIN
    UPDATE ticket_counts SET tickets = tickets - 1
    WHERE  tenant_id = old.tenant_id AND status = old.status;
END;

CREATE TRIGGER tickets_moved AFTER UPDATE OF status ON tickets WHEN old.status <> new.status BEGIN
    UPDATE ticket_counts SET tickets = tickets - 1
    WHERE  tenant_id = old.tenant_id AND status = old.status;
    INSERT INTO ticket_counts (tenant_id, status, tickets) VALUES (new.tenant_id, new.status, 1)
    ON CONFLICT (tenant_id, status) DO UPDATE SET tickets = tickets + 1;
END;

CREATE TABLE api_key_projects (
    key_id     BLOB NOT NULL REFERENCES api_keys (id),
    project_id BLOB NOT NULL REFERENCES projects (id),
    PRIMARY KEY (key_id, project_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    id                 BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id          BLOB NOT NULL REFERENCES tenants (id),
    name               TEXT NOT NULL CHECK (name <> ''),
    scope              TEXT NOT NULL CHECK (scope IN ('mcp_read', 'mcp_full', 'ci')),
    hash               BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    shown              TEXT NOT NULL,
    default_project_id BLOB REFERENCES projects (id),
    limited            INTEGER NOT NULL DEFAULT 0 CHECK (limited IN (0, 1)),
    ticket_id          BLOB REFERENCES tickets (id),
    created_by         TEXT NOT NULL,
    created_at         INTEGER NOT NULL,
    expires_at         INTEGER,
    last_used_at       INTEGER,
    revoked_at         INTEGER
) STRICT;

CREATE TABLE assertions (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    ticket_id  BLOB NOT NULL REFERENCES tickets (id),
    position   INTEGER NOT NULL,
    text       TEXT NOT NULL,
    check_kind TEXT NOT NULL CHECK (check_kind IN ('command', 'file', 'person', 'none')),
    check_text TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'confirmed', 'partial', 'unconfirmed')),
    evidence   TEXT,
    source     TEXT NOT NULL,
    proof_id   BLOB REFERENCES proofs (id),
    UNIQUE (ticket_id, position)
) STRICT;

CREATE TABLE attachments (
    id           BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id    BLOB NOT NULL REFERENCES tenants (id),
    project_id   BLOB NOT NULL REFERENCES projects (id),
    job_id       BLOB NOT NULL CHECK (length(job_id) = 16),
    token_hash   BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    name         TEXT NOT NULL CHECK (name <> ''),
    media_type   TEXT NOT NULL CHECK (media_type LIKE '_%/_%'),
    size_bytes   INTEGER NOT NULL CHECK (size_bytes > 0),
    announced_by TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    hash         BLOB CHECK (length(hash) = 32),
    uploaded_at  INTEGER,
    ticket_id    BLOB REFERENCES tickets (id),
    CHECK ((hash IS NOT NULL) = (uploaded_at IS NOT NULL)),
    CHECK (ticket_id IS NULL OR hash IS NOT NULL)
) STRICT;

CREATE TABLE audit (
    n          INTEGER PRIMARY KEY,
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    via        TEXT NOT NULL,
    action     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    request_id TEXT NOT NULL
) STRICT;

CREATE TABLE backups (
    n        INTEGER PRIMARY KEY,
    taken_at INTEGER NOT NULL,
    folder   TEXT NOT NULL CHECK (folder <> ''),
    bytes    INTEGER NOT NULL CHECK (bytes > 0),
    took_ms  INTEGER NOT NULL CHECK (took_ms >= 0),
    has_key  INTEGER NOT NULL CHECK (has_key IN (0, 1))
) STRICT;

CREATE TABLE categories (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    project_id BLOB NOT NULL REFERENCES projects (id),
    name       TEXT NOT NULL CHECK (name <> ''),
    name_norm  TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;

CREATE TABLE chain_phases (
    root_id   BLOB NOT NULL REFERENCES chains (root_id),
    position  INTEGER NOT NULL CHECK (position > 0),
    ticket_id BLOB NOT NULL UNIQUE REFERENCES tickets (id),
    tenant_id BLOB NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (root_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE chains (
    root_id     BLOB PRIMARY KEY REFERENCES tickets (id),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    title       TEXT NOT NULL,
    description TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE claim_lines (
    n         INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL REFERENCES tenants (id),
    claim_id  BLOB NOT NULL REFERENCES claims (id),
    text      TEXT NOT NULL
) STRICT;

CREATE TABLE claims (
    id            BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id     BLOB NOT NULL REFERENCES tenants (id),
    ticket_id     BLOB NOT NULL REFERENCES tickets (id),
    node_id       BLOB NOT NULL REFERENCES nodes (id),
    attempt       INTEGER NOT NULL,
    key_id        BLOB,
    holder        TEXT NOT NULL,
    agent         TEXT NOT NULL,
    head          TEXT,
    lease_ms      INTEGER NOT NULL CHECK (lease_ms > 0),
    lease_until   INTEGER NOT NULL,
    said          TEXT,
    percent       INTEGER CHECK (percent BETWEEN 0 AND 100),
    model         TEXT,
    turns         INTEGER NOT NULL DEFAULT 0 CHECK (turns >= 0),
    input_tokens  INTEGER NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens INTEGER NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    cost_micros   INTEGER NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
    claimed_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    ended_as      TEXT CHECK (ended_as IN ('reported', 'released', 'lapsed', 'cancelled')),
    CHECK ((ended_at IS NULL) = (ended_as IS NULL))
) STRICT;

CREATE TABLE data_operations (
    approval_id BLOB PRIMARY KEY REFERENCES questions (id),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    ticket_id   BLOB NOT NULL REFERENCES tickets (id),
    commit_sha  TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('intended', 'applied', 'failed', 'abandoned')),
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE environments (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    project_id BLOB NOT NULL REFERENCES projects (id),
    name       TEXT NOT NULL CHECK (name <> ''),
    slug       TEXT NOT NULL,
    base_url   TEXT NOT NULL,
    is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    created_at INTEGER NOT NULL,
    UNIQUE (project_id, slug)
) STRICT;

CREATE TABLE invitations (
    token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    email      TEXT NOT NULL CHECK (email = lower(email) AND email LIKE '%_@_%'),
    role       TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    invited_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (tenant_id, email)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_schedules (
    kind    TEXT PRIMARY KEY,
    next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    n            INTEGER PRIMARY KEY,
    id           BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    tenant_id    BLOB REFERENCES tenants (id),
    kind         TEXT NOT NULL CHECK (kind <> ''),
    payload      TEXT NOT NULL CHECK (json_valid(payload)),
    unique_key   TEXT CHECK (unique_key <> ''),
    project_id   BLOB CHECK (length(project_id) = 16),
    priority     INTEGER NOT NULL CHECK (priority IN (0, 1, 2)),
    state        TEXT NOT NULL CHECK (state IN ('ready', 'running', 'done', 'failed', 'cancelled')),
    run_at       INTEGER NOT NULL,
    attempt      INTEGER NOT NULL DEFAULT 0 CHECK (attempt BETWEEN 0 AND max_attempts),
    max_attempts INTEGER NOT NULL CHECK (max_attempts BETWEEN 1 AND 1000),
    claims       INTEGER NOT NULL DEFAULT 0 CHECK (claims >= attempt),
    recovered    INTEGER NOT NULL DEFAULT 0 CHECK (recovered IN (0, 1)),
    again        INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)),
    boot_id      BLOB CHECK (length(boot_id) = 16),
    lease_until  INTEGER,
    cancel_asked INTEGER,
    progress     TEXT CHECK (json_valid(progress)),
    result       TEXT CHECK (json_valid(result)),
    errors       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(errors)),
    created_at   INTEGER NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER,
    CHECK ((finished_at IS NOT NULL) = (state IN ('done', 'failed', 'cancelled'))),
    CHECK ((boot_id IS NOT NULL) = (state = 'running')),
    CHECK ((lease_until IS NOT NULL) = (state = 'running')),
    CHECK (cancel_asked IS NULL OR state <> 'ready')
) STRICT;

CREATE TABLE landings (
    id          BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    ticket_id   BLOB NOT NULL REFERENCES tickets (id),
    repository  TEXT NOT NULL,
    base_branch TEXT NOT NULL,
    base_before TEXT NOT NULL,
    commit_sha  TEXT NOT NULL,
    head_sha    TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('intended', 'landed', 'abandoned')),
    created_at  INTEGER NOT NULL,
    settled_at  INTEGER
) STRICT;

CREATE TABLE mail_settings (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1))
) STRICT;

CREATE TABLE mails (
    id          BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    ticket_id   BLOB NOT NULL REFERENCES tickets (id),
    question_id BLOB REFERENCES questions (id),
    address     TEXT NOT NULL CHECK (address <> ''),
    inbox       TEXT NOT NULL CHECK (inbox = lower(inbox)),
    reason      TEXT NOT NULL,
    letter      TEXT NOT NULL CHECK (json_valid(letter)),
    state       TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'refused', 'given_up',
                    'dropped')),
    attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    answer      TEXT,
    next_at     INTEGER,
    created_at  INTEGER NOT NULL,
    settled_at  INTEGER,
    CHECK ((next_at IS NOT NULL) = (state = 'pending')),
    CHECK ((settled_at IS NULL) = (state = 'pending'))
) STRICT;

CREATE TABLE migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE node_edges (
    ticket_id BLOB NOT NULL,
    parent_id BLOB NOT NULL REFERENCES nodes (id),
    node_id   BLOB NOT NULL REFERENCES nodes (id),
    tenant_id BLOB NOT NULL,
    PRIMARY KEY (ticket_id, parent_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
    id             BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id      BLOB NOT NULL,
    ticket_id      BLOB NOT NULL REFERENCES tickets (id),
    position       INTEGER NOT NULL,
    ref            TEXT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('plan', 'contract', 'research', 'investigate',
                       'implement', 'docs', 'integration', 'review', 'security', 'verification',
                       'qa_authoring', 'reconcile', 'merge_repair', 'land', 'deploy_verify')),
    status         TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed',
                       'cancelled', 'skipped', 'awaiting_input', 'blocked')),
    attempt        INTEGER NOT NULL DEFAULT 0,
    job_id         BLOB,
    offered_at     INTEGER,
    asks           TEXT CHECK (json_valid(asks)),
    began_on       TEXT,
    agent          TEXT,
    profile        TEXT,
    model          TEXT,
    brief          TEXT,
    summary        TEXT,
    report         TEXT,
    failure_reason TEXT,
    interrupts     INTEGER NOT NULL DEFAULT 0 CHECK (interrupts >= 0),
    wants_round    INTEGER NOT NULL DEFAULT 0 CHECK (wants_round IN (0, 1)),
    head_sha       TEXT,
    log_hash       BLOB CHECK (length(log_hash) = 32),
    log_lines      INTEGER NOT NULL DEFAULT 0,
    exit_code      INTEGER,
    turns          INTEGER NOT NULL DEFAULT 0,
    input_tokens   INTEGER NOT NULL DEFAULT 0,
    output_tokens  INTEGER NOT NULL DEFAULT 0,
    cost_micros    INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    started_at     INTEGER,
    completed_at   INTEGER,
    UNIQUE (ticket_id, ref)
) STRICT;

CREATE TABLE processes (
    run_id     BLOB PRIMARY KEY CHECK (length(run_id) = 16),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    node_id    BLOB REFERENCES nodes (id),
    boot_id    BLOB NOT NULL,
    pid        INTEGER NOT NULL,
    started    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE project_usage (
    project_id  BLOB NOT NULL REFERENCES projects (id),
    month       TEXT NOT NULL CHECK (month GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]'),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    tokens      INTEGER NOT NULL CHECK (tokens >= 0),
    cost_micros INTEGER NOT NULL CHECK (cost_micros >= 0),
    PRIMARY KEY (project_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
    id          BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    name        TEXT NOT NULL CHECK (name <> ''),
    name_norm   TEXT NOT NULL,
    slug        TEXT NOT NULL,
    key         TEXT CHECK (key GLOB '[A-Z]*' AND length(key) BETWEEN 1 AND 12),
    description TEXT NOT NULL,
    base_url    TEXT,
    repository  TEXT,
    base_branch TEXT,
    settings    TEXT NOT NULL CHECK (json_valid(settings)),
    last_seq    INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    UNIQUE (tenant_id, slug),
    UNIQUE (tenant_id, key)
) STRICT;

CREATE TABLE proof_evidence (
    proof_id   BLOB NOT NULL REFERENCES proofs (id),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    position   INTEGER NOT NULL,
    label      TEXT NOT NULL,
    media_type TEXT NOT NULL,
    hash       BLOB NOT NULL CHECK (length(hash) = 32),
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    PRIMARY KEY (proof_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE proofs (
    n          INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    project_id BLOB NOT NULL REFERENCES projects (id),
    ticket_id  BLOB REFERENCES tickets (id),
    node_id    BLOB REFERENCES nodes (id),
    kind       TEXT NOT NULL,
    claim      TEXT NOT NULL,
    verdict    TEXT NOT NULL CHECK (verdict IN ('proven', 'failed', 'inconclusive')),
    detail     TEXT NOT NULL CHECK (json_valid(detail)),
    made_by    TEXT NOT NULL,
    made_at    INTEGER NOT NULL,
    previous   BLOB CHECK (length(previous) = 32),
    digest     BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;

CREATE TABLE questions (
    id          BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    ticket_id   BLOB NOT NULL REFERENCES tickets (id),
    node_id     BLOB NOT NULL REFERENCES nodes (id),
    text        TEXT NOT NULL,
    choices     TEXT NOT NULL CHECK (json_valid(choices)),
    pause       TEXT CHECK (pause IN ('plan', 'land', 'apply', 'hold', 'unclear')),
    secret      TEXT CHECK (secret <> ''),
    asked_at    INTEGER NOT NULL,
    decision    TEXT CHECK (decision IN ('approve', 'reject')),
    answer      TEXT,
    answered_by TEXT,
    answered_at INTEGER,
    closed_at   INTEGER,
    CHECK (secret IS NULL OR pause IS NULL)
) STRICT;

CREATE TABLE saved_views (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id  BLOB NOT NULL REFERENCES tenants (id),
    user_id    BLOB NOT NULL REFERENCES users (id),
    name       TEXT NOT NULL CHECK (name <> ''),
    name_norm  TEXT NOT NULL,
    query      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (user_id, name_norm)
) STRICT;

CREATE TABLE secret_links (
    token_hash  BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    ticket_id   BLOB NOT NULL REFERENCES tickets (id),
    question_id BLOB NOT NULL REFERENCES questions (id),
    made_by     TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    token_hash   BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
    user_id      BLOB NOT NULL REFERENCES users (id),
    tenant_id    BLOB NOT NULL REFERENCES tenants (id),
    csrf         TEXT NOT NULL,
    user_agent   TEXT NOT NULL,
    address      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE setup_links (
    token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    slug       TEXT NOT NULL UNIQUE CHECK (slug <> ''),
    name       TEXT NOT NULL CHECK (name <> ''),
    plan       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE ticket_conversations (
    ticket_id   BLOB PRIMARY KEY REFERENCES tickets (id),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    title       TEXT NOT NULL,
    description TEXT NOT NULL,
    turns       TEXT NOT NULL CHECK (json_valid(turns)),
    drafted_by  TEXT CHECK (drafted_by IN ('rule', 'model'))
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_counts (
    tenant_id BLOB NOT NULL REFERENCES tenants (id),
    status    TEXT NOT NULL,
    tickets   INTEGER NOT NULL CHECK (tickets >= 0),
    PRIMARY KEY (tenant_id, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_days (
    day     INTEGER PRIMARY KEY,
    first_n INTEGER NOT NULL REFERENCES tickets (n),
    last_n  INTEGER NOT NULL REFERENCES tickets (n),
    CHECK (first_n <= last_n)
) STRICT;

CREATE TABLE ticket_dependencies (
    ticket_id BLOB NOT NULL REFERENCES tickets (id),
    parent_id BLOB NOT NULL REFERENCES tickets (id),
    tenant_id BLOB NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (ticket_id, parent_id),
    CHECK (ticket_id <> parent_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_events (
    n         INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    ticket_id BLOB NOT NULL REFERENCES tickets (id),
    at        INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    actor     TEXT NOT NULL,
    text      TEXT NOT NULL,
    node_ref  TEXT
) STRICT;

CREATE TABLE ticket_index (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    upto INTEGER NOT NULL CHECK (upto >= 0)
) STRICT;

CREATE TABLE ticket_items (
    n           INTEGER PRIMARY KEY,
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    ticket_id   BLOB NOT NULL REFERENCES tickets (id),
    kind        TEXT NOT NULL CHECK (kind IN ('deferred', 'follow_up', 'human_action')),
    text        TEXT NOT NULL,
    source      TEXT NOT NULL,
    resolved_at INTEGER
) STRICT;

CREATE TABLE ticket_keys (
    key       INTEGER NOT NULL,
    ticket_n  INTEGER NOT NULL REFERENCES tickets (n),
    tenant_id BLOB NOT NULL,
    PRIMARY KEY (key, ticket_n)
) STRICT, WITHOUT ROWID;

CREATE TABLE ticket_prints (
    ticket_n  INTEGER PRIMARY KEY REFERENCES tickets (n),
    tenant_id BLOB NOT NULL,
    k0        INTEGER NOT NULL,
    k1        INTEGER NOT NULL,
    k2        INTEGER NOT NULL,
    k3        INTEGER NOT NULL,
    k4        INTEGER NOT NULL,
    k5        INTEGER NOT NULL
) STRICT;

CREATE VIRTUAL TABLE ticket_search USING fts5 (
    title, description, ref, owner, place,
    content = 'ticket_texts', content_rowid = 'n', columnsize = 0,
    tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE 'ticket_search_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'ticket_search_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'ticket_search_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE ticket_secrets (
    ticket_id BLOB NOT NULL REFERENCES tickets (id),
    name      TEXT NOT NULL CHECK (name <> ''),
    tenant_id BLOB NOT NULL REFERENCES tenants (id),
    sealed    BLOB NOT NULL CHECK (length(sealed) > 0),
    given_by  TEXT NOT NULL,
    given_at  INTEGER NOT NULL,
    PRIMARY KEY (ticket_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
    n                     INTEGER PRIMARY KEY,
    id                    BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    tenant_id             BLOB NOT NULL REFERENCES tenants (id),
    project_id            BLOB NOT NULL REFERENCES projects (id),
    seq                   INTEGER NOT NULL CHECK (seq > 0),
    title                 TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 500),
    description           TEXT NOT NULL,
    status                TEXT NOT NULL CHECK (status IN ('queued', 'blocked', 'running',
                              'succeeded', 'failed', 'timeout', 'cancelled', 'awaiting_input')),
    kind                  TEXT NOT NULL CHECK (kind IN ('feature', 'fix', 'refactor',
                              'data_operation', 'org_agent_construction')),
    preset                TEXT NOT NULL,
    pass_profile          TEXT NOT NULL CHECK (pass_profile IN ('auto', 'full', 'minimal')),
    current_pass          INTEGER,
    origin                TEXT NOT NULL CHECK (origin IN ('dynamic', 'five_pass_v1')),
    graph_status          TEXT NOT NULL CHECK (graph_status IN ('ready', 'running', 'succeeded',
                              'failed', 'cancelled')),
    base_branch           TEXT,
    base_commit           TEXT,
    branch                TEXT,
    commit_sha            TEXT,
    auto_merge_status     TEXT,
    failure_reason        TEXT,
    completion_summary    TEXT,
    latest_phase_summary  TEXT,
    checkpoint_commits    INTEGER NOT NULL DEFAULT 0,
    source                TEXT,
    depends_on_reason     TEXT,
    scope_id              BLOB CHECK (length(scope_id) = 16),
    local_name            TEXT,
    replaces_id           BLOB CHECK (length(replaces_id) = 16),
    lost_parent_id        BLOB CHECK (length(lost_parent_id) = 16),
    seed_from_ref         TEXT,
    operation_key         TEXT,
    category_id           BLOB REFERENCES categories (id),
    requester_name        TEXT,
    requester_email       TEXT,
    requester_avatar_url  TEXT,
    requester_channel     TEXT,
    requester_ref         TEXT,
    filed_by              TEXT NOT NULL,
    turns_used            INTEGER NOT NULL DEFAULT 0 CHECK (turns_used >= 0),
    input_tokens          INTEGER NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens         INTEGER NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    credit_block_count    INTEGER NOT NULL DEFAULT 0,
    held_at               INTEGER,
    held_for              TEXT,
    interrupt_count       INTEGER NOT NULL DEFAULT 0,
    created_at            INTEGER NOT NULL,
    started_at            INTEGER,
    completed_at          INTEGER,
    changed_at            INTEGER GENERATED ALWAYS AS
                              (coalesce(completed_at, started_at, created_at)) VIRTUAL,
    UNIQUE (project_id, seq),
    CHECK ((completed_at IS NOT NULL) = (status IN ('succeeded', 'failed', 'timeout', 'cancelled')))
) STRICT;

CREATE TABLE users (
    id            BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id     BLOB NOT NULL REFERENCES tenants (id),
    email         TEXT NOT NULL UNIQUE CHECK (email = lower(email) AND email LIKE '%_@_%'),
    name          TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    password_hash TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    disabled_at   INTEGER,
    last_login_at INTEGER
) STRICT;

CREATE TABLE webhook_attempts (
    message_id  BLOB NOT NULL REFERENCES webhook_messages (id),
    attempt     INTEGER NOT NULL CHECK (attempt > 0),
    tenant_id   BLOB NOT NULL REFERENCES tenants (id),
    at          INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    status      INTEGER,
    answer      TEXT NOT NULL,
    error       TEXT,
    PRIMARY KEY (message_id, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_messages (
    n            INTEGER PRIMARY KEY,
    id           BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    tenant_id    BLOB NOT NULL REFERENCES tenants (id),
    webhook_id   BLOB NOT NULL REFERENCES webhooks (id),
    event        TEXT NOT NULL,
    facts        TEXT NOT NULL CHECK (json_valid(facts)),
    state        TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'given_up', 'dropped')),
    attempts     INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND attempts_max),
    attempts_max INTEGER NOT NULL,
    next_at      INTEGER,
    created_at   INTEGER NOT NULL,
    settled_at   INTEGER,
    CHECK ((next_at IS NOT NULL) = (state = 'pending')),
    CHECK ((settled_at IS NULL) = (state = 'pending'))
) STRICT;

CREATE TABLE webhooks (
    id            BLOB PRIMARY KEY CHECK (length(id) = 16),
    tenant_id     BLOB NOT NULL REFERENCES tenants (id),
    project_id    BLOB NOT NULL REFERENCES projects (id),
    url           TEXT NOT NULL CHECK (url LIKE 'http%://_%'),
    events        TEXT NOT NULL CHECK (json_valid(events)),
    is_private    INTEGER NOT NULL CHECK (is_private IN (0, 1)),
    secret        BLOB NOT NULL,
    enabled       INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    off_reason    TEXT,
    failures      INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    failing_since INTEGER,
    paused_until  INTEGER,
    created_by    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    removed_at    INTEGER,
    CHECK ((off_reason IS NULL) = (enabled = 1)),
    CHECK ((failing_since IS NULL) = (failures = 0)),
    CHECK (removed_at IS NULL OR (enabled = 0 AND length(secret) = 0))
) STRICT;

CREATE INDEX api_keys_by_tenant ON api_keys (tenant_id, created_at);

CREATE INDEX api_keys_by_ticket ON api_keys (ticket_id) WHERE ticket_id IS NOT NULL;

CREATE INDEX attachments_by_hash ON attachments (hash) WHERE hash IS NOT NULL;

CREATE INDEX attachments_by_job ON attachments (job_id);

CREATE INDEX attachments_by_ticket ON attachments (ticket_id) WHERE ticket_id IS NOT NULL;

CREATE INDEX attachments_unused ON attachments (created_at) WHERE ticket_id IS NULL;

CREATE INDEX audit_by_tenant ON audit (tenant_id, n);

CREATE UNIQUE INDEX categories_by_name ON categories (project_id, name_norm)
    WHERE deleted_at IS NULL;

CREATE INDEX categories_by_project ON categories (project_id, name_norm);

CREATE INDEX claim_lines_by_claim ON claim_lines (claim_id, n);

CREATE INDEX claims_by_ticket ON claims (ticket_id, claimed_at);

CREATE INDEX claims_due ON claims (lease_until) WHERE ended_at IS NULL;

CREATE UNIQUE INDEX claims_open ON claims (node_id) WHERE ended_at IS NULL;

CREATE INDEX data_operations_by_ticket ON data_operations (ticket_id, started_at);

CREATE UNIQUE INDEX data_operations_once ON data_operations (ticket_id) WHERE state = 'applied';

CREATE INDEX jobs_by_tenant ON jobs (tenant_id, state, n);

CREATE INDEX jobs_due ON jobs (run_at) WHERE state = 'ready';

CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX jobs_ready ON jobs (kind, priority, run_at, n) WHERE state = 'ready';

CREATE INDEX jobs_running ON jobs (kind, lease_until) WHERE state = 'running';

CREATE UNIQUE INDEX jobs_unique ON jobs (kind, unique_key, ifnull(tenant_id, x''))
    WHERE unique_key IS NOT NULL AND state IN ('ready', 'running');

CREATE INDEX landings_by_ticket ON landings (ticket_id, created_at);

CREATE INDEX landings_intended ON landings (repository, base_branch, created_at)
    WHERE state = 'intended';

CREATE UNIQUE INDEX landings_once ON landings (ticket_id) WHERE state = 'landed';

CREATE INDEX mails_by_inbox ON mails (tenant_id, inbox, created_at);

CREATE INDEX mails_by_ticket ON mails (ticket_id, reason, created_at);

CREATE INDEX mails_settled ON mails (settled_at) WHERE settled_at IS NOT NULL;

CREATE INDEX nodes_by_profile ON nodes (tenant_id, profile)
    WHERE profile IS NOT NULL AND job_id IS NOT NULL AND status IN ('queued', 'running');

CREATE INDEX nodes_offered ON nodes (tenant_id, offered_at, id) WHERE offered_at IS NOT NULL;

CREATE INDEX projects_by_name ON projects (tenant_id, name_norm, id);

CREATE INDEX proof_evidence_by_hash ON proof_evidence (hash);

CREATE INDEX proofs_by_kind ON proofs (tenant_id, kind, n);

CREATE INDEX proofs_by_project ON proofs (project_id, n);

CREATE INDEX proofs_by_tenant ON proofs (tenant_id, n);

CREATE INDEX proofs_by_ticket ON proofs (ticket_id, n) WHERE ticket_id IS NOT NULL;

CREATE INDEX proofs_by_verdict ON proofs (tenant_id, verdict, n);

CREATE INDEX questions_by_ticket ON questions (ticket_id, asked_at);

CREATE UNIQUE INDEX questions_open ON questions (ticket_id) WHERE closed_at IS NULL;

CREATE INDEX questions_waiting ON questions (tenant_id, asked_at) WHERE closed_at IS NULL;

CREATE INDEX secret_links_by_ticket ON secret_links (ticket_id);

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE INDEX ticket_dependencies_by_parent ON ticket_dependencies (parent_id);

CREATE INDEX ticket_events_by_ticket ON ticket_events (ticket_id, n);

CREATE INDEX ticket_items_by_ticket ON ticket_items (ticket_id, n);

CREATE INDEX tickets_by_category ON tickets (category_id) WHERE category_id IS NOT NULL;

CREATE INDEX tickets_by_category_status ON tickets (category_id, status)
    WHERE category_id IS NOT NULL;

CREATE INDEX tickets_by_change ON tickets (tenant_id, changed_at);

CREATE UNIQUE INDEX tickets_by_operation_key ON tickets (tenant_id, operation_key)
    WHERE operation_key IS NOT NULL;

CREATE INDEX tickets_by_project ON tickets (project_id);

CREATE INDEX tickets_by_project_change ON tickets (project_id, changed_at);

CREATE INDEX tickets_by_project_status ON tickets (project_id, status);

CREATE INDEX tickets_by_scope ON tickets (scope_id) WHERE scope_id IS NOT NULL;

CREATE INDEX tickets_by_tenant ON tickets (tenant_id);

CREATE INDEX tickets_by_tenant_status ON tickets (tenant_id, status);

CREATE INDEX tickets_held ON tickets (project_id, held_for, n) WHERE held_for IS NOT NULL;

CREATE INDEX tickets_landed ON tickets (tenant_id, completed_at) WHERE status = 'succeeded';

CREATE INDEX tickets_unfinished ON tickets (n) WHERE status IN ('queued', 'running', 'blocked');

CREATE INDEX users_by_tenant ON users (tenant_id, email);

CREATE INDEX webhook_messages_by_webhook ON webhook_messages (webhook_id, n);

CREATE INDEX webhook_messages_due ON webhook_messages (webhook_id, next_at, n)
    WHERE state = 'pending';

CREATE INDEX webhook_messages_settled ON webhook_messages (settled_at)
    WHERE settled_at IS NOT NULL;

CREATE INDEX webhooks_by_project ON webhooks (project_id, created_at) WHERE removed_at IS NULL;

CREATE INDEX webhooks_removed ON webhooks (removed_at) WHERE removed_at IS NOT NULL;
