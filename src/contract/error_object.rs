//! The `cora-mcp-error` dialect, version 1: an error for a person or an agent, small enough for
//! any client. It travels as the one text block of a tool result that is marked as an error and
//! has no structured content.
//!
//! Every text is redacted first and cut then: the other way round, half a credential could stay
//! and no longer be known as one. The lists give way to the size: the first action is always
//! kept, the others while the actions have room, and the problems while the whole has room.

use serde::Serialize;

use super::code::wire;
use super::spoken::{SpokenIssue, clean, issue, message};
use crate::base::text::cut;
use crate::base::{Fault, NextAction};

/// The name of the format.
pub const FORMAT: &str = "cora-mcp-error";
/// The version of the format.
pub const VERSION: u32 = 1;

/// The largest object, in bytes of JSON, for a public address of up to 512 bytes.
pub const MAX_BYTES: usize = 8 * 1024;
/// The room of all actions together, in bytes of JSON; the first may take it alone.
pub const ACTIONS_MAX_BYTES: usize = 2 * 1024;
/// The longest message, in characters.
pub const MESSAGE_MAX_CHARS: usize = 1_200;
/// The longest hint, in characters.
pub const HINT_MAX_CHARS: usize = 240;
/// The longest command, address or file of an action, in characters.
pub const ACTION_MAX_CHARS: usize = 400;
/// The longest path of a problem, in characters.
pub const PATH_MAX_CHARS: usize = 160;
/// The longest message of a problem, in characters.
pub const ISSUE_MAX_CHARS: usize = 240;

/// What `"issues":[],"omittedIssues":N` and its commas take at most.
const LIST_FRAME_BYTES: usize = 48;

/// The error object. The keys stand in the order in which the format lists them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorObject {
    /// Always [`FORMAT`].
    pub format: &'static str,
    /// Always [`VERSION`].
    pub version: u32,
    /// The failure, dotted, as the error reference lists it.
    pub code: &'static str,
    /// What went wrong; listed problems each on a line of their own under the first.
    pub message: String,
    /// One line on what to do.
    pub hint: String,
    /// The address of the code's entry in this server's error reference.
    pub docs_url: String,
    /// What can be done about it, most useful first.
    pub next_actions: Vec<Action>,
    /// The problems that found room; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<SpokenIssue>,
    /// How many problems found no room; absent where all did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted_issues: Option<usize>,
}

/// Something to do outside the tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Action {
    /// Run a command.
    Run {
        /// The command.
        command: String,
    },
    /// Open a page.
    Open {
        /// Its full address.
        url: String,
    },
    /// Edit a file.
    Edit {
        /// Its path.
        file: String,
    },
}

/// The object that says this fault. `public_url` is this server's own address, without a slash
/// at its end.
#[must_use]
pub fn encode(fault: &Fault, public_url: &str) -> ErrorObject {
    let wire = wire(fault.code);
    let mut object = ErrorObject {
        format: FORMAT,
        version: VERSION,
        code: wire.object,
        message: cut(&message(fault), MESSAGE_MAX_CHARS),
        hint: cut(&clean(wire.hint), HINT_MAX_CHARS),
        docs_url: clean(&format!("{public_url}/docs/errors#{}", wire.object)),
        next_actions: actions(&fault.next, public_url),
        issues: Vec::new(),
        omitted_issues: None,
    };
    fill_issues(&mut object, fault);
    object
}

impl ErrorObject {
    /// The object as the text block that carries it.
    ///
    /// # Panics
    /// Never: the object holds texts and numbers only.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are always JSON")
    }
}

/// The first action, and those after it while there is room.
fn actions(next: &[NextAction], public_url: &str) -> Vec<Action> {
    let mut kept = Vec::new();
    let mut room = ACTIONS_MAX_BYTES;
    for action in next.iter().filter_map(|action| spoken(action, public_url)) {
        let size = json_bytes(&action);
        if !kept.is_empty() && size > room {
            break;
        }
        room = room.saturating_sub(size);
        kept.push(action);
    }
    kept
}

/// The action in this format, which has no place for calls of tools.
fn spoken(action: &NextAction, public_url: &str) -> Option<Action> {
    let text = |text: &str| cut(&clean(text), ACTION_MAX_CHARS);
    match action {
        NextAction::Run(command) => Some(Action::Run { command: text(command) }),
        NextAction::Open(url) if url.starts_with('/') => {
            Some(Action::Open { url: text(&format!("{public_url}{url}")) })
        }
        NextAction::Open(url) => Some(Action::Open { url: text(url) }),
        NextAction::Edit(file) => Some(Action::Edit { file: text(file) }),
        NextAction::Call { .. } => None,
    }
}

/// Adds the problems in their order until one finds no room, and counts the rest.
fn fill_issues(object: &mut ErrorObject, fault: &Fault) {
    let mut room = MAX_BYTES.saturating_sub(json_bytes(object) + LIST_FRAME_BYTES);
    for problem in &fault.issues {
        let SpokenIssue { path, message } = issue(problem);
        let said = SpokenIssue {
            path: cut(&path, PATH_MAX_CHARS),
            message: cut(&message, ISSUE_MAX_CHARS),
        };
        let size = json_bytes(&said);
        if size > room {
            break;
        }
        room -= size;
        object.issues.push(said);
    }
    let omitted = fault.issues.len() - object.issues.len();
    object.omitted_issues = (omitted > 0).then_some(omitted);
}

/// The size in JSON with the comma that parts it from its neighbour.
fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len() + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::base::Code;
    use crate::contract::schema;

    const HERE: &str = "https://assay.example";

    #[test]
    fn a_plain_failure_has_the_required_fields_alone() {
        let said = encode(&Fault::new(Code::NotFound, "No such ticket."), HERE).to_text();

        assert_eq!(
            said,
            concat!(
                r#"{"format":"cora-mcp-error","version":1,"code":"record.not-found","#,
                r#""message":"No such ticket.","hint":"Check the id or reference against the "#,
                r#"matching list.","docsUrl":"https://assay.example/docs/errors#"#,
                r#"record.not-found","nextActions":[]}"#
            )
        );
    }

    #[test]
    fn actions_are_of_three_kinds_and_calls_are_left_out() {
        let call = NextAction::Call { label: "x".into(), tool: "y".into(), args: json!({}) };
        let fault = Fault::new(Code::ProjectNotReady, "No repository.")
            .next(call)
            .next(NextAction::Run("npx playwright install chrome".into()))
            .next(NextAction::Open("/projects/acme?token=t0ps3cret".into()))
            .next(NextAction::Edit("assay.toml".into()));

        let said = serde_json::to_value(encode(&fault, HERE)).unwrap();

        assert_eq!(
            said["nextActions"],
            json!([
                { "kind": "run", "command": "npx playwright install chrome" },
                { "kind": "open", "url": "https://assay.example/projects/acme?token=[redacted]" },
                { "kind": "edit", "file": "assay.toml" },
            ])
        );
    }

    #[test]
    fn a_credential_is_redacted_before_the_text_is_cut() {
        let token = format!("ghp_{}", "a1".repeat(18));
        let text = format!("{} {token}", "x".repeat(MESSAGE_MAX_CHARS - 11));

        let said = encode(&Fault::new(Code::Upstream, text), HERE).message;

        assert!(said.ends_with("x [redacted]") || said.ends_with("x [redacte…"), "{said}");
        assert!(!said.contains("ghp_"));
    }

    #[test]
    fn the_first_action_stays_however_long_and_the_others_while_there_is_room() {
        let long = |c: char| NextAction::Run(c.to_string().repeat(5_000));
        let fault = ('a'..='z').fold(Fault::new(Code::Upstream, "x"), |f, c| f.next(long(c)));

        let said = encode(&fault, HERE).next_actions;

        let Action::Run { command } = &said[0] else { panic!("{said:?}") };
        assert_eq!(command, &format!("{}…", "a".repeat(ACTION_MAX_CHARS - 1)));
        assert_eq!(said.len(), 4);
    }

    #[test]
    fn problems_without_room_are_counted() {
        let fault = (0..100).fold(
            Fault::new(Code::InvalidArgument, "100 arguments are not usable."),
            |fault, n| fault.issue(format!("fixes[{n}]"), "é".repeat(999)),
        );

        let said = encode(&fault, HERE);

        assert!(said.issues.len() > 5, "{}", said.issues.len());
        assert_eq!(said.issues.len() + said.omitted_issues.unwrap(), 100);
        assert!(said.issues[0].message.ends_with("é…"));
    }

    fn any_fault() -> impl Strategy<Value = Fault> {
        let text = || {
            prop_oneof![
                "\\PC{0,60}",
                "(.|\\n){0,60}",
                "[\\u{1F600}-\\u{1F64F}\"\\\\]{0,2000}",
                Just("word ".repeat(300)),
            ]
        };
        let action = (0..4_u8, text()).prop_map(|(kind, text)| match kind {
            0 => NextAction::Run(text),
            1 => NextAction::Open(text),
            2 => NextAction::Edit(text),
            _ => NextAction::Call { label: text, tool: "t".into(), args: Value::Null },
        });
        let issues = proptest::collection::vec((text(), text()), 0..30);
        let actions = proptest::collection::vec(action, 0..9);
        (0..Code::ALL.len(), text(), issues, actions).prop_map(|(code, message, issues, next)| {
            let fault = Fault::new(Code::ALL[code], message);
            let fault = issues.into_iter().fold(fault, |f, (path, said)| f.issue(path, said));
            next.into_iter().fold(fault, Fault::next)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_object_is_valid_small_and_complete(fault in any_fault()) {
            let here = format!("https://{}", "h".repeat(504));

            let said = encode(&fault, &here);

            let text = said.to_text();
            prop_assert!(text.len() <= MAX_BYTES, "{} bytes", text.len());
            prop_assert_eq!(
                said.issues.len() + said.omitted_issues.unwrap_or(0),
                fault.issues.len()
            );
            let value: Value = serde_json::from_str(&text).unwrap();
            let schema = jsonschema::validator_for(schema::find(FORMAT, VERSION).unwrap()).unwrap();
            let problems: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
            prop_assert!(problems.is_empty(), "{problems:?}");
        }

        #[test]
        fn no_planted_secret_survives_in_any_text(
            secret in "(alch_|ghp_|AKIA|sk_live_)[A-Z0-9]{36}",
            left in "[a-z .,:\\n]{0,1300}", right in "\\PC{0,20}",
        ) {
            let text = format!("{left}{secret}{right}");
            let fault = Fault::new(Code::Upstream, text.clone())
                .issue(text.clone(), text.clone())
                .issue("url", format!("https://{secret}@h/?sig={secret}"))
                .next(NextAction::Run(text.clone()))
                .next(NextAction::Open(format!("/x?token={secret}")))
                .next(NextAction::Edit(text.clone()))
                .next(NextAction::Call { label: text, tool: "t".into(), args: Value::Null });

            let object = encode(&fault, HERE).to_text();
            let rpc = serde_json::to_string(&crate::contract::jsonrpc::error(&fault)).unwrap();
            let (_, envelope) = crate::contract::envelope::failure(&secret, &fault);
            let envelope = serde_json::to_string(&envelope).unwrap();

            for said in [object, rpc, envelope] {
                for part in [&secret[..20], &secret[20..]] {
                    prop_assert!(!said.contains(part), "{said}");
                }
            }
        }
    }
}
