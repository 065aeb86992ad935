//! The older era: a handshake, and a session id that nobody keeps.

use serde_json::json;

use super::{Server, message};

#[tokio::test]
async fn both_older_revisions_are_agreed_to_and_told_what_the_server_is_for() {
    let server = Server::start().await;

    for version in ["2025-06-18", "2025-11-25"] {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let said = server.post("/api/mcp", &[], &message("initialize", params)).await;

        let result = said.json()["result"].clone();
        assert_eq!((said.status, &result["protocolVersion"]), (200, &json!(version)));
        assert_eq!(result["serverInfo"]["name"], "assay");
        assert!(result["instructions"].as_str().unwrap().contains("dispatch_ticket"));
        assert!(said.header("mcp-session-id").is_some_and(|id| id.len() == 32));
    }
}

#[tokio::test]
async fn a_notification_is_taken_without_a_body_and_a_content_type() {
    let server = Server::start().await;

    for method in ["notifications/initialized", "notifications/cancelled"] {
        let said = json!({ "jsonrpc": "2.0", "method": method, "params": { "requestId": 7 } });
        let said = server.post("/api/mcp", &[], &said).await;

        assert_eq!((said.status, said.body.as_str()), (202, ""));
        assert_eq!(said.header("content-type"), None);
    }
}

#[tokio::test]
async fn a_session_id_of_an_earlier_process_is_as_good_as_any() {
    let server = Server::start().await;
    let headers = [
        ("mcp-session-id", "9f0c1d6e5b2a4f7e8c3d2b1a0f9e8d7c"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let params = json!({ "name": "list_projects", "arguments": {} });

    let said = server.post("/api/mcp", &headers, &message("tools/call", params)).await;

    assert_eq!(said.status, 200, "{}", said.body);
    assert!(said.json()["result"]["structuredContent"].is_object());
}

#[tokio::test]
async fn null_and_absent_params_are_one_and_wrong_ones_are_named() {
    let server = Server::start().await;
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });

    let absent = server.post("/mcp", &[], &bare).await.json();
    let null = server.ask("/mcp", "tools/list", json!(null)).await;
    let no_arguments = server.ask("/mcp", "tools/call", json!({ "name": "list_projects" })).await;
    let wrong = server.ask("/mcp", "tools/call", json!({ "name": 7 })).await;
    let unknown = server.ask("/mcp", "tools/nothing", json!({})).await;

    assert_eq!(absent["result"], null["result"]);
    assert!(no_arguments["result"]["structuredContent"].is_object(), "{no_arguments}");
    assert_eq!(wrong["error"]["code"], -32602);
    assert_eq!(unknown["error"]["code"], -32601);
}
