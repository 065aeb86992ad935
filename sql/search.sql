-- name: search
-- The index of words is walked from the newest ticket on; each ticket is found by its number.
SELECT t.* FROM ticket_search s CROSS JOIN ticket_rows t ON t.n = s.rowid
WHERE  s.ticket_search MATCH :query AND s.rowid >= :first AND s.rowid < :before
AND    +t.tenant_id = :tenant
AND    (:status IS NULL OR +t.status = :status)
AND    (:category IS NULL OR +t.category_id = :category)
AND    (:created_from IS NULL OR t.created_at >= :created_from)
AND    (:created_before IS NULL OR t.created_at < :created_before)
AND    (:completed_from IS NULL OR t.completed_at >= :completed_from)
AND    (:completed_before IS NULL OR t.completed_at < :completed_before)
ORDER  BY s.rowid DESC LIMIT :limit;

-- name: among
-- The same among few tickets: each is looked up in the index of words, where its words alone are
-- asked for, as most tickets have the same owner.
SELECT t.* FROM json_each(:few) f
       CROSS JOIN ticket_search s ON s.rowid = f.value
       CROSS JOIN ticket_rows t ON t.n = s.rowid
WHERE  s.ticket_search MATCH :query AND t.n >= :first AND t.n < :before AND +t.tenant_id = :tenant
AND    (:projects IS NULL
           OR lower(hex(t.project_id)) IN (SELECT value FROM json_each(:projects)))
AND    (:status IS NULL OR +t.status = :status)
AND    (:category IS NULL OR +t.category_id = :category)
AND    (:created_from IS NULL OR t.created_at >= :created_from)
AND    (:created_before IS NULL OR t.created_at < :created_before)
AND    (:completed_from IS NULL OR t.completed_at >= :completed_from)
AND    (:completed_before IS NULL OR t.completed_at < :completed_before)
ORDER  BY t.n DESC LIMIT :limit;

-- name: among_all
-- The same where no words are asked for.
SELECT t.* FROM json_each(:few) f CROSS JOIN ticket_rows t ON t.n = f.value
WHERE  t.n >= :first AND t.n < :before AND +t.tenant_id = :tenant
AND    (:projects IS NULL
           OR lower(hex(t.project_id)) IN (SELECT value FROM json_each(:projects)))
AND    (:status IS NULL OR +t.status = :status)
AND    (:category IS NULL OR +t.category_id = :category)
AND    (:created_from IS NULL OR t.created_at >= :created_from)
AND    (:created_before IS NULL OR t.created_at < :created_before)
AND    (:completed_from IS NULL OR t.completed_at >= :completed_from)
AND    (:completed_before IS NULL OR t.completed_at < :completed_before)
ORDER  BY t.n DESC LIMIT :limit;

-- name: days
-- cross-tenant: numbers of tickets by their day; nothing of a ticket
SELECT min(first_n) AS first_n, max(last_n) AS last_n FROM ticket_days
WHERE  day >= :from AND day <= :upto LIMIT 1;

-- name: of_status
SELECT n FROM tickets
WHERE  tenant_id = :tenant AND status = :status AND n >= :first AND n < :before
ORDER  BY n DESC LIMIT :limit;

-- name: ended_between
-- Those that began in that time and have not ended come along.
SELECT n FROM tickets
WHERE  tenant_id = :tenant AND changed_at >= :completed_from AND changed_at < :completed_before
ORDER  BY changed_at DESC LIMIT :limit;
