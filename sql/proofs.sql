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
WHERE  ticket_id = :ticket AND tenant_id = +:tenant ORDER BY n LIMIT :limit;

-- name: list_recent
SELECT * FROM proofs WHERE tenant_id = :tenant ORDER BY n DESC LIMIT :limit;

-- name: evidence
SELECT label, media_type, hash, size_bytes FROM proof_evidence
WHERE  proof_id = :proof AND tenant_id = :tenant ORDER BY position LIMIT :limit;
