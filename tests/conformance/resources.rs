//! The resources.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceTemplate};
use serde_json::{Value, json};

use super::content::{PNG, typed};

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

/// All of them.
pub(crate) fn list() -> Result<Vec<Resource>, ErrorData> {
    let one = |uri: &str, name: &str, kind: &str| {
        let about = format!("{name}.");
        json!({ "uri": uri, "name": name, "description": about, "mimeType": kind })
    };
    typed(json!([
        one(TEXT, "A text that never changes", "text/plain"),
        one(BINARY, "A picture that never changes", "image/png"),
        one(WATCHED, "A text that can be watched", "text/plain"),
    ]))
}

/// The only template.
pub(crate) fn templates() -> Result<Vec<ResourceTemplate>, ErrorData> {
    typed(json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "Data by its id",
        "description": "Says its id.",
        "mimeType": "application/json",
    }]))
}

/// What a resource holds.
pub(crate) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let by_id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let text = |kind: &str, text: &str| json!({ "uri": uri, "mimeType": kind, "text": text });
    let contents: Value = match (uri, by_id) {
        (TEXT, _) => text("text/plain", "This is the content of the static text resource."),
        (BINARY, _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        (WATCHED, _) => text("text/plain", "This text can be watched."),
        (_, Some(id)) => {
            let data = json!({
                "id": id,
                "templateTest": true,
                "data": format!("Data for ID: {id}"),
            });
            text("application/json", &data.to_string())
        }
        _ => {
            let said = format!("There is no resource {uri:?}.");
            return Err(ErrorData::resource_not_found(said, Some(json!({ "uri": uri }))));
        }
    };
    Ok(ReadResourceResult::new(typed(json!([contents]))?))
}
