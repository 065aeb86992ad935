//! The tools as clients list them: over the protocol, and as the public catalog, for which no key
//! is needed.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::address::{Address, Dialect};
use crate::base::Millis;
use crate::tools::{Effect, Entry, Registry};

/// The public catalog, version 2.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Catalog<'a> {
    version: u8,
    /// When it was made, ISO 8601.
    generated_at: String,
    tools: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    description: &'a str,
    /// Through which door it is called; the only one is `invoke`.
    source: &'a str,
    phase: u8,
    mutating: bool,
    /// Whether it answers with a job to follow.
    r#async: bool,
    parameters: &'a Map<String, Value>,
    required: Vec<&'a str>,
}

/// The catalog as JSON.
pub(super) fn public(registry: &Registry, address: &Address, now: Millis) -> String {
    let shown = registry.all().iter().filter(|tool| address.shows(tool));
    let catalog =
        Catalog { version: 2, generated_at: now.iso(), tools: shown.map(listed).collect() };
    serde_json::to_string(&catalog).expect("a catalog holds nothing but text and JSON")
}

fn listed(tool: &Entry) -> Listed<'_> {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    Listed {
        name: tool.name,
        description: tool.about,
        source: "invoke",
        phase: 1,
        mutating: tool.effect != Effect::Reads,
        r#async: tool.background,
        parameters: &tool.input_schema,
        required: required.map_or(vec![], |names| names.iter().filter_map(Value::as_str).collect()),
    }
}

/// The tools as the protocol lists them to a client with that address, in the registry's order.
pub(super) fn tools(registry: &Registry, address: &Address) -> Vec<Tool> {
    let shown = registry.all().iter().filter(|tool| address.shows(tool));
    shown.map(|tool| one(tool, address.dialect(Some(tool)))).collect()
}

fn one(tool: &Entry, dialect: Dialect) -> Tool {
    let hints = ToolAnnotations::with_title(tool.title)
        .read_only(tool.effect == Effect::Reads)
        .destructive(tool.effect == Effect::Destroys)
        .idempotent(tool.idempotent)
        .open_world(false);
    let output = match dialect {
        Dialect::Envelope => Arc::new(enveloped(&tool.listed_output)),
        Dialect::Jsonrpc | Dialect::Object => tool.listed_output.clone(),
    };
    Tool::new(tool.name, tool.about, tool.input_schema.clone())
        .with_title(tool.title)
        .with_raw_output_schema(output)
        .with_annotations(hints)
}

/// The schema of the envelope around a tool's data: what a client of that dialect is answered.
fn enveloped(data: &Map<String, Value>) -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "tool": { "type": "string" },
            "summary": { "type": "string" },
            "data": data,
            "warnings": { "type": "array", "items": { "type": "string" } },
            "nextActions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "label": { "type": "string" },
                        "tool": { "type": "string" },
                        "args": { "type": "object" },
                    },
                    "required": ["label", "tool"],
                },
            },
        },
        "required": ["ok", "tool", "summary", "data", "warnings", "nextActions"],
    });
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::envelope;

    fn address(query: &str) -> Address {
        Address::parse(Some(query), &Registry::new()).expect("a good address")
    }

    #[test]
    fn the_catalog_names_each_tool_with_its_arguments() {
        let registry = Registry::new();

        let catalog = public(&registry, &Address::default(), Millis(1_785_333_600_000));

        let catalog: Value = serde_json::from_str(&catalog).expect("JSON");
        assert_eq!(catalog["version"], 2);
        assert_eq!(catalog["generatedAt"], "2026-07-29T14:00:00.000Z");
        let listed = catalog["tools"].as_array().expect("a list");
        assert_eq!(listed.len(), registry.all().len());
        let one = listed.iter().find(|tool| tool["name"] == "get_ticket").expect("the tool");
        assert_eq!(
            (&one["source"], &one["mutating"], &one["required"]),
            (&json!("invoke"), &json!(false), &json!(["ticket"]))
        );
        assert_eq!(one["parameters"]["type"], "object");
    }

    #[test]
    fn every_tool_is_listed_in_order_with_both_schemas_and_its_hints() {
        let registry = Registry::new();

        for query in ["", "errors=envelope", "errors=object"] {
            let listed = tools(&registry, &address(query));

            let names: Vec<&str> = listed.iter().map(|tool| tool.name.as_ref()).collect();
            let all: Vec<&str> = registry.all().iter().map(|tool| tool.name).collect();
            assert_eq!(names, all);
            for tool in listed {
                let output = tool.output_schema.expect("a schema of the answer");
                assert_eq!(output["type"], "object", "{}", tool.name);
                assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
                let hints = tool.annotations.expect("hints");
                assert_eq!(hints.open_world_hint, Some(false));
                assert!(hints.title.is_some_and(|title| !title.is_empty()));
            }
        }
    }

    #[test]
    fn an_enveloped_answer_holds_against_the_schema_it_is_listed_with() {
        let data = json!({
            "type": "object",
            "properties": { "count": { "type": "integer" } },
            "required": ["count"],
        });
        let schema = enveloped(data.as_object().expect("an object"));
        let check = jsonschema::validator_for(&Value::Object(schema)).expect("a schema");
        let say = |data: Value| {
            let data = serde_json::value::to_raw_value(&data).expect("plain data");
            let said = envelope::success("count", "One.", data, vec!["Old.".to_owned()], &[]);
            serde_json::to_value(said).expect("plain data")
        };

        assert!(check.is_valid(&say(json!({ "count": 1 }))));
        assert!(!check.is_valid(&say(json!({ "count": "one" }))));
        assert!(!check.is_valid(&say(Value::Null)));
    }
}
