//! The digest of a ticket: what it came to, derived from the record and from nothing else.

use super::contract::{self, Assertion, Item};
use super::dependencies;
use super::node::{self, Node, Outline};
use super::questions::{self, Question};
use super::states::{AssertionState, ItemKind, NodeKind, NodeStatus, Outcome, Status};
use super::ticket::Ticket;
use crate::base::{Fault, text};
use crate::store::Read;
use crate::{params, sql};

/// Parents and children named in a digest at most.
const NAMED_MAX: u32 = 20;

/// Everything that `get_ticket` answers, before it is put into words of the wire. Its nodes are
/// whole, or only outlines of them.
#[derive(Debug, Clone)]
pub struct Digest<N = Node> {
    /// The ticket.
    pub ticket: Ticket,
    /// Its nodes.
    pub nodes: Vec<N>,
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

/// The digest of a ticket with all that its nodes hold.
pub fn digest(read: &Read<'_>, ticket: Ticket) -> Result<Digest, Fault> {
    let nodes = node::list(read, ticket.tenant, ticket.id)?;
    with(read, ticket, nodes, |node| (node.kind, node.status))
}

/// The digest of a ticket without what its nodes said.
pub fn brief(read: &Read<'_>, ticket: Ticket) -> Result<Digest<Outline>, Fault> {
    let nodes = node::outline(read, ticket.tenant, ticket.id)?;
    with(read, ticket, nodes, |node| (node.kind, node.status))
}

fn with<N>(
    read: &Read<'_>,
    ticket: Ticket,
    nodes: Vec<N>,
    stands: fn(&N) -> (NodeKind, NodeStatus),
) -> Result<Digest<N>, Fault> {
    let (tenant, id) = (ticket.tenant, ticket.id);
    let has = Belongings::of(read, &ticket)?;
    let assertions = list_if(has.assertions, || contract::assertions(read, tenant, id))?;
    Ok(Digest {
        outcome: outcome(ticket.status, nodes.iter().map(stands), &assertions),
        items: list_if(has.items, || contract::items(read, tenant, id))?,
        question: if has.question { questions::open(read, tenant, id)? } else { None },
        parents: list_if(has.parents, || dependencies::parents(read, tenant, id))?,
        children: list_if(has.children, || dependencies::children(read, tenant, id, NAMED_MAX))?,
        ticket,
        nodes,
        assertions,
    })
}

/// What a person has to do about what a ticket waits for. `page` is the ticket's page.
fn asked(question: &Question, page: &str) -> String {
    let text = &question.text;
    if let Some(name) = &question.secret {
        return format!(
            "Give {name} through the secure link on {page} (create_secret_link makes one too); \
             never paste the value into a chat or an answer. The agent says: {text}"
        );
    }
    match question.pause {
        None => format!("Answer the agent's question: {text}"),
        Some(pause) if pause.is_approval() => format!(
            "{} Approve it or send it back, on the ticket's page or with approve_ticket (step \
             `{pause}`).",
            text::first_line(text)
        ),
        Some(_) => text.clone(),
    }
}

/// Which kinds of rows belong to a ticket beside its nodes.
struct Belongings {
    assertions: bool,
    items: bool,
    question: bool,
    parents: bool,
    children: bool,
}

impl Belongings {
    fn of(read: &Read<'_>, ticket: &Ticket) -> Result<Self, Fault> {
        let of = params! { ":tenant": ticket.tenant, ":ticket": ticket.id };
        let found = read.find(sql!("tickets.sql", "belongings"), of, |row| {
            Ok(Self {
                assertions: row.get("assertions")?,
                items: row.get("items")?,
                question: row.get("question")?,
                parents: row.get("parents")?,
                children: row.get("children")?,
            })
        })?;
        found.ok_or_else(|| Fault::internal("a statement that always has a row had none"))
    }
}

fn list_if<T>(there: bool, list: impl FnOnce() -> Result<Vec<T>, Fault>) -> Result<Vec<T>, Fault> {
    if there { list() } else { Ok(Vec::new()) }
}

/// What a ticket came to. The contract has no word for cancelled: such a ticket did not land, so
/// its outcome is `failed`, and its status stays the truth.
fn outcome(
    status: Status,
    nodes: impl Iterator<Item = (NodeKind, NodeStatus)>,
    assertions: &[Assertion],
) -> Outcome {
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
fn was_checked(
    mut nodes: impl Iterator<Item = (NodeKind, NodeStatus)>,
    assertions: &[Assertion],
) -> bool {
    let passed = (NodeKind::Verification, NodeStatus::Succeeded);
    !assertions.is_empty() || nodes.any(|node| node == passed)
}

impl<N> Digest<N> {
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

    /// What a person has to do next, in order. `site` is the address of the server.
    #[must_use]
    pub fn human_actions(&self, site: &str) -> Vec<String> {
        let mut actions = Vec::new();
        if let Some(question) = &self.question {
            let page = format!("{site}{}", self.ticket.page());
            actions.push(asked(question, &page));
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
