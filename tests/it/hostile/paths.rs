//! Ids and names in addresses that try to be paths.

use serde_json::json;

use super::{House, TEXTS};

const DASHBOARD: &str = include_str!("../../../src/web/dashboard/mod.rs");
const APP: &str = include_str!("../../../src/app.rs");

/// Every address with a parameter that is read.
fn routes() -> Vec<&'static str> {
    let lines = DASHBOARD.lines().chain(APP.lines());
    let reads = lines.filter(|line| line.contains(".route(") && !line.contains(", post("));
    let paths = reads.filter_map(|line| line.split('"').nth(1));
    let routes: Vec<&str> = paths.filter(|path| path.contains('{')).collect();
    assert!(routes.len() >= 7, "{routes:?}");
    routes
}

/// What stands outside, by all the ways there.
const WAYS: &[&str] = &[
    "..",
    ".",
    "../../../../../../etc/passwd",
    "..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f%2e%2e%2fassay.db",
    "..%5c..%5cassay.db",
    "..%252f..%252fassay.db",
    "%2fetc%2fpasswd",
    "%c0%ae%c0%ae%c0%afetc",
    "....%2f%2f....%2f%2fetc%2fpasswd",
    "assay.db",
    "..%2f..%2fdata%2fassay.db",
    "%00",
    "app.css%00.js",
    "%ff%fe",
    "%",
    "file:%2f%2f%2fetc%2fpasswd",
];

/// What is there under a name that is also tried.
const KNOWN: &[&str] = &["/tickets/acme-1", "/tickets/%231", "/projects/acme"];

#[tokio::test]
async fn no_id_and_no_name_leads_to_a_file() {
    let house = House::start().await;
    house.invoke("dispatch_ticket", &json!({ "title": "One", "project": "ACME" })).await;
    let texts: Vec<String> = TEXTS.iter().map(|text| assay::web::page::in_query(text)).collect();
    let ways = WAYS.iter().copied().chain(texts.iter().map(String::as_str));
    let ways: Vec<&str> = ways.filter(|way| !way.is_empty()).collect();

    for route in routes() {
        for way in &ways {
            // All of its parameters, and the last alone.
            let mut paths = vec![fill(route, |_| way)];
            paths.push(fill(route, |name| if name == "ticket" { "ACME-1" } else { way }));
            for path in paths {
                let Ok(uri) = path.parse::<http::Uri>() else { continue };
                let said = house.read(&uri.to_string()).await;
                let text = said.text();

                assert!(!text.contains("root:x:0:0"), "{path}");
                assert!(!text.contains("SQLite format 3"), "{path}");
                let is_known = KNOWN.contains(&path.to_ascii_lowercase().as_str());
                assert!(said.status != 200 || is_known, "{path}: {text}");
            }
        }
    }
}

/// The route with each parameter filled.
fn fill<'a>(route: &str, with: impl Fn(&str) -> &'a str) -> String {
    let mut out = String::new();
    let mut rest = route;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap();
        out.push_str(before);
        out.push_str(with(name));
        rest = after;
    }
    out + rest
}
