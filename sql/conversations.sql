-- name: insert
INSERT INTO ticket_conversations (ticket_id, tenant_id, title, description, turns, drafted_by)
VALUES (:ticket, :tenant, :title, :description, :turns, :drafted_by);

-- name: find
SELECT title, description, turns, drafted_by FROM ticket_conversations
WHERE  ticket_id = :ticket AND tenant_id = :tenant LIMIT 1;
