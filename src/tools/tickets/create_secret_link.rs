//! `create_secret_link`: an address at which a person gives the secret that a ticket waits for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounts::Feature;
use crate::base::Fault;
use crate::tickets::secrets::links;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Makes a link for the secret that a ticket waits for.
pub struct CreateSecretLink;

/// What `create_secret_link` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
}

/// What `create_secret_link` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The ticket that waits.
    ticket_ref: String,
    /// The name of the secret: the environment variable that the agent gets it in.
    name: String,
    /// The address to give to the person who has the secret. It is shown this once.
    url: String,
    /// Until when it can be used. ISO 8601, UTC.
    expires_at: String,
}

impl Tool for CreateSecretLink {
    const NAME: &'static str = "create_secret_link";
    const TITLE: &'static str = "Make a link for a secret";
    const ABOUT: &'static str = "For a ticket that is `awaiting_input` because its agent needs a \
        secret: makes the address of a form that takes the value, works once and for 24 hours, and \
        needs no login. Give it to the person who has the secret; never ask them for the value \
        itself. Once it is given the ticket goes on, and its agents have the value in the \
        environment variable `name` until the ticket ends. Fails with NOT_AWAITING_INPUT where no \
        secret is asked for.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let (minted, ticket_ref) = cx
            .write(move |tx, actor| {
                let ticket = super::find(tx, actor, &input.ticket)?;
                let minted = links::mint(tx, &ticket, &actor.label())?;
                let named = ticket.reference();
                let subject = format!("{named} {}", minted.name);
                Ok(((minted, named), subject))
            })
            .await?;
        let summary = format!("A link for {} of {ticket_ref}. It works once.", minted.name);
        let output = Output {
            ticket_ref,
            name: minted.name,
            url: format!("{}/secrets/{}", cx.premises().url, minted.token.reveal()),
            expires_at: minted.expires_at.iso(),
        };
        Ok(Done::new(output, summary))
    }
}
