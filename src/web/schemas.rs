//! `GET /schemas` and `GET /schemas/<format>/v<N>.json`: the published JSON Schemas.

use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL};
use serde_json::{Value, json};

use crate::contract::schema;
use crate::work::webhook_body;

/// Says which schemas there are.
pub async fn index() -> Json<Value> {
    Json(json!({ "schemas": known() }))
}

/// Answers with a schema, or says which there are.
pub async fn show(Path((format, file)): Path<(String, String)>) -> Response {
    let version = file.strip_prefix('v').and_then(|rest| rest.strip_suffix(".json"));
    let headers = [(CACHE_CONTROL, "public, max-age=3600"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    let version: Option<u32> = version.and_then(|version| version.parse().ok());
    if version.is_some_and(|version| (format.as_str(), version) == webhook_body::FORMAT) {
        return (headers, Json(webhook_body::schema())).into_response();
    }
    if let Some(schema) = version.and_then(|version| schema::find(&format, version)) {
        return (headers, Json(schema)).into_response();
    }
    let said = json!({ "error": "There is no such schema.", "known": known() });
    (StatusCode::NOT_FOUND, Json(said)).into_response()
}

/// The paths of the published schemas.
fn known() -> Vec<String> {
    let path = |(format, version): &(&str, u32)| format!("/schemas/{format}/v{version}.json");
    schema::FORMATS.iter().chain([&webhook_body::FORMAT]).map(path).collect()
}
