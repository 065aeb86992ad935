-- Rows of the first version: one tenant with all that it can have. They are loaded after the
-- migration of the same number, and must live through every later one.

INSERT INTO tenants (
    id, slug, name, plan, created_at
) VALUES (
    x'00000000000000000000000000000001', 'acme', 'Acme', 'everything', 1
);

INSERT INTO users (
    id, tenant_id, email, name, role, password_hash, created_at
) VALUES (
    x'00000000000000000000000000000002', x'00000000000000000000000000000001', 'ada@acme.test',
    'Ada', 'owner', '$argon2id$sample', 2
);

INSERT INTO sessions (
    token_hash, user_id, tenant_id, csrf, user_agent, address, created_at, last_seen_at,
    expires_at
) VALUES (
    x'1111111111111111111111111111111111111111111111111111111111111111',
    x'00000000000000000000000000000002', x'00000000000000000000000000000001', 'token', 'curl',
    '127.0.0.1', 3, 3, 9
);

INSERT INTO saved_views (
    id, tenant_id, user_id, name, name_norm, query, created_at
) VALUES (
    x'00000000000000000000000000000021', x'00000000000000000000000000000001',
    x'00000000000000000000000000000002', 'My failures', 'my failures', 'status=failed', 3
);

INSERT INTO invitations (
    token_hash, tenant_id, email, role, invited_by, created_at, expires_at
) VALUES (
    x'5555555555555555555555555555555555555555555555555555555555555555',
    x'00000000000000000000000000000001', 'ben@acme.test', 'member', 'user ada@acme.test', 4, 9
);

INSERT INTO setup_links (
    token_hash, created_at, expires_at, used_at
) VALUES (
    x'2222222222222222222222222222222222222222222222222222222222222222', 1, 9, 2
);

INSERT INTO projects (
    id, tenant_id, name, name_norm, slug, key, description, base_url, repository, base_branch,
    settings, last_seq, created_at, updated_at
) VALUES (
    x'00000000000000000000000000000004', x'00000000000000000000000000000001', 'Acme Widgets',
    'acme widgets', 'acme-widgets', 'ACME', '', 'https://acme.test', 'widgets.git', 'main',
    '{}', 2, 4, 4
);

INSERT INTO project_usage (
    project_id, month, tenant_id, tokens, cost_micros
) VALUES (
    x'00000000000000000000000000000004', '2026-07', x'00000000000000000000000000000001', 10, 20
);

INSERT INTO environments (
    id, tenant_id, project_id, name, slug, base_url, is_default, created_at
) VALUES (
    x'00000000000000000000000000000005', x'00000000000000000000000000000001',
    x'00000000000000000000000000000004', 'Staging', 'staging', 'https://staging.acme.test', 1,
    5
);

INSERT INTO categories (
    id, tenant_id, project_id, name, name_norm, created_at
) VALUES (
    x'00000000000000000000000000000006', x'00000000000000000000000000000001',
    x'00000000000000000000000000000004', 'Bugs', 'bugs', 5
);

INSERT INTO tickets (
    n, id, tenant_id, project_id, seq, title, description, status, kind, preset, pass_profile,
    origin, graph_status, base_branch, base_commit, branch, commit_sha, category_id, filed_by,
    created_at, started_at, completed_at
) VALUES (
    1, x'00000000000000000000000000000007', x'00000000000000000000000000000001',
    x'00000000000000000000000000000004', 1, 'Fix the widget', 'It squeaks.', 'succeeded',
    'fix', 'standard', 'auto', 'dynamic', 'succeeded', 'main', 'a1', 'agent/1', 'b2',
    x'00000000000000000000000000000006', 'user:ada', 6, 7, 8
);

INSERT INTO tickets (
    n, id, tenant_id, project_id, seq, title, description, status, kind, preset, pass_profile,
    origin, graph_status, operation_key, filed_by, created_at
) VALUES (
    2, x'00000000000000000000000000000008', x'00000000000000000000000000000001',
    x'00000000000000000000000000000004', 2, 'Paint the widget', '', 'blocked', 'feature',
    'standard', 'full', 'dynamic', 'ready', 'paint-1', 'key:agent', 6
);

INSERT INTO ticket_search (rowid, title, description, ref, owner, place)
SELECT n, title, description, ref, owner, place FROM ticket_texts;

INSERT INTO api_keys (
    id, tenant_id, name, scope, hash, shown, default_project_id, limited, ticket_id,
    created_by, created_at
) VALUES (
    x'00000000000000000000000000000003', x'00000000000000000000000000000001', 'agent',
    'mcp_full', x'3333333333333333333333333333333333333333333333333333333333333333',
    'alch_12…ab', x'00000000000000000000000000000004', 1, x'00000000000000000000000000000007',
    'user:ada', 6
);

INSERT INTO api_key_projects (
    key_id, project_id
) VALUES (
    x'00000000000000000000000000000003', x'00000000000000000000000000000004'
);

INSERT INTO audit (
    n, tenant_id, at, actor, via, action, subject, outcome, request_id
) VALUES (
    1, x'00000000000000000000000000000001', 6, 'user:ada', 'dashboard', 'dispatch_ticket',
    'ACME-1', 'ok', 'r1'
);

INSERT INTO ticket_dependencies (
    ticket_id, parent_id, tenant_id
) VALUES (
    x'00000000000000000000000000000008', x'00000000000000000000000000000007',
    x'00000000000000000000000000000001'
);

INSERT INTO attachments (
    id, tenant_id, project_id, job_id, token_hash, name, media_type, size_bytes, announced_by,
    created_at, expires_at, hash, uploaded_at, ticket_id
) VALUES (
    x'00000000000000000000000000000020', x'00000000000000000000000000000001',
    x'00000000000000000000000000000004', x'00000000000000000000000000000007',
    x'6666666666666666666666666666666666666666666666666666666666666666', 'brief.pdf',
    'application/pdf', 12, 'key agent', 5, 9,
    x'7777777777777777777777777777777777777777777777777777777777777777', 6,
    x'00000000000000000000000000000007'
);

INSERT INTO nodes (
    id, tenant_id, ticket_id, position, ref, kind, status, attempt, created_at, started_at,
    completed_at
) VALUES (
    x'00000000000000000000000000000009', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', 0, 'plan', 'plan', 'succeeded', 1, 6, 7, 7
);

INSERT INTO nodes (
    id, tenant_id, ticket_id, position, ref, kind, status, attempt, job_id, agent, log_hash,
    log_lines, exit_code, created_at, started_at, completed_at
) VALUES (
    x'0000000000000000000000000000000a', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', 1, 'implement', 'implement', 'succeeded', 2,
    x'00000000000000000000000000000010', 'script',
    x'4444444444444444444444444444444444444444444444444444444444444444', 3, 0, 6, 7, 8
);

INSERT INTO claims (
    id, tenant_id, ticket_id, node_id, attempt, holder, agent, head, lease_ms, lease_until,
    said, percent, turns, claimed_at, ended_at, ended_as
) VALUES (
    x'0000000000000000000000000000000f', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', x'0000000000000000000000000000000a', 1, 'key cursor',
    'cursor', 'a1', 900000, 9, 'Half of it.', 50, 3, 6, 7, 'released'
);

INSERT INTO claim_lines (
    n, tenant_id, claim_id, text
) VALUES (
    1, x'00000000000000000000000000000001', x'0000000000000000000000000000000f', 'Half of it.'
);

INSERT INTO node_edges (
    node_id, parent_id, tenant_id, ticket_id
) VALUES (
    x'0000000000000000000000000000000a', x'00000000000000000000000000000009',
    x'00000000000000000000000000000001', x'00000000000000000000000000000007'
);

INSERT INTO proofs (
    n, id, tenant_id, project_id, ticket_id, node_id, kind, claim, verdict, detail, made_by,
    made_at, digest
) VALUES (
    1, x'0000000000000000000000000000000f', x'00000000000000000000000000000001',
    x'00000000000000000000000000000004', x'00000000000000000000000000000007',
    x'0000000000000000000000000000000a', 'command', 'The tests pass.', 'proven', '{}',
    'assay 0.1.0', 8, x'5555555555555555555555555555555555555555555555555555555555555555'
);

INSERT INTO proof_evidence (
    proof_id, tenant_id, position, label, media_type, hash, size_bytes
) VALUES (
    x'0000000000000000000000000000000f', x'00000000000000000000000000000001', 0, 'log',
    'text/plain', x'4444444444444444444444444444444444444444444444444444444444444444', 12
);

INSERT INTO assertions (
    id, tenant_id, ticket_id, position, text, check_kind, check_text, state, source, proof_id
) VALUES (
    x'0000000000000000000000000000000b', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', 0, 'It does not squeak.', 'command', 'make test',
    'confirmed', 'contract', x'0000000000000000000000000000000f'
);

INSERT INTO ticket_keys (key, ticket_n, tenant_id)
VALUES (-7, 1, x'00000000000000000000000000000001');

INSERT INTO ticket_prints (ticket_n, tenant_id, k0, k1, k2, k3, k4, k5)
VALUES (1, x'00000000000000000000000000000001', -7, 1, 2, 3, 4, 5);

INSERT INTO ticket_days (day, first_n, last_n) VALUES (0, 1, 2);

UPDATE ticket_index SET upto = 2;

INSERT INTO chains (root_id, tenant_id, title, description) VALUES (
    x'00000000000000000000000000000007', x'00000000000000000000000000000001', 'Fix the widget',
    'Phase 1: It squeaks.'
);

INSERT INTO chain_phases (root_id, position, ticket_id, tenant_id) VALUES (
    x'00000000000000000000000000000007', 1, x'00000000000000000000000000000007',
    x'00000000000000000000000000000001'
);

INSERT INTO ticket_conversations (
    ticket_id, tenant_id, title, description, turns, drafted_by
) VALUES (
    x'00000000000000000000000000000008', x'00000000000000000000000000000001', 'Paint it', '',
    '[{"role":"user","content":"Paint the widget."}]', 'rule'
);

INSERT INTO ticket_items (
    n, tenant_id, ticket_id, kind, text, source
) VALUES (
    1, x'00000000000000000000000000000001', x'00000000000000000000000000000007', 'follow_up',
    'Oil the other one.', 'implement'
);

INSERT INTO questions (
    id, tenant_id, ticket_id, node_id, text, choices, asked_at, answer, answered_by,
    answered_at, closed_at
) VALUES (
    x'0000000000000000000000000000000c', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', x'0000000000000000000000000000000a', 'Which oil?',
    '["olive", "machine"]', 7, 'machine', 'user:ada', 7, 7
);

INSERT INTO questions (
    id, tenant_id, ticket_id, node_id, text, choices, pause, asked_at, decision, answer,
    answered_by, answered_at, closed_at
) VALUES (
    x'00000000000000000000000000000011', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', x'0000000000000000000000000000000a',
    'May it be applied?', '[]', 'apply', 7, 'approve', 'It is safe.', 'user ada@acme.test', 7, 7
);

INSERT INTO questions (
    id, tenant_id, ticket_id, node_id, text, choices, secret, asked_at, answer, answered_by,
    answered_at, closed_at
) VALUES (
    x'00000000000000000000000000000021', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', x'0000000000000000000000000000000a',
    'What signs the webhooks?', '[]', 'WEBHOOK_SECRET', 7, 'Given.', 'user ada@acme.test', 8, 8
);

INSERT INTO ticket_secrets (ticket_id, name, tenant_id, sealed, given_by, given_at) VALUES (
    x'00000000000000000000000000000007', 'WEBHOOK_SECRET', x'00000000000000000000000000000001',
    x'01', 'user ada@acme.test', 8
);

INSERT INTO secret_links (
    token_hash, tenant_id, ticket_id, question_id, made_by, created_at, expires_at, used_at
) VALUES (
    x'0000000000000000000000000000000000000000000000000000000000000021',
    x'00000000000000000000000000000001', x'00000000000000000000000000000007',
    x'00000000000000000000000000000021', 'user ada@acme.test', 7, 9, 8
);

INSERT INTO data_operations (
    approval_id, tenant_id, ticket_id, commit_sha, state, started_at, ended_at
) VALUES (
    x'00000000000000000000000000000011', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', 'b2', 'applied', 7, 8
);

INSERT INTO ticket_events (
    n, tenant_id, ticket_id, at, kind, actor, text
) VALUES (
    1, x'00000000000000000000000000000001', x'00000000000000000000000000000007', 6,
    'dispatched', 'user:ada', 'Dispatched.'
);

INSERT INTO landings (
    id, tenant_id, ticket_id, repository, base_branch, base_before, commit_sha, head_sha,
    state, created_at, settled_at
) VALUES (
    x'0000000000000000000000000000000d', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', 'widgets.git', 'main', 'a1', 'b2', 'c3', 'landed', 8,
    8
);

INSERT INTO processes (
    run_id, tenant_id, node_id, boot_id, pid, started, created_at
) VALUES (
    x'0000000000000000000000000000000e', x'00000000000000000000000000000001',
    x'0000000000000000000000000000000a', x'00000000000000000000000000000063', 4242, 1, 7
);

INSERT INTO webhooks (
    id, tenant_id, project_id, url, events, is_private, secret, created_by, created_at
) VALUES (
    x'00000000000000000000000000000020', x'00000000000000000000000000000001',
    x'00000000000000000000000000000004', 'https://chat.acme.test/hook', '["ticket.failed"]', 0,
    x'01', 'user ada@acme.test', 6
);

INSERT INTO webhook_messages (
    n, id, tenant_id, webhook_id, event, facts, state, attempts, attempts_max, created_at,
    settled_at
) VALUES (
    1, x'00000000000000000000000000000021', x'00000000000000000000000000000001',
    x'00000000000000000000000000000020', 'ticket.failed', '{}', 'delivered', 1, 8, 7, 8
);

INSERT INTO webhook_attempts (
    message_id, attempt, tenant_id, at, duration_ms, status, answer
) VALUES (
    x'00000000000000000000000000000021', 1, x'00000000000000000000000000000001', 7, 31, 204, ''
);

UPDATE mail_settings SET enabled = 1;

INSERT INTO mails (
    id, tenant_id, ticket_id, question_id, address, inbox, reason, letter, state, attempts,
    answer, created_at, settled_at
) VALUES (
    x'00000000000000000000000000000022', x'00000000000000000000000000000001',
    x'00000000000000000000000000000007', NULL, 'Ada@acme.test', 'ada@acme.test', 'failed', '{}',
    'sent', 1, '250 OK', 7, 8
);

INSERT INTO jobs (
    n, id, tenant_id, kind, payload, priority, state, run_at, attempt, max_attempts, claims,
    progress, result, errors, created_at, started_at, finished_at
) VALUES (
    1, x'00000000000000000000000000000010', x'00000000000000000000000000000001', 'run_node',
    '{}', 1, 'done', 6, 1, 3, 2, '{"done":1,"total":1,"text":"all"}', '{"ok":true}',
    '[{"attempt":1,"at":6,"message":"It broke."}]', 6, 7, 8
);

INSERT INTO jobs (
    n, id, kind, payload, unique_key, priority, state, run_at, attempt, max_attempts, claims,
    recovered, again, boot_id, lease_until, cancel_asked, created_at, started_at
) VALUES (
    2, x'00000000000000000000000000000064', 'sweep', '{}', 'sweep', 2, 'running', 6, 1, 1, 1,
    1, 1, x'00000000000000000000000000000063', 9, 8, 6, 7
);

INSERT INTO job_schedules (
    kind, next_at
) VALUES (
    'sweep', 10
);

INSERT INTO backups (n, taken_at, folder, bytes, took_ms, has_key) VALUES (
    1, 9, '/b/1', 4096, 5, 1
);
