//! Bodies for the JSON doors: messages of the protocol and calls of tools, bent as text and as
//! bytes.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Dice, House, TEXTS};

/// Bodies that a well-meaning client sends.
const SOUND: &[&str] = &[
    r#"{"tool":"list_tickets","args":{"limit":5}}"#,
    r#"{"tool":"get_ticket","args":{"ticket":"ACME-1"}}"#,
    r#"{"tool":"dispatch_ticket","args":{"title":"T","project":"ACME"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
        "protocolVersion":"2025-11-25","capabilities":{},
        "clientInfo":{"name":"t","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":null}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call",
        "params":{"name":"list_tickets","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"resources/read",
        "params":{"uri":"assay://tickets/ACME-1"}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"x","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"completion/complete","params":{"ref":{},"argument":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"tool":"list_tickets"}]"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"server/discover","params":{"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
];

/// Pieces that are put into the text of a body.
const PIECES: &[&str] = &[
    "null",
    "true",
    "-0",
    "1e999",
    "-1e-999",
    "123456789012345678901234567890",
    "0.1",
    "[]",
    "{}",
    "\"\"",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\u0000\"",
    "\"tool\":1,",
    "\"jsonrpc\":\"2.0\",",
    "\"id\":null,",
    "\"id\":[1],",
    "\"method\":\"tools/call\",",
    "\"tool\":\"get_ticket\",",
    ",",
    ":",
    "[[[[",
    "]]]]",
    "{\"a\":",
    "NaN",
    "Infinity",
    "// x",
    "\u{feff}",
    "\\",
    "\"",
];
const BYTES: &[&[u8]] =
    &[b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\0", b"\xf4\x90\x80\x80", b"\x1f\x8b", b"\n\r"];

fn bent(seed: u64, times: usize) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut body = dice.pick(SOUND).as_bytes().to_vec();
    for _ in 0..times {
        let at = dice.roll(body.len() + 1);
        match dice.roll(7) {
            0 => body.truncate(at),
            1 => drop(body.splice(at..at, dice.pick(BYTES).iter().copied())),
            2 => {
                let text = serde_json::to_string(dice.pick(TEXTS)).unwrap();
                drop(body.splice(at..at, text.bytes()));
            }
            3 if at < body.len() => body[at] ^= 1 << dice.roll(8),
            4 => {
                let to = (at + dice.roll(20)).min(body.len());
                body.drain(at..to);
            }
            5 => {
                // Said twice: a member's name, or half of the body.
                let half = body[at..].to_vec();
                body.extend(half);
            }
            _ => drop(body.splice(at..at, dice.pick(PIECES).bytes())),
        }
    }
    body
}

#[test]
fn any_body_is_answered_in_the_language_of_its_door() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let house = runtime.block_on(House::start());
    let config = Config { cases: 250, failure_persistence: None, ..Config::default() };

    let ran = TestRunner::new(config).run(&(any::<u64>(), 0..5_usize), |(seed, times)| {
        let body = bent(seed, times);
        runtime.block_on(async {
            house.post("/api/mcp/v1/invoke", body.clone()).await.is_envelope();
            house.post("/mcp", body.clone()).await.is_of_mcp();
            house.post("/api/mcp?dialect=envelope", body).await.is_of_mcp();
        });
        Ok(())
    });

    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

#[tokio::test]
async fn the_names_of_a_member_said_twice_do_not_reach_two_tools() {
    let house = House::start().await;
    let twice = r#"{"tool":"list_tickets","tool":"create_project",
        "args":{},"args":{"name":"X","confirm":true}}"#;

    let answers = [house.post("/mcp", twice).await, house.post("/api/mcp/v1/invoke", twice).await];

    for answer in answers {
        assert!(answer.status.is_client_error() || answer.status.is_success(), "{answer:?}");
    }
}

#[tokio::test]
async fn nesting_a_hundred_thousand_deep_is_refused_at_every_door() {
    let house = House::start().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));

    for deep in [deep, objects] {
        let invoke = format!(r#"{{"tool":"list_tickets","args":{deep}}}"#);
        let rpc = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call",
            "params":{{"name":"list_tickets","arguments":{deep}}}}}"#
        );
        for body in [deep.clone(), invoke, rpc] {
            let said = house.post("/api/mcp/v1/invoke", body.clone()).await;
            said.is_envelope();
            assert_eq!(said.status.as_u16(), 400, "{}", said.text());
            let said = house.post("/mcp", body).await;
            said.is_of_mcp();
            assert_eq!(said.status.as_u16(), 400, "{}", said.text());
        }
    }
}
