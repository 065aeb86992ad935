//! What a client lists, and that what it is answered holds against it.

use serde_json::{Value, json};

use super::Server;

/// What some client refuses in a schema.
fn problems(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Some(map) = schema.as_object() else {
        found.push(format!("{at}: no object"));
        return;
    };
    for word in ["$ref", "$defs", "oneOf", "allOf", "not", "if"] {
        if map.contains_key(word) {
            found.push(format!("{at}: {word}"));
        }
    }
    if map.get("type").is_some_and(Value::is_array) {
        found.push(format!("{at}: a list of types"));
    }
    if map.get("type") == Some(&json!("array")) && !map.contains_key("items") {
        found.push(format!("{at}: an array without items"));
    }
    for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        problems(property, &format!("{at}.{name}"), found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get(key).filter(|inner| inner.is_object()) {
            problems(inner, &format!("{at}.{key}"), found);
        }
    }
    for one in map.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        problems(one, &format!("{at}|"), found);
    }
}

#[tokio::test]
async fn every_schema_is_one_that_every_client_takes() {
    let server = Server::start().await;

    for address in ["/api/mcp", "/api/mcp?errors=envelope"] {
        let listed = server.ask(address, "tools/list", Value::Null).await;
        let mut found = Vec::new();
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            for side in ["inputSchema", "outputSchema"] {
                let schema = &tool[side];
                problems(schema, &format!("{name}.{side}"), &mut found);
                assert_eq!(schema["type"], "object", "{name}");
                assert!(schema.get("anyOf").is_none(), "{name}");
            }
            assert!(!tool["inputSchema"].to_string().contains("anyOf"), "{name}");
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
            }
        }
        assert_eq!(found, Vec::<String>::new());
    }
}

/// Some clients put the whole list before the model with every message, all of them the names,
/// descriptions and arguments.
#[tokio::test]
async fn the_list_of_tools_stays_short_enough_for_every_message() {
    let server = Server::start().await;
    let size = |value: &Value| value.to_string().len();

    let listed = server.ask("/mcp", "tools/list", json!({})).await["result"]["tools"].clone();

    let listed = listed.as_array().unwrap();
    let outputs: usize = listed.iter().map(|tool| size(&tool["outputSchema"])).sum();
    let whole: usize = listed.iter().map(size).sum();
    // So much for each on average; a client that has less room names the tools that it wants.
    let (most, most_asked) = (3_070 * listed.len(), 1_610 * listed.len());
    assert!(whole < most && whole - outputs < most_asked, "{whole} bytes, {outputs} of answers");
    let some = server.ask("/mcp?tools=get_ticket,dispatch_ticket", "tools/list", json!({})).await;
    assert_eq!(some["result"]["tools"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn an_answer_holds_against_the_schema_it_is_listed_with() {
    let server = Server::start().await;
    let new = json!({ "name": "Acme Widgets", "key": "ACME", "confirm": true });
    server.call("/api/mcp", "create_project", new).await;
    let calls = [
        ("list_projects", json!({})),
        ("get_project", json!({ "project": "Acme Widgets" })),
        ("list_tickets", json!({})),
    ];

    for (tool, args) in calls {
        for address in ["/api/mcp?errors=jsonrpc", "/api/mcp?errors=envelope"] {
            let listed = server.ask(address, "tools/list", json!({})).await;
            let listed = listed["result"]["tools"].as_array().unwrap().clone();
            let entry = listed.iter().find(|entry| entry["name"] == tool).unwrap();
            let check = jsonschema::validator_for(&entry["outputSchema"]).unwrap();

            let answer = server.call(address, tool, args.clone()).await;

            let content = &answer["result"]["structuredContent"];
            let found: Vec<String> = check.iter_errors(content).map(|e| e.to_string()).collect();
            assert_eq!(found, Vec::<String>::new(), "{tool}: {answer}");
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), content);
        }
    }
}

#[tokio::test]
async fn a_failure_comes_in_the_dialect_that_the_address_chose() {
    let server = Server::start().await;
    let get = |address: &'static str, tool: &'static str| {
        server.call(address, tool, json!({ "ticket": "ACME-9" }))
    };

    for tool in ["get_ticket", "no_such_tool"] {
        let code = if tool == "get_ticket" { "NOT_FOUND" } else { "TOOL_NOT_FOUND" };
        let rpc = get("/mcp", tool).await;
        assert_eq!(rpc["error"]["code"], -32600, "{rpc}");
        assert_eq!(
            (&rpc["error"]["data"]["code"], &rpc["error"]["data"]["statusCode"]),
            (&json!(code), &json!(404))
        );

        for (address, mark) in [("/mcp?errors=envelope", "ok"), ("/mcp?errors=object", "format")] {
            let result = get(address, tool).await["result"].clone();
            assert_eq!(result["isError"], true, "{result}");
            assert!(result.get("structuredContent").is_none(), "{result}");
            let blocks = result["content"].as_array().unwrap();
            assert_eq!(blocks.len(), 1);
            let text: Value = serde_json::from_str(blocks[0]["text"].as_str().unwrap()).unwrap();
            assert!(text.get(mark).is_some(), "{text}");
        }
    }
}

#[tokio::test]
async fn a_wrong_word_in_the_address_is_told() {
    let server = Server::start().await;

    for address in ["/mcp?errors=xml", "/mcp?tools=everything"] {
        let said = server.post(address, &[], &super::message("tools/list", json!({}))).await;

        assert_eq!((said.status, &said.json()["error"]["code"]), (400, &json!(-32600)));
    }
}

#[tokio::test]
async fn prompts_and_resources_can_be_read() {
    let server = Server::start().await;

    let prompts = server.ask("/mcp", "prompts/list", json!({})).await;
    let params = json!({ "name": "review_ticket", "arguments": { "ticket": "ACME-1" } });
    let prompt = server.ask("/mcp", "prompts/get", params).await;
    assert_eq!(prompts["result"]["prompts"][0]["name"], "dispatch_ticket");
    assert!(
        prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("ACME-1")
    );

    let listed = server.ask("/mcp", "resources/list", json!({})).await;
    for resource in listed["result"]["resources"].as_array().unwrap() {
        let page = server.ask("/mcp", "resources/read", json!({ "uri": resource["uri"] })).await;
        let text = page["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("# ") && text.len() > 500, "{text}");
    }
    for uri in ["assay://nothing", "assay://tickets/ACME-999"] {
        let none = server.ask("/mcp", "resources/read", json!({ "uri": uri })).await;
        assert_eq!(none["error"]["code"], -32602, "{none}");
        assert_eq!(none["error"]["data"]["uri"], uri);
    }
}
