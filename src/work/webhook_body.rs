//! What a webhook is sent, as its receiver reads it. Published under
//! `/schemas/webhook-event/v1.json`: fields are added and never change their meaning.

use std::sync::LazyLock;

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::base::Fault;
use crate::notices::deliveries::Message;
use crate::notices::{Event, TicketFacts};

/// The name and version of the schema.
pub const FORMAT: (&str, u32) = ("webhook-event", 1);

/// The body of a delivery. Its `webhook-id` header names the message: the same at each try, so a
/// receiver that sees one twice can tell.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Webhook event")]
struct Body<'a> {
    /// What happened. Ignore what you do not know: there may be more of them later.
    #[serde(rename = "type")]
    event: Event,
    /// When it happened: ISO 8601, in UTC.
    timestamp: String,
    /// What is said of it. Messages may arrive late and out of order, so ask for the ticket where
    /// its state of now matters.
    data: Data<'a>,
}

/// What is said of an event.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Data<'a> {
    /// The project.
    project: Project<'a>,
    /// One line in words.
    text: &'a str,
    /// The ticket, as it was then; absent for `webhook.test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Ticket<'a>")]
    ticket: Option<Ticket<'a>>,
    /// The proof; only for `proof.made`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Proof<'a>")]
    proof: Option<Proof<'a>>,
}

/// A project.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Project<'a> {
    /// Its id.
    id: String,
    /// Its key, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    key: Option<&'a str>,
    /// Its name.
    name: &'a str,
}

/// A ticket.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Ticket<'a> {
    /// Its id.
    id: String,
    /// `KEY-N`, or `#N` where the project has no key.
    #[serde(rename = "ref")]
    reference: &'a str,
    /// Its title.
    title: &'a str,
    /// Where it stood, in the words of `get_ticket`.
    status: &'a str,
    /// Its page.
    url: String,
    /// The commit that is on the base branch, once it has landed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    commit: Option<&'a str>,
    /// The base branch, once it has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    base_branch: Option<&'a str>,
}

/// A proof.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Proof<'a> {
    /// Its id.
    id: String,
    /// What was found: proven, failed or inconclusive.
    verdict: &'a str,
}

/// The body of a message, from a server at this address. It is the same at each try.
pub(super) fn body(message: &Message, origin: &str) -> Result<Vec<u8>, Fault> {
    let facts = &message.facts;
    let proof = facts.proof.as_ref();
    let body = Body {
        event: message.event,
        timestamp: message.created_at.iso(),
        data: Data {
            project: Project {
                id: facts.project.to_string(),
                key: facts.project_key.as_deref(),
                name: &facts.project_name,
            },
            text: &facts.text,
            ticket: facts.ticket.as_ref().map(|ticket| of_ticket(ticket, origin)),
            proof: proof.map(|proof| Proof { id: proof.id.to_string(), verdict: &proof.verdict }),
        },
    };
    serde_json::to_vec(&body).map_err(Fault::internal)
}

fn of_ticket<'a>(ticket: &'a TicketFacts, origin: &str) -> Ticket<'a> {
    Ticket {
        id: ticket.id.to_string(),
        reference: &ticket.reference,
        title: &ticket.title,
        status: &ticket.status,
        url: format!("{origin}{}", ticket.path()),
        commit: ticket.commit.as_deref(),
        base_branch: ticket.base_branch.as_deref(),
    }
}

/// The schema of a body.
#[must_use]
pub fn schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let mut schema = schemars::schema_for!(Body<'static>);
        let (format, version) = FORMAT;
        schema.insert("$id".to_owned(), format!("/schemas/{format}/v{version}.json").into());
        schema
    });
    &SCHEMA
}
