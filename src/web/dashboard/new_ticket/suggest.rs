//! Tickets that a new one may build on, found while somebody types.

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::base::Fault;
use crate::base::text::cut;
use crate::projects::{self, Project};
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::browse::{self, Filter, Sort};
use crate::tickets::search;
use crate::tickets::states::Status;
use crate::web::auth::Visitor;
use crate::web::dashboard::tickets::index;
use crate::web::page::guards;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Tickets that are suggested before anything is typed.
const NEWEST: usize = 20;
/// Tickets that are suggested for words.
const FOUND: usize = 8;
/// Characters of a title.
const TITLE_CHARS: usize = 80;

/// A ticket to choose.
#[derive(Debug, Serialize)]
pub(super) struct Suggested {
    #[serde(rename = "ref")]
    pub(super) reference: String,
    pub(super) title: String,
}

/// What is typed.
#[derive(Debug, Deserialize)]
pub(in crate::web::dashboard) struct Asked {
    #[serde(default)]
    q: String,
    #[serde(default)]
    project: String,
}

/// `GET /tickets/suggest`: tickets for words, as JSON for the script of the form.
pub(in crate::web::dashboard) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Response, Trouble> {
    index(&site).await;
    let found = visitor.read(&site, move |read, visitor| {
        let named = Some(&*asked.project).filter(|named| !named.is_empty());
        let project = named.map(|named| projects::named(read, visitor.actor(), named));
        let project = project.transpose()?;
        let words = search::words(&cut(&asked.q, search::QUERY_MAX - 1));
        let filter = Filter { words, ..open(project.as_ref()) };
        listed(read, visitor, &filter, FOUND)
    });
    Ok((guards(), Json(found.await?)).into_response())
}

/// The newest tickets that may still land, for who has no script.
pub(super) fn newest(
    read: &Read<'_>,
    visitor: &Visitor,
    project: Option<&Project>,
) -> Result<Vec<Suggested>, Fault> {
    listed(read, visitor, &open(project), NEWEST)
}

/// Tickets that another can build on: those that will land, and those that have.
fn open(project: Option<&Project>) -> Filter {
    Filter {
        statuses: vec![
            Status::AwaitingInput,
            Status::Running,
            Status::Blocked,
            Status::Queued,
            Status::Succeeded,
        ],
        project: project.map(|project| project.id),
        ..Filter::default()
    }
}

fn listed(
    read: &Read<'_>,
    visitor: &Visitor,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Suggested>, Fault> {
    let found = browse::page(read, visitor.actor().tenant, filter, Sort::Newest, None, limit)?;
    let suggested = |ticket: &Ticket| Suggested {
        reference: ticket
            .project_key
            .as_ref()
            .map_or(ticket.id.to_string(), |_| ticket.reference()),
        title: cut(&ticket.title, TITLE_CHARS),
    };
    Ok(found.tickets.iter().map(suggested).collect())
}

#[cfg(test)]
pub(super) fn samples() -> Vec<Suggested> {
    vec![Suggested { reference: "ACME-42".to_owned(), title: "Add dark-mode toggle".to_owned() }]
}
