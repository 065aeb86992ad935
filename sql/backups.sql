-- Copies of the data directory, which are the host's.

-- name: note
INSERT INTO backups (taken_at, folder, bytes, took_ms, has_key)
VALUES (:taken_at, :folder, :bytes, :took_ms, :has_key);

-- name: forget
-- What was taken long before the last one is of no interest.
DELETE FROM backups WHERE n <= (SELECT max(n) FROM backups) - :kept;

-- name: last
SELECT taken_at, folder, bytes, took_ms, has_key
FROM   backups
WHERE  n = (SELECT max(n) FROM backups)
LIMIT  1;
