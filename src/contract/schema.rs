//! The JSON Schemas of the three dialects, as `/schemas/<format>/v<N>.json` serves them. Their
//! lists of codes come from the table.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::code::{Wire, wire};
use super::{error_object, jsonrpc};
use crate::base::Code;

/// Every published format with its version.
pub const FORMATS: &[(&str, u32)] =
    &[("tool-response", 1), ("jsonrpc-error", 1), (error_object::FORMAT, error_object::VERSION)];

/// The schema of a format at a version, if it is published.
#[must_use]
pub fn find(format: &str, version: u32) -> Option<&'static Value> {
    static ALL: LazyLock<[Value; 3]> =
        LazyLock::new(|| [tool_response(), jsonrpc_error(), cora_mcp_error()]);
    let at = FORMATS.iter().position(|known| *known == (format, version))?;
    ALL.get(at)
}

/// What the table says of each code under one name, each value once, in the table's order.
fn words(pick: fn(Wire) -> &'static str) -> Vec<&'static str> {
    let mut words = Vec::new();
    for word in Code::ALL.map(|code| pick(wire(code))) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// A schema of an object with these properties, of which the first `required` are always there.
fn object(required: usize, properties: &Value) -> Value {
    let names: Vec<&String> =
        properties.as_object().into_iter().flatten().map(|(k, _)| k).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names[..required],
        "additionalProperties": false,
    })
}

/// The head of a published schema, and its body.
fn published(at: usize, title: &str, about: &str, body: Value) -> Value {
    let (format, version) = FORMATS[at];
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("/schemas/{format}/v{version}.json"),
        "title": title,
        "description": about,
    });
    if let (Some(head), Value::Object(body)) = (schema.as_object_mut(), body) {
        head.extend(body);
    }
    schema
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn wait() -> Value {
    json!({
        "type": "integer",
        "minimum": 0,
        "description": "Milliseconds to wait before the same call may go through.",
    })
}

fn issues() -> Value {
    let issue = object(
        2,
        &json!({
            "path": text("Where the problem is, such as fixes[1].issue; empty for the whole."),
            "message": text("What is wrong there."),
        }),
    );
    json!({
        "type": "array",
        "items": issue,
        "minItems": 1,
        "description": "The single problems.",
    })
}

fn tool_response() -> Value {
    let suggestion = object(
        2,
        &json!({
            "label": text("What the call would do, in a few words."),
            "tool": text("The tool's name."),
            "args": { "type": "object", "description": "Arguments to start from." },
        }),
    );
    let error = object(
        2,
        &json!({
            "code": {
                "type": "string",
                "enum": words(|wire| wire.envelope),
                "description": "The category of the failure.",
            },
            "message": text("What went wrong."),
        }),
    );
    let mut body = object(
        6,
        &json!({
            "ok": { "type": "boolean", "description": "Whether the tool did what was asked." },
            "tool": text("The tool's name as it was called."),
            "summary": text("The result in one line."),
            "data": {
                "type": ["object", "array", "null"],
                "description": "What the tool returns.",
            },
            "warnings": {
                "type": "array",
                "items": { "type": "string" },
                "description": "What went less than well, where the call succeeded all the same.",
            },
            "nextActions": {
                "type": "array",
                "items": suggestion,
                "description": "Calls that make sense next.",
            },
            "error": error,
            "recoverable": {
                "type": "boolean",
                "description": "Whether another call may succeed.",
            },
            "retryAfterMs": wait(),
        }),
    );
    // A failure says what and whether to go on; a success says neither.
    body["if"] = json!({ "properties": { "ok": { "const": false } } });
    body["then"] = json!({ "required": ["error", "recoverable"] });
    body["else"] = json!({
        "properties": { "error": false, "recoverable": false, "retryAfterMs": false },
    });
    published(0, "Tool response", "The answer of the invoke endpoint, whatever the tool.", body)
}

fn jsonrpc_error() -> Value {
    let data = object(
        2,
        &json!({
            "code": {
                "type": "string",
                "enum": words(|wire| wire.rpc),
                "description": "The failure.",
            },
            "statusCode": {
                "type": "integer",
                "minimum": 400,
                "maximum": 599,
                "description": "The HTTP status that would say the same.",
            },
            "retryAfterMs": wait(),
            "issues": issues(),
        }),
    );
    let body = object(
        3,
        &json!({
            "code": { "const": jsonrpc::CODE, "description": "The same for every failure." },
            "message": text("What went wrong."),
            "data": data,
        }),
    );
    let about = "The error member of a JSON-RPC answer to a call of a ticket tool.";
    published(1, "JSON-RPC error", about, body)
}

fn cora_mcp_error() -> Value {
    let action = |kind: &str, field: &str, about: &str| {
        object(2, &json!({ "kind": { "const": kind }, field: text(about) }))
    };
    let body = object(
        7,
        &json!({
            "format": { "const": error_object::FORMAT, "description": "The error's format." },
            "version": { "const": error_object::VERSION, "description": "The format's version." },
            "code": {
                "type": "string",
                "enum": words(|wire| wire.object),
                "description": "The failure, as the error reference lists it.",
            },
            "message": limited(error_object::MESSAGE_MAX_CHARS, "What went wrong."),
            "hint": limited(error_object::HINT_MAX_CHARS, "One line on what to do."),
            "docsUrl": text("The address of the code's entry in the error reference."),
            "nextActions": {
                "type": "array",
                "items": { "oneOf": [
                    action("run", "command", "The command to run."),
                    action("open", "url", "The address of the page to open."),
                    action("edit", "file", "The path of the file to edit."),
                ] },
                "description": "What a person or an agent can do, most useful first.",
            },
            "issues": issues(),
            "omittedIssues": {
                "type": "integer",
                "minimum": 1,
                "description": "How many problems were left out for the object's size.",
            },
        }),
    );
    let about = "The one text block of a tool result that is marked as an error.";
    published(2, "Error object", about, body)
}

/// A text with a longest length in characters.
fn limited(max_chars: usize, about: &str) -> Value {
    json!({ "type": "string", "maxLength": max_chars, "description": about })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_schema_under_its_own_name() {
        for (format, version) in FORMATS {
            let schema = find(format, *version).unwrap();

            assert_eq!(schema["$id"], format!("/schemas/{format}/v{version}.json"));
            assert!(jsonschema::meta::is_valid(schema), "{format}");
        }
        assert!(find("tool-response", 2).is_none());
        assert!(find("nothing", 1).is_none());
    }

    #[test]
    fn a_success_may_not_carry_an_error() {
        let schema = jsonschema::validator_for(find("tool-response", 1).unwrap()).unwrap();
        let mut said = json!({
            "ok": true, "tool": "t", "summary": "", "data": [], "warnings": [], "nextActions": [],
        });
        assert!(schema.is_valid(&said));

        said["recoverable"] = json!(true);
        assert!(!schema.is_valid(&said));
        said["ok"] = json!(false);
        assert!(!schema.is_valid(&said));
        said["error"] = json!({ "code": "tool_error", "message": "" });
        assert!(schema.is_valid(&said));
    }
}
