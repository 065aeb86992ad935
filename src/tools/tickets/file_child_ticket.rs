//! `file_child_ticket`: what the agent of a node found to be done beside its own ticket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::{self, TicketWire};
use super::work::working_on;
use crate::accounts::Feature;
use crate::base::Fault;
use crate::tickets::children;
use crate::tickets::secrets;
use crate::tickets::states::Kind;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Files a ticket beside the agent's own.
pub struct FileChildTicket;

/// What `file_child_ticket` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// A short title.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// The full brief with its acceptance criteria, complete in itself.
    #[schemars(length(min = 1, max = 20000))]
    description: String,
    /// What sort of work it is. Told from the title and description where absent.
    kind: Option<Kind>,
    /// The claim that you work under, in an editor. An agent that Assay started leaves it out.
    claim_id: Option<String>,
}

/// What `file_child_ticket` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The child.
    ticket: TicketWire,
    /// The ticket that it was filed beside.
    parent_ref: String,
    /// How many more this ticket's agents may file.
    left: u32,
}

impl Tool for FileChildTicket {
    const NAME: &'static str = "file_child_ticket";
    const TITLE: &'static str = "File a child ticket";
    const ABOUT: &'static str = "For the agent of a node: files a ticket in the same project for \
        work that you found and that is not part of your own. It waits for nothing and is noted \
        on your ticket's timeline. A ticket's agents file 10 at most; the same title again returns \
        the child that is there.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = true;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const BACKGROUND: bool = true;
    const EXAMPLE: &'static str = r#"{ "title": "Remove the unused theme files",
        "description": "`themes/old/` is read by nothing. Delete it; the tests stay green." }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let output = cx
            .write(move |tx, actor| {
                let (parent, node) = working_on(tx, actor, input.claim_id.as_deref())?;
                let redactor = secrets::redactor(tx, parent.tenant, parent.id, &[])?;
                let new = children::NewChild {
                    title: redactor.redact(&input.title).into_owned(),
                    description: redactor.redact(&input.description).into_owned(),
                    kind: input.kind,
                    actor: actor.label(),
                };
                let (child, left) = children::file(tx, &parent, &node, new)?;
                let subject = child.reference();
                let parent_ref = parent.reference();
                Ok((Output { ticket: wire::ticket(tx, &child)?, parent_ref, left }, subject))
            })
            .await?;
        let summary =
            format!("{} is filed beside {}.", output.ticket.ticket_ref, output.parent_ref);
        Ok(Done::new(output, summary))
    }
}
