//! What the tools of those who do a node's work share: which node it is, and what was used.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::accounts::{Actor, Who};
use crate::base::{ClaimId, Code, Fault};
use crate::store::Read;
use crate::tickets::claims::{self, Used};
use crate::tickets::node::{self, Node};
use crate::tickets::pipeline::claim;
use crate::tickets::states::NodeStatus;
use crate::tickets::ticket::{self, Ticket};

/// What a claim's holder has used since it claimed the node, all told: the same sum sent twice
/// counts once.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageInput {
    /// The model, by its name.
    #[schemars(length(max = 200))]
    model: Option<String>,
    /// Agent turns.
    #[schemars(range(min = 0, max = 1_000_000))]
    turns: Option<u64>,
    /// Tokens read.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    input_tokens: Option<u64>,
    /// Tokens written.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    output_tokens: Option<u64>,
    /// Cost in US dollars.
    #[schemars(range(min = 0, max = 1_000_000))]
    cost_usd: Option<f64>,
}

impl UsageInput {
    pub(super) fn used(self) -> Used {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the schema keeps it between nothing and a million dollars"
        )]
        let cost_micros = self.cost_usd.map_or(0, |dollars| (dollars * 1e6).round() as u64);
        Used {
            model: self.model.map(|model| crate::base::text::printable(&model)),
            turns: self.turns.unwrap_or(0),
            input_tokens: self.input_tokens.unwrap_or(0),
            output_tokens: self.output_tokens.unwrap_or(0),
            cost_micros,
        }
    }
}

/// A claim by its id.
pub(super) fn claim_id(text: &str) -> Result<ClaimId, Fault> {
    let wrong = || Fault::argument("claim_id", "expected the id that claim_ticket_node gave");
    ClaimId::parse(text.trim()).ok_or_else(wrong)
}

/// The node that the caller works on: an agent's by its own key, an editor's by its claim.
pub(super) fn working_on(
    read: &Read<'_>,
    actor: &Actor,
    claim: Option<&str>,
) -> Result<(Ticket, Node), Fault> {
    if let Some(claim) = claim {
        let claim = claims::held(read, actor, claim_id(claim)?)?;
        let taken = claim::taken(read, claim)?;
        return Ok((taken.ticket, taken.node));
    }
    let Who::Agent { ticket, .. } = actor.who else {
        let said = "is needed: the id that claim_ticket_node gave. Only an agent that Assay \
                    started is known by its key.";
        return Err(Fault::argument("claim_id", said));
    };
    let ticket = ticket::get(read, actor.tenant, ticket)?;
    let nodes = node::list(read, ticket.tenant, ticket.id)?;
    let at_work = nodes.into_iter().find(|node| node.status == NodeStatus::Running);
    let over = || Fault::new(Code::Conflict, "No node of the ticket runs any more; stop here.");
    Ok((ticket, at_work.ok_or_else(over)?))
}
