//! Tools that ask the client back while they run, as the older era does it: over the stream of
//! the call, within its session.

use std::time::Duration;

use rmcp::model::{ClientResult, ServerRequest};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::content::{said, typed};

/// How long a client may take to answer. Where no sessions are kept its answer finds nobody.
const PATIENCE: Duration = Duration::from_secs(2);

/// The answer of a tool that asks; none where it is another's.
pub(crate) async fn answer(
    tool: &str,
    arguments: &Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Option<Result<Value, ErrorData>> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or("Hello");
    let (request, before) = match tool {
        "test_sampling" => (sampling(argument("prompt")), "LLM response"),
        "test_elicitation" => (elicitation(argument("message"), person()), "User response"),
        "test_elicitation_sep1034_defaults" => {
            (elicitation("Is this right?", defaults()), "Elicitation completed")
        }
        "test_elicitation_sep1330_enums" => {
            (elicitation("Which ones?", choices()), "Elicitation completed")
        }
        _ => return None,
    };
    let answered = ask(request, context).await;
    Some(answered.map(|answer| {
        let text = answer["content"]["text"].as_str().map(str::to_owned);
        said(&format!("{before}: {}", text.unwrap_or_else(|| answer.to_string())))
    }))
}

async fn ask(request: Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let request: ServerRequest = typed(request)?;
    let unanswered =
        |why: String| ErrorData::internal_error(format!("The client did not answer: {why}."), None);
    let answer = tokio::time::timeout(PATIENCE, context.peer.send_request(request)).await;
    let answer = answer.map_err(|late| unanswered(late.to_string()))?;
    let answer: ClientResult = answer.map_err(|error| unanswered(error.to_string()))?;
    serde_json::to_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A request to have a model say something.
pub(crate) fn sampling(prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({
        "method": "sampling/createMessage",
        "params": { "messages": [message], "maxTokens": 100 },
    })
}

/// A request to have a person fill in a form.
#[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn elicitation(message: &str, schema: Value) -> Value {
    json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": schema },
    })
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "Who you are." },
            "email": { "type": "string", "description": "Where to write to you." },
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    let statuses = ["active", "inactive", "pending"];
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": statuses, "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

fn choices() -> Value {
    let words = ["option1", "option2", "option3"];
    let titled = |word: &str| {
        let one = |number: u8, ordinal: &str| {
            let title = format!("{ordinal} {word}");
            json!({ "const": format!("value{number}"), "title": title })
        };
        [one(1, "First"), one(2, "Second"), one(3, "Third")]
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": words },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": words } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
    })
}
