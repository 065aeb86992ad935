//! Attachments: announced, uploaded, dispatched, and handed to the agent.

use std::time::Duration;

use assay::accounts::KeyScope;
use assay::store::Hash;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::still;
use crate::golden;
use crate::harness::{Caller, TestApp, placed, script};

const PDF: &str = "application/pdf";

fn file(name: &str, size: usize) -> Value {
    json!({ "project": "ACME", "original_name": name, "content_type": PDF, "size_bytes": size })
}

/// A file as a dispatch names it.
fn given(minted: &Value, name: &str, size: usize) -> Value {
    json!({ "key": minted["key"], "original_name": name, "content_type": PDF,
        "size_bytes": size })
}

fn with_files(minted: &Value, files: &[Value]) -> Value {
    json!({ "title": "Build what brief.pdf says", "project": "ACME", "job_id": minted["job_id"],
        "attachments": files })
}

fn url(minted: &Value) -> &str {
    minted["upload_url"].as_str().unwrap()
}

async fn mint(caller: &Caller, name: &str, size: usize) -> Value {
    caller.call("mint_attachment_upload_url", file(name, size)).await
}

#[tokio::test]
async fn a_file_is_announced_uploaded_and_part_of_its_ticket() {
    let (app, caller) = still().await;
    let first = mint(&caller, "brief.pdf", 5).await;
    let mut second = file("notes.pdf", 2);
    second["job_id"] = first["job_id"].clone();
    let second = caller.call("mint_attachment_upload_url", second).await;

    let taken = caller.put(url(&first), "Application/PDF; x=y", b"%PDF-").await;
    let again = caller.put(url(&first), "", b"%PDF-").await;
    let other = caller.put(url(&first), PDF, b"%PDF+").await;
    caller.put(url(&second), PDF, b"hi").await;
    let files = [given(&first, "brief.pdf", 5), given(&second, "notes.pdf", 2)];
    let ticket = caller.dispatch(with_files(&first, &files)).await;

    let mut shown = first.clone();
    let secret = url(&first).rsplit('/').next().unwrap();
    assert!(secret.len() >= 43, "{secret}");
    shown["upload_url"] = json!(url(&first).replace(secret, "<token>"));
    let (address, _) = url(&first).rsplit_once("/uploads/").unwrap();
    let text = placed(&shown).replace(address, "<url>");
    golden::matches("tickets/mint_attachment.json", &text);
    let hash = Hash::of(b"%PDF-").to_string();
    assert_eq!((taken.status, &taken.body["hash"]), (200, &json!(hash)));
    assert_eq!((&taken.body["key"], &taken.body["size_bytes"]), (&first["key"], &json!(5)));
    assert_eq!((again.status, again.body), (200, taken.body));
    assert_eq!((other.status, &other.body["code"]), (409, &json!("CONFLICT")));
    assert_eq!(ticket["id"], first["job_id"]);
    assert_eq!(second["job_id"], first["job_id"]);
    let stored = app.column("SELECT hex(token_hash) FROM attachments");
    assert!(stored.iter().all(|hash| hash.len() == 64));
    let rows = app.column("SELECT count(*) || '' FROM attachments WHERE ticket_id = job_id");
    assert_eq!(rows, ["2"]);
}

#[tokio::test]
async fn an_upload_must_be_what_was_announced() {
    let (app, caller) = still().await;
    let minted = mint(&caller, "brief.pdf", 5).await;
    let unknown = url(&minted).replace("/uploads/", "/uploads/x");
    let large = vec![b'x'; (25 << 20) + 1];
    let cases: [(&str, &str, &[u8], u16, &str); 6] = [
        (&unknown, PDF, b"%PDF-", 404, "NOT_FOUND"),
        (url(&minted), "text/plain", b"%PDF-", 400, "INVALID_ARGUMENT"),
        (url(&minted), PDF, b"%PDF", 400, "INVALID_ARGUMENT"),
        (url(&minted), PDF, b"%PDF-1", 400, "INVALID_ARGUMENT"),
        (url(&minted), PDF, b"", 400, "INVALID_ARGUMENT"),
        (url(&minted), PDF, &large, 413, "PAYLOAD_TOO_LARGE"),
    ];

    for (address, media_type, bytes, status, code) in cases {
        let said = caller.put(address, media_type, bytes).await;

        assert_eq!(
            (said.status, said.body["code"].as_str().unwrap()),
            (status, code),
            "{}",
            said.body
        );
    }
    let posted = caller
        .post(
            url(&minted)
                .split_once("/uploads")
                .map(|cut| format!("/uploads{}", cut.1))
                .unwrap()
                .as_str(),
            &json!({}),
        )
        .await;
    assert_eq!((posted.status, posted.headers["allow"].to_str().unwrap()), (405, "PUT"));
    app.app.env().clock.advance(Duration::from_hours(1));
    let late = caller.put(url(&minted), PDF, b"%PDF-").await;
    let absent = caller.put(&unknown, PDF, b"%PDF-").await;
    assert_eq!((late.status, late.body), (404, absent.body));
    let halves = app.app.env().paths.uploads().join("half-written");
    assert_eq!(std::fs::read_dir(halves).unwrap().count(), 0);
}

#[tokio::test]
async fn a_file_that_is_not_taken_is_refused_when_it_is_announced() {
    let (_app, caller) = still().await;
    let mut program = file("run.exe", 5);
    program["content_type"] = json!("application/x-msdownload");
    let mut stranger = file("a.pdf", 5);
    stranger["job_id"] = json!("0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b");
    let cases = [
        (file("a.pdf", (25 << 20) + 1), "PAYLOAD_TOO_LARGE", "size_bytes"),
        (file("a.pdf", 0), "INVALID_ARGUMENT", "size_bytes"),
        (file("a\nb.pdf", 5), "INVALID_ARGUMENT", "original_name"),
        (program, "INVALID_ARGUMENT", "content_type"),
        (stranger, "NOT_FOUND", "job_id"),
    ];

    for (args, code, path) in cases {
        let refusal = caller.refusal("mint_attachment_upload_url", args).await;

        assert_eq!((refusal.code.as_str(), refusal.paths), (code, vec![path.to_owned()]));
    }
    let large = caller.refusal("mint_attachment_upload_url", file("a", 26_214_401)).await;
    assert!(large.status == 413 && large.message.contains("26214400"), "{large:?}");
}

#[tokio::test]
async fn a_dispatch_names_files_as_they_were_announced() {
    let (app, caller) = still().await;
    let minted = mint(&caller, "brief.pdf", 5).await;
    let waits = with_files(&minted, &[given(&minted, "brief.pdf", 5)]);
    let early = caller.refusal("dispatch_ticket", waits.clone()).await;
    caller.put(url(&minted), PDF, b"%PDF-").await;
    let other = mint(&caller, "other.pdf", 5).await;
    let mut typed = given(&minted, "brief.pdf", 5);
    typed["content_type"] = json!("text/plain");
    let one = given(&minted, "brief.pdf", 5);
    let cases: [(&[Value], &str); 5] = [
        (&[given(&other, "other.pdf", 5)], "attachments[0].key"),
        (&[given(&minted, "brief2.pdf", 5)], "attachments[0].original_name"),
        (&[typed], "attachments[0].content_type"),
        (&[given(&minted, "brief.pdf", 6)], "attachments[0].size_bytes"),
        (&[one.clone(), one.clone()], "attachments[1].key"),
    ];

    assert_eq!(
        (early.code.as_str(), early.paths),
        ("INVALID_ARGUMENT", vec!["attachments[0]".to_owned()])
    );
    for (files, path) in cases {
        let refusal = caller.refusal("dispatch_ticket", with_files(&minted, files)).await;

        assert_eq!(
            (refusal.code.as_str(), refusal.paths),
            ("INVALID_ARGUMENT", vec![path.to_owned()])
        );
    }
    let nothing = json!({ "title": "T", "project": "ACME",
        "job_id": "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b" });
    assert_eq!(caller.refusal("dispatch_ticket", nothing).await.paths, ["job_id"]);
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["0"]);
    caller.dispatch(waits.clone()).await;
    let twice = caller.refusal("dispatch_ticket", waits).await;
    assert_eq!((twice.code.as_str(), twice.status), ("CONFLICT", 409));
}

#[tokio::test]
async fn a_forgotten_attachment_is_asked_for() {
    let (_app, caller) = still().await;
    let says = |text: &str| json!({ "title": "Build it", "project": "ACME", "description": text });

    for text in ["Build the page of brief.pdf.", "Please see attached."] {
        let refusal = caller.refusal("dispatch_ticket", says(text)).await;
        let mut confirmed = says(text);
        confirmed["confirm_no_attachments"] = json!(true);

        let code = "ATTACHMENT_REFERENCE_WITHOUT_ATTACHMENTS";
        assert_eq!((refusal.code.as_str(), refusal.status), (code, 400));
        assert_eq!(caller.dispatch(confirmed).await["status"], "queued");
    }
    let path = says("As in docs/brief.pdf, main.rs and https://a.example/brief.pdf.");
    assert_eq!(caller.dispatch(path).await["status"], "queued");
}

#[tokio::test]
async fn files_are_their_tenants_and_projects_own() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Acme Widgets", "ACME").await;
    tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpFull, &[near]).await;
    let minted = mint(&whole, "brief.pdf", 5).await;
    whole.put(url(&minted), PDF, b"%PDF-").await;
    let other = app.tenant("Other").await;
    other.project("Theirs", "ACME").await;
    let stranger = other.key(KeyScope::McpFull).await;
    let args = with_files(&minted, &[given(&minted, "brief.pdf", 5)]);
    let mut far = args.clone();
    far["project"] = json!("FAR");
    let mut beyond = file("a.pdf", 1);
    beyond["project"] = json!("FAR");

    let theirs = stranger.refusal("dispatch_ticket", args.clone()).await;
    let elsewhere = whole.refusal("dispatch_ticket", far).await;
    let forbidden = limited.refusal("mint_attachment_upload_url", beyond).await;

    assert_eq!(
        (theirs.code.as_str(), &*theirs.paths),
        ("INVALID_ARGUMENT", &["job_id".to_owned()][..])
    );
    assert_eq!(elsewhere, theirs);
    assert_eq!(forbidden.code, "FORBIDDEN");
    assert_eq!(limited.dispatch(args).await["id"], minted["job_id"]);
}

#[tokio::test]
async fn agents_find_copies_of_the_files_beside_their_work_tree() {
    let app = TestApp::start().await;
    let tenant = app.tenant("Acme").await;
    let line = "cd \"$ASSAY_ATTACHMENTS\" && cat brief.pdf brief-2.pdf >\"$OLDPWD/seen.txt\" && \
        chmod u+w brief.pdf && echo spoilt >brief.pdf && cd \"$OLDPWD\" && \
        echo '{\"outcome\":\"done\",\"summary\":\"Read.\",\"verdict\":\"approve\"}' >$ASSAY_REPORT";
    let repository = tenant.project_with_repo("Acme Widgets", "ACME", script(line)).await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let first = mint(&caller, "../brief.pdf", 4).await;
    let mut second = file("brief.pdf", 4);
    second["job_id"] = first["job_id"].clone();
    let second = caller.call("mint_attachment_upload_url", second).await;
    caller.put(url(&first), PDF, b"one\n").await;
    caller.put(url(&second), PDF, b"two\n").await;
    let files = [given(&first, "../brief.pdf", 4), given(&second, "brief.pdf", 4)];

    caller.dispatch(with_files(&first, &files)).await;
    caller.wait_for("ACME-1", "succeeded").await;

    let seen = std::fs::read_to_string(repository.join("seen.txt")).unwrap();
    assert_eq!(seen, "one\ntwo\n");
}

#[tokio::test]
async fn files_that_no_ticket_has_go_after_a_day() {
    let (app, caller) = still().await;
    let env = app.app.env();
    let used = mint(&caller, "brief.pdf", 5).await;
    let unused = mint(&caller, "same.pdf", 5).await;
    let lost = mint(&caller, "lost.pdf", 4).await;
    caller.put(url(&used), PDF, b"%PDF-").await;
    caller.put(url(&unused), PDF, b"%PDF-").await;
    caller.put(url(&lost), PDF, b"lost").await;
    caller.dispatch(with_files(&used, &[given(&used, "brief.pdf", 5)])).await;
    let sweep = || env.uploads.remove(env.db.write(assay::tickets::attachments::sweep));

    sweep().await.unwrap();
    assert_eq!(app.column("SELECT count(*) || '' FROM attachments"), ["3"]);
    env.clock.advance(Duration::from_hours(25));
    sweep().await.unwrap();

    assert_eq!(app.column("SELECT name FROM attachments"), ["brief.pdf"]);
    let blobs = env.uploads.blobs();
    assert_eq!(blobs.get(Hash::of(b"lost")).unwrap(), None);
    assert!(blobs.get(Hash::of(b"%PDF-")).unwrap().is_some(), "another ticket has the same bytes");
}

/// The head of an upload of so many bytes, and the connection that it went over.
async fn begun(url: &str, size: usize) -> TcpStream {
    let (_, rest) = url.split_once("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let head = format!(
        "PUT /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {PDF}\r\n\
         Content-Length: {size}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_trickles_keeps_nobody_waiting_and_one_that_breaks_off_leaves_nothing() {
    const SIZE: usize = 300;
    let app = TestApp::start().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Acme Widgets", "ACME").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let minted = mint(&caller, "brief.pdf", SIZE).await;
    let half = || std::fs::read_dir(app.app.env().paths.uploads().join("half-written")).unwrap();

    let mut broken = begun(url(&minted), SIZE).await;
    broken.write_all(b"%PDF-").await.unwrap();
    let mut slow = begun(url(&minted), SIZE).await;
    let mut filed = Vec::new();
    for n in 0..SIZE {
        slow.write_all(b"x").await.unwrap();
        if n % 100 == 50 {
            filed.push(
                caller.dispatch(json!({ "title": format!("Say {n}"), "project": "ACME" })).await,
            );
        }
    }
    let mut said = String::new();
    slow.read_to_string(&mut said).await.unwrap();
    drop(broken);
    while half().count() > 0 {
        tokio::task::yield_now().await;
    }
    let again = caller.put(url(&minted), PDF, &[b'x'; SIZE]).await;

    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(said.contains(&Hash::of(&[b'x'; SIZE]).to_string()), "{said}");
    assert_eq!((filed.len(), again.status), (3, 200));
    assert_eq!(app.column("SELECT count(*) || '' FROM attachments WHERE hash IS NOT NULL"), ["1"]);
}
