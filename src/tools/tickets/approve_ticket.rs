//! `approve_ticket`: a person's word on a step that waits for one.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::wire::{self, OneTicket};
use crate::accounts::{Actor, Feature, Who, keys};
use crate::base::{Code, Fault};
use crate::store::Read;
use crate::tickets::pipeline::approve::{self, REASON_MAX, Said};
use crate::tickets::states::{Approval, Decision, Pause};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Approves a step of a ticket, or sends it back.
pub struct ApproveTicket;

/// What `approve_ticket` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
    /// The step that is meant, so that a late call does not approve another: `plan`, `land`, or
    /// `apply` for the script of a data operation.
    step: Approval,
    /// `approve`, or `reject` to send it back for another round.
    decision: Decision,
    /// Why. Needed with `reject`: it is what the next round sets right. Kept with the decision.
    #[schemars(length(max = 4000))]
    reason: Option<String>,
}

impl Tool for ApproveTicket {
    const NAME: &'static str = "approve_ticket";
    const TITLE: &'static str = "Approve a ticket's step";
    const ABOUT: &'static str = "A person's word on a ticket that is `awaiting_input` because a \
        step of it needs an approval: the plan or the landing where the project wants that, and \
        always the script of a data operation, after its dry run. `get_ticket_graph` shows what is \
        to be approved. An approved step goes on; a rejected one is done again with the reason, \
        and has to be approved anew. An agent's own key may not approve; a data operation needs an \
        owner, an admin, or a key that one of them made. Who, when and why stand in the audit log \
        and the timeline. Fails with NOT_AWAITING_INPUT where that step waits for no approval.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const BACKGROUND: bool = true;
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42", "step": "plan",
        "decision": "approve", "reason": "It keeps to what was asked." }"#;

    type Input = Input;
    type Output = OneTicket;

    async fn run(cx: &Cx, input: Input) -> Result<Done<OneTicket>, Fault> {
        let reason = input.reason.as_deref().unwrap_or_default();
        if reason.chars().count() > REASON_MAX {
            let limit = format!("may have at most {REASON_MAX} characters");
            return Err(Fault::argument("reason", limit));
        }
        let (decision, step) = (input.decision, input.step);
        let ticket = cx
            .write(move |tx, actor| {
                let ticket = super::find(tx, actor, &input.ticket)?;
                let pause = step.pause();
                check(tx, actor, pause)?;
                let said = Said {
                    pause,
                    decision,
                    reason: input.reason.as_deref(),
                    actor: &actor.label(),
                };
                let decided = approve::decide(tx, actor.tenant, ticket.id, &said)?;
                let why = input.reason.as_deref().unwrap_or_default();
                let subject = format!("{} {step} {decision}: {why}", decided.reference());
                Ok((wire::ticket(tx, &decided)?, subject))
            })
            .await?;
        let named = ticket.ticket_ref.clone();
        let did = match decision {
            Decision::Approve => "is approved",
            Decision::Reject => "is sent back",
        };
        let follow = json!({ "ticket": named });
        let summary = format!("The step `{step}` of {named} {did}; it is {}.", ticket.status);
        Ok(Done::new(OneTicket { ticket }, summary).next(
            format!("Follow {named}"),
            "get_ticket",
            follow,
        ))
    }
}

/// Whether the caller may speak for the people of the tenant.
pub(super) fn check(read: &Read<'_>, actor: &Actor, pause: Pause) -> Result<(), Fault> {
    let is_agent = matches!(actor.who, Who::Agent { .. });
    if is_agent {
        let said = "An agent cannot approve what agents did. A person does that on the ticket's \
                    page, or with a key of their own.";
        return Err(Fault::new(Code::Forbidden, said));
    }
    let needs_admin = matches!(pause, Pause::Apply | Pause::Unclear);
    if needs_admin && !actor.is_admin() && !keys::is_of_admin(read, actor)? {
        let said = "A change of live data needs an owner or an admin, or a key that one of them \
                    made.";
        return Err(Fault::new(Code::Forbidden, said));
    }
    Ok(())
}
