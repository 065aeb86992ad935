-- name: newest_digest
SELECT digest FROM proofs WHERE tenant_id = :tenant ORDER BY n DESC LIMIT 1;

-- name: insert
INSERT INTO proofs (id, tenant_id, project_id, ticket_id, node_id, kind, claim, verdict, detail,
    made_by, made_at, previous, digest)
VALUES (:id, :tenant, :project, :ticket, :node, :kind, :claim, :verdict, :detail, :made_by, :now,
    :previous, :digest);

-- name: insert_evidence
INSERT INTO proof_evidence (proof_id, tenant_id, position, label, media_type, hash, size_bytes)
VALUES (:proof, :tenant, :position, :label, :media_type, :hash, :size);

-- name: list_of_ticket
SELECT * FROM proofs
WHERE  ticket_id = :ticket AND +tenant_id = :tenant ORDER BY n LIMIT :limit;

-- name: list_recent
SELECT * FROM proofs WHERE tenant_id = :tenant ORDER BY n DESC LIMIT :limit;

-- name: evidence
SELECT label, media_type, hash, size_bytes FROM proof_evidence
WHERE  proof_id = :proof AND tenant_id = :tenant ORDER BY position LIMIT :limit;

-- name: find
SELECT * FROM proofs WHERE id = :id AND tenant_id = :tenant LIMIT 1;

-- name: before
SELECT * FROM proofs
WHERE  tenant_id = :tenant
  AND  n < (SELECT n FROM proofs WHERE id = :id AND tenant_id = :tenant)
ORDER  BY n DESC
LIMIT  1;

-- name: after
SELECT * FROM proofs
WHERE  tenant_id = :tenant
  AND  n > (SELECT n FROM proofs WHERE id = :id AND tenant_id = :tenant)
ORDER  BY n
LIMIT  1;

-- name: kinds
-- From each kind to the next by the index, however many proofs there are of each.
WITH RECURSIVE known (kind) AS (
    SELECT min(kind) FROM proofs WHERE tenant_id = :tenant
    UNION ALL
    SELECT (SELECT min(kind) FROM proofs WHERE tenant_id = :tenant AND kind > known.kind)
    FROM   known
    WHERE  known.kind IS NOT NULL
)
SELECT kind FROM known WHERE kind IS NOT NULL LIMIT :limit;

-- name: page
SELECT * FROM proofs
WHERE  tenant_id = :tenant
  AND  n < ifnull((SELECT n FROM proofs WHERE id = :after AND tenant_id = :tenant),
                  9223372036854775807)
ORDER  BY n DESC
LIMIT  :limit;

-- name: page_of_ticket
SELECT * FROM proofs
WHERE  ticket_id = :ticket AND +tenant_id = :tenant
  AND  n < ifnull((SELECT n FROM proofs WHERE id = :after AND tenant_id = :tenant),
                  9223372036854775807)
ORDER  BY n DESC
LIMIT  :limit;

-- name: page_of_project
SELECT * FROM proofs
WHERE  project_id = :project AND +tenant_id = :tenant
  AND  n < ifnull((SELECT n FROM proofs WHERE id = :after AND tenant_id = :tenant),
                  9223372036854775807)
ORDER  BY n DESC
LIMIT  :limit;

-- name: page_of_verdict
SELECT * FROM proofs
WHERE  tenant_id = :tenant AND verdict = :verdict
  AND  n < ifnull((SELECT n FROM proofs WHERE id = :after AND tenant_id = :tenant),
                  9223372036854775807)
ORDER  BY n DESC
LIMIT  :limit;

-- name: page_of_kind
SELECT * FROM proofs
WHERE  tenant_id = :tenant AND kind = :kind
  AND  n < ifnull((SELECT n FROM proofs WHERE id = :after AND tenant_id = :tenant),
                  9223372036854775807)
ORDER  BY n DESC
LIMIT  :limit;
