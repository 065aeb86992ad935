//! Proofs: the list, a proof's page, its export, and what others see of them.

use assay::accounts::{Role, Tenant};
use assay::base::ProofId;
use assay::projects;
use assay::proofs::{self, Evidence, NewProof, Verdict};
use assay::tickets::reference;
use http::{StatusCode, header};

use super::Server;

/// A claim as an agent could write it, to the harm of whoever shows it.
const HOSTILE: &str = "<script>alert(1)</script> \u{202e}gpj.exe \u{1b}[31mred";

impl Server {
    /// A proof of the tenant's first ticket, with a text and with bytes that are none.
    async fn proof(&self, tenant: &Tenant, claim: &'static str, verdict: Verdict) -> ProofId {
        let blobs = &self.app.env().blobs;
        let kept = |label: &str, media_type: &str, bytes: &[u8]| Evidence {
            label: label.to_owned(),
            media_type: media_type.to_owned(),
            hash: blobs.put(bytes).unwrap(),
            size_bytes: bytes.len() as u64,
        };
        let evidence = [
            kept("Output <b>", "text/html", b"<b>all green</b>\n"),
            kept("Picture", "image/png", &[0x89, 0xff, 0x00]),
        ];
        let tenant = tenant.id;
        self.write(move |tx| {
            let ticket = reference::resolve(tx, tenant, None, "ACME-1")?;
            let kind = if verdict == Verdict::Inconclusive { "exhibit" } else { "command" };
            let new = NewProof {
                project: ticket.project,
                ticket: Some(ticket.id),
                node: None,
                kind,
                claim,
                verdict,
                detail: r#"{"exitCode":0,"command":"make <test>"}"#,
                evidence: &evidence,
            };
            proofs::record(tx, tenant, &new)
        })
        .await
    }
}

#[tokio::test]
async fn proofs_are_listed_newest_first_and_the_filters_hold_together() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Viewer).await;
    server.dispatch(&acme, "Prove me").await;
    let ada = server.signed_in("ada@example.com").await;
    let empty = ada.get("/proofs").await.body;
    server.proof(&acme, "The tests pass", Verdict::Proven).await;
    server.proof(&acme, "The page is there", Verdict::Failed).await;
    server.proof(&acme, HOSTILE, Verdict::Inconclusive).await;

    let all = ada.get("/proofs").await.body;
    let count = |body: &str| body.matches("title-link claim").count();

    assert!(empty.contains("No proofs yet"), "{empty}");
    assert_eq!(count(&all), 3, "{all}");
    assert!(all.find("The page is there") < all.find("The tests pass"), "{all}");
    assert!(all.contains("&#60;script&#62;") && !all.contains("<script>alert"), "{all}");
    for (query, wanted) in [
        ("verdict=failed", 1),
        ("verdict=proven", 1),
        ("kind=exhibit", 1),
        ("kind=command&verdict=failed", 1),
        ("kind=exhibit&verdict=failed", 0),
        ("project=acme-widgets", 3),
        ("ticket=ACME-1&verdict=proven", 1),
        ("verdict=nonsense&kind=%3Cb%3E&project=none", 3),
        ("ticket=ACME-9", 0),
    ] {
        let page = ada.get(&format!("/proofs?{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}");
        assert_eq!(count(&page.body), wanted, "{query}: {}", page.body);
    }
    let absent = ada.get("/proofs?ticket=ACME-9").await.body;
    assert!(absent.contains("aria-invalid=\"true\"") && absent.contains("ACME-9"), "{absent}");
}

#[tokio::test]
async fn pages_of_proofs_follow_each_other_without_gap_or_repeat() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    server.dispatch(&acme, "Prove me").await;
    for _ in 0..60 {
        server.proof(&acme, "It holds", Verdict::Proven).await;
        server.proof(&acme, "It does not", Verdict::Failed).await;
    }
    let ada = server.signed_in("ada@example.com").await;

    for (query, wanted) in [("", 120), ("?verdict=proven", 60), ("?kind=command", 120)] {
        let (mut path, mut seen) = (format!("/proofs{query}"), Vec::new());
        loop {
            let page = ada.get(&path).await.body;
            let ids = page.split("href=\"/proofs/").skip(1);
            seen.extend(ids.map(|rest| rest.split('"').next().unwrap().to_owned()));
            let Some((before, _)) = page.split_once("\" rel=\"next\"") else { break };
            let next = before.rsplit("href=\"").next().unwrap();
            path = next.replace("&#38;", "&");
        }
        let found = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((found, seen.len()), (wanted, wanted), "{query}");
    }
}

#[tokio::test]
async fn a_proof_shows_its_evidence_and_its_place_in_the_chain() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Viewer).await;
    server.dispatch(&acme, "Prove me").await;
    let first = server.proof(&acme, "The first", Verdict::Proven).await;
    let own = server.proof(&acme, HOSTILE, Verdict::Proven).await;
    let last = server.proof(&acme, "The last", Verdict::Failed).await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get(&format!("/proofs/{own}")).await;

    assert_eq!(page.status, StatusCode::OK);
    let body = &page.body;
    assert!(body.contains(&format!("href=\"/proofs/{first}\"")), "{body}");
    assert!(body.contains(&format!("href=\"/proofs/{last}\"")), "{body}");
    assert!(body.contains("Each record covers the digest") && !body.contains("Broken"), "{body}");
    assert!(body.contains("Exit code") && body.contains("make &#60;test&#62;"), "{body}");
    assert!(!body.contains("<script>alert"), "{body}");
    assert!(body.contains("href=\"/tickets/ACME-1\""), "{body}");
    let text = ada.get(&format!("/proofs/{own}/evidence/0")).await;
    assert_eq!(text.body, "<b>all green</b>\n");
    assert_eq!(text.headers[header::CONTENT_TYPE], "text/plain; charset=utf-8");
    let policy = text.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("sandbox"), "{policy}");
    for absent in ["2", "-1", "x"] {
        let page = ada.get(&format!("/proofs/{own}/evidence/{absent}")).await;
        assert!(page.status.is_client_error(), "{absent}");
    }
}

#[tokio::test]
async fn a_record_that_was_changed_in_the_database_shows() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    server.dispatch(&acme, "Prove me").await;
    let first = server.proof(&acme, "It failed", Verdict::Failed).await;
    let own = server.proof(&acme, "The second", Verdict::Proven).await;
    let ada = server.signed_in("ada@example.com").await;

    server
        .app
        .env()
        .db
        .raw("UPDATE proofs SET verdict = 'proven' WHERE verdict = 'failed'")
        .unwrap();

    for id in [first, own] {
        let page = ada.get(&format!("/proofs/{id}")).await.body;
        assert!(page.contains("Something here is not as it was written."), "{page}");
        assert!(page.contains("it was changed"), "{page}");
    }
}

#[tokio::test]
async fn an_export_is_checked_without_the_server_and_every_change_shows() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Viewer).await;
    server.dispatch(&acme, "Prove me").await;
    server.proof(&acme, "The first", Verdict::Proven).await;
    let own = server.proof(&acme, HOSTILE, Verdict::Failed).await;
    server.proof(&acme, "The last", Verdict::Proven).await;
    let ada = server.signed_in("ada@example.com").await;

    let export = ada.get(&format!("/proofs/{own}/export")).await;

    let saved = export.headers[header::CONTENT_DISPOSITION].to_str().unwrap().to_owned();
    assert_eq!(saved, format!("attachment; filename=\"assay-proof-{own}.json\""));
    let dir = tempfile::tempdir().unwrap();
    let verify = |text: &str, flags: &[&str]| {
        std::fs::write(dir.path().join("proof.json"), text).unwrap();
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_assay"));
        command.current_dir(dir.path()).args(["proof", "verify", "proof.json"]).args(flags);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = verify(&export.body, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("verdict  failed") && !said.contains("BROKEN"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    assert_eq!(said.matches("holds").count(), 7, "{said}");
    for (was, is) in [("failed", "proven"), ("all green", "all red"), ("The last", "The least")] {
        let (code, said) = verify(&export.body.replacen(was, is, 1), &["--json"]);
        assert_eq!(code, Some(1), "{was}: {said}");
        assert!(said.contains("\"holds\": false"), "{was}: {said}");
    }
    assert_eq!(verify("{}", &[]).0, Some(2));
}

#[tokio::test]
async fn proofs_of_another_team_are_not_there() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "Prove me").await;
    let own = server.proof(&acme, "Only for Acme", Verdict::Proven).await;
    let eve = server.signed_in("eve@example.com").await;

    for end in ["", "/export", "/evidence/0"] {
        let page = eve.get(&format!("/proofs/{own}{end}")).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{end}");
    }
    let list = eve.get(&format!("/proofs?after={own}")).await.body;
    assert!(!list.contains("Only for Acme"), "{list}");
    let project = server
        .app
        .env()
        .db
        .read(move |read| {
            let actor = assay::accounts::Actor::local(acme.id, acme.plan);
            projects::named(read, &actor, "Acme Widgets")
        })
        .await
        .unwrap();
    let by_project = eve.get(&format!("/proofs?project={}", project.slug)).await.body;
    assert!(!by_project.contains("Only for Acme"), "{by_project}");
    let nobody = server.browser().get(&format!("/proofs/{own}/export")).await;
    assert_eq!(nobody.status, StatusCode::SEE_OTHER);
}
