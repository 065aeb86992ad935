//! Ids and names in addresses that try to be paths.

use serde_json::json;

use super::{House, TEXTS, fill, routes};

const APP: &str = include_str!("../../../src/app.rs");

/// Every address with a parameter that is read.
fn read() -> Vec<&'static str> {
    let lines = APP.lines().filter(|line| line.contains(".route("));
    let plain = lines.filter_map(|line| Some((line.split('"').nth(1)?, line)));
    let reads = plain.chain(routes()).filter(|(_, said)| !said.contains(", post("));
    let paths: Vec<&str> = reads.map(|(path, _)| path).filter(|path| path.contains('{')).collect();
    assert!(paths.len() >= 15, "{paths:?}");
    paths
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
const KNOWN: &[&str] = &[
    "/tickets/acme-1",
    "/tickets/%231",
    "/tickets/acme-1/changes",
    "/tickets/%231/changes",
    "/projects/acme",
];

#[tokio::test]
async fn no_id_and_no_name_leads_to_a_file() {
    let house = House::start().await;
    house.invoke("dispatch_ticket", &json!({ "title": "One", "project": "ACME" })).await;
    let texts: Vec<String> = TEXTS.iter().map(|text| assay::web::page::in_query(text)).collect();
    let ways = WAYS.iter().copied().chain(texts.iter().map(String::as_str));
    let ways: Vec<&str> = ways.filter(|way| !way.is_empty()).collect();

    for route in read() {
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
