//! `cancel_ticket`: ends a ticket.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::wire::{self, OneTicket};
use crate::accounts::Feature;
use crate::base::Fault;
use crate::tickets::pipeline::people;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Ends a ticket.
pub struct CancelTicket;

/// What `cancel_ticket` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
    /// Why, for whoever reads the ticket later.
    #[schemars(length(max = 1000))]
    reason: Option<String>,
}

impl Tool for CancelTicket {
    const NAME: &'static str = "cancel_ticket";
    const TITLE: &'static str = "Cancel a ticket";
    const ABOUT: &'static str = "Ends a ticket that has not ended: its agent and everything it \
        started is stopped. Its branch stays, so `retry_ticket` can go on from there. Tickets that \
        wait for it stay blocked. Fails with NOT_CANCELLABLE where the ticket has ended.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Destroys;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42", "reason": "No longer wanted." }"#;

    type Input = Input;
    type Output = OneTicket;

    async fn run(cx: &Cx, input: Input) -> Result<Done<OneTicket>, Fault> {
        let ticket = cx
            .write(move |tx, actor| {
                let ticket = super::find(tx, actor, &input.ticket)?;
                let reason = input.reason.as_deref();
                let label = actor.label();
                let ended = people::cancel(tx, actor.tenant, ticket.id, &label, reason)?;
                Ok((wire::ticket(tx, &ended)?, ended.reference()))
            })
            .await?;
        let named = ticket.ticket_ref.clone();
        let again = json!({ "ticket": named });
        Ok(Done::new(OneTicket { ticket }, format!("{named} is cancelled.")).next(
            "Try it again after all",
            "retry_ticket",
            again,
        ))
    }
}
