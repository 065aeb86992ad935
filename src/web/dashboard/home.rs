//! `/`: what waits for me, what runs now, what landed today, and whether the projects are well.

use askama::Template;
use axum::extract::State;

use super::first_steps::{Step, steps};
use super::marks::{Mark, Pips};
use super::parts::{Link, Moment, ticket_href};
use super::shell::Shell;
use crate::accounts::Actor;
use crate::base::{Fault, Millis, text};
use crate::projects::{self, Project, health};
use crate::proofs::{self, Verdict};
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
/// Projects that are listed.
const PROJECTS_SHOWN: usize = 6;
/// Proofs that are looked through for failed ones.
const PROOFS_SEEN: u32 = 50;
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
    /// How many landed within a day: `3 within 24 hours`.
    landed_said: String,
    projects: Vec<ProjectLine>,
    /// Whether there are more projects than are listed.
    has_more_projects: bool,
}

/// A project, and whether tickets can be done in it.
pub(super) struct ProjectLine {
    health: Mark,
    name: String,
    href: String,
    /// What is in its way, or what it works on.
    said: String,
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
        let mut projects = projects::list(read, actor, projects::LIST_MAX, None)?;
        // What is in the way of work comes first.
        projects.sort_by_key(|project| health::judge(project, None).is_ready());
        Ok(Self {
            can_ask: actor.can_write(),
            gauges: gauges(count),
            waits_more: waits_more(&waits, count),
            waits,
            runs_more: count(Status::Running).saturating_sub(running.len() as u64),
            runs: running.iter().map(|one| Run::load(read, one, now)).collect::<Result<_, _>>()?,
            landed_said: landed_said(ticket::landed_since(read, actor.tenant, day_before(now))?),
            landed: ticket::landed(read, actor.tenant, SHOWN)?
                .iter()
                .map(|one| Landed::load(read, one, now))
                .collect::<Result<_, _>>()?,
            has_more_projects: projects.len() > PROJECTS_SHOWN,
            projects: projects.iter().take(PROJECTS_SHOWN).map(ProjectLine::of).collect(),
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
            landed_said: String::new(),
            projects: Vec::new(),
            has_more_projects: false,
        }
    }
}

/// The moment a day before now: what people call today in any zone.
const fn day_before(now: Millis) -> Millis {
    Millis(now.0 - 24 * 60 * 60 * 1_000)
}

fn landed_said(count: u64) -> String {
    match count {
        0 => "None within 24 hours".to_owned(),
        count => format!("{} within 24 hours", humane::count(count)),
    }
}

impl ProjectLine {
    fn of(project: &Project) -> Self {
        let health = health::judge(project, None);
        let first = health.blockers.first().or(health.warnings.first());
        let place = || project.location().map(|place| place.to_string()).unwrap_or_default();
        Self {
            health: Mark::of_project(&health),
            name: project.name.clone(),
            href: format!("/projects/{}", project.slug),
            said: first.map_or_else(place, |issue| issue.message.clone()),
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
    waits.extend(failed_proofs(read, actor, &waits, now)?);
    waits.truncate(2 * SHOWN as usize);
    Ok(waits)
}

/// What was checked today and did not hold, though its ticket has not failed: verification tries
/// again, or the ticket landed all the same.
fn failed_proofs(
    read: &Read<'_>,
    actor: &Actor,
    shown: &[Wait],
    now: Millis,
) -> Result<Vec<Wait>, Fault> {
    let mut found: Vec<Wait> = Vec::new();
    for proof in proofs::list_recent(read, actor.tenant, PROOFS_SEEN)? {
        let is_failed = proof.verdict == Verdict::Failed && proof.made_at > day_before(now);
        let Some(id) = proof.ticket.filter(|_| is_failed) else { continue };
        let Some(ticket) = ticket::find(read, actor.tenant, id)? else { continue };
        let reference = ticket.reference();
        let is_shown = |wait: &Wait| wait.reference == reference;
        if shown.iter().chain(&found).any(is_shown) || ticket.status == Status::Cancelled {
            continue;
        }
        let why = format!("Did not hold: {}", proof.claim);
        let wait = Wait::of(&ticket, (&why, proof.made_at), ("#proofs", "Look"), now);
        found.push(Wait { mark: Mark::verdict(proof.verdict.word()), ..wait });
    }
    found.truncate(SHOWN as usize);
    Ok(found)
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
            landed_said: landed_said(2),
            projects: vec![
                samples::project("ok", "Acme Widgets", "/srv/git/acme-widgets"),
                samples::project("blocked", "Bare", "It names no repository."),
            ],
            has_more_projects: true,
            landed: vec![
                samples::landed(41, "Show the price with its currency", "abc123def456"),
                samples::landed(40, "Fix the footer overlapping the banner", "99ab81c0f2d1"),
            ],
            ..Self::bare(Shell::sample("/"))
        }
    }

    pub(super) fn sample_empty() -> Self {
        use super::parts::Code;
        let step = |state, title, text: &str, code, link| Step {
            state,
            title,
            text: text.to_owned(),
            link,
            other: "Or:",
            code,
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

    pub(super) fn project(health: &str, name: &str, said: &str) -> ProjectLine {
        ProjectLine {
            health: Mark::health(health),
            name: name.to_owned(),
            href: format!("/projects/{}", text::slug(name)),
            said: said.to_owned(),
        }
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
