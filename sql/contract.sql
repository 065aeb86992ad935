-- name: assertions
SELECT id, text, check_kind, check_text, state, evidence, source, proof_id FROM assertions
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY position LIMIT :limit;

-- name: clear
DELETE FROM assertions WHERE ticket_id = :ticket AND tenant_id = :tenant;

-- name: insert
INSERT INTO assertions (id, tenant_id, ticket_id, position, text, check_kind, check_text, state,
    source)
VALUES (:id, :tenant, :ticket, :position, :text, :check_kind, :check_text, 'open', :source);

-- name: settle
UPDATE assertions SET state = :state, evidence = :evidence, proof_id = :proof
WHERE  id = :id AND tenant_id = :tenant;

-- name: items
SELECT kind, text, source, resolved_at FROM ticket_items
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY n LIMIT :limit;

-- name: add_item
-- An agent that runs twice says the same twice; once is enough to read.
INSERT INTO ticket_items (tenant_id, ticket_id, kind, text, source)
SELECT :tenant, :ticket, :kind, :text, :source
WHERE  NOT EXISTS (
    SELECT 1 FROM ticket_items
    WHERE  ticket_id = :ticket AND tenant_id = :tenant AND kind = :kind AND text = :text
           AND resolved_at IS NULL
);

-- name: resolve_landing_actions
UPDATE ticket_items SET resolved_at = :now
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND kind = 'human_action'
       AND (source LIKE 'land-%' OR source LIKE 'verification-%') AND resolved_at IS NULL;
