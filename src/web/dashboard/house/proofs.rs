//! `/proofs`: everything that was checked, with what came of it.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::{Select, address};
use crate::base::{Fault, Millis, ProofId};
use crate::projects::{self, LIST_MAX, Project};
use crate::proofs::{self, Proof, Verdict, Wanted};
use crate::store::Read;
use crate::tickets::ticket;
use crate::tools::tickets;
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{Choice, Link, Moment, plain_word, ticket_href};
use crate::web::dashboard::shell::Shell;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Proofs on one page.
const PAGE_SIZE: usize = 50;

/// The proofs that the filters leave.
#[derive(Template)]
#[template(path = "proofs.html")]
pub(super) struct ProofsPage {
    shell: Shell,
    selects: Vec<Select>,
    /// The ticket as it stands in its field.
    ticket: String,
    /// Why the ticket could not be taken; empty where it could.
    wrong: String,
    is_set: bool,
    proofs: Vec<ProofRow>,
    older: Option<String>,
}

/// One proof.
struct ProofRow {
    mark: Mark,
    claim: String,
    href: String,
    kind: String,
    project: String,
    ticket: Option<Link>,
    made: Moment,
}

/// What stands in the address.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    project: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    verdict: String,
    #[serde(default)]
    ticket: String,
    #[serde(default)]
    after: String,
}

/// `GET /proofs`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Page<ProofsPage>, Trouble> {
    let now = site.now();
    let page =
        visitor.read(&site, move |read, visitor| ProofsPage::load(read, visitor, &asked, now));
    Ok(Page(page.await?))
}

impl ProofsPage {
    fn load(read: &Read<'_>, visitor: &Visitor, asked: &Asked, now: Millis) -> Result<Self, Fault> {
        let tenant = visitor.actor().tenant;
        let projects = projects::list(read, visitor.actor(), LIST_MAX, None)?;
        let kinds = proofs::kinds(read, tenant)?;
        let project = projects.iter().find(|project| project.slug == asked.project);
        let verdict = Verdict::parse(&asked.verdict);
        let kind = kinds.iter().find(|kind| **kind == asked.kind);
        let (ticket, wrong) = asked_ticket(read, visitor, asked.ticket.trim())?;
        let wanted = Wanted {
            ticket,
            project: project.map(|project| project.id),
            kind: kind.cloned(),
            verdict,
        };
        let after = ProofId::parse(&asked.after);
        let found = if wrong.is_empty() {
            proofs::page(read, tenant, &wanted, after, PAGE_SIZE)?
        } else {
            proofs::Page { proofs: Vec::new(), next: None }
        };
        let rows = found.proofs.iter().map(|one| ProofRow::load(read, one, &projects, now));
        let older = found.next.map(|next| older(&wanted, asked, project, &next.to_string()));
        let is_set = !asked.ticket.trim().is_empty()
            || project.is_some()
            || kind.is_some()
            || verdict.is_some();
        Ok(Self {
            shell: Shell::load(read, visitor, "/proofs")?,
            selects: selects(&projects, &kinds, &wanted, project),
            ticket: asked.ticket.trim().to_owned(),
            wrong,
            is_set,
            proofs: rows.collect::<Result<_, _>>()?,
            older,
        })
    }
}

/// The ticket that is named, if one is; or why there is none.
fn asked_ticket(
    read: &Read<'_>,
    visitor: &Visitor,
    named: &str,
) -> Result<(Option<crate::base::TicketId>, String), Fault> {
    if named.is_empty() {
        return Ok((None, String::new()));
    }
    match tickets::find(read, visitor.actor(), named) {
        Ok(ticket) => Ok((Some(ticket.id), String::new())),
        Err(fault) if fault.code == crate::base::Code::Internal => Err(fault),
        Err(fault) => Ok((None, fault.message.clone())),
    }
}

fn older(wanted: &Wanted, asked: &Asked, project: Option<&Project>, after: &str) -> String {
    address(
        "/proofs",
        &[
            ("project", project.map_or("", |project| &project.slug)),
            ("kind", wanted.kind.as_deref().unwrap_or_default()),
            ("verdict", wanted.verdict.map_or("", Verdict::word)),
            ("ticket", asked.ticket.trim()),
            ("after", after),
        ],
    )
}

fn selects(
    projects: &[Project],
    kinds: &[String],
    wanted: &Wanted,
    project: Option<&Project>,
) -> Vec<Select> {
    let with_all = |label: &str, others: Vec<Choice>| {
        let mut all = vec![Choice::new("", label)];
        all.extend(others);
        all
    };
    let verdicts = Verdict::ALL.iter().map(|one| Choice::new(one.word(), plain_word(one.word())));
    let of_project = projects.iter().map(|one| Choice::new(&*one.slug, &*one.name));
    let of_kind = kinds.iter().map(|kind| Choice::new(&**kind, plain_word(kind)));
    vec![
        Select::new(
            "verdict",
            "Verdict",
            with_all("All verdicts", verdicts.collect()),
            wanted.verdict.map_or("", Verdict::word),
        ),
        Select::new(
            "project",
            "Project",
            with_all("All projects", of_project.collect()),
            project.map_or("", |project| &project.slug),
        ),
        Select::new(
            "kind",
            "Kind",
            with_all("All kinds", of_kind.collect()),
            wanted.kind.as_deref().unwrap_or_default(),
        ),
    ]
}

impl ProofRow {
    fn load(
        read: &Read<'_>,
        proof: &Proof,
        projects: &[Project],
        now: Millis,
    ) -> Result<Self, Fault> {
        let ticket = match proof.ticket {
            Some(id) => ticket::find(read, proof.tenant, id)?,
            None => None,
        };
        let project = projects.iter().find(|project| project.id == proof.project);
        Ok(Self {
            mark: Mark::verdict(proof.verdict.word()),
            claim: proof.claim.clone(),
            href: format!("/proofs/{}", proof.id),
            kind: plain_word(&proof.kind),
            project: project.map(|project| project.name.clone()).unwrap_or_default(),
            ticket: ticket.map(|one| Link::new(one.reference(), ticket_href(&one))),
            made: Moment::at(proof.made_at, now),
        })
    }
}

#[cfg(test)]
impl ProofsPage {
    pub(super) fn sample() -> Self {
        use crate::web::dashboard::parts::samples::minutes_ago;
        let row = |verdict: &str, claim: &str, kind: &str, minutes| ProofRow {
            mark: Mark::verdict(verdict),
            claim: claim.to_owned(),
            href: "/proofs/p1".to_owned(),
            kind: kind.to_owned(),
            project: "Acme Widgets".to_owned(),
            ticket: Some(Link::new("ACME-42", "/tickets/ACME-42")),
            made: minutes_ago(minutes),
        };
        Self {
            shell: Shell::sample("/proofs"),
            selects: vec![Select::new("verdict", "Verdict", vec![Choice::new("", "All")], "")],
            ticket: String::new(),
            wrong: "There is no ticket ACME-99.".to_owned(),
            is_set: true,
            proofs: vec![
                row("proven", "The tests pass", "Command", 2),
                row("failed", "The page has a toggle", "File", 3),
                row("inconclusive", "A screenshot of the header", "Exhibit", 4),
            ],
            older: Some("/proofs?after=p3".to_owned()),
        }
    }

    pub(super) fn sample_empty() -> Self {
        let sample = Self::sample();
        Self { proofs: Vec::new(), is_set: false, wrong: String::new(), older: None, ..sample }
    }
}
