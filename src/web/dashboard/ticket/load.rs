//! A ticket's page from what is stored.

use std::collections::HashMap;

use axum::extract::{Path, Query, State};

use super::super::marks::{Mark, Pips};
use super::super::parts::{Fact, Link, Moment, asked_by, category_label, plain_word, ticket_href};
use super::super::shell::{Did, Shell};
use super::changes::has_changes;
use super::nodes::{self, At};
use super::proved::proved;
use super::{
    Assertion, AttachmentLine, Conversation, Happening, ProofLine, Question, Refile, RelatedTicket,
    Relation, Remark, SaidTurn, Summary, TicketPage, TimeFact, next,
};
use crate::accounts::Actor;
use crate::base::redact::redact;
use crate::base::{Fault, Millis, NodeId};
use crate::projects::{self, Project};
use crate::proofs::{self, Proof};
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::attachments::{self, Attachment};
use crate::tickets::conversations::{self, Original};
use crate::tickets::digest::{self, Digest};
use crate::tickets::draft::{DraftedBy, Role, Turn};
use crate::tickets::node::{self, Edge, Node};
use crate::tickets::pipeline::end::short;
use crate::tickets::states::{ItemKind, NodeStatus, Pause, Status};
use crate::tickets::timeline::{self, Entry, Happened};
use crate::tools::tickets;
use crate::web::auth::Visitor;
use crate::web::humane;
use crate::web::live_logs::Newest;
use crate::web::log_file;
use crate::web::markdown;
use crate::web::page::{Page, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Lines of a timeline that are shown; the newest.
const TIMELINE_MAX: u32 = 200;
/// Lines of a log that a card shows.
const TAIL_LINES: usize = 200;

/// Everything of a ticket that its page shows, as one consistent view of the database.
struct Stored {
    shell: Shell,
    project: Project,
    digest: Digest,
    edges: Vec<Edge>,
    proofs: Vec<Proof>,
    timeline: Vec<Entry>,
    original: Option<Original>,
    attachments: Vec<Attachment>,
}

/// `GET /tickets/{ref}`.
pub(in crate::web::dashboard) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path(named): Path<String>,
    Query(Did { did }): Query<Did>,
) -> Result<Page<TicketPage>, Trouble> {
    let mut stored = visitor
        .read(&site, move |read, visitor| {
            let ticket = tickets::find(read, visitor.actor(), &named)?;
            Stored::load(read, visitor, ticket)
        })
        .await?;
    stored.shell = stored.shell.after(&did);
    let logs = tails(&site, &stored.digest).await?;
    Ok(Page(stored.page(&logs, visitor.actor(), site.now())))
}

/// The ends of the logs of the nodes whose cards stand open.
async fn tails(site: &Site, digest: &Digest) -> Result<HashMap<NodeId, Newest>, Fault> {
    let open: Vec<Node> =
        digest.nodes.iter().filter(|node| nodes::is_open(node.status)).cloned().collect();
    let (logs, blobs) = (site.logs().clone(), site.blobs().clone());
    let ticket = digest.ticket.id.uuid();
    let read = tokio::task::spawn_blocking(move || {
        let tail = |node: &Node| match (node.status, node.log) {
            (status, Some(hash)) if status != NodeStatus::Running => {
                log_file::tail(&blobs, hash, node.log_lines, TAIL_LINES)
            }
            _ => Ok(logs.newest(ticket, &node.name, TAIL_LINES)),
        };
        open.iter().map(|node| Ok((node.id, tail(node)?))).collect()
    });
    read.await.map_err(Fault::internal)?
}

impl Stored {
    fn load(read: &Read<'_>, visitor: &Visitor, ticket: Ticket) -> Result<Self, Fault> {
        let (tenant, id) = (ticket.tenant, ticket.id);
        let project = projects::get(read, visitor.actor(), ticket.project)?;
        let events = format!("/events?ticket={id}");
        let shell = Shell { events: Some(events), ..Shell::load(read, visitor, "/tickets")? };
        Ok(Self {
            shell,
            project,
            edges: node::edges(read, tenant, id)?,
            proofs: proofs::list_of_ticket(read, tenant, id)?,
            timeline: timeline::list(read, tenant, id, TIMELINE_MAX)?,
            original: conversations::find(read, tenant, id)?,
            attachments: attachments::of_ticket(read, tenant, id)?,
            digest: digest::digest(read, ticket)?,
        })
    }

    fn page(self, logs: &HashMap<NodeId, Newest>, actor: &Actor, now: Millis) -> TicketPage {
        let can_write = actor.can_write();
        let Self { shell, project, digest, edges, proofs, timeline, original, attachments } = self;
        let ticket = &digest.ticket;
        let href = ticket_href(ticket);
        let at = At { href: &href, now, logs };
        let pause = digest.question.as_ref().and_then(|asked| asked.pause);
        let is_of_live_data = matches!(pause, Some(Pause::Apply | Pause::Unclear));
        let may_say = if is_of_live_data { actor.is_admin() } else { can_write };
        let ended = ticket.status.is_terminal();
        let statuses: Vec<&str> = digest.nodes.iter().map(|node| node.status.word()).collect();
        TicketPage {
            reference: ticket.reference(),
            title: ticket.title.clone(),
            project: Link::new(&*project.name, format!("/projects/{}", project.slug)),
            mark: Mark::status(ticket.status.word()),
            next: next::step(&digest),
            is_over: ended,
            can_cancel: can_write && !ended,
            can_retry: can_write && ended && ticket.status != Status::Succeeded,
            refile: Refile::of(&digest).filter(|_| can_write),
            has_changes: has_changes(ticket),
            can_answer: may_say,
            question: question(&digest, now),
            progress: if statuses.is_empty() { String::new() } else { said(&statuses) },
            graph: nodes::drawing(&digest.nodes, &edges, now),
            summary: summary(ticket),
            nodes: digest.nodes.iter().map(|node| nodes::card(node, &at)).collect(),
            proved: proved(&digest.assertions),
            assertions: (digest.assertions.iter()).map(|one| Assertion::of(one, &proofs)).collect(),
            remarks: remarks(&digest),
            proofs: proofs.iter().map(|proof| ProofLine::of(proof, &href, now)).collect(),
            description: markdown::render(&redact(&ticket.description)),
            conversation: original.map(|original| Conversation::of(&original, ticket)),
            attachments: attachments.iter().map(|file| AttachmentLine::of(file, &href)).collect(),
            is_timeline_cut: timeline.len() >= TIMELINE_MAX as usize,
            timeline: happenings(&timeline, &digest, now),
            facts: facts(ticket, &project),
            times: times(ticket, now),
            relations: relations(&digest),
            shell,
            href,
        }
    }
}

fn said(statuses: &[&str]) -> String {
    Pips::of(statuses).said().to_owned()
}

fn question(digest: &Digest, now: Millis) -> Option<Question> {
    let asked = digest.question.as_ref()?;
    let node = digest.nodes.iter().find(|node| node.id == asked.node);
    Some(Question {
        asker: node.map(|node| node.name.clone()).unwrap_or_default(),
        at: Moment::at(asked.asked_at, now),
        text: markdown::render(&asked.text),
        choices: asked.choices.clone(),
        secret: asked.secret.clone().unwrap_or_default(),
        step: asked.pause.filter(|pause| pause.is_approval()).map_or("", Pause::word),
        title: match asked.pause {
            Some(pause) if pause.is_approval() => "To be approved",
            Some(_) => "Waits for a person",
            None if asked.secret.is_some() => "A secret is needed",
            None => "Question",
        },
    })
}

fn summary(ticket: &Ticket) -> Option<Summary> {
    let last = || Some(("So far", ticket.latest_phase_summary.as_deref()?));
    let (title, text) = match ticket.completion_summary.as_deref() {
        Some(done) => ("What came of it", done),
        None => last()?,
    };
    Some(Summary { title, text: markdown::render(text) })
}

impl Refile {
    /// Only a cancelled ticket can be filed anew.
    fn of(digest: &Digest) -> Option<Self> {
        let ticket = &digest.ticket;
        let waiting = digest.children.len() as u64;
        let kept = ticket.branch.as_ref().map_or(0, |_| ticket.checkpoint_commits);
        let said = |number, one, several| match number {
            0 => String::new(),
            number => humane::counted(number, one, several),
        };
        (ticket.status == Status::Cancelled).then(|| Self {
            title: ticket.title.clone(),
            description: ticket.description.clone(),
            kept: said(kept, "commit", "commits"),
            waiting: said(waiting, "ticket waits", "tickets wait"),
        })
    }
}

fn remarks(digest: &Digest) -> Vec<Remark> {
    let kinds = [
        (ItemKind::HumanAction, "For a person"),
        (ItemKind::Deferred, "Put off"),
        (ItemKind::FollowUp, "Idea"),
    ];
    let of = |(kind, label)| {
        digest.items_of(kind).map(move |item| Remark {
            label,
            text: item.text.clone(),
            source: item.source.clone(),
        })
    };
    kinds.into_iter().flat_map(of).collect()
}

impl Conversation {
    fn of(original: &Original, ticket: &Ticket) -> Self {
        let title = Some(&original.title).filter(|title| **title != ticket.title);
        // The rules that a model was given are not for everybody who reads the ticket.
        let turn = |turn: &Turn| match turn.role {
            Role::User => SaidTurn { who: "User", text: markdown::render(&turn.content) },
            Role::Assistant => SaidTurn { who: "Assistant", text: markdown::render(&turn.content) },
            Role::System => SaidTurn { who: "System", text: markdown::render("*Not shown.*") },
        };
        let turns = humane::count(original.turns.len() as u64);
        Self {
            said: match original.drafted_by {
                Some(DraftedBy::Rule) => format!("{turns} turns, drafted by rule"),
                Some(DraftedBy::Model) => format!("{turns} turns, drafted by the language model"),
                None => format!("{turns} turns"),
            },
            title: title.cloned().unwrap_or_default(),
            turns: original.turns.iter().map(turn).collect(),
        }
    }
}

/// The timeline, newest first.
fn happenings(timeline: &[Entry], digest: &Digest, now: Millis) -> Vec<Happening> {
    let mut is_retried = false;
    let happening = |entry: &Entry| {
        let tone = tone(entry, digest, is_retried);
        is_retried |= matches!(entry.happened, Happened::Retried | Happened::Revived);
        let known = |name: &&String| digest.nodes.iter().any(|node| node.name == **name);
        let node = entry.node.as_ref().filter(known);
        let node = node.map(|name| Link::new(name, format!("#node-{name}")));
        Happening { node, ..Happening::of(entry, tone, now) }
    };
    timeline.iter().rev().map(happening).collect()
}

/// How an entry feels. What ended feels as it ended. The ticket knows its last end alone; an end
/// that was retried was no success.
fn tone(entry: &Entry, digest: &Digest, is_retried: bool) -> &'static str {
    let node = digest.nodes.iter().find(|node| Some(&node.name) == entry.node.as_ref());
    match entry.happened {
        Happened::Landed | Happened::Approved => "ok",
        Happened::Asked => "wait",
        Happened::AnotherRound | Happened::SentBack | Happened::Interrupted | Happened::Held => {
            "hold"
        }
        Happened::NodeEnded => node.map_or("", |node| Mark::status(node.status.word()).tone),
        Happened::Ended if !is_retried => Mark::status(digest.ticket.status.word()).tone,
        Happened::Ended if entry.text.starts_with("Cancelled") => "idle",
        Happened::Ended => "bad",
        _ => "",
    }
}

impl Happening {
    fn of(entry: &Entry, tone: &'static str, now: Millis) -> Self {
        let who = if entry.actor == timeline::SERVER { "" } else { &*entry.actor };
        Self {
            tone,
            at: Moment::at(entry.at, now),
            text: entry.text.clone(),
            who: who.to_owned(),
            node: None,
        }
    }
}

fn facts(ticket: &Ticket, project: &Project) -> Vec<Fact> {
    let mut facts = vec![Fact::plain("Kind", plain_word(ticket.kind.word()))];
    if let Some(category) = &ticket.category {
        let (slug, name) = (in_query(&project.slug), in_query(&category.name));
        let href = format!("/tickets?project={slug}&category={name}");
        facts.push(Fact::link("Category", Link::new(category_label(category), href)));
    }
    facts.push(Fact::plain("Asked for by", asked_by(ticket)));
    if ticket.turns_used > 0 {
        facts.push(Fact::plain("Turns", humane::count(ticket.turns_used)));
    }
    if ticket.input_tokens + ticket.output_tokens > 0 {
        let (read, written) = (ticket.input_tokens, ticket.output_tokens);
        let tokens = format!("{} in, {} out", humane::count(read), humane::count(written));
        facts.push(Fact::plain("Tokens", tokens));
    }
    let codes = [
        ("Branch", ticket.branch.clone()),
        ("Goes on from", ticket.seed_from_ref.clone()),
        ("Base branch", ticket.base_branch.clone()),
        ("Base commit", ticket.base_commit.as_deref().map(short).map(str::to_owned)),
        ("Landed commit", ticket.commit_sha.as_deref().map(short).map(str::to_owned)),
    ];
    facts.extend(codes.into_iter().filter_map(|(name, value)| Some(Fact::code(name, value?))));
    facts
}

fn times(ticket: &Ticket, now: Millis) -> Vec<TimeFact> {
    let times = [
        ("Filed", Some(ticket.created_at)),
        ("Started", ticket.started_at),
        ("Ended", ticket.completed_at),
    ];
    let fact = |(name, at): (_, Option<Millis>)| Some(TimeFact { name, at: Moment::at(at?, now) });
    times.into_iter().filter_map(fact).collect()
}

fn relations(digest: &Digest) -> Vec<Relation> {
    let reason = digest.ticket.depends_on_reason.clone().unwrap_or_default();
    let sides = [
        ("Depends on", &digest.parents, reason),
        ("Waiting on this", &digest.children, String::new()),
    ];
    let relation = |(title, tickets, reason): (_, &Vec<Ticket>, _)| Relation {
        title,
        tickets: tickets.iter().map(RelatedTicket::of).collect(),
        reason,
    };
    sides.into_iter().map(relation).filter(|side| !side.tickets.is_empty()).collect()
}

impl RelatedTicket {
    fn of(ticket: &Ticket) -> Self {
        Self {
            mark: Mark::status(ticket.status.word()),
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: ticket.title.clone(),
        }
    }
}

impl AttachmentLine {
    fn of(file: &Attachment, ticket: &str) -> Self {
        Self {
            name: file.name.clone(),
            said: format!("{}, {}", file.media_type, humane::size(file.size_bytes)),
            hash: file.hash.map(|hash| hash.to_string()).unwrap_or_default(),
            href: format!("{ticket}/attachments/{}", file.id),
        }
    }
}
