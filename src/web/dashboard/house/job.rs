//! `/jobs/{id}`: one job with its attempts. Its buttons are those of the ticket that it works for:
//! the queue itself keeps what has ended as it ended.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::jobs::{mark, subject};
use crate::base::{Code, Fault, JobId, Millis};
use crate::jobs::{self, JobRecord};
use crate::store::Read;
use crate::tickets::jobs::RunNode;
use crate::tickets::states::Status;
use crate::tickets::{Ticket, ticket};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{Fact, Link, Moment, plain_word};
use crate::web::dashboard::shell::{Did, Shell};
use crate::web::humane;
use crate::web::page::{Page, go_to};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// One job.
#[derive(Template)]
#[template(path = "job.html")]
pub(super) struct JobPage {
    shell: Shell,
    id: String,
    what: String,
    mark: Mark,
    ticket: Option<Link>,
    /// Whether the person may do it and the ticket is in a state for it.
    can_cancel: bool,
    can_retry: bool,
    facts: Vec<Fact>,
    times: Vec<(&'static str, Moment)>,
    attempts: Vec<AttemptRow>,
    result: String,
}

/// An attempt that did not end well.
struct AttemptRow {
    number: u32,
    said: String,
    at: Moment,
}

/// What a button alone sends.
#[derive(Deserialize)]
pub(super) struct Pressed {
    csrf: String,
}

/// `GET /jobs/{id}`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
    axum::extract::Query(Did { did }): axum::extract::Query<Did>,
) -> Result<Page<JobPage>, Trouble> {
    let now = site.now();
    let id = JobId::parse(&id).ok_or_else(absent)?;
    let page = visitor.read(&site, move |read, visitor| JobPage::load(read, visitor, id, now));
    let mut page = page.await?;
    page.shell = page.shell.after(&did);
    Ok(Page(page))
}

/// `POST /jobs/{id}/cancel`: cancels the ticket that the job works for.
pub(super) async fn cancel(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(pressed): Form<Pressed>,
) -> Result<Response, Trouble> {
    press(&site, &visitor, &id, &pressed, ("cancel_ticket", "job-cancelled")).await
}

/// `POST /jobs/{id}/retry`: tries the ticket again that the job worked for.
pub(super) async fn retry(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(pressed): Form<Pressed>,
) -> Result<Response, Trouble> {
    press(&site, &visitor, &id, &pressed, ("retry_ticket", "job-retried")).await
}

async fn press(
    site: &Site,
    visitor: &Visitor,
    id: &str,
    pressed: &Pressed,
    (tool, did): (&str, &str),
) -> Result<Response, Trouble> {
    visitor.check(&pressed.csrf)?;
    visitor.demand_admin()?;
    let id = JobId::parse(id).ok_or_else(absent)?;
    let ticket = visitor.read(site, move |read, visitor| {
        let tenant = visitor.actor().tenant;
        let run = jobs::asked::<RunNode>(read, tenant, id)?.ok_or_else(absent)?;
        Ok(run.ticket)
    });
    let ticket = ticket.await?;
    visitor.call(site, tool, json!({ "ticket": ticket.to_string() })).await?;
    Ok(go_to(&format!("/jobs/{id}?did={did}")))
}

fn absent() -> Fault {
    Fault::new(Code::NotFound, "There is no such job. Jobs that have ended are kept for a while.")
}

impl JobPage {
    fn load(read: &Read<'_>, visitor: &Visitor, id: JobId, now: Millis) -> Result<Self, Fault> {
        let tenant = visitor.actor().tenant;
        let job = jobs::find(read, tenant, id)?.ok_or_else(absent)?;
        let (what, link) = subject(read, tenant, &job)?;
        let run = jobs::asked::<RunNode>(read, tenant, id)?;
        let ticket = run.map(|run| ticket::find(read, tenant, run.ticket)).transpose()?.flatten();
        let is_admin = visitor.actor().is_admin();
        let attempts = job.failures.iter().rev().map(|failure| AttemptRow {
            number: failure.attempt,
            said: failure.message.clone(),
            at: Moment::at(failure.at, now),
        });
        Ok(Self {
            shell: Shell::load(read, visitor, "/jobs")?,
            id: job.id.to_string(),
            mark: mark(&job, now),
            can_cancel: is_admin && ticket.as_ref().is_some_and(|one| !is_over(one)),
            can_retry: is_admin && ticket.as_ref().is_some_and(can_be_retried),
            facts: facts(&job),
            times: times(&job, now),
            attempts: attempts.collect(),
            result: job.result.map(|result| result.to_string()).unwrap_or_default(),
            ticket: link,
            what,
        })
    }
}

fn is_over(ticket: &Ticket) -> bool {
    can_be_retried(ticket) || ticket.status == Status::Succeeded
}

fn can_be_retried(ticket: &Ticket) -> bool {
    matches!(ticket.status, Status::Failed | Status::Timeout | Status::Cancelled)
}

fn facts(job: &JobRecord) -> Vec<Fact> {
    let mut facts = vec![
        Fact::plain("Kind", plain_word(&job.kind)),
        Fact::plain("Attempts", format!("{} of {}", job.attempt, job.max_attempts)),
    ];
    if job.cancel_asked {
        facts.push(Fact::plain("Stop", "Asked for; it stops as soon as it hears."));
    }
    if let Some(progress) = &job.progress {
        let done = match progress.total {
            Some(total) => format!("{} of {total}: {}", progress.done, progress.text),
            None => progress.text.clone(),
        };
        facts.push(Fact::plain("Progress", done));
    }
    if let (Some(began), Some(ended)) = (job.started_at, job.finished_at) {
        facts.push(Fact::plain("Last attempt took", humane::duration(ended.since(began))));
    }
    facts.push(Fact::code("Id", job.id.to_string()));
    facts
}

fn times(job: &JobRecord, now: Millis) -> Vec<(&'static str, Moment)> {
    let mut times = vec![("Asked for", Moment::at(job.created_at, now))];
    let may_start = (!job.state.is_final()).then_some(job.run_at);
    let others =
        [("May start", may_start), ("Last started", job.started_at), ("Ended", job.finished_at)];
    times.extend(others.into_iter().filter_map(|(name, at)| Some((name, Moment::at(at?, now)))));
    times
}

#[cfg(test)]
impl JobPage {
    pub(super) fn sample() -> Self {
        use crate::web::dashboard::parts::samples::minutes_ago;
        Self {
            shell: Shell::sample("/jobs"),
            id: "j1".to_owned(),
            what: "Run implement-1".to_owned(),
            mark: Mark::job("failed"),
            ticket: Some(Link::new("ACME-42", "/tickets/ACME-42")),
            can_cancel: true,
            can_retry: true,
            facts: vec![Fact::plain("Kind", "Run node"), Fact::code("Id", "j1")],
            times: vec![("Asked for", minutes_ago(30)), ("Ended", minutes_ago(3))],
            attempts: vec![AttemptRow {
                number: 1,
                said: "The disk is full.".to_owned(),
                at: minutes_ago(3),
            }],
            result: "{}".to_owned(),
        }
    }
}
