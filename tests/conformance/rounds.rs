//! Tools and a prompt that need input, as the newer era does it: the call is answered with what is
//! missing, and comes again with it. What the server must remember goes out sealed with the answer.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, InputRequest, InputRequiredResult, InputResponses};
use serde_json::{Value, json};

use super::asked::{elicitation, sampling};
use super::content::{said, typed};

/// Seals what goes out, so that what comes back is known to be ours. Known to everybody, for there
/// is nothing here to protect.
const SEAL: &[u8; 32] = b"conformance fixtures of the test";

/// What a call that may need input has come to.
pub(crate) enum Round {
    /// It has all that it needs.
    Done(Value),
    /// It needs more.
    Needs(Box<InputRequiredResult>),
}

/// What came with the call.
pub(crate) struct Given<'a> {
    /// What the client answered to earlier requests.
    pub(crate) answers: Option<&'a InputResponses>,
    /// The state that came back.
    pub(crate) state: Option<&'a str>,
    /// What the client is able to do.
    pub(crate) able: ClientCapabilities,
}

impl Given<'_> {
    /// The answer to a request, if it is one: an object.
    fn answer(&self, key: &str) -> Option<&Value> {
        self.answers?.get(key).filter(|answer| answer.is_object())
    }
}

/// The answer of a tool that may need input; none where it is another's.
pub(crate) fn answer(tool: &str, given: &Given<'_>) -> Option<Result<Round, ErrorData>> {
    let name = || elicitation("What is your name?", form("name"));
    let round = match tool.strip_prefix("test_input_required_result_").unwrap_or(tool) {
        "test_streaming_elicitation" => one(given, "value", elicitation("Which?", form("value"))),
        "elicitation" => one(given, "user_name", name()),
        "sampling" => one(given, "capital", sampling("What is the capital of France?")),
        "list_roots" => one(given, "client_roots", json!({ "method": "roots/list" })),
        "request_state" | "tampered_state" => sealed(given),
        "multiple_inputs" => several(given),
        "multi_round" => again(given),
        "capabilities" => able(given),
        _ => return None,
    };
    Some(round)
}

/// Needs one answer.
pub(crate) fn one(given: &Given<'_>, key: &str, request: Value) -> Result<Round, ErrorData> {
    match given.answer(key) {
        Some(answer) => Ok(Round::Done(said(&format!("You said {answer}.")))),
        None => needs([(key, request)], None),
    }
}

/// Needs its state back, untouched.
fn sealed(given: &Given<'_>) -> Result<Round, ErrorData> {
    if given.state.map(open).transpose()? == Some("asked") {
        return Ok(Round::Done(said("state-ok")));
    }
    needs([("confirm", elicitation("Go on?", form("ok")))], Some("asked"))
}

/// Needs three answers of three kinds, and says what is left of them.
fn several(given: &Given<'_>) -> Result<Round, ErrorData> {
    given.state.map(open).transpose()?;
    let all = [
        ("user_name", elicitation("What is your name?", form("name"))),
        ("greeting", sampling("Say hello.")),
        ("client_roots", json!({ "method": "roots/list" })),
    ];
    let left: Vec<(&str, Value)> =
        all.into_iter().filter(|(key, _)| given.answer(key).is_none()).collect();
    if left.is_empty() {
        return Ok(Round::Done(said("All three came.")));
    }
    needs(left, Some("asked"))
}

/// Needs one answer after another.
fn again(given: &Given<'_>) -> Result<Round, ErrorData> {
    let state = given.state.map(open).transpose()?;
    match state {
        None => needs([("step1", elicitation("Your name?", form("name")))], Some("named")),
        Some("named") => {
            needs([("step2", elicitation("Your colour?", form("color")))], Some("coloured"))
        }
        Some(_) => Ok(Round::Done(said("Both steps are done."))),
    }
}

/// Needs only what the client is able to give.
fn able(given: &Given<'_>) -> Result<Round, ErrorData> {
    let able = serde_json::to_value(&given.able).unwrap_or_default();
    let asks = [
        ("elicitation", "user_name", elicitation("What is your name?", form("name"))),
        ("sampling", "greeting", sampling("Say hello.")),
        ("roots", "client_roots", json!({ "method": "roots/list" })),
    ];
    let asks = asks.into_iter().filter(|(what, ..)| able.get(what).is_some());
    let asks: Vec<(&str, Value)> = asks.map(|(_, key, request)| (key, request)).collect();
    if given.answers.is_some() || asks.is_empty() {
        return Ok(Round::Done(said("Nothing more is needed.")));
    }
    needs(asks, None)
}

fn needs<'a>(
    requests: impl IntoIterator<Item = (&'a str, Value)>,
    state: Option<&str>,
) -> Result<Round, ErrorData> {
    let mut typed_requests: BTreeMap<String, InputRequest> = BTreeMap::new();
    for (key, request) in requests {
        typed_requests.insert(key.to_owned(), typed(request)?);
    }
    let result = InputRequiredResult::new(Some(typed_requests), state.map(seal));
    Ok(Round::Needs(Box::new(result)))
}

/// A form with one field.
pub(crate) fn form(field: &str) -> Value {
    let kind = if field == "ok" { "boolean" } else { "string" };
    json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] })
}

fn seal(state: &str) -> String {
    format!("{state}.{}", blake3::keyed_hash(SEAL, state.as_bytes()).to_hex())
}

fn open(sealed: &str) -> Result<&str, ErrorData> {
    let state = sealed.split_once('.').map(|(state, _)| state);
    state.filter(|state| seal(state) == sealed).ok_or_else(|| {
        ErrorData::invalid_params("The requestState is not the one that was sent.", None)
    })
}
