//! The form of a new ticket: what it takes, what it shows before, and what it says of what is
//! wrong.

use assay::accounts::Role;
use axum::body::Body;
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};

use super::{Browser, Said, Server};

const FORM: &str = "/tickets/new";

async fn ask(browser: &Browser, fields: &[(&str, &str)]) -> Said {
    browser.submit(FORM, FORM, fields).await
}

/// Sends the form as a browser without scripts does when it has files.
async fn send_files(
    browser: &Browser,
    fields: &[(&str, &str)],
    files: &[(&str, &str, &[u8])],
) -> Said {
    let csrf = browser.get(FORM).await.csrf();
    let mut body = Vec::new();
    let mut part = |head: &str, bytes: &[u8]| {
        body.extend(format!("--B0\r\nContent-Disposition: form-data; {head}\r\n\r\n").bytes());
        body.extend(bytes);
        body.extend(b"\r\n");
    };
    part("name=\"csrf\"", csrf.as_bytes());
    for (name, value) in fields {
        part(&format!("name=\"{name}\""), value.as_bytes());
    }
    for (name, kind, bytes) in files {
        let head = format!("name=\"files\"; filename=\"{name}\"\r\nContent-Type: {kind}");
        part(&head, bytes);
    }
    body.extend(b"--B0--\r\n");
    let mut request = browser.request(Method::POST, FORM, Body::from(body));
    let kind = HeaderValue::from_static("multipart/form-data; boundary=B0");
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    browser.send(request).await
}

fn column(server: &Server, sql: &str) -> Vec<String> {
    server.app.env().db.raw_column(sql).unwrap()
}

#[tokio::test]
async fn everything_that_a_call_may_say_can_be_typed() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    server.dispatch(&acme, "Add the store").await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/tickets/new?project=ACME&title=From+%3Chere%3E").await.body;
    assert!(page.contains("value=\"From &#60;here&#62;\""), "{page}");
    assert!(page.contains("<option value=\"ACME-1\">Add the store</option>"), "{page}");
    let sent = ask(
        &ada,
        &[
            ("project", "acme-widgets"),
            ("title", "  Paint the header "),
            ("description", "Line one\r\n\r\n- It is blue."),
            ("kind", "refactor"),
            ("preset", "fast"),
            ("pass_profile", "minimal"),
            ("category", "Looks"),
            ("depends_on", "acme-1, #1"),
            ("depends_on_reason", "Uses the store that it adds."),
            ("requester_name", "Bo"),
            ("requester_email", "bo@example.com"),
            ("predrafted", "yes"),
            ("no_split", "yes"),
        ],
    )
    .await;

    assert_eq!(sent.location(), "/tickets/ACME-2?did=filed", "{}", sent.body);
    assert!(ada.get(sent.location()).await.body.contains("The ticket is filed."));
    let row = "SELECT title || '|' || description || '|' || kind || '|' || preset || '|' \
               || pass_profile || '|' || category_name || '|' || status || '|' \
               || requester_name || '|' || source || '|' || filed_by \
               FROM ticket_rows WHERE seq = 2";
    let expected = "Paint the header|Line one\n\n- It is blue.|refactor|fast|minimal|Looks|blocked|\
                    Bo|dashboard|user ada@example.com";
    assert_eq!(column(&server, row), [expected]);
    let audit = "SELECT action || ' ' || outcome FROM audit WHERE via = 'browser'";
    assert_eq!(column(&server, audit), ["dispatch_ticket ok"]);
}

#[tokio::test]
async fn what_is_wrong_stands_at_its_field_and_what_was_typed_stays() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let typed = [("description", "Keep <this>"), ("category", "Looks \"odd\"")];

    for (wrong, said) in [
        (vec![("title", " ")], "Must not be empty."),
        (vec![("title", "A"), ("depends_on", "ACME-1")], "Say in a sentence"),
        (
            vec![
                ("title", "A"),
                ("depends_on", "ACME-9"),
                ("depends_on_reason", "Uses what it adds."),
            ],
            "ACME-9: No such ticket.",
        ),
        (vec![("title", "A"), ("requester_email", "nobody")], "Is no e-mail address."),
        (vec![("title", "A"), ("kind", "chore")], "is none of feature"),
        (vec![("title", "A"), ("project", "nowhere")], "nowhere"),
        (vec![("title", "See the attached brief.pdf")], "none is attached"),
        (vec![("title", "A"), ("seed_from_ref", "-x")], "It starts with a hyphen."),
        (vec![("title", "A"), ("replaces", "ACME-7")], "replaces"),
    ] {
        let mut fields = typed.to_vec();
        fields.extend(&wrong);
        let page = ask(&ada, &fields).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}: {}", page.body);
        let marked = page
            .body
            .split("class=\"wrong\"")
            .skip(1)
            .any(|part| part.split("</p>").next().unwrap().contains(said));
        assert!(marked || said == "replaces", "{wrong:?}: {}", page.body);
        assert!(page.body.contains("Keep &#60;this&#62;"), "{wrong:?}");
        assert!(page.body.contains("Looks &#34;odd&#34;"), "{wrong:?}");
    }
    assert_eq!(column(&server, "SELECT title FROM tickets"), Vec::<String>::new());
}

#[tokio::test]
async fn a_preview_tells_the_nodes_and_the_split_and_files_nothing() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let small = [("act", "preview"), ("title", "Fix the <crash>"), ("pass_profile", "minimal")];

    let page = ask(&ada, &small).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("One ticket with "), "{}", page.body);
    assert!(page.body.contains("Kind: Fix.") && page.body.contains("<li>Land</li>"));
    let part = |phase| format!("## Phase {phase}: Part {phase}\n\nDo the part {phase} well.\n\n");
    let brief = (1..=9).map(part).collect::<Vec<_>>().concat();
    let large = [("act", "preview"), ("title", "Rebuild it"), ("description", &brief)];
    let page = ask(&ada, &large).await.body;
    assert!(page.contains("A chain of 9 tickets with "), "{page}");
    assert!(page.contains("Phase 2: Part 2"), "{page}");
    let whole =
        [("act", "preview"), ("title", "Rebuild it"), ("description", &brief), ("no_split", "yes")];
    assert!(ask(&ada, &whole).await.body.contains("One ticket with "));
    assert_eq!(ask(&ada, &[("act", "preview")]).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(column(&server, "SELECT title FROM tickets"), Vec::<String>::new());

    let filed = ask(&ada, &[("title", "Rebuild it"), ("description", &brief)]).await;
    assert_eq!(filed.location(), "/tickets/ACME-1?did=split");
    assert_eq!(column(&server, "SELECT title FROM tickets").len(), 9);
}

#[tokio::test]
async fn a_ticket_like_another_is_filed_only_when_it_is_said_again() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Add a dark mode toggle to the header of the page").await;
    let ada = server.signed_in("ada@example.com").await;
    let title = ("title", "Add a dark mode toggle to the header of the page");
    let same = [title, ("description", "**Why**")];

    for act in ["preview", "file"] {
        let page = ask(&ada, &[&same[..], &[("act", act)]].concat()).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains("A ticket asks for the same"), "{act}: {}", page.body);
        assert!(page.body.contains("href=\"/tickets/ACME-1\"") && page.body.contains("**Why**"));
    }
    assert_eq!(column(&server, "SELECT title FROM tickets").len(), 1);
    let over = ask(&ada, &[&same[..], &[("override_duplicate", "yes")]].concat()).await;
    assert_eq!(over.location(), "/tickets/ACME-2?did=filed", "{}", over.body);
}

#[tokio::test]
async fn files_come_with_the_form_and_outlive_a_refusal() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Member).await;
    let ada = server.signed_in("ada@example.com").await;
    let files: [(&str, &str, &[u8]); 2] =
        [("brief <1>.pdf", "application/pdf", b"%PDF-\r\n--B1"), ("", "", b"")];

    let page = send_files(&ada, &[("title", " "), ("project", "acme-widgets")], &files).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", page.body);
    assert!(page.body.contains("brief &#60;1&#62;.pdf"), "{}", page.body);
    let field = |name: &str| {
        let (_, rest) = page.body.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        let said = rest.split('"').next().unwrap().replace("&#34;", "\"").replace("&#60;", "<");
        said.replace("&#62;", ">")
    };
    let (job, attached) = (field("job_id"), field("attached"));
    let kept = [("title", "Build the brief"), ("job_id", &job), ("attached", &attached)];
    let more: [(&str, &str, &[u8]); 1] = [("notes.txt", "text/plain", b"hi")];
    let sent = send_files(&ada, &kept, &more).await;

    assert_eq!(sent.location(), "/tickets/ACME-1?did=filed", "{}", sent.body);
    let sql = "SELECT name || ' ' || size_bytes FROM attachments WHERE ticket_id IS NOT NULL \
               ORDER BY name";
    assert_eq!(column(&server, sql), ["brief <1>.pdf 11", "notes.txt 2"]);
}

#[tokio::test]
async fn a_file_that_is_not_taken_is_named() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Member).await;
    let ada = server.signed_in("ada@example.com").await;
    let title = [("title", "Run it")];

    let program: [(&str, &str, &[u8]); 1] = [("tool.exe", "application/x-msdownload", b"MZ")];
    let page = send_files(&ada, &title, &program).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.body.contains("tool.exe") && page.body.contains("is not taken"), "{}", page.body);
    let large = vec![b'x'; 3 << 20];
    let taken: [(&str, &str, &[u8]); 1] = [("large.txt", "text/plain", &large)];
    assert_eq!(send_files(&ada, &title, &taken).await.status, StatusCode::SEE_OTHER);
    let huge = vec![b'x'; 9 << 20];
    let refused: [(&str, &str, &[u8]); 1] = [("huge.txt", "text/plain", &huge)];
    assert_eq!(send_files(&ada, &title, &refused).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    let unknown = server.browser();
    let body = Body::from(vec![b'x'; 2 << 20]);
    let mut request = unknown.request(Method::POST, FORM, body);
    let kind = HeaderValue::from_static("multipart/form-data; boundary=B0");
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    assert_eq!(unknown.send(request).await.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_script_announces_a_file_and_finds_tickets_by_their_words() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    server.dispatch(&acme, "Add the store").await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let eve = server.signed_in("eve@example.com").await;
    let json = |said: &Said| -> Value { serde_json::from_str(&said.body).unwrap() };
    let file = [("original_name", "a.txt"), ("content_type", "text/plain"), ("size_bytes", "2")];

    let place = ada.submit(FORM, "/tickets/new/files", &file).await;
    let place = json(&place);
    assert!(place["put"].as_str().unwrap().starts_with("/uploads/"), "{place}");
    let attached: Value = serde_json::from_str(place["attached"].as_str().unwrap()).unwrap();
    assert_eq!(attached["key"], place["key"]);
    let odd = [("original_name", "a"), ("content_type", "application/x-sh"), ("size_bytes", "2")];
    let refused = ada.submit(FORM, "/tickets/new/files", &odd).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(json(&refused)["error"].as_str().unwrap().contains("is not taken"));
    let forged = [&[("csrf", "x")][..], &file[..]].concat();
    assert_eq!(ada.post("/tickets/new/files", &forged).await.status, StatusCode::FORBIDDEN);

    let found = json(&ada.get("/tickets/suggest?q=STORE&project=acme-widgets").await);
    assert_eq!(found, json!([{ "ref": "ACME-1", "title": "Add the store" }]));
    assert_eq!(json(&eve.get("/tickets/suggest?q=store").await), json!([]));
}

#[tokio::test]
async fn the_form_needs_a_role_and_its_own_token() {
    let server = Server::start();
    server.team("Acme", "vera@example.com", Role::Viewer).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    let vera = server.signed_in("vera@example.com").await;
    let eve = server.signed_in("eve@example.com").await;

    let shown = vera.get(FORM).await;
    assert_eq!(shown.status, StatusCode::FORBIDDEN);
    assert!(shown.body.contains("viewers do not ask for tickets"), "{}", shown.body);
    let sent = vera.submit("/tickets", FORM, &[("title", "A")]).await;
    assert_eq!(sent.status, StatusCode::FORBIDDEN);
    let forged = eve.post(FORM, &[("csrf", "x"), ("title", "A")]).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    assert_eq!(server.browser().get(FORM).await.status, StatusCode::SEE_OTHER);
    assert_eq!(column(&server, "SELECT title FROM tickets"), Vec::<String>::new());
}
