//! `ask_person`: what the agent of a node wants to know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::working_on;
use crate::accounts::Feature;
use crate::base::redact::redact;
use crate::base::{Fault, text};
use crate::tickets::pending::{self, Asked};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// What the agent of a node wants to know.
pub struct AskPerson;

/// What `ask_person` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The question, complete in itself. Never ask for a secret.
    #[schemars(length(min = 1, max = 4000))]
    question: String,
    /// Answers to choose from; any text will do where there are none.
    #[schemars(length(max = 20))]
    choices: Option<Vec<String>>,
    /// The claim that you work under, in an editor. An agent that Assay started leaves it out.
    claim_id: Option<String>,
}

/// What `ask_person` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The node that asks.
    node_ref: String,
}

impl Tool for AskPerson {
    const NAME: &'static str = "ask_person";
    const TITLE: &'static str = "Ask a person";
    const ABOUT: &'static str = "For the agent of a node: notes a question to a person. End your \
        run now without a report, or with the outcome `needs_input`: the ticket is \
        `awaiting_input` then, and the answer comes with the node's next start, on the same \
        branch. A later question takes this one's place; a node that goes on and reports that it \
        is done asks nothing.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = true;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str =
        r#"{ "question": "Which of the two palettes?", "choices": ["Dusk", "Slate"] }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let clean = |said: &str| redact(&text::printable(said)).trim().to_owned();
        let asked = Asked {
            text: clean(&input.question),
            choices: input.choices.iter().flatten().map(|choice| clean(choice)).collect(),
        };
        if asked.text.is_empty() {
            return Err(Fault::argument("question", "needs some text"));
        }
        if asked.choices.iter().any(|choice| choice.is_empty() || choice.chars().count() > 500) {
            return Err(Fault::argument("choices", "each needs 1 to 500 characters"));
        }
        let node_ref = cx
            .write(move |tx, actor| {
                let (ticket, node) = working_on(tx, actor, input.claim_id.as_deref())?;
                pending::ask(tx, ticket.tenant, node.id, &asked)?;
                Ok((node.name, ticket.reference()))
            })
            .await?;
        let summary = format!("{node_ref} asks once it ends without a result.");
        Ok(Done::new(Output { node_ref }, summary))
    }
}
