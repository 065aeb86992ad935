//! What is published of the tools.

use std::collections::HashSet;

use assay::projects::settings::{AGENT_NODES, PRESETS};
use assay::tickets::states::{NodeKind, Preset};
use assay::tools::{Effect, Entry, Registry};
use serde_json::{Map, Value, json};

use crate::golden;
use crate::harness::TestApp;

#[tokio::test]
async fn the_public_catalog_changes_only_on_purpose() {
    let app = TestApp::still().await;

    let mut catalog = app.caller("").get("/api/mcp").await;

    catalog["generatedAt"] = json!("<time>");
    let text = serde_json::to_string_pretty(&catalog).unwrap() + "\n";
    golden::matches("tools/manifest.json", &text);
}

#[test]
fn every_tool_has_a_name_of_its_own_and_says_what_it_does() {
    let registry = Registry::new();
    let mut names = HashSet::new();

    for tool in registry.all() {
        let snake = tool.name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(snake && tool.name.len() <= 60, "{}", tool.name);
        assert!(names.insert(tool.name), "{} is there twice", tool.name);
        assert!(!tool.title.is_empty() && tool.about.len() >= 60, "{}", tool.name);
        assert!(!tool.about.contains("  "), "{} has a broken line", tool.name);
        let reads = tool.effect == Effect::Reads;
        assert!(!reads || (tool.idempotent && tool.feature.is_none()), "{}", tool.name);
        assert!(reads || tool.feature.is_some(), "{} writes in every plan", tool.name);
    }
}

#[test]
fn every_example_is_a_call_that_the_tool_takes() {
    for tool in Registry::new().all() {
        let example: Value = serde_json::from_str(tool.example).unwrap();

        let schema = Value::Object((*tool.input_schema).clone());
        let problems: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&example)
            .map(|problem| problem.to_string())
            .collect();
        assert_eq!(problems, Vec::<String>::new(), "{}", tool.name);
        let known = tool.input_schema["properties"].as_object().unwrap();
        for name in example.as_object().unwrap().keys() {
            assert!(known.contains_key(name), "{}: {name}", tool.name);
        }
    }
}

#[test]
fn every_member_of_every_schema_is_explained_and_taken_by_every_client() {
    for tool in Registry::new().all() {
        for (side, schema) in [("input", &tool.input_schema), ("output", &tool.output_schema)] {
            assert_eq!(schema["type"], "object", "{} {side}", tool.name);
            for word in ["anyOf", "oneOf", "allOf", "not", "$ref"] {
                assert!(!schema.contains_key(word), "{} {side} has {word} at its root", tool.name);
            }
            let mut found = Vec::new();
            look(schema, side, &mut found);
            assert_eq!(found, Vec::<String>::new(), "{}", tool.name);
        }
        assert!(required_are_known(tool), "{}", tool.name);
    }
}

/// What is wrong with a schema and with those inside it.
fn look(schema: &Map<String, Value>, at: &str, found: &mut Vec<String>) {
    if schema.get("type").is_some_and(|kind| !kind.is_string()) {
        found.push(format!("{at}: several types"));
    }
    if schema.get("type") == Some(&json!("array")) && !schema.contains_key("items") {
        found.push(format!("{at}: an array of nothing"));
    }
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let at = format!("{at}.{name}");
        let property = property.as_object().unwrap();
        let said = property.get("description").and_then(Value::as_str).unwrap_or_default();
        if !said.ends_with(['.', '`']) || said.contains('\n') {
            found.push(format!("{at}: explained by {said:?}"));
        }
        look(property, &at, found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(Value::Object(inner)) = schema.get(key) {
            look(inner, &format!("{at}.{key}"), found);
        }
    }
    for inner in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        look(inner.as_object().unwrap(), &format!("{at}|"), found);
    }
}

fn required_are_known(tool: &Entry) -> bool {
    let known = tool.input_schema["properties"].as_object().unwrap();
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().all(|name| known.contains_key(name.as_str().unwrap()))
}

#[test]
fn the_settings_know_the_nodes_and_presets_that_tickets_have() {
    let nodes: Vec<&str> =
        NodeKind::ALL.iter().filter(|kind| kind.is_agent_work()).map(|kind| kind.word()).collect();
    let presets: Vec<&str> = Preset::ALL.iter().map(|preset| preset.word()).collect();

    assert_eq!(AGENT_NODES.to_vec(), nodes);
    assert_eq!(PRESETS.to_vec(), presets);
}
