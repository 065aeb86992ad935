//! `/find`: tickets by their ref or their words, as the palette asks for them while one types.

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::marks::Mark;
use super::parts::ticket_href;
use crate::base::Fault;
use crate::tickets::Ticket;
use crate::tickets::reference::Reference;
use crate::tickets::search::words;
use crate::tools::tickets;
use crate::web::auth::Visitor;
use crate::web::page::guards;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Tickets that are found by words.
const FOUND_MAX: u32 = 8;
/// Characters of a question that are looked at.
const ASKED_MAX: usize = 200;

/// What is looked for.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    q: String,
}

/// What was found, the one that is named first.
#[derive(Debug, Default, Serialize)]
struct Found {
    tickets: Vec<Hit>,
}

/// A ticket in one line.
#[derive(Debug, Serialize, PartialEq, Eq)]
struct Hit {
    #[serde(rename = "ref")]
    reference: String,
    title: String,
    href: String,
    /// Where it stands, in words.
    state: &'static str,
}

/// A ticket as `search_tickets` answers with it, as far as it is shown here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    ticket_ref: String,
    title: String,
    status: String,
}

/// What `search_tickets` answers with.
#[derive(Deserialize)]
struct Answer {
    tickets: Vec<Listed>,
}

/// `GET /find?q=…`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(Asked { q }): Query<Asked>,
) -> Result<Response, Trouble> {
    let asked: String = q.trim().chars().take(ASKED_MAX).collect();
    let mut found = Found::default();
    found.tickets.extend(named(&site, &visitor, asked.clone()).await?);
    if !words(&asked).is_empty() {
        let others = by_words(&site, &visitor, &asked).await?;
        let others: Vec<Hit> =
            others.into_iter().filter(|hit| !found.tickets.contains(hit)).collect();
        found.tickets.extend(others);
    }
    let kept = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((guards(), kept, Json(found)).into_response())
}

/// The ticket that the text names, if it names one that this person may see.
async fn named(site: &Site, visitor: &Visitor, asked: String) -> Result<Option<Hit>, Fault> {
    if Reference::parse(&asked).is_none() {
        return Ok(None);
    }
    let found = visitor.read(site, move |read, visitor| {
        // What is not there, or is meant by several, is no trouble while somebody still types.
        Ok(tickets::find(read, visitor.actor(), &asked).ok())
    });
    Ok(found.await?.as_ref().map(Hit::of))
}

/// Tickets by their words, through the tool that agents search with.
async fn by_words(site: &Site, visitor: &Visitor, asked: &str) -> Result<Vec<Hit>, Fault> {
    let arguments = json!({ "query": asked, "limit": FOUND_MAX });
    let said = visitor.call(site, "search_tickets", arguments).await?;
    let answer: Answer = serde_json::from_value(said.value()).map_err(Fault::internal)?;
    Ok(answer.tickets.into_iter().map(Hit::listed).collect())
}

impl Hit {
    fn of(ticket: &Ticket) -> Self {
        Self {
            reference: ticket.reference(),
            title: ticket.title.clone(),
            href: ticket_href(ticket),
            state: Mark::status(ticket.status.word()).word,
        }
    }

    fn listed(ticket: Listed) -> Self {
        let named =
            if ticket.ticket_ref.starts_with('#') { &ticket.id } else { &ticket.ticket_ref };
        Self {
            href: format!("/tickets/{named}"),
            state: Mark::status(&ticket.status).word,
            reference: ticket.ticket_ref,
            title: ticket.title,
        }
    }
}
