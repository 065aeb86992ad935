//! `reply_ticket`: answers the question a ticket waits on.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::wire::{self, OneTicket};
use crate::accounts::Feature;
use crate::base::{Code, Fault, NextAction};
use crate::tickets::pipeline::people::{self, ANSWER_MAX};
use crate::tickets::questions;
use crate::tickets::states::Pause;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Answers the question a ticket waits on.
pub struct ReplyTicket;

/// What `reply_ticket` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
    /// The answer. Never a secret: it is kept, and the agent reads it.
    #[schemars(length(min = 1, max = 20000))]
    message: String,
}

impl Tool for ReplyTicket {
    const NAME: &'static str = "reply_ticket";
    const TITLE: &'static str = "Answer a ticket's question";
    const ABOUT: &'static str = "Answers the question of a ticket that is `awaiting_input`. The \
        agent that asked goes on with the answer, on the same branch. `get_ticket_graph` shows the \
        question and its choices. Never put a secret into the message: where one is asked for, the \
        call fails with SECRET_THROUGH_LINK, and `create_secret_link` makes the address at which a \
        person gives it. A ticket that waits until \
        something is out of its way, such as changes in a checkout of the base branch, goes on \
        with any answer. Fails with NOT_AWAITING_INPUT where nothing is asked, and where an \
        approval is: that is given with `approve_ticket`.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const BACKGROUND: bool = true;
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42", "message": "Use the second one." }"#;

    type Input = Input;
    type Output = OneTicket;

    async fn run(cx: &Cx, input: Input) -> Result<Done<OneTicket>, Fault> {
        if input.message.chars().count() > ANSWER_MAX {
            let limit = format!("may have at most {ANSWER_MAX} characters");
            return Err(Fault::argument("message", limit));
        }
        let asked = input.ticket.clone();
        let ticket = cx
            .write(move |tx, actor| {
                let ticket = super::find(tx, actor, &input.ticket)?;
                if let Some(open) = questions::open(tx, actor.tenant, ticket.id)?
                    && open.pause == Some(Pause::Unclear)
                {
                    super::approve_ticket::check(tx, actor, Pause::Unclear)?;
                }
                let label = actor.label();
                let said = &input.message;
                let answered = people::answer(tx, actor.tenant, ticket.id, &label, said)?;
                Ok((wire::ticket(tx, &answered)?, answered.reference()))
            })
            .await
            .map_err(|fault| with_link(fault, &asked))?;
        let named = ticket.ticket_ref.clone();
        let follow = json!({ "ticket": named });
        Ok(Done::new(OneTicket { ticket }, format!("{named} goes on with the answer.")).next(
            format!("Follow {named}"),
            "get_ticket",
            follow,
        ))
    }
}

/// A secret that somebody would answer with goes another way, which the refusal names.
fn with_link(fault: Fault, ticket: &str) -> Fault {
    if fault.code != Code::SecretThroughLink {
        return fault;
    }
    fault.next(NextAction::Call {
        label: "Make a link for the secret".to_owned(),
        tool: "create_secret_link".to_owned(),
        args: json!({ "ticket": ticket }),
    })
}
