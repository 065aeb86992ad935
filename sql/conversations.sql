-- name: insert
INSERT INTO ticket_conversations (ticket_id, tenant_id, title, description, turns)
VALUES (:ticket, :tenant, :title, :description, :turns);

-- name: find
SELECT title, description, turns FROM ticket_conversations
WHERE  ticket_id = :ticket AND tenant_id = :tenant LIMIT 1;
