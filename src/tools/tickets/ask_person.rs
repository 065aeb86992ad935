//! `ask_person`: what the agent of a node wants to know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::working_on;
use crate::accounts::Feature;
use crate::base::{Fault, text};
use crate::tickets::pending::{self, Asked};
use crate::tickets::secrets;
use crate::tickets::secrets::name::problem;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// What the agent of a node wants to know.
pub struct AskPerson;

/// What `ask_person` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The question, complete in itself. For a secret, what it is and where a person finds it.
    #[schemars(length(min = 1, max = 4000))]
    question: String,
    /// Answers to choose from; any text will do where there are none.
    #[schemars(length(max = 20))]
    choices: Option<Vec<String>>,
    /// The secret that you need, by the name of the environment variable in which you get it, such
    /// as `STRIPE_WEBHOOK_SECRET`. A person gives it through a form; it never stands in a text.
    #[schemars(length(max = 100))]
    secret: Option<String>,
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
        is done asks nothing. With `secret` a person is asked for that secret: from the next start \
        on it is in the environment variable of that name, until the ticket ends. That needs an \
        agent that Assay starts; in an editor, ask the person to set the variable there.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = true;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str =
        r#"{ "question": "Which of the two palettes?", "choices": ["Dusk", "Slate"] }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        check_secret(&input)?;
        let redactor = cx.glance(|read, actor| {
            let (ticket, _) = working_on(read, actor, input.claim_id.as_deref())?;
            secrets::redactor(read, ticket.tenant, ticket.id, &[])
        })?;
        let clean = |said: &str| redactor.redact(&text::printable(said)).trim().to_owned();
        let asked = Asked {
            text: clean(&input.question),
            choices: input.choices.iter().flatten().map(|choice| clean(choice)).collect(),
            secret: input.secret.as_deref().map(|name| name.trim().to_owned()),
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

/// Whether a secret can be asked for as it is. What stands in the place of its name is not
/// repeated.
fn check_secret(input: &Input) -> Result<(), Fault> {
    let Some(name) = input.secret.as_deref() else { return Ok(()) };
    if let Some(said) = problem(name.trim()) {
        return Err(Fault::argument("secret", said));
    }
    if input.choices.as_ref().is_some_and(|choices| !choices.is_empty()) {
        return Err(Fault::argument("choices", "must be left out where a secret is asked for."));
    }
    if input.claim_id.is_some() {
        let said = "can be handed only to an agent that Assay starts. Ask the person to set the \
                    variable where your editor runs, and go on.";
        return Err(Fault::argument("secret", said));
    }
    Ok(())
}
