-- name: search
-- The index of words is walked from the newest ticket on; each ticket is found by its number.
SELECT t.* FROM ticket_search s CROSS JOIN ticket_rows t ON t.n = s.rowid
WHERE  s.ticket_search MATCH :query AND s.rowid < :before AND +t.tenant_id = :tenant
AND    (:status IS NULL OR +t.status = :status)
AND    (:category IS NULL OR +t.category_id = :category)
AND    (:created_from IS NULL OR t.created_at >= :created_from)
AND    (:created_before IS NULL OR t.created_at < :created_before)
AND    (:completed_from IS NULL OR t.completed_at >= :completed_from)
AND    (:completed_before IS NULL OR t.completed_at < :completed_before)
ORDER  BY s.rowid DESC LIMIT :limit;
