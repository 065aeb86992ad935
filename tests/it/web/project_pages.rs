//! The pages of projects: settings section by section, a new project, a try of an agent, keys.

use assay::accounts::Role;
use http::StatusCode;
use serde_json::json;

use super::{Browser, Said, Server};

const SECTIONS: [&str; 10] = [
    "repository",
    "agents",
    "verify",
    "limits",
    "approvals",
    "environments",
    "categories",
    "dispatch",
    "pipeline",
    "document",
];

const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"'&";

/// Changes of each section.
const CHANGES: [(&str, &[(&str, &str)]); 9] = [
    (
        "repository",
        &[("name", HOSTILE), ("baseBranch", "trunk"), ("settings.landing.strategy", "squash")],
    ),
    (
        "agents",
        &[
            ("newProfile", "mine.x"),
            ("newFrom", "codex"),
            ("settings.agents.nodes.review", "script"),
            ("settings.agents.default", "script"),
        ],
    ),
    (
        "verify",
        &[
            ("settings.verify[0].remove", "true"),
            ("settings.verify[1].name", "lint"),
            ("settings.verify[1].command", "make <lint>"),
            ("settings.landing.deployVerify.command", "curl x"),
        ],
    ),
    ("limits", &[("settings.limits.concurrency", "7"), ("settings.limits.ticket.costUsd", "2.5")]),
    ("approvals", &[("settings.approvals.land", "true")]),
    (
        "environments",
        &[("environments[0].name", "Live"), ("environments[0].baseUrl", "https://acme.example")],
    ),
    ("dispatch", &[("settings.dispatch.duplicateThreshold", "0.8")]),
    ("pipeline", &[("settings.pipeline", "five_pass_v1")]),
    ("document", &[]),
];

/// Every field of a form as a browser would send it.
fn fields(page: &str) -> Vec<(String, String)> {
    let (_, form) = page.split_once("<form class=\"settings-form").expect("there is a form");
    let form = form.split("</form>").next().unwrap();
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        Some(plain(rest.split('"').next()?))
    };
    let mut all = Vec::new();
    for part in form.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let Some(name) = attribute(tag, "name") else { continue };
        if tag.starts_with("textarea") {
            all.push((name, plain(text.strip_prefix('\n').unwrap_or(text))));
        } else if tag.starts_with("select") {
            let (_, rest) = form.split_once(tag).unwrap();
            let options = rest.split("</select>").next().unwrap();
            let chosen = options.split("<option").skip(1).find(|one| one.contains(" selected"));
            let chosen = chosen.or(options.split("<option").nth(1)).unwrap();
            all.push((name, attribute(chosen, "value").unwrap()));
        } else if !tag.contains("type=\"checkbox\"") || tag.contains(" checked") {
            all.push((name, attribute(tag, "value").unwrap_or_default()));
        }
    }
    all
}

fn plain(text: &str) -> String {
    let pairs = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Loads a section and sends it back with some fields changed.
async fn save(browser: &Browser, path: &str, changes: &[(&str, &str)]) -> Said {
    let page = browser.get(path).await;
    assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
    send(browser, path, fields(&page.body), changes).await
}

async fn send(
    browser: &Browser,
    path: &str,
    mut all: Vec<(String, String)>,
    changes: &[(&str, &str)],
) -> Said {
    for (name, value) in changes {
        all.retain(|(other, _)| other != name);
        all.push(((*name).to_owned(), (*value).to_owned()));
    }
    let all: Vec<(&str, &str)> =
        all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(path, &all).await
}

fn at(section: &str) -> String {
    format!("/projects/acme-widgets/settings/{section}")
}

#[tokio::test]
async fn every_section_saves_as_it_is_and_changes_nothing() {
    let server = Server::start();
    let tenant = server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let asked = json!({ "project": "acme-widgets" });
    let before = server.call(&tenant, "get_project", asked.clone()).await;

    for section in SECTIONS {
        let path = at(section);
        let page = ada.get(&path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.body.len() < 100_000, "{path} has {} bytes", page.body.len());
        assert!(page.body.contains(&format!("href=\"{path}\" aria-current=\"page\"")), "{path}");
        if section != "categories" {
            let saved = save(&ada, &path, &[]).await;
            assert_eq!(saved.status, StatusCode::SEE_OTHER, "{path}: {}", saved.body);
            assert_eq!(saved.location(), format!("{path}?did=saved"));
        }
    }

    let after = server.call(&tenant, "get_project", asked).await;
    assert_eq!(before["settings"], after["settings"]);
    assert_eq!(before["repository"], after["repository"]);
    assert_ne!(before["updatedAt"], after["updatedAt"]);
    let said = ada.get(&format!("{}?did=saved", at("limits"))).await.body;
    assert!(said.contains("The settings are saved."), "{said}");
}

#[tokio::test]
async fn settings_are_changed_section_by_section() {
    let server = Server::start();
    let tenant = server.team("Acme", "ada@example.com", Role::Admin).await;
    let ada = server.signed_in("ada@example.com").await;

    for (section, changes) in CHANGES {
        let saved = save(&ada, &at(section), changes).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{section}: {}", saved.body);
    }

    let found = server.call(&tenant, "get_project", json!({ "project": "acme-widgets" })).await;
    assert_eq!(found["name"], HOSTILE);
    assert_eq!(
        (&found["baseBranch"], &found["baseUrl"]),
        (&json!("trunk"), &json!("https://acme.example"))
    );
    assert_eq!(found["environments"][0]["name"], "Live");
    let settings = &found["settings"];
    assert_eq!(settings["landing"]["strategy"], "squash");
    assert_eq!(settings["landing"]["deployVerify"]["command"], "curl x");
    assert_eq!(settings["agents"]["profiles"]["mine.x"]["command"][0], "codex");
    assert_eq!(settings["agents"]["nodes"], json!({ "review": "script" }));
    let verify = json!([{ "name": "lint", "command": "make <lint>", "timeoutSecs": 900 }]);
    assert_eq!(settings["verify"], verify);
    assert_eq!(settings["limits"]["concurrency"], 7);
    assert_eq!(settings["limits"]["ticket"]["costUsd"], 2.5);
    assert_eq!(settings["approvals"], json!({ "plan": false, "land": true }));
    assert_eq!(settings["dispatch"]["duplicateThreshold"], 0.8);
    assert_eq!(settings["pipeline"], "five_pass_v1");
    let page = ada.get("/projects/acme-widgets").await.body;
    assert!(!page.contains("<script>alert") && page.contains("make &#60;lint&#62;"), "{page}");
    let removed = save(&ada, &at("environments"), &[("environments[0].remove", "true")]).await;
    assert_eq!(removed.status, StatusCode::SEE_OTHER, "{}", removed.body);
    let gone = save(&ada, &at("agents"), &[("remove.mine.x", "true")]).await;
    assert_eq!(gone.status, StatusCode::SEE_OTHER, "{}", gone.body);
    let found = server.call(&tenant, "get_project", json!({ "project": "acme-widgets" })).await;
    assert_eq!((&found["environments"], &found["agents"]), (&json!([]), &json!(["script"])));
}

/// A section, what is typed into its form, and what is said to it.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

#[tokio::test]
async fn what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let wrong: [Case<'_>; 8] = [
        ("limits", &[("settings.limits.concurrency", "<b>")], "must be a whole number."),
        ("limits", &[("settings.limits.concurrency", "1000")], "must be between 1 and 64."),
        (
            "verify",
            &[("settings.verify[0].command", " "), ("settings.verify[0].timeoutSecs", "1")],
            "is empty.",
        ),
        ("repository", &[("repository", "not/absolute")], "class=\"wrong\""),
        ("agents", &[("settings.agents.profiles.script.command", "x\n{promt}")], "class=\"wrong\""),
        ("agents", &[("newProfile", "script")], "is the name of another profile."),
        (
            "environments",
            &[("environments[0].name", "A"), ("environments[0].baseUrl", "x")],
            "it must start with https:// or http://.",
        ),
        ("document", &[("settings", "{ \"colour\": 1 }")], "is not a setting"),
    ];

    for (section, changes, said) in wrong {
        let page = save(&ada, &at(section), changes).await;

        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{section}: {}", page.body);
        assert!(page.body.contains(said), "{section}: {said}: {}", page.body);
        assert!(page.body.contains("Nothing was saved."), "{section}");
        assert!(!page.body.contains("value=\"<b>\""));
    }
    let typed = save(&ada, &at("document"), &[("settings", "{ </textarea><b>")]).await;
    assert!(typed.body.contains("is not JSON") && !typed.body.contains("</textarea><b>"));
}

#[tokio::test]
async fn two_editors_do_not_overwrite_each_other_unseen() {
    let server = Server::start();
    let tenant = server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let path = at("limits");
    let old = fields(&ada.get(&path).await.body);
    let asked = json!({ "project": "acme-widgets", "confirm": true,
        "settings": { "limits": { "concurrency": 9 } } });
    server.call(&tenant, "update_project", asked).await;

    let late = send(&ada, &path, old, &[("settings.limits.concurrency", "3")]).await;

    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
    assert!(late.body.contains("somebody else changed this project"), "{}", late.body);
    assert!(late.body.contains("value=\"3\""), "what was typed is there");
    let found = server.call(&tenant, "get_project", json!({ "project": "acme-widgets" })).await;
    assert_eq!(found["settings"]["limits"]["concurrency"], 9);
    let again = send(&ada, &path, fields(&late.body), &[]).await;
    assert_eq!(again.status, StatusCode::SEE_OTHER, "{}", again.body);
    let found = server.call(&tenant, "get_project", json!({ "project": "acme-widgets" })).await;
    assert_eq!(found["settings"]["limits"]["concurrency"], 3);
}

#[tokio::test]
async fn settings_are_for_who_manages_the_team_and_no_other_team() {
    let server = Server::start();
    let tenant = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.team("Other", "eve@example.com", Role::Member).await;
    server.team("Third", "oscar@example.com", Role::Owner).await;
    let renamed = json!({ "project": "acme-widgets", "name": "Only Acme's", "confirm": true });
    server.call(&tenant, "update_project", renamed).await;
    let made = json!({ "name": "Alone", "confirm": true });
    server.call(&tenant, "create_project", made).await;
    let (ada, eve) =
        (server.signed_in("ada@example.com").await, server.signed_in("eve@example.com").await);
    let oscar = server.signed_in("oscar@example.com").await;

    for section in SECTIONS {
        assert_eq!(eve.get(&at(section)).await.status, StatusCode::FORBIDDEN, "{section}");
        let others = oscar.get(&format!("/projects/alone/settings/{section}")).await;
        assert_eq!(others.status, StatusCode::NOT_FOUND, "{section}");
    }
    let overview = eve.get("/projects/acme-widgets").await.body;
    assert!(!overview.contains("/settings/"), "{overview}");
    assert_eq!(eve.get("/projects/new").await.status, StatusCode::FORBIDDEN);
    for path in [
        at("limits"),
        "/projects/new".to_owned(),
        "/projects/alone/tries".to_owned(),
        "/projects/alone/categories".to_owned(),
    ] {
        let forged = [("csrf", "forged"), ("name", "x"), ("profile", "script")];
        assert_eq!(ada.post(&path, &forged).await.status, StatusCode::FORBIDDEN, "{path}");
        let csrf = eve.get("/tickets").await.csrf();
        let sent = [("csrf", csrf.as_str()), ("name", "x"), ("profile", "script")];
        assert_eq!(eve.post(&path, &sent).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(ada.get(&at("nothing")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn categories_are_renamed_and_removed() {
    let server = Server::start();
    let tenant = server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    for (title, category) in [("One", "Auth"), ("Two", "Billing")] {
        let asked = json!({ "title": title, "project": "acme-widgets", "category": category });
        server.call(&tenant, "dispatch_ticket", asked).await;
    }
    let path = at("categories");
    let page = ada.get(&path).await.body;
    let (_, rest) = page.split_once("name=\"category\" value=\"").unwrap();
    let id = rest.split('"').next().unwrap().to_owned();
    let to = "/projects/acme-widgets/categories";

    let renamed = ada.submit(&path, to, &[("category", &id), ("name", HOSTILE)]).await;
    let taken = ada.submit(&path, to, &[("category", &id), ("name", "billing")]).await;
    let page = ada.get(&path).await.body;
    let removed = ada.submit(&path, to, &[("category", &id), ("do", "remove")]).await;

    assert_eq!(renamed.location(), format!("{path}?did=saved"));
    assert!(page.contains("&#60;script&#62;") && !page.contains("<script>alert"), "{page}");
    assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(taken.body.contains("has a category"), "{}", taken.body);
    assert_eq!(removed.location(), format!("{path}?did=removed"));
    assert!(!ada.get(&path).await.body.contains(&id));
}

#[tokio::test]
async fn a_project_is_made_on_its_page() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    let made = save(&ada, "/projects/new", &[("name", "new"), ("verify", "make test")]).await;
    let nameless = save(&ada, "/projects/new", &[("key", "1"), ("verify", "<i>")]).await;
    let odd = save(&ada, "/projects/new", &[("name", "X"), ("key", "1")]).await;

    // `new` is the page itself.
    assert_eq!(made.location(), "/projects/new-2?did=created", "{}", made.body);
    let page = ada.get(made.location()).await.body;
    assert!(page.contains("The project is made.") && page.contains("make test"), "{page}");
    assert!(page.contains("/projects/new-2/settings/repository"), "{page}");
    assert_eq!(nameless.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(nameless.body.contains("Name: is missing"), "{}", nameless.body);
    assert!(nameless.body.contains("value=\"&#60;i&#62;\""), "{}", nameless.body);
    assert!(odd.body.contains("Key: it must be a letter"), "{}", odd.body);
}

#[tokio::test]
async fn a_try_of_an_agent_is_a_job_with_a_page() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    let (ada, eve) =
        (server.signed_in("ada@example.com").await, server.signed_in("eve@example.com").await);
    let to = "/projects/acme-widgets/tries";
    assert!(ada.get(&at("agents")).await.body.contains("Try script"));

    let begun = ada.submit(&at("agents"), to, &[("profile", "script")]).await;
    let unknown = ada.submit(&at("agents"), to, &[("profile", "nobody")]).await;

    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.body);
    let page = ada.get(begun.location()).await;
    assert!(page.body.contains("Try of script") && page.body.contains("Queued"), "{}", page.body);
    assert!(unknown.body.contains("That cannot be taken"), "{}", unknown.body);
    assert_eq!(eve.get(begun.location()).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_key_can_be_limited_and_end_by_itself_and_the_list_can_be_filtered() {
    let server = Server::start();
    let tenant = server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let found = server.call(&tenant, "get_project", json!({ "project": "acme-widgets" })).await;
    let project = found["id"].as_str().unwrap();
    let form = [
        ("name", HOSTILE),
        ("scope", "mcp_read"),
        ("project", ""),
        ("reach", project),
        ("lasts", "30"),
    ];

    let made = ada.submit("/keys", "/keys", &form).await;
    let page = ada.get(made.location()).await.body;
    let list = ada.get("/keys").await.body;
    let odd = [("name", "x"), ("scope", "mcp_read"), ("lasts", "-1"), ("reach", project)];
    let refused = ada.submit("/keys", "/keys", &odd).await;

    assert!(!page.contains("<script>alert"), "{page}");
    assert!(page.contains("id=\"use-claude-code\"") && page.contains("id=\"use-codex\""), "{page}");
    assert!(list.contains("in 30 d") && list.contains("by ada@example.com"), "{list}");
    assert!(list.contains(">Acme Widgets</td>"), "{list}");
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains(&format!("value=\"{project}\" checked")), "{}", refused.body);
    let rows = |page: &str| page.matches("<th scope=\"row\"").count();
    assert_eq!((rows(&list), rows(&ada.get("/keys?show=ended").await.body)), (1, 0));
    server.clock.advance(std::time::Duration::from_hours(24 * 6));
    let id = list.split_once("name=\"key\" value=\"").unwrap().1.split('"').next().unwrap();
    ada.submit("/keys", "/keys/revoke", &[("key", id)]).await;
    assert_eq!(rows(&ada.get("/keys").await.body), 0);
    assert_eq!(rows(&ada.get("/keys?show=ended").await.body), 1);
    assert_eq!(rows(&ada.get("/keys?show=all").await.body), 1);
}
