//! `release_node`: gives a claimed node back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::claim_id;
use crate::accounts::Feature;
use crate::base::Fault;
use crate::base::redact::redact;
use crate::tickets::claims;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Gives a claimed node back.
pub struct ReleaseNode;

/// What `release_node` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The id that `claim_ticket_node` gave.
    claim_id: String,
    /// Why, in a sentence: the ticket's timeline shows it.
    #[schemars(length(min = 1, max = 1000))]
    reason: String,
}

/// What `release_node` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Always true: the node waits for another.
    released: bool,
}

impl Tool for ReleaseNode {
    const NAME: &'static str = "release_node";
    const TITLE: &'static str = "Give a claimed node back";
    const ABOUT: &'static str = "Gives a node that you claimed back without a result. It waits to \
        be claimed again, after those that wait already; what is in its work tree stays there for \
        whoever goes on. It does not count against the ticket. Fails with CONFLICT where the claim \
        is over. Only the key that claimed the node may call it.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{ "claim_id": "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b",
        "reason": "It needs a Mac." }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let editors = cx.editors()?;
        let id = claim_id(&input.claim_id)?;
        let claim = cx.glance(|read, actor| claims::held(read, actor, id))?;
        let why = redact(&crate::base::text::printable(&input.reason)).into_owned();
        editors.release(claim, why).await?;
        Ok(Done::new(Output { released: true }, "The node waits for another."))
    }
}
