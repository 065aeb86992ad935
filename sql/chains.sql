-- name: insert
INSERT INTO chains (root_id, tenant_id, title, description)
VALUES (:root, :tenant, :title, :description);

-- name: add_phase
INSERT INTO chain_phases (root_id, position, ticket_id, tenant_id)
VALUES (:root, :position, :ticket, :tenant);

-- name: phases
SELECT t.* FROM chain_phases c JOIN ticket_rows t ON t.id = c.ticket_id
WHERE  c.root_id = :root AND c.tenant_id = :tenant ORDER BY c.position LIMIT :limit;
