//! The digest of a ticket: what it came to, derived from the record and from nothing else.

use super::contract::{self, Assertion, Item};
use super::dependencies;
use super::node::{self, Node};
use super::questions::{self, Question};
use super::states::{AssertionState, ItemKind, NodeKind, NodeStatus, Outcome, Status};
use super::ticket::Ticket;
use crate::base::Fault;
use crate::store::Read;

/// Parents and children named in a digest at most.
const NAMED_MAX: u32 = 20;

/// Everything that `get_ticket` answers, before it is put into words of the wire.
#[derive(Debug, Clone)]
pub struct Digest {
    /// The ticket.
    pub ticket: Ticket,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// What it came to.
    pub outcome: Outcome,
    /// Its contract.
    pub assertions: Vec<Assertion>,
    /// What is left for people or for later.
    pub items: Vec<Item>,
    /// The question it waits on.
    pub question: Option<Question>,
    /// What it waits for.
    pub parents: Vec<Ticket>,
    /// What waits for it.
    pub children: Vec<Ticket>,
}

/// The digest of a ticket.
pub fn digest(read: &Read<'_>, ticket: Ticket) -> Result<Digest, Fault> {
    let (tenant, id) = (ticket.tenant, ticket.id);
    let nodes = node::list(read, tenant, id)?;
    let assertions = contract::assertions(read, tenant, id)?;
    Ok(Digest {
        outcome: outcome(ticket.status, &nodes, &assertions),
        items: contract::items(read, tenant, id)?,
        question: questions::open(read, tenant, id)?,
        parents: dependencies::parents(read, tenant, id)?,
        children: dependencies::children(read, tenant, id, NAMED_MAX)?,
        ticket,
        nodes,
        assertions,
    })
}

/// What a ticket came to. The contract has no word for cancelled: such a ticket did not land, so
/// its outcome is `failed`, and its status stays the truth.
#[must_use]
pub fn outcome(status: Status, nodes: &[Node], assertions: &[Assertion]) -> Outcome {
    match status {
        Status::Queued | Status::Blocked | Status::Running | Status::AwaitingInput => {
            Outcome::InProgress
        }
        Status::Timeout => Outcome::Timeout,
        Status::Failed | Status::Cancelled => Outcome::Failed,
        Status::Succeeded if assertions.iter().any(|a| a.state != AssertionState::Confirmed) => {
            Outcome::PartiallyVerified
        }
        Status::Succeeded if was_checked(nodes, assertions) => Outcome::FullyVerified,
        Status::Succeeded => Outcome::ImplementationSucceeded,
    }
}

/// Whether anything was run that could have said no. A verification without commands and assertions
/// is skipped and says so.
fn was_checked(nodes: &[Node], assertions: &[Assertion]) -> bool {
    let passed =
        |node: &Node| node.kind == NodeKind::Verification && node.status == NodeStatus::Succeeded;
    !assertions.is_empty() || nodes.iter().any(passed)
}

impl Digest {
    /// Assertions that could not be confirmed. While the ticket is under way there are none to
    /// name.
    pub fn gaps(&self) -> impl Iterator<Item = &Assertion> {
        self.in_state(AssertionState::Unconfirmed)
    }

    /// Assertions that hold only in part.
    pub fn partial(&self) -> impl Iterator<Item = &Assertion> {
        self.in_state(AssertionState::Partial)
    }

    fn in_state(&self, state: AssertionState) -> impl Iterator<Item = &Assertion> {
        self.assertions.iter().filter(move |assertion| assertion.state == state)
    }

    /// Items of a kind. A human action that is done is no longer named.
    pub fn items_of(&self, kind: ItemKind) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.kind == kind && item.is_open)
    }

    /// What a person has to do next, in order.
    #[must_use]
    pub fn human_actions(&self) -> Vec<String> {
        let mut actions = Vec::new();
        if let Some(question) = &self.question {
            actions.push(format!("Answer the agent's question: {}", question.text));
        }
        actions.extend(self.items_of(ItemKind::HumanAction).map(|item| item.text.clone()));
        let dead = |parent: &&Ticket| parent.status == Status::Cancelled;
        if self.ticket.status == Status::Blocked
            && let Some(parent) = self.parents.iter().find(dead)
        {
            actions.push(format!(
                "{} was cancelled, and this ticket waits for it: try {} again, or cancel this one.",
                parent.reference(),
                parent.reference()
            ));
        }
        actions
    }

    /// How to go on from the branch of a ticket that did not land, if the branch has work on it.
    #[must_use]
    pub fn salvage_note(&self) -> Option<String> {
        let ticket = &self.ticket;
        let ended_badly =
            matches!(ticket.status, Status::Failed | Status::Timeout | Status::Cancelled);
        let branch = ticket.branch.as_deref().filter(|_| ended_badly)?;
        let steps = ticket.checkpoint_commits;
        (steps > 0).then(|| {
            format!(
                "Branch {branch} keeps {steps} commit{} that did not land. To go on from there, \
                 call retry_ticket with ticket {}.",
                if steps == 1 { "" } else { "s" },
                ticket.reference()
            )
        })
    }
}
