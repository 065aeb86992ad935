//! `retry_ticket`: tries a ticket again that did not land.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::wire::{self, OneTicket};
use crate::accounts::Feature;
use crate::base::Fault;
use crate::tickets::pipeline::again;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Tries a ticket again.
pub struct RetryTicket;

/// What `retry_ticket` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
}

impl Tool for RetryTicket {
    const NAME: &'static str = "retry_ticket";
    const TITLE: &'static str = "Retry a ticket";
    const ABOUT: &'static str = "Tries a failed, timed-out or cancelled ticket again: the same \
        ticket, from its branch as it stands, at the node where it stopped. A check that was not \
        satisfied gets another round of work with what it found. A ticket that waits until \
        something is out of its way goes on. Fails with NOT_RETRYABLE where the ticket is under \
        way or has landed.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const BACKGROUND: bool = true;
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42" }"#;

    type Input = Input;
    type Output = OneTicket;

    async fn run(cx: &Cx, input: Input) -> Result<Done<OneTicket>, Fault> {
        let ticket = cx
            .write(move |tx, actor| {
                let ticket = super::find(tx, actor, &input.ticket)?;
                let again = again::retry(tx, actor.tenant, ticket.id, &actor.label())?;
                Ok((wire::ticket(tx, &again)?, again.reference()))
            })
            .await?;
        let named = ticket.ticket_ref.clone();
        let summary = format!("{named} is {} again.", ticket.status);
        let follow = json!({ "ticket": named });
        Ok(Done::new(OneTicket { ticket }, summary).next(
            format!("Follow {named}"),
            "get_ticket",
            follow,
        ))
    }
}
