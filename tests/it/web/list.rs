//! The list of tickets: its filters and orders, saved views, and several tickets at once.

use assay::accounts::users::{self, NewUser};
use assay::accounts::{Role, passwords};
use assay::base::{Entropy, Secret};
use http::StatusCode;
use serde_json::json;

use super::{PASSWORD, Server};

#[tokio::test]
async fn the_list_is_filtered_by_its_address() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Add a toggle").await;
    server.dispatch(&acme, "Fix the crash of the header").await;
    let ask = json!({
        "title": "Use the toggle",
        "project": "Acme Widgets",
        "depends_on": ["ACME-1"],
        "depends_on_reason": "Uses the toggle that it adds.",
        "category": "UI & more",
    });
    server.call(&acme, "dispatch_ticket", ask).await;
    let ada = server.signed_in("ada@example.com").await;

    let all = ada.get("/tickets").await.body;
    assert!(all.contains("Add a toggle") && all.contains("Fix the crash"), "{all}");
    assert!(all.contains("Waits for ACME-1. Uses the toggle that it adds."), "{all}");
    for (filter, shown, hidden) in [
        ("kind=fix", "Fix the crash", "Add a toggle"),
        ("status=blocked", "Use the toggle", "Fix the crash"),
        ("project=acme-widgets&category=ui+%26+more", "Use the toggle", "Add a toggle"),
        ("status=failed", "No ticket matches", "Add a toggle"),
        ("status=nonsense&kind=%00", "Add a toggle", "No ticket matches"),
    ] {
        let page = ada.get(&format!("/tickets?{filter}")).await.body;
        let list = page.split("id=\"list\"").nth(1).unwrap();
        assert!(list.contains(shown) && !list.contains(hidden), "{filter}: {list}");
    }
}

#[tokio::test]
async fn a_page_holds_fifty_tickets_and_leads_to_the_next() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    for number in 1..=52 {
        server.dispatch(&acme, &format!("Ticket number {number}.")).await;
    }
    let ada = server.signed_in("ada@example.com").await;

    let first = ada.get("/tickets?kind=feature").await.body;
    let (_, rest) = first.split_once("pager\"><a class=\"button\" href=\"").unwrap();
    let older = rest.split('"').next().unwrap().replace("&#38;", "&");
    let second = ada.get(&older).await.body;

    assert!(first.contains("number 52.") && first.contains("number 3."));
    assert!(!first.contains("number 2."));
    assert!(second.contains("number 2.") && second.contains("number 1."));
    assert!(!second.contains("number 3.") && !second.contains("Older tickets"));
}

/// The refs of the rows of a list, in their order.
fn rows(page: &str) -> Vec<String> {
    let rows = page.split("<td class=\"first\"><span class=\"ref\">").skip(1);
    rows.map(|row| row.split('<').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn filters_hold_together_and_each_can_be_taken_away() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    for title in ["Fix the crash of the header", "Fix the footer", "Add a toggle"] {
        let by = json!({ "title": title, "requester": { "display_name": "Bo <b>" } });
        server.call(&acme, "dispatch_ticket", by).await;
    }
    server.call(&acme, "dispatch_ticket", json!({ "title": "Fix the crash of the menu" })).await;
    server.call(&acme, "cancel_ticket", json!({ "ticket": "ACME-2" })).await;
    let ada = server.signed_in("ada@example.com").await;
    let listed = async |query: &str| rows(&ada.get(&format!("/tickets?{query}")).await.body);

    assert_eq!(listed("q=fix+CRASH").await, ["ACME-4", "ACME-1"]);
    assert_eq!(listed("q=fix&requester=bo").await, ["ACME-2", "ACME-1"]);
    assert_eq!(listed("requester=command").await, ["ACME-4"]);
    assert_eq!(listed("status=cancelled&status=queued&sort=oldest&kind=fix").await.len(), 3);
    assert_eq!(listed("status=cancelled&status=queued&q=fix&sort=oldest").await.len(), 3);
    assert_eq!(listed("q=%22%20OR%20*").await.len(), 0);
    let page = ada.get("/tickets?q=fix&status=cancelled&requester=Bo+%3Cb%3E").await.body;
    assert!(page.contains("By: Bo &#60;b&#62;") && !page.contains("<b>Bo"), "{page}");
    for without in [
        "/tickets?status=cancelled&#38;requester=Bo%20%3Cb%3E",
        "/tickets?q=fix&#38;requester=Bo%20%3Cb%3E",
        "/tickets?q=fix&#38;status=cancelled\"",
    ] {
        assert!(page.contains(without), "{without}: {page}");
    }
}

#[tokio::test]
async fn a_list_has_four_orders_and_pages_in_each() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    for number in 1..=53 {
        server.dispatch(&acme, &format!("Ticket number {number}.")).await;
    }
    server.clock.advance(std::time::Duration::from_mins(1));
    server.call(&acme, "cancel_ticket", json!({ "ticket": "ACME-7" })).await;
    let status = "UPDATE tickets SET status = 'awaiting_input' WHERE seq = 9";
    server.app.env().db.raw(status).unwrap();
    let ada = server.signed_in("ada@example.com").await;

    for (sort, first, last) in [
        ("newest", "ACME-53", "ACME-1"),
        ("oldest", "ACME-1", "ACME-53"),
        ("changed", "ACME-7", "ACME-1"),
        ("attention", "ACME-9", "ACME-7"),
    ] {
        for narrow in ["", "&project=acme-widgets", "&q=number"] {
            let page = ada.get(&format!("/tickets?sort={sort}{narrow}")).await.body;
            let (_, next) = page.split_once("pager\"><a class=\"button\" href=\"").unwrap();
            let next = next.split('"').next().unwrap().replace("&#38;", "&");
            let mut all = rows(&page);
            assert_eq!((all.len(), all[0].as_str()), (50, first), "{sort}{narrow}");
            all.extend(rows(&ada.get(&next).await.body));
            assert_eq!((all.len(), all[52].as_str()), (53, last), "{sort}{narrow}");
            all.sort();
            all.dedup();
            assert_eq!(all.len(), 53, "{sort}{narrow}: a ticket came twice");
        }
    }
}

#[tokio::test]
async fn several_tickets_are_cancelled_after_a_look_and_each_answer_is_told() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    for title in ["Paint the <door>", "Build a shed", "Sweep the yard"] {
        server.dispatch(&acme, title).await;
    }
    server.call(&acme, "cancel_ticket", json!({ "ticket": "ACME-3" })).await;
    let ada = server.signed_in("ada@example.com").await;
    let ticks = [
        ("act", "cancel"),
        ("ticket", "/tickets/ACME-1"),
        ("ticket", "/tickets/ACME-1"),
        ("ticket", "/tickets/ACME-3"),
        ("ticket", "/tickets/OTHER-9"),
    ];

    let asked = ada.submit("/tickets", "/tickets/bulk", &ticks).await.body;
    assert!(asked.contains("Cancel 1 ticket?") && asked.contains("&#60;door&#62;"), "{asked}");
    assert!(asked.contains("Has ended already") && asked.contains("No such ticket"), "{asked}");
    assert_eq!(
        ada.get("/tickets?status=cancelled").await.body.matches("class=\"first\"").count(),
        1
    );
    let mut sure = ticks.to_vec();
    sure.push(("sure", "yes"));
    let done = ada.submit("/tickets", "/tickets/bulk", &sure).await.body;
    assert!(done.contains("1 ticket cancelled, 2 not"), "{done}");
    assert!(done.contains("Not done: "), "{done}");
    let again = [("act", "retry"), ("ticket", "ACME-1"), ("ticket", "ACME-3"), ("sure", "yes")];
    let retried = ada.submit("/tickets", "/tickets/bulk", &again).await.body;
    assert!(retried.contains("2 tickets retried"), "{retried}");

    let sql = "SELECT action || ' ' || outcome FROM audit WHERE via = 'browser' ORDER BY n";
    let audit = server.app.env().db.raw_column(sql).unwrap();
    let expected = ["cancel_ticket ok", "cancel_ticket NotCancellable", "cancel_ticket NotFound"];
    assert_eq!(audit[..3], expected);
    assert_eq!(audit[3..], ["retry_ticket ok", "retry_ticket ok"]);
}

#[tokio::test]
async fn several_at_once_need_ticks_a_token_and_a_role() {
    let server = Server::start();
    let acme = server.team("Acme", "vera@example.com", Role::Viewer).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "Keep me").await;
    let sure = [("act", "cancel"), ("sure", "yes"), ("ticket", "ACME-1")];
    let vera = server.signed_in("vera@example.com").await;
    let eve = server.signed_in("eve@example.com").await;

    let page = vera.get("/tickets").await.body;
    assert!(!page.contains("type=\"checkbox\"") && !page.contains("/tickets/new"), "{page}");
    let refused = vera.submit("/tickets", "/tickets/bulk", &sure).await;
    assert!(refused.body.contains("0 tickets cancelled, 1 not"), "{}", refused.body);
    let other = eve.submit("/tickets", "/tickets/bulk", &sure).await;
    assert!(other.body.contains("No such ticket") && !other.body.contains("Keep me"));
    let forged = eve.post("/tickets/bulk", &[("csrf", "x"), ("act", "cancel")]).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let none = eve.submit("/tickets", "/tickets/bulk", &[("act", "cancel")]).await;
    assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(none.body.contains("No ticket is ticked"), "{}", none.body);
    let odd = eve.submit("/tickets", "/tickets/bulk", &[("act", "erase")]).await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);
    let status = server.app.env().db.raw_column("SELECT status FROM tickets").unwrap();
    assert_eq!(status, ["queued"]);
}

#[tokio::test]
async fn a_view_is_saved_renamed_and_removed_by_its_person_alone() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    let hash = passwords::hash(&Secret::new(PASSWORD), &Entropy::seeded(3)).unwrap();
    server
        .write(move |tx| {
            let email = "bo@example.com";
            let new = NewUser { email, name: "Bo", role: Role::Member, password: &hash };
            users::create(tx, acme.id, &new)
        })
        .await;
    let ada = server.signed_in("ada@example.com").await;
    let bo = server.signed_in("bo@example.com").await;
    let at = "/tickets?status=failed&kind=fix";
    let mine = [("name", "Broken <now>"), ("query", "kind=fix&status=failed&evil=1&from=0.4")];

    let saved = ada.submit(at, "/tickets/views", &mine).await;
    assert_eq!(saved.location(), "/tickets?status=failed&kind=fix&did=view-saved");
    let page = ada.get(saved.location()).await.body;
    assert!(page.contains("The view is saved") && page.contains("Broken &#60;now&#62;"), "{page}");
    let (_, id) = page.split_once("name=\"view\" value=\"").unwrap();
    let id = id.split('"').next().unwrap().to_owned();
    let twice = ada.submit(at, "/tickets/views", &[("name", "BROKEN  <now>")]).await;
    assert_eq!(twice.status, StatusCode::CONFLICT, "{}", twice.body);
    let empty = ada.submit(at, "/tickets/views", &[("name", " ")]).await;
    assert_eq!(empty.status, StatusCode::BAD_REQUEST);

    assert!(!bo.get("/tickets").await.body.contains("Broken"));
    let change = "/tickets/views/change";
    let theirs = [("view", &*id), ("act", "rename"), ("name", "Mine")];
    assert_eq!(bo.submit("/tickets", change, &theirs).await.status, StatusCode::NOT_FOUND);
    let gone = [("view", &*id), ("act", "remove")];
    assert_eq!(bo.submit("/tickets", change, &gone).await.status, StatusCode::NOT_FOUND);
    let forged = [("csrf", "x"), ("view", &*id), ("act", "remove")];
    assert_eq!(ada.post(change, &forged).await.status, StatusCode::FORBIDDEN);
    let renamed = ada.submit(at, change, &theirs).await;
    assert_eq!(renamed.location(), "/tickets?did=view-renamed");
    assert!(ada.get(at).await.body.contains("aria-current=\"page\">Mine</a>"));
    ada.submit(at, change, &gone).await;
    assert!(!ada.get("/tickets").await.body.contains(">Mine</a>"));
}
