//! `/tickets/{ref}/nodes/{node}/log` and `/tickets/{ref}/proofs/{proof}/log`: everything that an
//! agent or a check has written.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::header;
use serde::Deserialize;

use super::marks::Mark;
use super::parts::ticket_href;
use super::shell::Shell;
use crate::base::{Code, Fault, ProofId};
use crate::proofs;
use crate::store::{Blobs, Hash};
use crate::tickets::Ticket;
use crate::tickets::node::{self, Node};
use crate::tickets::states::NodeStatus;
use crate::tools::tickets;
use crate::web::ansi::Line;
use crate::web::auth::Visitor;
use crate::web::humane;
use crate::web::log_file::{self, LogPage};
use crate::web::page::{Page, guards};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Lines of one page of a log.
const LINES_MAX: usize = 2_000;

/// One part of a log, with the way to the parts before and after it.
#[derive(Template)]
#[template(path = "node_log.html")]
pub(super) struct NodeLogPage {
    shell: Shell,
    reference: String,
    title: String,
    /// The ticket's page.
    href: String,
    node: String,
    mark: Mark,
    /// How much there is: `1,204 lines, 84.2 kB`.
    said: String,
    /// Its text alone, where it is complete.
    raw_href: Option<String>,
    is_live: bool,
    earlier: Option<String>,
    later: Option<String>,
    lines: Vec<NumberedLine>,
}

/// A line and its number, from 1.
pub(super) struct NumberedLine {
    number: u64,
    line: Line,
}

/// Which part of a log, and in which form.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// The number of the first line; the first of all where absent.
    #[serde(default)]
    from: u64,
    /// As plain text, whole.
    raw: Option<String>,
}

/// A log whose page is asked for.
struct Subject {
    shell: Shell,
    ticket: Ticket,
    /// What wrote it: a node's ref, or a proof's claim.
    name: String,
    mark: Mark,
    path: String,
    is_live: bool,
}

/// `GET /tickets/{ref}/nodes/{node}/log`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path((named, node)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Trouble> {
    let (shell, ticket, node) = visitor
        .read(&site, move |read, visitor| {
            let ticket = tickets::find(read, visitor.actor(), &named)?;
            let nodes = node::list(read, ticket.tenant, ticket.id)?;
            let found = nodes.into_iter().find(|other| other.name == node);
            let node = found.ok_or_else(|| absent("The ticket has no such node."))?;
            Ok((Shell::load(read, visitor, "/tickets")?.still(), ticket, node))
        })
        .await?;
    let subject = Subject {
        path: format!("{}/nodes/{}/log", ticket_href(&ticket), node.name),
        mark: Mark::status(node.status.word()),
        is_live: node.status == NodeStatus::Running,
        name: node.name.clone(),
        shell,
        ticket,
    };
    match (subject.is_live, node.log) {
        (false, Some(hash)) => Ok(written(&site, subject, hash, &asked).await?),
        _ => Ok(running(&site, subject, &node)),
    }
}

/// `GET /tickets/{ref}/proofs/{proof}/log`: the first file that was kept with a proof.
pub(super) async fn show_proof(
    State(site): State<Site>,
    visitor: Visitor,
    Path((named, proof)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Trouble> {
    let none = || absent("The ticket has no such proof, or nothing was kept with it.");
    let id = ProofId::parse(&proof).ok_or_else(none)?;
    let (shell, ticket, proof) = visitor
        .read(&site, move |read, visitor| {
            let ticket = tickets::find(read, visitor.actor(), &named)?;
            let all = proofs::list_of_ticket(read, ticket.tenant, ticket.id)?;
            let proof = all.into_iter().find(|proof| proof.id == id).ok_or_else(none)?;
            Ok((Shell::load(read, visitor, "/tickets")?.still(), ticket, proof))
        })
        .await?;
    let hash = proof.evidence.first().map(|file| file.hash).ok_or_else(none)?;
    let subject = Subject {
        path: format!("{}/proofs/{}/log", ticket_href(&ticket), proof.id),
        mark: Mark::verdict(proof.verdict.word()),
        is_live: false,
        name: proof.claim,
        shell,
        ticket,
    };
    Ok(written(&site, subject, hash, &asked).await?)
}

fn absent(said: &str) -> Fault {
    Fault::new(Code::NotFound, said)
}

/// A log that is complete.
async fn written(
    site: &Site,
    subject: Subject,
    hash: Hash,
    asked: &Asked,
) -> Result<Response, Fault> {
    let blobs = site.blobs().clone();
    if asked.raw.is_some() {
        let bytes = blocking(move || blobs.get(hash)).await?.unwrap_or_default();
        let plain = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        return Ok((guards(), plain, bytes).into_response());
    }
    let from = asked.from;
    let page = blocking(move || read(&blobs, hash, from)).await?;
    Ok(Page(NodeLogPage::of(subject, page)).into_response())
}

async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(read).await.map_err(Fault::internal)?
}

fn read(blobs: &Blobs, hash: Hash, from: u64) -> Result<LogPage, Fault> {
    let bytes = blobs.get(hash)?.unwrap_or_default();
    Ok(log_file::page(&String::from_utf8_lossy(&bytes), from, LINES_MAX))
}

/// A log that is being written: its newest lines.
fn running(site: &Site, subject: Subject, node: &Node) -> Response {
    let newest = site.logs().newest(subject.ticket.id.uuid(), &node.name, LINES_MAX);
    let page = LogPage {
        first: newest.seq + 1 - newest.lines.len() as u64,
        bytes: 0,
        total: newest.seq,
        lines: newest.lines,
    };
    Page(NodeLogPage::of(subject, page)).into_response()
}

impl NodeLogPage {
    fn of(subject: Subject, page: LogPage) -> Self {
        let Subject { shell, ticket, name, mark, path, is_live } = subject;
        let size = LINES_MAX as u64;
        let next = page.first + page.lines.len() as u64;
        let earlier = page.first.saturating_sub(size).max(1);
        let said = humane::counted(page.total, "line", "lines");
        Self {
            shell,
            reference: ticket.reference(),
            href: ticket_href(&ticket),
            title: ticket.title,
            node: name,
            mark,
            said: if is_live { said } else { format!("{said}, {}", humane::size(page.bytes)) },
            raw_href: (!is_live).then(|| format!("{path}?raw=1")),
            earlier: (page.first > 1 && !is_live).then(|| format!("{path}?from={earlier}")),
            later: (next <= page.total).then(|| format!("{path}?from={next}")),
            lines: (page.first..)
                .zip(page.lines)
                .map(|(number, line)| NumberedLine { number, line })
                .collect(),
            is_live,
        }
    }
}

#[cfg(test)]
impl NodeLogPage {
    pub(super) fn sample() -> Self {
        let lines = super::ticket::samples::log();
        Self {
            shell: Shell::sample("/tickets"),
            reference: "ACME-42".to_owned(),
            title: "Add dark-mode toggle to the dashboard header".to_owned(),
            href: "/tickets/ACME-42".to_owned(),
            node: "verification-1".to_owned(),
            mark: Mark::status("running"),
            said: "12 lines, 1.1 kB".to_owned(),
            raw_href: Some("/tickets/ACME-42/nodes/verification-1/log?raw=1".to_owned()),
            is_live: true,
            earlier: None,
            later: Some("/tickets/ACME-42/nodes/verification-1/log?from=2001".to_owned()),
            lines: (1..).zip(lines).map(|(number, line)| NumberedLine { number, line }).collect(),
        }
    }
}
