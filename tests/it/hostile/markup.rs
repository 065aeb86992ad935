//! Markup in every field that an agent or a person can fill: it is shown as the text that it is.

use assay::accounts::KeyScope;
use assay::accounts::keys::{self, NewKey};
use assay::base::Secret;
use serde_json::json;

use super::House;

/// Markup that would do something, each part with a mark.
const PLANTED: &str = concat!(
    r#"x"'><script data-planted>planted()</script><img data-planted src=x onerror=planted()>"#,
    r"</textarea></title><svg data-planted onload=planted()>",
    r#"<a data-planted href="javascript:planted()">y</a> [z](javascript:planted()) "#,
    r"![w](http://planted.example/w.png) <planted> {{7*7}} ${7*7}",
);

/// The tags of a page, as written between their brackets. What a template writes of a text has no
/// bracket any more.
fn tags(page: &str) -> Vec<&str> {
    let starts = |rest: &&str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    page.split('<').skip(1).filter(starts).filter_map(|rest| rest.split('>').next()).collect()
}

/// Demands that nothing of the markup lives.
fn is_dead(path: &str, page: &str) {
    for tag in tags(page) {
        // Within an attribute's quotes a text is a text.
        let bare: String = tag.split('"').step_by(2).collect();
        let name = bare.split_whitespace().next().unwrap_or_default();
        assert!(!bare.contains("planted"), "{path}: <{tag}>");
        assert!(!bare.contains(" on") && !bare.contains(" style"), "{path}: <{tag}>");
        assert!(!matches!(name, "img" | "iframe" | "base" | "object" | "embed"), "{path}: <{tag}>");
        for address in ["href=\"", "src=\"", "action=\""] {
            let Some((_, to)) = tag.split_once(address) else { continue };
            let to = to.split('"').next().unwrap().trim_start().to_ascii_lowercase();
            let local = to.starts_with('/') && !to.starts_with("//");
            let outside = to.starts_with("http://") || to.starts_with("https://");
            assert!(local || outside || to.starts_with('#'), "{path}: <{tag}>");
            assert!(!to.contains("planted.example") || name == "a", "{path}: <{tag}>");
        }
    }
}

/// An agent that writes markup wherever it can. It asks a question first.
fn script() -> String {
    let planted = PLANTED.replace('\'', "'\\''");
    let json = serde_json::to_string(PLANTED).unwrap().replace('\'', "'\\''");
    let lists = format!(
        r#""summary":{json},"deferred":[{json}],"followUps":[{json}],"humanActions":[{json}]"#
    );
    let ask = format!(
        r#"{{"outcome":"needs_input",{lists},"question":{{"text":{json},"choices":[{json},"b"]}}}}"#
    );
    let check = r#"{"person":"Look"}"#;
    let contract = format!(
        r#"{{"outcome":"done",{lists},"assertions":[
            {{"text":{json},"check":{check}}},
            {{"text":{json},"check":{{"file":{json},"contains":{json}}}}}]}}"#
    );
    let done = format!(
        r#"{{"outcome":"done",{lists},"verdict":"approve","findings":[
            {{"text":{json},"severity":"advisory","file":{json}}}]}}"#
    );
    format!(
        "printf '%s\\n' '{planted}'; printf '\\033[31m%s\\033[0m\\n' '{planted}' >&2\n\
         if is plan && once asked; then report '{ask}'; exit 0; fi\n\
         if is contract; then report '{contract}'; exit 0; fi\n\
         if is implement; then echo x >\"f$$.txt\"; fi\n\
         report '{done}'\n"
    )
}

#[tokio::test]
async fn markup_of_agents_and_people_is_shown_as_text_on_every_page() {
    let house = House::at_work(&script()).await;
    let caller = house.app.gate().caller(Some(&Secret::new(&*house.key))).await.unwrap();
    let tenant = caller.actor.tenant;
    let named = house.app.env().db.write(move |tx| {
        let new = NewKey::plain(&PLANTED[..60], KeyScope::McpRead, PLANTED);
        keys::create(tx, tenant, &new)
    });
    named.await.unwrap();
    let project = json!({
        "name": &PLANTED[..80], "key": "EVIL", "description": PLANTED,
        "baseUrl": "https://a.example/?\"'><planted onload=planted()>", "verify": PLANTED,
        "confirm": true
    });
    house.invoke("create_project", &project).await;
    let ticket = json!({
        "title": PLANTED, "description": PLANTED, "project": "ACME", "category": &PLANTED[..60],
        "requester": { "display_name": &PLANTED[..150], "email": "a@b.example" },
        "pass_profile": "minimal"
    });
    let filed = house.invoke("dispatch_ticket", &ticket).await;
    assert_eq!(filed["ok"], true, "{filed}");

    house.until("ACME-1", &["awaiting_input"]).await;
    let mut pages = Vec::new();
    for path in ["/", "/tickets", "/tickets/ACME-1"] {
        pages.push((path.to_owned(), house.read(path).await.text()));
    }
    let reply = json!({ "ticket": "ACME-1", "message": PLANTED });
    let said = house.invoke("reply_ticket", &reply).await;
    assert_eq!(said["ok"], true, "{said}");
    house.until("ACME-1", &["succeeded", "failed"]).await;
    pages.extend(house.pages_of("ACME-1").await);
    let planted = assay::web::page::in_query(PLANTED);
    for path in ["/login", "/tickets", "/keys", "/projects", "/events", "/docs/tools", "/nowhere"] {
        let query = format!("next={planted}&q={planted}&status={planted}&kind={planted}");
        let asked = format!("{path}?{query}&did={planted}&project={planted}&category={planted}");
        if path != "/events" {
            pages.push((path.to_owned(), house.read(&asked).await.text()));
        }
    }
    for slug in house.column("SELECT slug FROM projects") {
        let path = format!("/projects/{slug}");
        let text = house.read(&path).await.text();
        pages.push((path, text));
    }

    let mut shown = 0;
    for (path, page) in &pages {
        if path.ends_with("raw=1") {
            continue;
        }
        is_dead(path, page);
        shown += usize::from(page.contains("planted()"));
    }
    assert!(shown >= 8, "the texts are shown on {shown} pages");
}

#[test]
fn the_search_for_live_markup_finds_it() {
    for live in [
        "<p><img data-planted src=x>",
        "<a href=\"javascript:planted()\">",
        "<b onclick=\"x\">",
        "<script data-planted>",
        "<p title=\"x\" onload=y>",
        "<iframe src=\"/x\">",
    ] {
        assert!(std::panic::catch_unwind(|| is_dead("x", live)).is_err(), "{live}");
    }
    is_dead("x", "<p title=\"&lt;planted on\">&#60;planted&#62;</p>");
}
