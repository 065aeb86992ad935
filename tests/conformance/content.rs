//! What tools answer that always answer the same.

use rmcp::ErrorData;
use rmcp::model::CallToolResult;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A PNG of one grey pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAA\
                              ggCBd81ytgAAAABJRU5ErkJggg==";

/// A WAV of two silent samples.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// The answer of a tool that knows only one.
pub(crate) fn fixed(tool: &str) -> Option<Value> {
    let result = match tool {
        "test_simple_text" => content(&[text("This is a simple text response for testing.")]),
        "test_image_content" => content(&[image()]),
        "test_audio_content" => {
            content(&[json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })])
        }
        "test_embedded_resource" => content(&[resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => content(&[
            text("Multiple content types test:"),
            image(),
            resource(
                "test://mixed-content-resource",
                "application/json",
                &json!({ "test": "data", "value": 123 }).to_string(),
            ),
        ]),
        "test_error_handling" => {
            let said = text("This tool intentionally returns an error for testing");
            json!({ "content": [said], "isError": true })
        }
        "json_schema_2020_12_tool" => content(&[text("The schema is what is looked at.")]),
        _ => return None,
    };
    Some(result)
}

/// A result that is one text.
pub(crate) fn said(words: &str) -> Value {
    content(&[text(words)])
}

fn content(blocks: &[Value]) -> Value {
    json!({ "content": blocks })
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

/// The picture as a block of content.
pub(crate) fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

/// A resource as a block of content.
pub(crate) fn resource(uri: &str, kind: &str, words: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": words } })
}

/// JSON as the type of the library that it is the wire form of.
pub(crate) fn typed<T: DeserializeOwned>(wire: Value) -> Result<T, ErrorData> {
    serde_json::from_value(wire).map_err(|error| {
        ErrorData::internal_error(format!("a fixture is not in its wire form: {error}"), None)
    })
}

/// A result of a tool that is done.
pub(crate) fn done(wire: &Value) -> Result<CallToolResult, ErrorData> {
    let is_error = wire["isError"] == true;
    let blocks = typed(wire["content"].clone())?;
    Ok(if is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) })
}
