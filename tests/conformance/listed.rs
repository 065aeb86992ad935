//! The tools as they are listed.

use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::{Map, Value, json};

/// The tools whose arguments are not looked at.
const PLAIN: [(&str, &str); 23] = [
    ("test_simple_text", "Answers with a text."),
    ("test_image_content", "Answers with an image."),
    ("test_audio_content", "Answers with a sound."),
    ("test_embedded_resource", "Answers with a resource."),
    ("test_multiple_content_types", "Answers with a text, an image and a resource."),
    ("test_tool_with_logging", "Logs three times while it runs."),
    ("test_error_handling", "Always fails."),
    ("test_tool_with_progress", "Tells of its progress."),
    ("test_elicitation_sep1034_defaults", "Asks for values that have defaults."),
    ("test_elicitation_sep1330_enums", "Asks for choices in every form."),
    ("test_missing_capability", "Needs a client that samples."),
    ("test_streaming_elicitation", "Needs an answer before it can go on."),
    ("test_logging_tool", "Logs if the request says at which level."),
    ("test_trigger_tool_change", "Says that the list of tools changed."),
    ("test_trigger_prompt_change", "Says that the list of prompts changed."),
    ("test_input_required_result_elicitation", "Needs a name."),
    ("test_input_required_result_sampling", "Needs an answer of a model."),
    ("test_input_required_result_list_roots", "Needs the roots of the client."),
    ("test_input_required_result_request_state", "Needs a yes, and its state back."),
    ("test_input_required_result_multiple_inputs", "Needs three inputs at once."),
    ("test_input_required_result_multi_round", "Needs two inputs, one after the other."),
    ("test_input_required_result_tampered_state", "Needs its state back as it was."),
    ("test_input_required_result_capabilities", "Needs what the client is able to give."),
];

/// All tools.
pub(crate) fn tools() -> Vec<Tool> {
    let nothing = json!({ "type": "object", "properties": {} });
    let plain = PLAIN.iter().map(|(name, about)| tool(name, about, nothing.clone()));
    plain
        .chain([asking("test_sampling", "prompt"), asking("test_elicitation", "message")])
        .chain([by_header(), with_schema()])
        .collect()
}

/// The tool whose argument stands in a header too.
pub(crate) fn by_header() -> Tool {
    let value = json!({ "type": "string", "x-mcp-header": "Value" });
    let schema = json!({ "type": "object", "properties": { "value": value } });
    tool("test_custom_header", "Repeats a value that stands in a header too.", schema)
}

fn asking(name: &'static str, argument: &str) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { argument: { "type": "string", "description": "What to ask." } },
        "required": [argument],
    });
    tool(name, "Asks the client and repeats what it said.", schema)
}

/// The tool whose schema must reach the client as it is.
fn with_schema() -> Tool {
    let text = json!({ "type": "string" });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": text, "city": text },
            },
        },
        "properties": {
            "name": text,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text,
            "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    tool("json_schema_2020_12_tool", "Has a schema with every new keyword.", schema)
}

fn tool(name: &'static str, about: &'static str, schema: Value) -> Tool {
    let schema = match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Tool::new(name, about, Arc::new(schema))
}
