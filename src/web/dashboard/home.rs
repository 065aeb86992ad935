//! `/`: what waits for me, what runs now, what has landed.

use askama::Template;
use axum::extract::State;

use super::marks::{Mark, Pips};
use super::parts::{Code, Link, Moment, ticket_href};
use super::projects::create_command;
use super::shell::Shell;
use crate::accounts::{Actor, keys};
use crate::base::{Fault, Millis, text};
use crate::projects::{self, Project, health};
use crate::store::Read;
use crate::tickets::pipeline::end::short;
use crate::tickets::states::{AssertionState, NodeStatus, Status};
use crate::tickets::ticket::{self, Of};
use crate::tickets::{Ticket, contract, node, questions};
use crate::web::auth::Visitor;
use crate::web::humane;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Tickets that each list shows.
const SHOWN: u32 = 8;
/// Characters of a question or a reason that a list shows.
const WHY_CHARS: usize = 160;

/// The home page; of a team without tickets, the way to the first one.
#[derive(Template)]
#[template(path = "home.html")]
pub(super) struct HomePage {
    shell: Shell,
    /// Whether the reader may ask for tickets.
    can_ask: bool,
    start: Option<Vec<Step>>,
    gauges: Vec<Gauge>,
    waits: Vec<Wait>,
    /// Where the rest is of what waits, where the list does not hold all.
    waits_more: Option<Link>,
    runs: Vec<Run>,
    /// Running tickets beyond those listed.
    runs_more: u64,
    landed: Vec<Landed>,
}

/// One of the three steps to a first ticket.
pub(super) struct Step {
    /// `done`, `next` or `later`.
    state: &'static str,
    title: &'static str,
    text: String,
    code: Code,
    link: Option<Link>,
}

/// A number and where it leads.
pub(super) struct Gauge {
    count: String,
    label: &'static str,
    href: &'static str,
    tone: &'static str,
}

/// A ticket that waits for a person.
pub(super) struct Wait {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    why: String,
    /// The place on its page, such as `#question`.
    anchor: &'static str,
    act: &'static str,
    since: Moment,
}

/// A ticket that is being done.
pub(super) struct Run {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    /// Which node runs, and in whose hands: `implement-1 · claude-code`.
    doing: String,
    pips: Pips,
    /// Since when, and how long that is.
    since: String,
    lasting: String,
}

/// A ticket that has landed.
pub(super) struct Landed {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    /// What was proved: `Fully verified: 4 of 4 assertions`.
    proved: String,
    commit: String,
    at: Moment,
}

/// `GET /`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
) -> Result<Page<HomePage>, Trouble> {
    let now = site.now();
    Ok(Page(visitor.read(&site, move |read, visitor| HomePage::load(read, visitor, now)).await?))
}

impl HomePage {
    fn load(read: &Read<'_>, visitor: &Visitor, now: Millis) -> Result<Self, Fault> {
        let actor = visitor.actor();
        let shell = Shell::load(read, visitor, "/")?;
        let counts = ticket::counts(read, actor.tenant)?;
        let count = |status| counts.iter().find(|(other, _)| *other == status).map_or(0, |c| c.1);
        if counts.is_empty() {
            return Ok(Self { start: Some(steps(read, actor)?), ..Self::bare(shell) });
        }
        let newest =
            |status| ticket::list(read, actor.tenant, Of::Tenant, Some(status), SHOWN, None);
        let running = newest(Status::Running)?;
        let waits = waits(read, actor, now)?;
        Ok(Self {
            can_ask: actor.can_write(),
            gauges: gauges(count),
            waits_more: waits_more(&waits, count),
            waits,
            runs_more: count(Status::Running).saturating_sub(running.len() as u64),
            runs: running.iter().map(|one| Run::load(read, one, now)).collect::<Result<_, _>>()?,
            landed: newest(Status::Succeeded)?
                .iter()
                .map(|one| Landed::load(read, one, now))
                .collect::<Result<_, _>>()?,
            ..Self::bare(shell)
        })
    }

    fn bare(shell: Shell) -> Self {
        Self {
            shell,
            can_ask: false,
            start: None,
            gauges: Vec::new(),
            waits: Vec::new(),
            waits_more: None,
            runs: Vec::new(),
            runs_more: 0,
            landed: Vec::new(),
        }
    }
}

fn gauges(count: impl Fn(Status) -> u64) -> Vec<Gauge> {
    let tile = |count, label, href, tone| Gauge { count: humane::count(count), label, href, tone };
    let gauge = |status, label, href, tone| tile(count(status), label, href, tone);
    let (failed, late) = (count(Status::Failed), count(Status::Timeout));
    let amiss = match (failed, late) {
        (0, 1..) => "/tickets?status=timeout",
        _ => "/tickets?status=failed",
    };
    vec![
        gauge(Status::AwaitingInput, "need an answer", "/tickets?status=awaiting_input", "wait"),
        gauge(Status::Running, "running", "/tickets?status=running", "run"),
        gauge(Status::Queued, "queued", "/tickets?status=queued", ""),
        gauge(Status::Blocked, "blocked", "/tickets?status=blocked", "hold"),
        tile(failed + late, "failed or timed out", amiss, "bad"),
        gauge(Status::Succeeded, "landed", "/tickets?status=succeeded", "ok"),
    ]
}

/// Open questions first, oldest first; then what failed.
fn waits(read: &Read<'_>, actor: &Actor, now: Millis) -> Result<Vec<Wait>, Fault> {
    let mut waits = Vec::new();
    for asked in questions::waiting(read, actor.tenant, SHOWN)? {
        let Some(ticket) = ticket::find(read, actor.tenant, asked.ticket)? else { continue };
        let why = (&*asked.text, asked.asked_at);
        let act = match asked.pause {
            Some(pause) if pause.is_approval() => "Decide",
            Some(_) => "Look",
            None if asked.secret.is_some() => "Give it",
            None => "Answer",
        };
        waits.push(Wait::of(&ticket, why, ("#question", act), now));
    }
    for status in [Status::Failed, Status::Timeout] {
        for ticket in ticket::list(read, actor.tenant, Of::Tenant, Some(status), SHOWN, None)? {
            let reason = ticket.failure_reason.as_deref().unwrap_or("No reason was given.");
            let why = (reason, ticket.completed_at.unwrap_or(ticket.created_at));
            waits.push(Wait::of(&ticket, why, ("", "Look"), now));
        }
    }
    waits.truncate(2 * SHOWN as usize);
    Ok(waits)
}

/// The list of the first sort of ticket that waits and of which not all are shown.
fn waits_more(shown: &[Wait], count: impl Fn(Status) -> u64) -> Option<Link> {
    let sorts = [
        (Status::AwaitingInput, "All that need an answer"),
        (Status::Failed, "All that failed"),
        (Status::Timeout, "All that timed out"),
    ];
    let is_cut = |(status, _): &(Status, &str)| {
        let mark = Mark::status(status.word());
        (shown.iter().filter(|wait| wait.mark == mark).count() as u64) < count(*status)
    };
    let (status, label) = sorts.into_iter().find(is_cut)?;
    Some(Link::new(label, format!("/tickets?status={}", status.word())))
}

impl Wait {
    fn of(
        ticket: &Ticket,
        (why, since): (&str, Millis),
        (anchor, act): (&'static str, &'static str),
        now: Millis,
    ) -> Self {
        Self {
            mark: Mark::status(ticket.status.word()),
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: ticket.title.clone(),
            why: text::cut(text::first_line(why), WHY_CHARS),
            anchor,
            act,
            since: Moment::at(since, now),
        }
    }
}

impl Run {
    fn load(read: &Read<'_>, ticket: &Ticket, now: Millis) -> Result<Self, Fault> {
        let nodes = node::outline(read, ticket.tenant, ticket.id)?;
        let at_work = nodes.iter().find(|node| node.status == NodeStatus::Running);
        let doing = match at_work {
            Some(node) => match &node.agent {
                Some(agent) => format!("{} · {agent}", node.name),
                None => node.name.clone(),
            },
            None => "The next node is about to start.".to_owned(),
        };
        let since = ticket.started_at.unwrap_or(ticket.created_at);
        Ok(Self {
            mark: Mark::status(ticket.status.word()),
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: ticket.title.clone(),
            doing,
            pips: Pips::of_nodes(&nodes),
            since: since.iso(),
            lasting: humane::duration(now.since(since)),
        })
    }
}

impl Landed {
    fn load(read: &Read<'_>, ticket: &Ticket, now: Millis) -> Result<Self, Fault> {
        let assertions = contract::assertions(read, ticket.tenant, ticket.id)?;
        let held = assertions.iter().filter(|one| one.state == AssertionState::Confirmed).count();
        let proved = match assertions.len() {
            0 => String::new(),
            all => format!("{held} of {all} assertions confirmed"),
        };
        Ok(Self {
            mark: Mark::status(ticket.status.word()),
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: ticket.title.clone(),
            proved,
            commit: ticket.commit_sha.as_deref().map(short).unwrap_or_default().to_owned(),
            at: Moment::at(ticket.completed_at.unwrap_or(ticket.created_at), now),
        })
    }
}

/// The way to a first ticket, as far as the team has come.
fn steps(read: &Read<'_>, actor: &Actor) -> Result<Vec<Step>, Fault> {
    let projects = projects::list(read, actor, 20, None)?;
    let is_ready = |project: &&Project| health::judge(project, None).is_ready();
    let project = projects.iter().find(is_ready).or(projects.first());
    let has_ready = projects.iter().any(|project| is_ready(&project));
    let has_key = !keys::list(read, actor.tenant)?.is_empty();
    let state = |is_done: bool, is_due: bool| match (is_done, is_due) {
        (true, _) => "done",
        (false, true) => "next",
        (false, false) => "later",
    };
    let name = project.map_or("my project", |project| &*project.name);
    let ask = format!("Dispatch an Assay ticket for {name}: add a dark-mode toggle to the header.");
    Ok(vec![
        repository_step(project, state(has_ready, true)),
        Step {
            state: state(has_key, has_ready),
            title: "Connect a client",
            text:
                "Make a key and give it to Claude Code, Cursor, VS Code, Codex or any MCP client."
                    .to_owned(),
            code: Code::default(),
            link: Some(Link::new("Make a key", "/keys")),
        },
        Step {
            state: state(false, has_ready && has_key),
            title: "Ask for a ticket",
            text: "Say it to your agent in your own words, such as:".to_owned(),
            code: Code::new("first-ask", ask),
            link: None,
        },
    ])
}

fn repository_step(project: Option<&Project>, state: &'static str) -> Step {
    let place = project.and_then(|project| Some((project, project.location()?)));
    let (text, code, link) = match (state, project, place) {
        ("done", _, Some((project, place))) => {
            (format!("{} works on {place}.", project.name), Code::default(), None)
        }
        (_, Some(project), _) => {
            let text = format!("{} is there; its set-up is not complete yet.", project.name);
            let link = Link::new("See what is missing", format!("/projects/{}", project.slug));
            (text, Code::default(), Some(link))
        }
        _ => {
            let text = "A project names the repository that agents work on, and who does the work.";
            (text.to_owned(), create_command(), None)
        }
    };
    Step { state, title: "Name a repository", text, code, link }
}

#[cfg(test)]
impl HomePage {
    pub(super) fn sample() -> Self {
        Self {
            can_ask: true,
            gauges: gauges(|status| match status {
                Status::Failed => 0,
                Status::Succeeded => 1_204,
                _ => 2,
            }),
            waits: samples::waits(),
            waits_more: Some(Link::new("All that failed", "/tickets?status=failed")),
            runs: vec![samples::run()],
            landed: vec![
                samples::landed(41, "Show the price with its currency", "abc123def456"),
                samples::landed(40, "Fix the footer overlapping the banner", "99ab81c0f2d1"),
            ],
            ..Self::bare(Shell::sample("/"))
        }
    }

    pub(super) fn sample_empty() -> Self {
        let step = |state, title, text: &str, code, link| {
            let text = text.to_owned();
            Step { state, title, text, code, link }
        };
        let key = Some(Link::new("Make a key", "/keys"));
        let ask = "Dispatch an Assay ticket for Acme Widgets: add a dark-mode toggle.";
        let place = "Acme Widgets works on /srv/git/acme-widgets.";
        let start = vec![
            step("done", "Name a repository", place, Code::default(), None),
            step("next", "Connect a client", "Make a key for it.", Code::default(), key),
            step("later", "Ask for a ticket", "Such as:", Code::new("first-ask", ask), None),
        ];
        Self { start: Some(start), ..Self::bare(Shell::sample("/")) }
    }
}

#[cfg(test)]
mod samples {
    use super::super::parts::samples::minutes_ago;
    use super::*;

    pub(super) fn waits() -> Vec<Wait> {
        let wait = |number: u32, status, title: &str, why: &str, anchor, act| Wait {
            mark: Mark::status(status),
            reference: format!("ACME-{number}"),
            href: format!("/tickets/ACME-{number}"),
            title: title.to_owned(),
            why: why.to_owned(),
            anchor,
            act,
            since: minutes_ago(i64::from(number)),
        };
        vec![
            wait(
                44,
                "awaiting_input",
                "Integrate Stripe Checkout for the Pro plan upgrade",
                "Which currency should the checkout show to visitors from Switzerland?",
                "#question",
                "Answer",
            ),
            wait(
                43,
                "failed",
                "Migrate user preferences to new schema",
                "3 rows would violate the NOT NULL constraint on preferences.theme.",
                "",
                "Look",
            ),
        ]
    }

    pub(super) fn run() -> Run {
        let done = "succeeded";
        Run {
            mark: Mark::status("running"),
            reference: "ACME-42".to_owned(),
            href: "/tickets/ACME-42".to_owned(),
            title: "Add dark-mode toggle to the dashboard header".to_owned(),
            doing: "review-1 · claude".to_owned(),
            pips: Pips::of(&[done, done, done, "running", "queued", "queued"]),
            since: "2026-07-29T13:53:48.000Z".to_owned(),
            lasting: "6 min 12 s".to_owned(),
        }
    }

    pub(super) fn landed(number: u32, title: &str, commit: &str) -> Landed {
        Landed {
            mark: Mark::status("succeeded"),
            reference: format!("ACME-{number}"),
            href: format!("/tickets/ACME-{number}"),
            title: title.to_owned(),
            proved: "4 of 4 assertions confirmed".to_owned(),
            commit: commit.to_owned(),
            at: minutes_ago(i64::from(number) * 9),
        }
    }
}
