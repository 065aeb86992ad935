//! Every page of a team whose lists are all full, by what goes over the wire.

use assay::accounts::Role;
use assay::store::Db;
use http::{StatusCode, header};
use serde_json::json;

use super::Server;

/// Bytes of any page at most.
const PAGE_MAX: usize = 100_000;

/// More than any page lists.
const MANY: u32 = 600;

/// What is copied: a table, where its rows come from, and what is new in a copy, of which `c.i` is
/// the number.
type Part = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Titles are as long as they can be, and no two rows are alike.
const PARTS: &[Part] = &[
    (
        "tickets",
        "tickets s WHERE s.seq = 1",
        &[
            ("n", "100 + c.i"),
            ("id", "unhex(printf('019%09x7000a%015x', c.i, c.i))"),
            ("seq", "100 + c.i"),
            ("title", "substr(c.i || ' ' || replace(hex(zeroblob(250)), '0', 'w'), 1, 500)"),
            ("operation_key", "NULL"),
            (
                "status",
                "CASE c.i % 6 WHEN 0 THEN 'failed' WHEN 1 THEN 'succeeded' WHEN 2 THEN 'running' \
                 WHEN 3 THEN 'queued' WHEN 4 THEN 'blocked' ELSE 'awaiting_input' END",
            ),
            ("completed_at", "CASE WHEN c.i % 6 < 2 THEN s.created_at END"),
            ("failure_reason", "CASE WHEN c.i % 6 = 0 THEN hex(zeroblob(1000)) END"),
            ("requester_name", "'Requester ' || c.i"),
            ("requester_email", "'requester' || c.i || '@example.com'"),
        ],
    ),
    (
        "nodes",
        "nodes s JOIN tickets t ON t.id = s.ticket_id WHERE t.seq = 1",
        &[
            ("id", "unhex(printf('01a%09x7%05xb%013x', c.i, s.position, c.i))"),
            ("ticket_id", "unhex(printf('019%09x7000a%015x', c.i, c.i))"),
        ],
    ),
    (
        "ticket_events",
        "ticket_events s JOIN tickets t ON t.id = s.ticket_id WHERE t.seq = 1",
        &[("n", "NULL")],
    ),
    (
        "projects",
        "projects s WHERE s.key = 'ACME'",
        &[
            ("id", "unhex(printf('01c%09x7000a%015x', c.i, c.i))"),
            ("name", "substr('Project ' || c.i || ' ' || hex(zeroblob(50)), 1, 100)"),
            ("slug", "'project-' || c.i"),
            ("key", "'P' || c.i"),
        ],
    ),
    (
        "users",
        "users s WHERE s.email = 'ada@example.com'",
        &[
            ("id", "unhex(printf('01d%09x7000a%015x', c.i, c.i))"),
            ("email", "'somebody-with-a-name-' || c.i || '@department.example.com'"),
            ("name", "'Somebody with a Name ' || c.i"),
        ],
    ),
    ("audit", "audit s WHERE s.n = 1", &[("n", "NULL")]),
    (
        "jobs",
        "jobs s WHERE s.n = (SELECT min(n) FROM jobs WHERE kind = 'run_node')",
        &[("n", "NULL"), ("id", "randomblob(16)"), ("unique_key", "NULL")],
    ),
    (
        "api_keys",
        "api_keys s",
        &[
            ("id", "randomblob(16)"),
            ("hash", "randomblob(32)"),
            ("name", "substr('Key ' || c.i || ' ' || hex(zeroblob(50)), 1, 100)"),
        ],
    ),
];

/// Pages, each with its lists as they are first shown.
const PAGES: &[&str] = &[
    "/",
    "/tickets",
    "/tickets?status=failed",
    "/tickets?sort=oldest",
    "/tickets?sort=changed",
    "/tickets?sort=attention",
    "/tickets?kind=feature",
    "/tickets?q=w",
    "/tickets?view=board",
    "/tickets/new",
    "/tickets/suggest?q=1",
    "/tickets/ACME-1",
    "/tickets/ACME-101",
    "/proofs",
    "/projects",
    "/projects/new",
    "/projects/acme-widgets",
    "/projects/acme-widgets/settings/repository",
    "/projects/acme-widgets/settings/agents",
    "/projects/acme-widgets/settings/environments",
    "/projects/acme-widgets/settings/categories",
    "/jobs",
    "/jobs?state=ready",
    "/audit",
    "/system",
    "/people",
    "/account",
    "/keys",
    "/keys?show=all",
    "/find?q=ww",
    "/docs/connect",
    "/docs/tools",
    "/docs/tools/dispatch_ticket",
    "/docs/errors",
    "/docs/schemas",
    "/docs/security",
    "/docs/design",
    "/login",
    "/no-such-page",
];

fn fill(db: &Db) {
    for (table, from, set) in PARTS {
        let columns = format!("SELECT name FROM pragma_table_xinfo('{table}') WHERE hidden = 0");
        let names = db.raw_column(&columns).unwrap();
        let values: Vec<String> = names
            .iter()
            .map(|name| {
                let new = set.iter().find(|(column, _)| column == name);
                new.map_or_else(|| format!("s.{name}"), |(_, value)| (*value).to_owned())
            })
            .collect();
        db.raw(&format!(
            "INSERT INTO {table} ({})
             WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {MANY})
             SELECT {} FROM c CROSS JOIN {from};",
            names.join(", "),
            values.join(", ")
        ))
        .unwrap_or_else(|fault| panic!("{table}: {fault:?}"));
    }
}

#[tokio::test]
async fn every_page_of_a_team_that_has_much_is_under_100_kb_on_the_wire() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    let described = json!({
        "title": "w".repeat(500),
        "project": "Acme Widgets",
        "description": "- [ ] **Paint** the wall of `house.rs`\n".repeat(200),
    });
    server.call(&acme, "dispatch_ticket", described).await;
    server.key_by(&acme, "user ada@example.com", assay::accounts::KeyScope::McpFull).await;
    fill(&server.app.env().db);
    let ada = server.signed_in("ada@example.com").await;

    let mut sizes = Vec::new();
    for path in PAGES {
        let page = ada.get_packed(path).await;
        let expected = match *path {
            "/login" => StatusCode::SEE_OTHER,
            "/no-such-page" => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        };
        assert_eq!(page.status, expected, "{path}");
        let packed = page.headers.contains_key(header::CONTENT_ENCODING);
        sizes.push((page.size, packed, *path));
    }

    sizes.sort_unstable();
    let large: Vec<_> = sizes.iter().filter(|(size, ..)| *size >= PAGE_MAX).collect();
    assert!(large.is_empty(), "{large:?} of {sizes:#?}");
}
