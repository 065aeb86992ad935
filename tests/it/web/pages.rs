//! Pages and what goes with them: headers, errors, references, keys, projects.

use assay::accounts::Role;
use http::{StatusCode, header};

use super::Server;

const PAGES: [&str; 18] = [
    "/",
    "/tickets",
    "/projects",
    "/projects/acme-widgets",
    "/keys",
    "/proofs",
    "/jobs",
    "/audit",
    "/system",
    "/people",
    "/account",
    "/docs/connect",
    "/docs/tools",
    "/docs/errors",
    "/docs/tools/get_ticket",
    "/docs/schemas",
    "/docs/security",
    "/docs/design",
];

#[tokio::test]
async fn every_page_is_guarded_and_says_who_reads_it() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    for path in PAGES {
        let page = ada.get(path).await;

        assert_eq!(page.status, StatusCode::OK, "{path}");
        let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{path}: {policy}");
        assert_eq!(page.headers[header::CACHE_CONTROL], "no-store", "{path}");
        assert!(page.body.contains("Ada &#60;Builder&#62;"), "{path}");
        assert!(page.body.len() < 100_000, "{path} is {} bytes", page.body.len());
    }
}

#[tokio::test]
async fn the_references_are_for_everybody() {
    let server = Server::start();
    let browser = server.browser();

    for path in ["/docs/connect", "/docs/tools", "/docs/errors", "/docs/schemas", "/docs/design"] {
        let page = browser.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.body.contains("Sign in"), "{path}");
    }
    let errors = browser.get("/docs/errors").await.body;
    for code in assay::base::Code::ALL {
        let anchor = format!("id=\"{}\"", assay::contract::wire(code).object);
        assert!(errors.contains(&anchor), "{anchor}");
    }
}

#[tokio::test]
async fn every_asset_that_a_page_names_is_there() {
    let server = Server::start();
    let browser = server.browser();
    let page = browser.get("/login").await;

    let named = page.body.split('"').filter(|part| part.starts_with("/assets/"));

    let mut count = 0;
    for path in named {
        let asset = browser.get(path).await;
        assert_eq!(asset.status, StatusCode::OK, "{path}");
        count += 1;
    }
    assert_eq!(count, 4);
}

#[tokio::test]
async fn files_and_pages_of_the_documentation_are_packed_and_pages_with_what_people_wrote_are_not()
{
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let login = server.browser().get("/login").await;
    let style = login.body.split('"').find(|part| part.contains("/app.")).unwrap();

    for (path, packed) in [
        (style, true),
        ("/docs/tools", true),
        ("/docs/security", true),
        ("/tickets?q=chosen", false),
        ("/docs/no-such-page-chosen", false),
        ("/", false),
    ] {
        let page = ada.get_packed(path).await;

        let said = page.headers.get(header::CONTENT_ENCODING).map(|said| said.to_str().unwrap());
        assert_eq!(said, packed.then_some("gzip"), "{path}");
        let vary = page.headers.get_all(header::VARY).iter().any(|by| by == "accept-encoding");
        assert_eq!(vary, packed, "{path}");
    }
}

#[tokio::test]
async fn an_absent_page_says_so_with_the_id_of_the_request() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    for path in ["/nothing", "/tickets/ACME-99", "/projects/none", "/tickets/%2e%2e/x", "/a/b/c"] {
        let page = ada.get(path).await;

        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.body.contains("There is nothing here"), "{path}");
        assert!(page.body.contains("Request <code>"), "{path}");
        assert!(page.headers.contains_key(header::CONTENT_SECURITY_POLICY), "{path}");
    }
}

#[tokio::test]
async fn a_key_is_shown_once_works_and_can_be_revoked() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    let fields = [("name", "Ada's laptop"), ("scope", "mcp_full"), ("project", "")];
    let made = ada.submit("/keys", "/keys", &fields).await;

    assert_eq!((made.status, made.location()), (StatusCode::SEE_OTHER, "/keys?did=made"));
    let shown = ada.get(made.location()).await;
    let (_, rest) = shown.body.split_once("id=\"fresh-key\">").unwrap();
    let key = rest.split('<').next().unwrap().to_owned();
    let snippet = format!("Authorization: Bearer {key}");
    assert!(shown.body.contains(&snippet), "the snippets hold the key");
    let caller = server.app.gate().caller(Some(&assay::base::Secret::new(&*key))).await;
    assert_eq!(caller.unwrap().actor.label(), "key Ada's laptop");
    let list = ada.get(made.location()).await.body;
    assert_eq!(list.matches("<th scope=\"row\"").count(), 1);
    assert!(!list.contains(&key) && list.contains("Ada&#39;s laptop"));

    let (_, rest) = list.split_once("name=\"key\" value=\"").unwrap();
    let id = rest.split('"').next().unwrap().to_owned();
    let revoked = ada.submit("/keys", "/keys/revoke", &[("key", &id)]).await;

    assert_eq!(revoked.location(), "/keys?did=revoked");
    assert!(ada.get("/keys?did=revoked").await.body.contains("The key is revoked."));
    let caller = server.app.gate().caller(Some(&assay::base::Secret::new(&*key))).await;
    assert!(caller.is_err());
}

#[tokio::test]
async fn a_form_that_cannot_be_taken_comes_back_with_what_is_wrong() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    let nameless = ada.submit("/keys", "/keys", &[("name", " "), ("scope", "mcp_read")]).await;
    let unread = ada.post("/keys/revoke", &[("csrf", "x")]).await;

    assert_eq!(nameless.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(nameless.body.contains("aria-invalid=\"true\""), "{}", nameless.body);
    assert!(nameless.body.contains("value=\"mcp_read\" checked"));
    assert_eq!(unread.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(unread.body.contains("That cannot be taken"), "{}", unread.body);
    assert!(unread.headers.contains_key(header::CONTENT_SECURITY_POLICY));
    let wrong_method = ada.post("/tickets", &[]).await;
    assert_eq!(wrong_method.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(wrong_method.body.contains("Request <code>"), "{}", wrong_method.body);
}

#[tokio::test]
async fn a_project_says_what_is_in_the_way() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/projects/acme-widgets").await.body;

    assert!(page.contains("One thing is in the way of tickets."), "{page}");
    let fix = page.split("class=\"small fix\"").nth(1).unwrap();
    let (link, command) = (fix.find("/projects/acme-widgets/settings/repository"), fix.find("run"));
    assert!(link.unwrap() < command.unwrap() && fix.contains("<code>assay project set"), "{fix}");
    assert!(page.contains("/nowhere/acme-widgets"), "{page}");
    assert!(page.contains("make test") && page.contains("script does the work."), "{page}");
}

#[tokio::test]
async fn a_new_team_is_led_to_pages_first_and_to_commands_where_it_likes() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let of_steps = |body: &str| {
        body.split("class=\"steps card\"").nth(1).unwrap().split("</ol>").next().unwrap().to_owned()
    };
    let ada = server.signed_in("ada@example.com").await;
    let steps = of_steps(&ada.get("/").await.body);
    let keys = steps.find("href=\"/keys\"").unwrap();
    let ask = steps.find("href=\"/tickets/new\"").unwrap();
    assert!(keys < ask && ask < steps.find("Dispatch an Assay ticket").unwrap(), "{steps}");

    let db = &server.app.env().db;
    db.raw("DELETE FROM projects").unwrap();
    let steps = of_steps(&ada.get("/").await.body);
    let page = steps.find("href=\"/projects/new\"").unwrap();
    assert!(page < steps.find("assay project create").unwrap(), "{steps}");

    db.raw("UPDATE users SET role = 'member'").unwrap();
    let steps = of_steps(&ada.get("/").await.body);
    assert!(!steps.contains("/projects/new") && steps.contains("assay project create"), "{steps}");
}

#[tokio::test]
async fn addresses_that_people_guess_lead_somewhere() {
    let server = Server::start();
    let browser = server.browser();

    for path in ["/docs", "/docs/"] {
        assert_eq!(browser.get(path).await.location(), "/docs/connect", "{path}");
    }
    for path in ["/schemas", "/schemas/"] {
        let index = browser.get(path).await.body;
        assert!(index.contains("/schemas/tool-response/v1.json"), "{path}: {index}");
    }
    let door = browser.get("/login").await.body;
    assert!(door.contains("Nobody has an account yet."), "{door}");
}

#[tokio::test]
async fn no_word_of_the_address_is_put_into_a_notice() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/keys?did=Call%20this%20number").await.body;

    assert!(!page.contains("Call this number") && !page.contains("class=\"notice"), "{page}");
}
