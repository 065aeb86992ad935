//! The newer era: no handshake, every request for itself.

use serde_json::{Value, json};

use super::{Said, Server, message};

fn with_meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

async fn ask(server: &Server, method: &str, name: &str, params: Value) -> Said {
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    if !name.is_empty() {
        headers.push(("mcp-name", name));
    }
    server.post("/api/mcp", &headers, &message(method, with_meta(params))).await
}

#[tokio::test]
async fn the_server_is_discovered_and_a_tool_called_without_a_handshake() {
    let server = Server::start().await;

    let found = ask(&server, "server/discover", "", json!({})).await;
    let params = json!({ "name": "list_projects", "arguments": {} });
    let called = ask(&server, "tools/call", "list_projects", params).await;

    let versions = found.json()["result"]["supportedVersions"].clone();
    assert!(versions.as_array().unwrap().contains(&json!("2026-07-28")), "{versions}");
    assert_eq!(found.header("mcp-session-id"), None);
    let result = called.json()["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
    assert!(result["structuredContent"]["projects"].is_array());
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let server = Server::start().await;
    let params = json!({ "name": "list_projects", "arguments": {} });

    let said = ask(&server, "tools/call", "create_project", params).await;

    assert_eq!((said.status, &said.json()["error"]["code"]), (400, &json!(-32020)));
}

#[tokio::test]
async fn a_method_of_the_older_era_is_not_found() {
    let server = Server::start().await;

    let said = ask(&server, "ping", "", json!({})).await;

    assert_eq!((said.status, &said.json()["error"]["code"]), (404, &json!(-32601)));
}

#[tokio::test]
async fn a_ticket_failure_keeps_its_dialect() {
    let server = Server::start().await;
    let params = json!({ "name": "get_ticket", "arguments": { "ticket": "ACME-9" } });

    let said = ask(&server, "tools/call", "get_ticket", params).await;

    let error = said.json()["error"].clone();
    assert_eq!((said.status, &error["code"]), (200, &json!(-32600)));
    assert_eq!(error["data"], json!({ "code": "NOT_FOUND", "statusCode": 404 }));
}
