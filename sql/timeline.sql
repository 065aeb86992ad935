-- name: insert
INSERT INTO ticket_events (tenant_id, ticket_id, at, kind, actor, text, node_ref)
VALUES (:tenant, :ticket, :at, :kind, :actor, :text, :node);

-- name: list
SELECT at, kind, actor, text, node_ref FROM ticket_events
WHERE  ticket_id = :ticket AND tenant_id = :tenant ORDER BY n DESC LIMIT :limit;

-- name: count
SELECT count(*) AS lines FROM ticket_events
WHERE  ticket_id = :ticket AND tenant_id = :tenant AND kind = :kind LIMIT 1;
