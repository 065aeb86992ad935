//! Calls of the plain form are answered without the library, and just as it answers them.

use serde_json::{Value, json};

use super::{Said, Server};

const CASES: [(&str, &str); 6] = [
    ("list_projects", "{}"),
    ("list_tickets", r#"{"limit": 5}"#),
    ("get_ticket", r#"{"ticket": "ACME-9"}"#),
    ("get_ticket", r#"{"ticket": 9, "more": true}"#),
    ("get_tickets", "{}"),
    ("create_project", "{}"),
];

async fn call(server: &Server, address: &str, newer: bool, of: (&str, &str), meta: Value) -> Said {
    let (tool, args) = of;
    let mut params = json!({ "name": tool });
    params["arguments"] = serde_json::from_str(args).unwrap();
    if meta != json!({}) {
        params["_meta"] = meta;
    }
    let message = json!({ "jsonrpc": "2.0", "id": "é", "method": "tools/call", "params": params });
    let newer =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)]
            .map(|header| newer.then_some(header));
    let headers: Vec<(&str, &str)> = newer.into_iter().flatten().collect();
    server.post(address, &headers, &message).await
}

#[tokio::test]
async fn a_plain_call_gets_the_librarys_answer() {
    let server = Server::start().await;
    for errors in ["", "?errors=envelope", "?errors=jsonrpc", "?errors=object"] {
        for of in CASES {
            for newer in [false, true] {
                let mut meta = json!({});
                if newer {
                    meta = json!({
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                        "io.modelcontextprotocol/clientCapabilities": {},
                    });
                }
                let address = format!("/mcp{errors}");
                let plain = call(&server, &address, newer, of, meta.clone()).await;
                // What the plain form does not have sends a call to the library.
                meta["example.com/other"] = json!(1);
                let library = call(&server, &address, newer, of, meta).await;

                let answer = |said: &Said| {
                    let kind = said.header("content-type").map(str::to_owned);
                    (said.status, kind, said.body.clone())
                };
                assert_eq!(answer(&plain), answer(&library), "{of:?} {errors} {newer}");
                assert!(plain.body.contains(r#""id":"é""#), "{}", plain.body);
            }
        }
    }
}
