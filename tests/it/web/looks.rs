//! The parts of the dashboard that go beyond a list and a ticket: changes, filing anew, what the
//! palette asks for, the home page of a team at work, and the references.

use std::path::{Path, PathBuf};

use assay::accounts::{Role, Tenant};
use assay::projects::git::Git;
use http::{StatusCode, header};
use serde_json::Value;

use super::Server;

/// Git as a person uses it, in a repository.
async fn git(path: &Path, args: &[&str]) -> String {
    let program = Git::default();
    let mut call = program.tree(path).args(args);
    for who in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        call = call.env(&format!("{who}_NAME"), "Ada").env(&format!("{who}_EMAIL"), "a@b.test");
    }
    call.text().await.unwrap()
}

async fn commit(path: &Path, message: &str) -> String {
    git(path, &["add", "--all"]).await;
    git(path, &["commit", "--quiet", "--message", message]).await;
    git(path, &["rev-parse", "HEAD"]).await
}

/// A repository with a ticket's branch `agent/one` beside `main`, which went on meanwhile.
struct Repository {
    _dir: tempfile::TempDir,
    path: PathBuf,
    base: String,
    tip: String,
}

impl Repository {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
        git(&path, &["init", "--quiet", "--initial-branch=main"]).await;
        write("page.html", "<h1>One</h1>\n<p>Same</p>\n");
        let base = commit(&path, "First").await;
        git(&path, &["checkout", "--quiet", "-b", "agent/one"]).await;
        write("page.html", "<h1>Two</h1>\n<p>Same</p>\n");
        write("long.txt", &"another line\n".repeat(2_000));
        write("logo.png", "\0\u{1}\u{2}");
        write(
            "<b>*.txt",
            "\u{1b}[31mred\u{1b}[0m <script>\nkey = ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
        );
        let tip = commit(&path, "Second").await;
        git(&path, &["checkout", "--quiet", "main"]).await;
        write("other.html", "somebody else's\n");
        commit(&path, "Meanwhile").await;
        Self { _dir: dir, path, base, tip }
    }

    /// The ticket's project works on it, and the ticket has its branch.
    fn give_to(&self, server: &Server) {
        let Self { path, base, .. } = self;
        let sql = format!(
            "UPDATE projects SET repository = '{}', base_branch = 'main';
             UPDATE tickets SET branch = 'agent/one', base_branch = 'main', base_commit = '{base}'",
            path.display()
        );
        server.app.env().db.raw(&sql).unwrap();
    }
}

async fn team(server: &Server) -> Tenant {
    server.team("Acme", "ada@example.com", Role::Member).await
}

#[tokio::test]
async fn the_changes_of_a_branch_are_shown_file_by_file_within_bounds() {
    let server = Server::start();
    let acme = team(&server).await;
    server.dispatch(&acme, "Change the page").await;
    let ada = server.signed_in("ada@example.com").await;
    let none = ada.get("/tickets/ACME-1/changes").await.body;
    assert!(none.contains("Nothing was changed yet"), "{none}");
    assert!(!ada.get("/tickets/ACME-1").await.body.contains("/changes\""));
    let repository = Repository::new().await;
    repository.give_to(&server);

    let page = ada.get("/tickets/ACME-1/changes").await.body;

    for part in [
        "4 files",
        "<span class=\"l went\">-&#60;h1&#62;One&#60;/h1&#62;</span>",
        "<span class=\"l came\">+&#60;h1&#62;Two&#60;/h1&#62;</span>",
        "<span class=\"l\"> &#60;p&#62;Same&#60;/p&#62;</span>",
        "Not text",
        "more lines are not shown here",
        "changes?file=long.txt",
        "+[31mred[0m &#60;script&#62;",
    ] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
    for other in ["other.html", "ghp_", "<script>\n", "\u{1b}"] {
        assert!(!page.contains(other), "{other:?} is shown: {page}");
    }
    assert!(page.len() < 100_000, "{} bytes", page.len());
    assert!(ada.get("/tickets/ACME-1").await.body.contains("href=\"/tickets/ACME-1/changes\""));

    let one = ada.get("/tickets/ACME-1/changes?file=%3Cb%3E%2A.txt").await.body;
    assert!(one.contains("[31mred") && !one.contains("another line"), "{one}");
    let long = ada.get("/tickets/ACME-1/changes?file=long.txt").await.body;
    assert!(long.matches("+another line").count() > 500, "more of a file that is shown alone");
    assert!(long.len() < 100_000, "{} bytes", long.len());
    let absent = ada.get("/tickets/ACME-1/changes?file=/etc/passwd").await;
    assert_eq!(absent.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_landed_is_told_from_the_landed_commit_when_the_branch_is_gone() {
    let server = Server::start();
    let acme = team(&server).await;
    server.dispatch(&acme, "Change the page").await;
    let repository = Repository::new().await;
    repository.give_to(&server);
    let ada = server.signed_in("ada@example.com").await;
    git(&repository.path, &["merge", "--quiet", "--no-ff", "--message", "Land", "agent/one"]).await;
    let landed = git(&repository.path, &["rev-parse", "HEAD"]).await;
    git(&repository.path, &["branch", "--quiet", "-D", "agent/one"]).await;
    let gone = ada.get("/tickets/ACME-1/changes").await.body;
    assert!(gone.contains("The branch is not in the repository any more."), "{gone}");
    let sql = format!("UPDATE tickets SET commit_sha = '{landed}'");
    server.app.env().db.raw(&sql).unwrap();

    let page = ada.get("/tickets/ACME-1/changes").await.body;

    assert!(page.contains(&format!("Landed on main as {}", &landed[..12])), "{page}");
    assert!(page.contains("4 files") && !page.contains("other.html"), "{page}");
    assert_ne!(landed, repository.tip);
    server.app.env().db.raw("UPDATE projects SET repository = '/nowhere'").unwrap();
    let unusable = ada.get("/tickets/ACME-1/changes").await;
    assert_eq!(unusable.status, StatusCode::OK);
    assert!(unusable.body.contains("No changes to show") && unusable.body.contains("/nowhere"));
}

#[tokio::test]
async fn a_cancelled_ticket_is_filed_anew_from_its_page() {
    let server = Server::start();
    let acme = team(&server).await;
    server.dispatch(&acme, "Change the <page>").await;
    let ada = server.signed_in("ada@example.com").await;
    assert!(!ada.get("/tickets/ACME-1").await.body.contains("id=\"refile\""));
    ada.submit("/tickets/ACME-1", "/tickets/ACME-1/cancel", &[]).await;

    let page = ada.get("/tickets/ACME-1").await.body;
    assert!(page.contains("value=\"Change the &#60;page&#62;\""), "{page}");
    let path = "/tickets/ACME-1/replace";
    let words = [("title", "Change the page"), ("description", "Other\r\nwords <b>")];
    let forged = ada.post(path, &[&[("csrf", "forged")][..], &words[..]].concat()).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let empty = ada.submit("/tickets/ACME-1", path, &[("title", " ")]).await;
    assert_eq!(empty.status, StatusCode::BAD_REQUEST, "{}", empty.body);
    let filed = ada.submit("/tickets/ACME-1", path, &words).await;

    assert_eq!(filed.location(), "/tickets/ACME-2?did=replaced", "{}", filed.body);
    let after = ada.get(filed.location()).await.body;
    assert!(after.contains("stands for the cancelled one"), "{after}");
    assert!(after.contains("Other\nwords"), "{after}");
    let sql = "SELECT count(*) || '' FROM tickets WHERE replaces_id IS NOT NULL";
    assert_eq!(server.app.env().db.raw_column(sql).unwrap(), ["1"]);
    let sql = "SELECT DISTINCT via || ' ' || actor FROM audit WHERE action = 'dispatch_ticket' \
               AND via = 'browser'";
    let audit = server.app.env().db.raw_column(sql).unwrap();
    assert_eq!(audit, ["browser user ada@example.com"]);
}

#[tokio::test]
async fn who_only_looks_is_offered_no_form_and_refused_by_the_gate() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Viewer).await;
    server.dispatch(&acme, "Look at me").await;
    server.call(&acme, "cancel_ticket", serde_json::json!({ "ticket": "ACME-1" })).await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/tickets/ACME-1").await.body;
    let words = [("title", "Another")];
    let refused = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/replace", &words).await;

    assert!(!page.contains("/replace\"") && !page.contains("/retry\""), "{page}");
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_palette_finds_by_ref_and_by_words_and_only_what_is_ours() {
    let server = Server::start();
    let acme = team(&server).await;
    let other = server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "Add a <dark> mode").await;
    server.dispatch(&acme, "Fix the header").await;
    server.dispatch(&other, "Secret dark plan").await;
    let ada = server.signed_in("ada@example.com").await;
    let hits = async |asked: &str| {
        let said = ada.get(&format!("/find?q={asked}")).await;
        assert_eq!(said.status, StatusCode::OK);
        assert_eq!(said.headers[header::CACHE_CONTROL], "no-store");
        let found: Value = serde_json::from_str(&said.body).unwrap();
        let refs = found["tickets"].as_array().unwrap().iter();
        refs.map(|hit| hit["ref"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    assert_eq!(hits("acme-2").await, ["ACME-2"]);
    assert_eq!(hits("dark").await, ["ACME-1"]);
    assert_eq!(hits("%23%26%00").await, [""; 0]);
    assert_eq!(hits("ACME-99").await, [""; 0]);
    assert_eq!(hits("").await, [""; 0]);
    assert_eq!(hits(&"x".repeat(3_000)).await, [""; 0]);
    let found: Value = serde_json::from_str(&ada.get("/find?q=2").await.body).unwrap();
    assert_eq!(found["tickets"][0]["href"], "/tickets/ACME-2");
    assert_eq!(found["tickets"][0]["state"], "Queued");
    let stranger = server.browser().get("/find?q=dark").await;
    assert_eq!(stranger.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn home_says_what_landed_within_a_day_and_which_project_is_not_well() {
    let server = Server::start();
    let acme = team(&server).await;
    for title in ["Landed long ago", "Landed just now"] {
        server.dispatch(&acme, title).await;
    }
    let now = server.clock.now().0;
    let sql = format!(
        "UPDATE tickets SET status = 'succeeded', completed_at = {now} - 90000000 WHERE seq = 1;
         UPDATE tickets SET status = 'succeeded', completed_at = {now} - 60000 WHERE seq = 2;
         UPDATE projects SET repository = NULL"
    );
    server.app.env().db.raw(&sql).unwrap();
    let ada = server.signed_in("ada@example.com").await;

    let home = ada.get("/").await.body;

    let landed = home.split("id=\"landed\"").nth(1).unwrap();
    assert!(landed.contains("1 within 24 hours"), "{landed}");
    assert!(landed.find("just now").unwrap() < landed.find("long ago").unwrap(), "{landed}");
    let health = home.split("id=\"health\"").nth(1).unwrap();
    assert!(health.contains("Blocked") && health.contains("Acme Widgets"), "{health}");
}

#[tokio::test]
async fn the_references_hold_together_without_a_login() {
    let server = Server::start();
    let browser = server.browser();

    let tools = browser.get("/docs/tools").await.body;
    assert!(tools.contains("href=\"/docs/tools/get_ticket\""), "{tools}");
    let tool = browser.get("/docs/tools/get_ticket").await.body;
    assert!(tool.contains("<code>ticket.status</code>") && tool.contains("tools/call"), "{tool}");
    let schemas = browser.get("/docs/schemas").await.body;
    for part in schemas.split("href=\"/schemas/").skip(1) {
        let address = format!("/schemas/{}", part.split('"').next().unwrap());
        assert_eq!(browser.get(&address).await.status, StatusCode::OK, "{address}");
    }
    let security = browser.get("/docs/security").await.body;
    assert!(security.contains("require-trusted-types-for"), "{security}");
    assert!(browser.get("/docs/design").await.body.contains("Every component"));
    assert_eq!(browser.get("/docs/tools/none").await.status, StatusCode::NOT_FOUND);
}
