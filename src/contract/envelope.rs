//! The `tool-response` dialect: the envelope of `POST /api/mcp/v1/invoke`, with six keys always
//! and three more where the call failed.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::code::wire;
use super::spoken::{clean, message};
use crate::base::text::first_line;
use crate::base::{Fault, NextAction};

/// One answer of the invoke door. The keys stand in the order of the contract.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Whether the tool did what was asked.
    pub ok: bool,
    /// The tool's name as it was called.
    pub tool: String,
    /// The result in one line.
    pub summary: String,
    /// What the tool returns, written out: an object, a list or null.
    pub data: Box<RawValue>,
    /// What went less than well, where the call succeeded all the same.
    pub warnings: Vec<String>,
    /// Calls that make sense next.
    pub next_actions: Vec<Suggestion>,
    /// What went wrong; on failures only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<EnvelopeError>,
    /// Whether another call may succeed; on failures only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recoverable: Option<bool>,
    /// Milliseconds to wait before the same call may go through, where waiting helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// The failure inside an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvelopeError {
    /// The machine-readable category.
    pub code: &'static str,
    /// What went wrong, with every problem on a line of its own.
    pub message: String,
}

/// A call that makes sense next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// What the call would do, in a few words.
    pub label: String,
    /// The tool's name.
    pub tool: String,
    /// Arguments to start from; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}

/// The envelope of a call that succeeded. `data` is an object, a list or null; of the actions
/// only calls of tools have a place in an envelope.
#[must_use]
pub fn success(
    tool: &str,
    summary: &str,
    data: Box<RawValue>,
    warnings: Vec<String>,
    next: &[NextAction],
) -> Envelope {
    Envelope {
        ok: true,
        tool: tool.to_owned(),
        summary: first_line(summary).to_owned(),
        data,
        warnings,
        next_actions: suggestions(next),
        error: None,
        recoverable: None,
        retry_after_ms: None,
    }
}

/// The envelope of a call that failed, and the HTTP status it is sent with. The tool's name is
/// what the caller sent, so it is redacted like everything else.
#[must_use]
pub fn failure(tool: &str, fault: &Fault) -> (u16, Envelope) {
    let wire = wire(fault.code);
    let message = message(fault);
    let envelope = Envelope {
        ok: false,
        tool: clean(tool),
        summary: first_line(&message).to_owned(),
        data: to_raw_value(&fault.data).unwrap_or_else(|_| RawValue::NULL.to_owned()),
        warnings: Vec::new(),
        next_actions: suggestions(&fault.next),
        error: Some(EnvelopeError { code: wire.envelope, message }),
        recoverable: Some(wire.recoverable),
        retry_after_ms: fault.retry_after_ms,
    };
    (wire.http, envelope)
}

fn suggestions(next: &[NextAction]) -> Vec<Suggestion> {
    next.iter().filter_map(suggestion).collect()
}

fn suggestion(action: &NextAction) -> Option<Suggestion> {
    let NextAction::Call { label, tool, args } = action else { return None };
    let empty = args.is_null() || args.as_object().is_some_and(serde_json::Map::is_empty);
    Some(Suggestion {
        label: clean(label),
        tool: tool.clone(),
        args: (!empty).then(|| args.clone()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::Code;

    fn keys(envelope: &Envelope) -> Vec<String> {
        let value = serde_json::to_value(envelope).unwrap();
        value.as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn a_success_has_the_six_keys_in_order() {
        let next = [NextAction::Call {
            label: "Inspect Homepage desktop".into(),
            tool: "get_diff_stats".into(),
            args: json!({ "scenarioLabel": "Homepage" }),
        }];

        let data = to_raw_value(&json!({})).unwrap();
        let said = success("get_run_failures", "3 of 12 checks failed.", data, vec![], &next);

        assert_eq!(keys(&said), ["ok", "tool", "summary", "data", "warnings", "nextActions"]);
        assert_eq!(said.next_actions[0].args, Some(json!({ "scenarioLabel": "Homepage" })));
    }

    #[test]
    fn the_sample_of_the_contract_is_said_word_for_word() {
        let text = "confirm must be true to execute write tool approve_vrt_results";

        let (status, said) =
            failure("approve_vrt_results", &Fault::new(Code::ConfirmRequired, text));

        let expected = concat!(
            r#"{"ok":false,"tool":"approve_vrt_results","summary":"confirm must be true to "#,
            r#"execute write tool approve_vrt_results","data":null,"warnings":[],"#,
            r#""nextActions":[],"error":{"code":"confirm_required","message":"confirm must be "#,
            r#"true to execute write tool approve_vrt_results"},"recoverable":true}"#,
        );
        assert_eq!(status, 400);
        assert_eq!(serde_json::to_string(&said).unwrap(), expected);
    }

    #[test]
    fn a_rate_limit_says_when_and_a_failed_proof_keeps_its_data() {
        let limited = Fault::new(Code::RateLimited, "Too many calls.").retry_after_ms(1_500);
        let unproved =
            Fault::new(Code::ProofFailed, "Not proved.").data(json!({ "proofVerdict": "failed" }));

        let (status, said) = failure("get_ticket", &limited);
        assert_eq!((status, said.retry_after_ms), (429, Some(1_500)));
        assert_eq!(keys(&said)[6..], ["error", "recoverable", "retryAfterMs"]);
        let (status, said) = failure("tracking_prove_jira_ticket", &unproved);
        assert_eq!((status, said.data.get()), (422, r#"{"proofVerdict":"failed"}"#));
    }

    #[test]
    fn only_calls_have_a_place_in_an_envelope() {
        let call = NextAction::Call {
            label: "List".into(),
            tool: "list_projects".into(),
            args: json!({}),
        };
        let fault = Fault::new(Code::ProjectNotFound, "No such project.\nReally.")
            .next(NextAction::Run("git init".into()))
            .next(call);

        let (_, said) = failure("get_project", &fault);

        assert_eq!(said.next_actions.len(), 1);
        assert_eq!(said.next_actions[0].args, None);
        assert_eq!(said.summary, "No such project.");
    }
}
