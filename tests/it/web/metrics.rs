//! Figures for Prometheus, and the rules of their format.

use std::collections::{BTreeMap, BTreeSet};

use assay::accounts::keys::{self, NewKey};
use assay::accounts::users::{self, NewUser};
use assay::accounts::{KeyScope, Reach, Role, Tenant, passwords};
use assay::base::{Entropy, Secret};
use axum::body::Body;
use http::{HeaderValue, Method, StatusCode, header};
use regex::Regex;
use serde_json::json;

use super::{PASSWORD, Said, Server};

/// What a scrape says, by name and labels.
type Figures = BTreeMap<String, f64>;

impl Server {
    /// A key of a tenant, as somebody made it.
    pub(super) async fn key_by(
        &self,
        tenant: &Tenant,
        by: &'static str,
        scope: KeyScope,
    ) -> String {
        self.key_of(tenant, NewKey::plain("scraper", scope, by)).await
    }

    async fn key_of(&self, tenant: &Tenant, new: NewKey<'static>) -> String {
        let tenant = tenant.id;
        let made = self.write(move |tx| keys::create(tx, tenant, &new)).await;
        made.1.reveal().to_owned()
    }

    async fn scrape(&self, key: Option<&str>) -> Said {
        let browser = self.browser();
        let mut request = browser.request(Method::GET, "/metrics", Body::empty());
        if let Some(key) = key {
            let bearer = HeaderValue::try_from(format!("Bearer {key}")).unwrap();
            request.headers_mut().insert(header::AUTHORIZATION, bearer);
        }
        browser.send(request).await
    }
}

/// Reads an answer by the rules of the format, and demands that it keeps them.
fn figures(text: &str) -> Figures {
    let sample = Regex::new(
        r#"^([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (\S+)$"#,
    )
    .unwrap();
    let (mut found, mut known) = (Figures::new(), BTreeSet::new());
    let (mut name, mut kind) = (String::new(), String::new());
    assert!(text.ends_with('\n'), "the last line has its end");
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            help.split_once(' ').unwrap().0.clone_into(&mut name);
            assert!(known.insert(name.clone()), "{name} stands in two places");
            continue;
        }
        if let Some(said) = line.strip_prefix("# TYPE ") {
            let (of, said) = said.split_once(' ').unwrap();
            assert_eq!(of, name, "a type follows its help");
            assert!(["gauge", "counter", "histogram"].contains(&said), "{line}");
            said.clone_into(&mut kind);
            continue;
        }
        let parts = sample.captures(line).unwrap_or_else(|| panic!("no figure: {line}"));
        let suffix = parts[1].strip_prefix(name.as_str()).unwrap_or_else(|| panic!("{line}"));
        let suffixes: &[&str] =
            if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(suffixes.contains(&suffix), "{line} is no line of a {kind}");
        assert!(kind != "counter" || name.ends_with("_total"), "{name}");
        let value: f64 = parts[3].parse().unwrap();
        assert!(value >= 0.0, "{line}");
        let (of, _) = line.rsplit_once(' ').unwrap();
        assert!(found.insert(of.to_owned(), value).is_none(), "{of} stands there twice");
    }
    buckets_grow(text, &found);
    found
}

/// Each bucket of a histogram holds what the one before holds, and the last all of it.
fn buckets_grow(text: &str, figures: &Figures) {
    let bucket = Regex::new(r#"^(\w+)_bucket\{class="(\w+)",le="([^"]+)"\} (\S+)$"#).unwrap();
    let mut last = (String::new(), 0.0);
    for found in text.lines().filter_map(|line| bucket.captures(line)) {
        let class = found[2].to_owned();
        let count: f64 = found[4].parse().unwrap();
        assert!(last.0 != class || last.1 <= count, "{class} shrinks");
        if &found[3] == "+Inf" {
            let whole = format!("{}_count{{class=\"{class}\"}}", &found[1]);
            assert!(figures[&whole].total_cmp(&count).is_eq(), "{class}");
        }
        last = (class, count);
    }
    assert!(!last.0.is_empty(), "there is a histogram");
}

#[tokio::test]
async fn a_scrape_tells_how_the_server_stands_and_nothing_that_anybody_wrote() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    let other = server.team("Other", "eve@example.com", Role::Owner).await;
    let key = server.key_by(&acme, "user ada@example.com", KeyScope::McpRead).await;
    for title in ["Unspeakable-title", "Two", "Three"] {
        server.dispatch(&acme, title).await;
    }
    server.dispatch(&other, "Four").await;
    server.call(&acme, "cancel_ticket", json!({ "ticket": "ACME-2" })).await;
    let ada = server.signed_in("ada@example.com").await;
    assert_eq!(ada.get("/tickets/ACME-1").await.status, StatusCode::OK);
    assert_eq!(ada.get("/no-such-page").await.status, StatusCode::NOT_FOUND);

    let said = server.scrape(Some(&key)).await;

    assert_eq!(said.headers[header::CONTENT_TYPE], "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(said.headers[header::CACHE_CONTROL], "no-store");
    let figures = figures(&said.body);
    for (of, value) in [
        (concat!("assay_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}"), 1.0),
        ("assay_tickets{status=\"queued\"}", 3.0),
        ("assay_tickets{status=\"running\"}", 0.0),
        ("assay_tickets{status=\"cancelled\"}", 1.0),
        ("assay_jobs{kind=\"run_node\",state=\"due\"}", 3.0),
        ("assay_http_requests_total{class=\"nowhere\",status=\"404\"}", 1.0),
        ("assay_database_damaged", 0.0),
    ] {
        assert_eq!(figures.get(of), Some(&value), "{of}: {}", said.body);
    }
    for grows in [
        "assay_http_requests_total{class=\"page\",status=\"200\"}",
        "assay_store_groups_total",
        "assay_store_changes_total",
        "assay_store_group_seconds_total",
        "assay_database_bytes{file=\"database\"}",
        "assay_disk_free_bytes",
        "process_resident_memory_bytes",
    ] {
        assert!(figures[grows] > 0.0, "{grows}: {}", said.body);
    }
    let again = self::figures(&server.scrape(Some(&key)).await.body);
    let scrapes = "assay_http_requests_total{class=\"health\",status=\"200\"}";
    assert_eq!(again.get(scrapes), Some(&1.0), "the one before");
    let data = server.app.env().paths.data().display().to_string();
    for hidden in ["Unspeakable", "Acme", "acme", "Widgets", "example.com", &key, &data] {
        assert!(!said.body.contains(hidden), "{hidden}: {}", said.body);
    }
    assert!(said.body.len() < 20_000, "{}", said.body.len());
}

#[tokio::test]
async fn the_figures_are_for_who_runs_the_server() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    let other = server.team("Other", "eve@example.com", Role::Owner).await;
    let tenant = acme.id;
    let hash = passwords::hash(&Secret::new(PASSWORD), &Entropy::seeded(2)).unwrap();
    server
        .write(move |tx| {
            let new = NewUser {
                email: "mo@example.com",
                name: "Mo",
                role: Role::Member,
                password: &hash,
            };
            users::create(tx, tenant, &new)
        })
        .await;
    let limited = NewKey {
        reach: Reach::Only(Vec::new()),
        ..NewKey::plain("scraper", KeyScope::McpRead, "user ada@example.com")
    };
    let allowed = server.key_by(&acme, "user ada@example.com", KeyScope::McpRead).await;
    let local = server.key_by(&acme, "command line", KeyScope::McpFull).await;

    for key in [&allowed, &local] {
        assert_eq!(server.scrape(Some(key)).await.status, StatusCode::OK);
    }
    for key in [
        server.key_by(&acme, "user mo@example.com", KeyScope::McpFull).await,
        server.key_by(&acme, "user ada@example.com", KeyScope::Ci).await,
        server.key_of(&acme, limited).await,
        server.key_by(&other, "user eve@example.com", KeyScope::McpFull).await,
        server.key_by(&other, "command line", KeyScope::McpFull).await,
    ] {
        let said = server.scrape(Some(&key)).await;
        assert_eq!(said.status, StatusCode::FORBIDDEN, "{}", said.body);
        assert!(said.body.contains("--open-metrics") && !said.body.contains("assay_"));
    }
    for key in [None, Some("alch_nonsense")] {
        let said = server.scrape(key).await;
        assert_eq!(said.status, StatusCode::UNAUTHORIZED, "{}", said.body);
        assert!(said.headers[header::WWW_AUTHENTICATE].to_str().unwrap().starts_with("Bearer"));
    }

    let open = Server::start_as(assay::app::App::with_open_metrics);

    assert_eq!(open.scrape(None).await.status, StatusCode::OK);
    figures(&open.scrape(None).await.body);
}

#[tokio::test]
async fn tickets_are_counted_as_they_stand() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    for title in ["One", "Two", "Three"] {
        server.dispatch(&acme, title).await;
    }
    server.call(&acme, "cancel_ticket", json!({ "ticket": "ACME-2" })).await;
    let db = &server.app.env().db;
    db.raw("UPDATE tickets SET status = 'failed', completed_at = 1 WHERE seq = 3").unwrap();

    let kept = "SELECT hex(tenant_id) || status || tickets FROM ticket_counts WHERE tickets > 0
        ORDER BY 1";
    let counted = "SELECT hex(tenant_id) || status || count(*) FROM tickets
        GROUP BY tenant_id, status ORDER BY 1";

    assert_eq!(db.raw_column(kept).unwrap(), db.raw_column(counted).unwrap());
    assert_eq!(db.raw_column(kept).unwrap().len(), 3);
}
