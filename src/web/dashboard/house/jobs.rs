//! `/jobs`: the work that the server does by itself for the team.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::{Select, address};
use crate::base::{Fault, JobId, Millis, TenantId};
use crate::jobs::{self, Counted, JobRecord, State as JobState, Wanted};
use crate::store::Read;
use crate::tickets::jobs::RunNode;
use crate::tickets::{node, ticket};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{Choice, Link, Moment, plain_word, ticket_href};
use crate::web::dashboard::shell::Shell;
use crate::web::humane;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Jobs on one page of a single state.
const PAGE_SIZE: u32 = 50;
/// Jobs of each state where several are on one page.
const GLANCE: u32 = 15;
/// Characters of an error that a list shows.
const ERROR_CHARS: usize = 160;

/// The jobs, by their states.
#[derive(Template)]
#[template(path = "jobs.html")]
pub(super) struct JobsPage {
    shell: Shell,
    counts: Vec<CountRow>,
    /// Whether there are more open jobs than were counted.
    is_cut: bool,
    selects: Vec<Select>,
    is_set: bool,
    groups: Vec<Group>,
}

/// How much is open of one kind.
struct CountRow {
    kind: String,
    running: String,
    waiting: String,
    later: String,
    oldest: Option<Moment>,
}

/// The jobs of one state.
struct Group {
    /// The state's word, which names the section.
    state: &'static str,
    title: &'static str,
    /// What is said where there is none.
    nothing: &'static str,
    jobs: Vec<JobRow>,
    /// The rest of them.
    more: Option<Link>,
}

/// One job.
pub(super) struct JobRow {
    href: String,
    mark: Mark,
    /// What it does: `Run implement-1`.
    what: String,
    ticket: Option<Link>,
    attempts: String,
    /// How far it is, or why it failed.
    said: String,
    at: Moment,
}

/// What stands in the address.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    state: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    after: String,
}

/// The states as a person scans them, with the heading of each and what is said where none has it.
const STATES: [(JobState, &str, &str); 5] = [
    (JobState::Running, "Running", "Nothing runs at the moment."),
    (JobState::Ready, "Waiting and scheduled", "Nothing waits."),
    (JobState::Failed, "Failed", "No job has failed of those that are still kept."),
    (JobState::Done, "Done", "No job is done of those that are still kept."),
    (JobState::Cancelled, "Cancelled", "No job was cancelled of those that are still kept."),
];

/// `GET /jobs`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Page<JobsPage>, Trouble> {
    let now = site.now();
    let page = visitor.read(&site, move |read, visitor| JobsPage::load(read, visitor, &asked, now));
    Ok(Page(page.await?))
}

impl JobsPage {
    fn load(read: &Read<'_>, visitor: &Visitor, asked: &Asked, now: Millis) -> Result<Self, Fault> {
        let tenant = visitor.actor().tenant;
        let state = JobState::parse(&asked.state);
        let (counted, is_cut) = jobs::count(read, tenant)?;
        let kind = Some(asked.kind.clone()).filter(|kind| !kind.is_empty());
        let shown = STATES.iter().filter(|(one, _, _)| match state {
            Some(state) => state == *one,
            None => !matches!(one, JobState::Done | JobState::Cancelled),
        });
        let groups = shown.map(|(one, title, nothing)| {
            let size = if state.is_some() { PAGE_SIZE } else { GLANCE };
            let wanted = Wanted { state: *one, kind: kind.clone() };
            let found = jobs::page(read, tenant, &wanted, JobId::parse(&asked.after), size)?;
            let rows = found.jobs.iter().map(|job| JobRow::load(read, tenant, job, now));
            let more = found.next.map(|next| {
                // Where several states are on the page, more of one begins at its beginning.
                let after = state.map(|_| next.to_string()).unwrap_or_default();
                let label = if state.is_some() { "Older jobs" } else { "Show all" };
                let kind = kind.as_deref().unwrap_or_default();
                let query = [("state", one.word()), ("kind", kind), ("after", &*after)];
                Link::new(label, address("/jobs", &query))
            });
            Ok(Group {
                state: one.word(),
                title,
                nothing,
                jobs: rows.collect::<Result<_, _>>()?,
                more,
            })
        });
        Ok(Self {
            shell: Shell::load(read, visitor, "/jobs")?,
            groups: groups.collect::<Result<_, Fault>>()?,
            counts: counted.iter().map(|one| CountRow::of(one, now)).collect(),
            is_cut,
            selects: selects(&counted, state, kind.as_deref().unwrap_or_default()),
            is_set: state.is_some() || kind.is_some(),
        })
    }
}

fn selects(counted: &[Counted], state: Option<JobState>, kind: &str) -> Vec<Select> {
    let mut states = vec![Choice::new("", "Open and failed")];
    states.extend(STATES.iter().map(|(one, title, _)| Choice::new(one.word(), *title)));
    let mut kinds = vec![Choice::new("", "All kinds")];
    let mut known: Vec<&str> = counted.iter().map(|one| &*one.kind).collect();
    known.push(<RunNode as jobs::Job>::KIND);
    known.extend(Some(kind).filter(|kind| !kind.is_empty()));
    known.sort_unstable();
    known.dedup();
    kinds.extend(known.into_iter().map(|kind| Choice::new(kind, plain_word(kind))));
    vec![
        Select::new("state", "State", states, state.map_or("", JobState::word)),
        Select::new("kind", "Kind", kinds, kind),
    ]
}

impl CountRow {
    fn of(counted: &Counted, now: Millis) -> Self {
        Self {
            kind: plain_word(&counted.kind),
            running: humane::count(counted.running),
            waiting: humane::count(counted.waiting),
            later: humane::count(counted.later),
            oldest: counted.oldest.map(|at| Moment::at(at, now)),
        }
    }
}

/// How a job stands, with a word of its own for one whose time has not come.
pub(super) fn mark(job: &JobRecord, now: Millis) -> Mark {
    match job.state {
        JobState::Ready if job.run_at > now => Mark::job("later"),
        state => Mark::job(state.word()),
    }
}

/// What a job does, and the ticket that it does it for.
pub(super) fn subject(
    read: &Read<'_>,
    tenant: TenantId,
    job: &JobRecord,
) -> Result<(String, Option<Link>), Fault> {
    let Some(run) = jobs::asked::<RunNode>(read, tenant, job.id)? else {
        return Ok((plain_word(&job.kind), None));
    };
    let node = node::find(read, tenant, run.node)?;
    let ticket = ticket::find(read, tenant, run.ticket)?;
    let what = node.map_or_else(|| plain_word(&job.kind), |node| format!("Run {}", node.name));
    Ok((what, ticket.map(|one| Link::new(one.reference(), ticket_href(&one)))))
}

impl JobRow {
    fn load(
        read: &Read<'_>,
        tenant: TenantId,
        job: &JobRecord,
        now: Millis,
    ) -> Result<Self, Fault> {
        let (what, ticket) = subject(read, tenant, job)?;
        let last =
            job.failures.last().map(|failure| crate::base::text::first_line(&failure.message));
        let progress = job.progress.as_ref().map(|progress| &*progress.text);
        let said = match job.state {
            JobState::Running => progress.unwrap_or_default(),
            JobState::Done | JobState::Cancelled => "",
            JobState::Ready | JobState::Failed => last.unwrap_or_default(),
        };
        let at = match job.state {
            JobState::Running => job.started_at,
            JobState::Ready => Some(job.run_at),
            _ => job.finished_at,
        };
        Ok(Self {
            href: format!("/jobs/{}", job.id),
            mark: mark(job, now),
            what,
            ticket,
            attempts: format!("{} of {}", job.attempt, job.max_attempts),
            said: crate::base::text::cut(&crate::base::text::printable(said), ERROR_CHARS),
            at: Moment::at(at.unwrap_or(job.created_at), now),
        })
    }
}

#[cfg(test)]
impl JobsPage {
    pub(super) fn sample() -> Self {
        use crate::web::dashboard::parts::samples::minutes_ago;
        let row = |word: &str, what: &str, said: &str| JobRow {
            href: "/jobs/j1".to_owned(),
            mark: Mark::job(word),
            what: what.to_owned(),
            ticket: Some(Link::new("ACME-42", "/tickets/ACME-42")),
            attempts: "1 of 10".to_owned(),
            said: said.to_owned(),
            at: minutes_ago(3),
        };
        let group = |at: usize, jobs| {
            let (state, title, nothing) = STATES[at];
            Group { state: state.word(), title, nothing, jobs, more: None }
        };
        Self {
            shell: Shell::sample("/jobs"),
            counts: vec![CountRow {
                kind: "Run node".to_owned(),
                running: "1".to_owned(),
                waiting: "12".to_owned(),
                later: "1".to_owned(),
                oldest: Some(minutes_ago(4)),
            }],
            is_cut: true,
            selects: selects(&[], None, ""),
            is_set: false,
            groups: vec![
                group(0, vec![row("running", "Run implement-1", "")]),
                group(1, vec![row("ready", "Run plan-1", ""), row("later", "Run land-1", "Busy.")]),
                group(2, Vec::new()),
            ],
        }
    }
}
