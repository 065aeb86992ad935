//! `report_node_progress`: says how far a claimed node is, and keeps the claim.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::{UsageInput, claim_id};
use crate::accounts::Feature;
use crate::base::redact::redact;
use crate::base::{Code, Fault, text};
use crate::events::Event;
use crate::tickets::pipeline::claim;
use crate::tickets::{claims, limits};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Characters of one line of a log at most.
const MESSAGE_MAX: usize = 2_000;

/// Says how far a claimed node is.
pub struct ReportNodeProgress;

/// What `report_node_progress` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The id that `claim_ticket_node` gave.
    claim_id: String,
    /// What you do now, in a line or a few: it goes into the node's log. Never a secret.
    #[schemars(length(min = 1, max = 2000))]
    message: String,
    /// How far you are, of 100.
    #[schemars(range(min = 0, max = 100))]
    percent: Option<u32>,
    /// What you have used since you claimed the node, all told.
    usage: Option<UsageInput>,
}

/// What `report_node_progress` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// When the claim lapses without another report. ISO 8601, UTC.
    lease_until: String,
}

impl Tool for ReportNodeProgress {
    const NAME: &'static str = "report_node_progress";
    const TITLE: &'static str = "Report progress on a node";
    const ABOUT: &'static str = "Says how far you are with a node that you claimed. It extends the \
        lease by its own length, and people see the message in the node's live log. Fails with \
        CONFLICT where the claim is over, for instance because the ticket was cancelled or has \
        crossed a limit: stop then. Only the key that claimed the node may call it.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{ "claim_id": "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b",
        "message": "The parser is done, writing its tests", "percent": 60 }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let said = cx
            .write(move |tx, actor| {
                let claim = claims::held(tx, actor, claim_id(&input.claim_id)?)?;
                let claim = claims::extend(tx, &claim, claim.lease)?;
                let taken = claim::taken(tx, claim)?;
                let said = redact(&text::printable(&input.message)).into_owned();
                let said = text::cut(said.trim(), MESSAGE_MAX);
                let used = input.usage.unwrap_or_default().used();
                claims::say(tx, &taken.claim, Some(&said), input.percent, &used)?;
                tx.emit(Event::Log {
                    tenant: taken.ticket.tenant.uuid(),
                    ticket: taken.ticket.id.uuid(),
                    node: taken.node.name.as_str().into(),
                    lines: said.lines().map(str::to_owned).collect(),
                });
                let subject = taken.ticket.reference();
                let is_over = limits::enforce(tx, &taken.ticket, &taken.project)?;
                let until = taken.claim.lease_until.iso();
                Ok((if is_over { Err(taken.claim.id) } else { Ok(until) }, subject))
            })
            .await?;
        let lease_until = match said {
            Ok(until) => until,
            Err(id) => {
                let message = "The ticket has crossed a limit and ended, and the claim with it. \
                               get_ticket says which. Stop working on the node.";
                return Err(Fault::new(Code::Conflict, message).issue("claim_id", id.to_string()));
            }
        };
        let summary = format!("The claim holds until {lease_until}.");
        Ok(Done::new(Output { lease_until }, summary))
    }
}
