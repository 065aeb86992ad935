//! `submit_node_report`: hands in the result of a claimed node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::wire::{self, TicketWire};
use super::work::{UsageInput, claim_id};
use crate::accounts::Feature;
use crate::base::Fault;
use crate::base::redact::redact;
use crate::tickets::claims;
use crate::tickets::editors::{HandedIn, Went};
use crate::tickets::pipeline::claim;
use crate::tickets::runner::{Handed, Report, report};
use crate::tickets::states::NodeKind;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Hands in the result of a claimed node.
pub struct SubmitNodeReport;

/// What `submit_node_report` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The id that `claim_ticket_node` gave.
    claim_id: String,
    /// How it went. `needs_round` is for a review that found something to be set right.
    outcome: Went,
    /// One paragraph: what you did or found, or why it failed. Never a secret.
    #[schemars(length(min = 1, max = 4000))]
    summary: String,
    /// The whole report as Markdown.
    #[schemars(length(max = 60000))]
    report: Option<String>,
    /// What a person must answer, with the outcome `awaiting_input`.
    question: Option<QuestionInput>,
    /// What must hold once the ticket is done; from the contract node.
    #[schemars(length(max = 100))]
    assertions: Option<Vec<AssertionInput>>,
    /// What must be set right, one entry each, with `needs_round`. The summary where absent.
    #[schemars(length(max = 100))]
    findings: Option<Vec<String>>,
    /// True says that nothing had to be changed, where the node's part is a change.
    no_changes: Option<bool>,
    /// What you have used since you claimed the node, all told.
    usage: Option<UsageInput>,
}

/// A question to a person.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionInput {
    /// The question.
    text: String,
    /// Answers to choose from; any text will do where there are none.
    #[schemars(length(max = 20))]
    choices: Option<Vec<String>>,
}

/// One thing that must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AssertionInput {
    /// What must hold, in words.
    text: String,
    /// A shell line that exits with 0 where it holds.
    command: Option<String>,
    /// A file of the repository that must be there.
    file: Option<String>,
    /// A text that the file must contain.
    contains: Option<String>,
    /// What a person has to look at.
    person: Option<String>,
}

/// What `submit_node_report` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The ticket as it now stands.
    ticket: TicketWire,
}

impl Tool for SubmitNodeReport {
    const NAME: &'static str = "submit_node_report";
    const TITLE: &'static str = "Hand in a node's result";
    const ABOUT: &'static str = "Hands in the result of a node that you claimed. It is judged as \
        an agent's that Assay started: what is in the work tree is committed on the ticket's \
        branch, a reader's changes are thrown away, and the ticket goes on with its next node. The \
        claim ends with it.\n\nFails with CONFLICT where the claim is over, and where a node whose \
        part is a change has changed nothing: the claim then holds, and you may hand in again. \
        Only the key that claimed the node may call it.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const BACKGROUND: bool = true;
    const EXAMPLE: &'static str = r#"{ "claim_id": "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b",
        "outcome": "succeeded", "summary": "The header has a toggle.",
        "report": "Added `toggle.css` and its test." }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let editors = cx.editors()?;
        let id = claim_id(&input.claim_id)?;
        let taken = cx.glance(|read, actor| claim::taken(read, claims::held(read, actor, id)?))?;
        let handed = read(taken.node.kind, input)?;
        let ticket = editors.submit(taken.claim, handed).await?;
        let ticket = cx.glance(|read, _| wire::ticket(read, &ticket))?;
        let named = ticket.ticket_ref.clone();
        let summary = format!("The report is taken; {named} is {}.", ticket.status);
        let follow = json!({ "ticket": named });
        Ok(Done::new(Output { ticket }, summary)
            .next("Claim another node", "claim_ticket_node", json!({}))
            .next(format!("Follow {named}"), "get_ticket", follow))
    }
}

/// The same reading as of a report that a process leaves, so that both are held to the same rules.
fn read(kind: NodeKind, input: Input) -> Result<HandedIn, Fault> {
    if input.outcome == Went::NeedsRound && kind != NodeKind::Review {
        let said = format!("needs_round is for a review, and this node is of the kind {kind}.");
        return Err(Fault::argument("outcome", said));
    }
    let asked = input.question.as_ref().map(
        |asked| json!({ "text": asked.text, "choices": asked.choices.clone().unwrap_or_default() }),
    );
    let outcome = match (input.outcome, asked.is_some()) {
        (Went::Succeeded, _) if input.no_changes == Some(true) => report::Outcome::NoChanges,
        (Went::Succeeded | Went::NeedsRound, _) => report::Outcome::Done,
        (Went::Failed, _) => report::Outcome::Failed,
        (Went::AwaitingInput, _) => report::Outcome::NeedsInput,
    };
    let verdict = match (kind, input.outcome) {
        (NodeKind::Review, Went::Succeeded) => json!(report::Verdict::Approve),
        (_, Went::NeedsRound) => json!(report::Verdict::ChangesRequested),
        _ => Value::Null,
    };
    let findings: Vec<Value> = input
        .findings
        .iter()
        .flatten()
        .map(|text| {
            let blocks = input.outcome == Went::NeedsRound;
            json!({ "text": text, "severity": if blocks { "blocking" } else { "advisory" } })
        })
        .collect();
    let assertions: Vec<Value> = input.assertions.iter().flatten().map(assertion).collect();
    let asks_by_tool = outcome == report::Outcome::NeedsInput && asked.is_none();
    let document = json!({
        // A question that was asked by its own tool is put in its place by the server.
        "outcome": if asks_by_tool { report::Outcome::Done } else { outcome },
        "summary": input.summary, "question": asked, "verdict": verdict, "findings": findings,
        "assertions": assertions,
    });
    let clean = |text: &str| redact(text).into_owned();
    let mut report: Report = match report::parse(document.to_string().as_bytes(), &clean) {
        Handed::Report(report) => *report,
        Handed::Invalid(issues) => {
            let fault = Fault::new(
                crate::base::Code::InvalidArgument,
                "The report cannot be taken as it is; set right what is named.",
            );
            return Err(issues
                .into_iter()
                .fold(fault, |fault, issue| fault.issue(issue.path, issue.message)));
        }
        Handed::Missing | Handed::Text(_) => {
            return Err(Fault::internal("a document was not read as one"));
        }
    };
    report.outcome = outcome;
    Ok(HandedIn {
        report,
        text: input.report.filter(|text| !text.trim().is_empty()),
        used: input.usage.unwrap_or_default().used(),
    })
}

fn assertion(input: &AssertionInput) -> Value {
    let mut check = serde_json::Map::new();
    let parts = [
        ("command", &input.command),
        ("file", &input.file),
        ("contains", &input.contains),
        ("person", &input.person),
    ];
    for (name, text) in parts {
        if let Some(text) = text {
            check.insert(name.to_owned(), json!(text));
        }
    }
    let check = if check.is_empty() { Value::Null } else { Value::Object(check) };
    json!({ "text": input.text, "check": check })
}
