//! What a ticket would come to, before it is filed.

use super::form::Typed;
use crate::base::Fault;
use crate::projects;
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::estimate::{self, Planned};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{plain_word, ticket_href};
use crate::web::humane;

/// What would be filed.
pub(super) struct Preview {
    /// `One ticket with 6 nodes`, or into how many it would be split.
    pub(super) said: String,
    /// `Fix`.
    pub(super) kind: String,
    pub(super) tickets: Vec<Line>,
}

/// A ticket that would be filed.
pub(super) struct Line {
    pub(super) title: String,
    pub(super) nodes: Vec<String>,
}

/// A ticket that asks for the same.
pub(super) struct Same {
    pub(super) mark: Mark,
    pub(super) reference: String,
    pub(super) href: String,
    pub(super) title: String,
    pub(super) why: String,
}

/// What would be filed, and the ticket that asks for the same if there is one.
pub(super) fn load(
    read: &Read<'_>,
    visitor: &Visitor,
    typed: &Typed,
) -> Result<(Preview, Option<Same>), Fault> {
    let actor = visitor.actor();
    let named = Some(typed.project.as_str()).filter(|named| !named.is_empty());
    let project = projects::resolve(read, actor, None, named)?;
    let estimate = estimate::estimate(read, actor.tenant, &project, &typed.asked())?;
    let same = estimate.duplicate.map(|same| Same::of(&same.ticket, same.reason));
    let lines: Vec<Line> = estimate.tickets.iter().map(Line::of).collect();
    let nodes: usize = lines.iter().map(|line| line.nodes.len()).sum();
    let said = match lines.len() {
        1 => format!("One ticket with {nodes} nodes"),
        several => format!("A chain of {several} tickets with {nodes} nodes in all"),
    };
    let kind = plain_word(estimate.kind.word());
    Ok((Preview { said, kind, tickets: lines }, same))
}

impl Line {
    fn of(planned: &Planned) -> Self {
        let nodes = planned.nodes.iter().map(|kind| plain_word(kind.word())).collect();
        Self { title: planned.title.clone(), nodes }
    }
}

impl Preview {
    /// Whether the brief would be split.
    pub(super) fn is_chain(&self) -> bool {
        self.tickets.len() > 1
    }

    /// `6 nodes` of a ticket.
    pub(super) fn counted(line: &Line) -> String {
        humane::counted(line.nodes.len() as u64, "node", "nodes")
    }
}

impl Same {
    pub(super) fn of(ticket: &Ticket, why: String) -> Self {
        Self {
            mark: Mark::status(ticket.status.word()),
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: ticket.title.clone(),
            why,
        }
    }
}

#[cfg(test)]
impl Preview {
    pub(super) fn sample() -> Self {
        let nodes = ["Plan", "Contract", "Implement", "Review", "Verification", "Land"];
        let line = |title: &str| Line {
            title: title.to_owned(),
            nodes: nodes.map(str::to_owned).to_vec(),
        };
        Self {
            said: "A chain of 2 tickets with 12 nodes in all".to_owned(),
            kind: "Feature".to_owned(),
            tickets: vec![line("Phase 1: Store"), line("Phase 2: Button")],
        }
    }
}

#[cfg(test)]
impl Same {
    pub(super) fn sample() -> Self {
        Self {
            mark: Mark::status("running"),
            reference: "ACME-42".to_owned(),
            href: "/tickets/ACME-42".to_owned(),
            title: "Add dark-mode toggle to the dashboard header".to_owned(),
            why: "It asks for the same.".to_owned(),
        }
    }
}
