//! The forms of the dashboard: every one of them, with every kind of nonsense, and from elsewhere.

use axum::body::Body;
use http::{Method, header};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::{Dice, FORM, House, TEXTS, fill, request, routes};

/// Every address that takes a form, with its parameters filled.
fn forms() -> Vec<String> {
    let forms = routes().into_iter().filter(|(_, said)| said.contains("post("));
    let filled = |path: &str| {
        fill(path, |name| match name {
            "ticket" => "ACME-1",
            "project" => "acme",
            "section" => "limits",
            _ => "x",
        })
    };
    let forms: Vec<String> = forms.map(|(path, _)| filled(path)).collect();
    assert!(forms.len() >= 30, "{forms:?}");
    forms
}

/// An address that scripts post to, and that answers them in JSON.
const FOR_SCRIPTS: &str = "/tickets/new/files";

/// Every field of every form.
const FIELDS: &[&str] = &[
    "csrf", "name", "scope", "project", "key", "choice", "text", "next", "email", "password",
    "tenant", "x",
];

fn encoded(fields: &[(&str, &str)]) -> String {
    let escaped = assay::web::page::in_query;
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", escaped(value));
    fields.iter().map(pair).collect::<Vec<_>>().join("&")
}

fn sent(seed: u64, csrf: &str) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut fields: Vec<(&str, &str)> = Vec::new();
    for _ in 0..dice.roll(12) {
        fields.push((dice.pick(FIELDS), dice.pick(TEXTS)));
    }
    if !dice.one_in(4) {
        fields.push(("csrf", csrf));
    }
    let mut body = encoded(&fields).into_bytes();
    for _ in 0..dice.roll(3) {
        let at = dice.roll(body.len() + 1);
        let piece = dice.pick(PIECES);
        drop(body.splice(at..at, piece.iter().copied()));
    }
    body
}

/// What is put into the bytes of a form.
const PIECES: &[&[u8]] =
    &[b"%", b"%zz", b"&&&", b"=", b"\xff\xfe", b"%ff%fe", b"%00", b"[]=", b"\r\n", b";"];

/// Kinds of body that a form may claim to be.
const KINDS: &[&str] = &[
    FORM,
    FORM,
    FORM,
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "text/plain",
    "application/json",
    "application/x-www-form-urlencoded; charset=utf-16",
    "",
];

#[test]
fn whatever_is_sent_to_a_form_is_answered_with_a_page() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let house = runtime.block_on(House::start());
    let dispatch = json!({ "title": "One", "project": "ACME" });
    runtime.block_on(house.invoke("dispatch_ticket", &dispatch));
    let mut forms = forms();
    // These would end the login that the others need.
    forms.retain(|path| path != "/logout" && !path.starts_with("/account/"));
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };

    let ran = TestRunner::new(config).run(&any::<u64>(), |seed| {
        let mut dice = Dice(seed);
        let path = &forms[dice.roll(forms.len())];
        let mut request = request(Method::POST, path)
            .header(header::CONTENT_TYPE, dice.pick(KINDS))
            .header(header::COOKIE, &house.cookie);
        if dice.one_in(2) {
            request = request.header(header::COOKIE, "assay-guest=x; assay-guest=;;=");
        }
        let mut body = sent(seed, &house.csrf);
        if dice.one_in(5) {
            let part =
                b"--x\r\nContent-Disposition: form-data; name=\"csrf\"; filename=\"../x\"\r\n";
            body = [part, b"\r\n".as_slice(), &body, b"\r\n--x--"].concat();
        }
        let said = runtime.block_on(house.send(request.body(Body::from(body)).unwrap()));
        said.is_for(path == FOR_SCRIPTS);
        Ok(())
    });

    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

/// What a form could change.
const STATE: &str = "SELECT (SELECT group_concat(status) FROM tickets) \
    || (SELECT count(*) FROM api_keys) || (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL) \
    || (SELECT count(*) FROM sessions) || (SELECT count(*) FROM users) \
    || (SELECT count(*) FROM audit)";

#[tokio::test]
async fn no_form_changes_anything_without_the_token_of_its_own_login() {
    let house = House::start().await;
    house.invoke("dispatch_ticket", &json!({ "title": "One", "project": "ACME" })).await;
    let key = house.column("SELECT lower(hex(id)) FROM api_keys").remove(0);
    let key = [&key[..8], &key[8..12], &key[12..16], &key[16..20], &key[20..]].join("-");
    let before = house.column(STATE);
    let fields = [
        ("name", "evil"),
        ("scope", "mcp_full"),
        ("key", key.as_str()),
        ("text", "evil"),
        ("email", super::EMAIL),
        ("password", super::PASSWORD),
        ("tenant", "evil"),
    ];

    for path in forms() {
        for token in [None, Some(""), Some("x"), Some("é"), Some(&*"x".repeat(300_000))] {
            let mut all = fields.to_vec();
            all.extend(token.map(|token| ("csrf", token)));
            let said = house.form(&path, encoded(&all)).await;

            said.is_for(path == FOR_SCRIPTS);
            let status = said.status.as_u16();
            assert!(matches!(status, 403 | 422), "{path} {token:?}: {status}");
            assert!(!said.headers.contains_key(header::SET_COOKIE), "{path}");
        }
        // Nor does a form that was made a link.
        let asked = format!("{path}?{}&csrf={}", encoded(&fields), house.csrf);
        let said = house.read(&asked).await;
        assert!(said.status != 303 || path == "/login", "{path}: {}", said.status);
    }

    assert_eq!(house.column(STATE), before);
    let stays = house.form("/tickets/ACME-1/cancel", format!("csrf={}", house.csrf)).await;
    assert_eq!(stays.status, 303, "the token itself opens the form: {}", stays.text());
    assert_ne!(house.column(STATE), before);
}
