//! `/tickets/{ref}`: one ticket, from its one thing to do next down to what happened when.

mod actions;
mod changes;
mod load;
mod next;
mod nodes;
mod patch;
mod proved;
mod refile;
#[cfg(test)]
pub(super) mod samples;

use askama::Template;

pub(super) use self::actions::{answer, cancel, decide, retry, secret_link};
#[cfg(test)]
pub(super) use self::changes::ChangesPage;
pub(super) use self::changes::show as show_changes;
pub(super) use self::load::show;
pub(super) use self::refile::replace;
use super::graph::Graph;
use super::marks::Mark;
use super::parts::{Fact, Link, Moment};
use super::shell::Shell;
use crate::web::ansi::Line;
use crate::web::markdown::Prose;

/// A ticket's page.
#[derive(Template)]
#[template(path = "ticket.html")]
pub(super) struct TicketPage {
    shell: Shell,
    reference: String,
    title: String,
    /// The page's own path, under which its forms live.
    href: String,
    project: Link,
    mark: Mark,
    next: NextStep,
    /// Whether the ticket has ended, so that what is not there will not come.
    is_over: bool,
    can_cancel: bool,
    can_retry: bool,
    /// The form that files a cancelled ticket anew.
    refile: Option<Refile>,
    /// Whether there may be something to see on the page of its changes.
    has_changes: bool,
    /// Whether the reader may answer the question or give the approval.
    can_answer: bool,
    question: Option<Question>,
    /// `4 of 6 nodes done`; empty before the graph is planned.
    progress: String,
    graph: Graph,
    summary: Option<Summary>,
    nodes: Vec<NodeCard>,
    /// `3 of 4 assertions confirmed`; empty before there is a contract.
    proved: String,
    assertions: Vec<Assertion>,
    remarks: Vec<Remark>,
    proofs: Vec<ProofLine>,
    description: Prose,
    conversation: Option<Conversation>,
    attachments: Vec<AttachmentLine>,
    timeline: Vec<Happening>,
    /// Whether there are older entries that are not shown.
    is_timeline_cut: bool,
    facts: Vec<Fact>,
    times: Vec<TimeFact>,
    relations: Vec<Relation>,
}

/// The one thing to do about the ticket now, or that there is nothing to do.
pub(super) struct NextStep {
    tone: &'static str,
    title: String,
    text: String,
    link: Option<Link>,
}

/// What an agent asks.
pub(super) struct Question {
    /// Which node asks: `implement-1`.
    asker: String,
    at: Moment,
    text: Prose,
    choices: Vec<String>,
    /// The step that is to be approved; empty where an answer is wanted.
    step: &'static str,
    /// The name of the secret that is wanted; empty where none is.
    secret: String,
    /// How the section is called.
    title: &'static str,
}

/// The latest account of the work, while it runs or when it has ended.
pub(super) struct Summary {
    title: &'static str,
    text: Prose,
}

/// One node of the graph with all it knows.
#[derive(Default)]
pub(super) struct NodeCard {
    /// Its ref, such as `implement-1`.
    name: String,
    mark: Mark,
    /// Agent and model, or what a check runs.
    headline: String,
    took: String,
    /// When it started, while it runs.
    since: Option<String>,
    is_open: bool,
    failure: String,
    meters: Vec<Fact>,
    summary: Prose,
    report: Prose,
    log: Option<LogTail>,
    /// What to say of a node that has nothing to show.
    nothing: &'static str,
}

impl NodeCard {
    fn is_bare(&self) -> bool {
        self.failure.is_empty()
            && self.meters.is_empty()
            && self.summary.is_empty()
            && self.report.is_empty()
            && self.log.is_none()
    }
}

/// The end of a node's log.
pub(super) struct LogTail {
    /// The page of the whole log, and how it is called.
    href: String,
    said: String,
    is_live: bool,
    /// The number of the last line shown, so that the stream goes on behind it.
    seq: u64,
    tail: Vec<Line>,
}

/// One line of the contract.
pub(super) struct Assertion {
    mark: Mark,
    text: String,
    /// What decides it: a command, a file, or a person who looks.
    check: Vec<Fact>,
    evidence: Prose,
    /// The place of its proof on the page.
    proof: Option<String>,
}

/// Something left for a person or a later ticket.
pub(super) struct Remark {
    label: &'static str,
    text: String,
    source: String,
}

/// One proof record of a command.
pub(super) struct ProofLine {
    /// Its place on the page: `proof-…`.
    anchor: String,
    mark: Mark,
    claim: String,
    /// The command, where the claim does not say it.
    command: String,
    exit_code: String,
    took: String,
    at: Moment,
    log: Option<String>,
}

/// What the ticket was drafted from.
pub(super) struct Conversation {
    /// `4 turns`.
    said: String,
    /// The title that was sent, where it was filed under another.
    title: String,
    turns: Vec<SaidTurn>,
}

/// One turn of a conversation.
pub(super) struct SaidTurn {
    who: &'static str,
    text: Prose,
}

/// A file that came with the ticket.
pub(super) struct AttachmentLine {
    name: String,
    /// Type and size: `application/pdf, 48.2 kB`.
    said: String,
    /// The BLAKE3 hash.
    hash: String,
    href: String,
}

/// One thing that happened.
pub(super) struct Happening {
    tone: &'static str,
    at: Moment,
    text: String,
    who: String,
    /// The card of the node that it is about.
    node: Option<Link>,
}

/// A cancelled ticket, to be changed and filed anew.
pub(super) struct Refile {
    title: String,
    description: String,
    /// How much the new one can go on from: `3 commits`; empty where there is nothing.
    kept: String,
    /// Tickets that wait for the cancelled one and would wait for the new one.
    waiting: String,
}

/// A named moment beside the ticket.
pub(super) struct TimeFact {
    name: &'static str,
    at: Moment,
}

/// Tickets before or behind this one.
pub(super) struct Relation {
    title: &'static str,
    tickets: Vec<RelatedTicket>,
    reason: String,
}

/// Another ticket, in one line.
pub(super) struct RelatedTicket {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
}
