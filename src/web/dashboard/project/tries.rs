//! `/projects/{slug}/tries`: trying an agent, and what came of it.

use std::time::Duration;

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::settings::{SectionLink, links};
use crate::base::{Code, Fault, JobId, Millis};
use crate::jobs::{self, JobRecord, State as JobState};
use crate::projects::tries::{Tried, TryAgent};
use crate::projects::{self, Project};
use crate::web::ansi::{Line, Reader};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::Moment;
use crate::web::dashboard::shell::Shell;
use crate::web::humane;
use crate::web::page::{Page, go_to, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// One try of an agent.
#[derive(Template)]
#[template(path = "project_try.html")]
pub(in crate::web::dashboard) struct TryPage {
    shell: Shell,
    key: String,
    name: String,
    href: String,
    sections: Vec<SectionLink>,
    profile: String,
    mark: Mark,
    said: String,
    /// How long it ran; empty while it does.
    lasted: String,
    begun: Moment,
    is_open: bool,
    lines: Vec<Line>,
}

/// The profiles that can be tried.
pub(super) fn runnable(project: &Project) -> Vec<String> {
    if project.location().is_none() {
        return Vec::new();
    }
    project.settings.agents.profiles.keys().cloned().collect()
}

/// Which profile to try.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Begun {
    csrf: String,
    profile: String,
}

/// `POST /projects/{slug}/tries`.
pub(in crate::web::dashboard) async fn begin(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    Form(sent): Form<Begun>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let arguments = json!({ "project": slug, "profile": sent.profile, "confirm": true });
    let reply = visitor.call(&site, "try_agent", arguments).await?.value();
    let job = reply["jobId"].as_str().unwrap_or_default();
    Ok(go_to(&format!("/projects/{}/tries/{job}", in_query(&slug))))
}

/// `GET /projects/{slug}/tries/{job}`.
pub(in crate::web::dashboard) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path((slug, job)): Path<(String, String)>,
) -> Result<Page<TryPage>, Trouble> {
    visitor.demand_admin()?;
    let now = site.now();
    let page = visitor.read(&site, move |read, visitor| {
        let project = projects::named(read, visitor.actor(), &slug)?;
        let none = || Fault::new(Code::NotFound, "There is no such try of an agent.");
        let id = JobId::parse(&job).ok_or_else(none)?;
        let job = jobs::find(read, Some(project.tenant), id)?.ok_or_else(none)?;
        let asked: TryAgent = jobs::asked(read, project.tenant, id)?.ok_or_else(none)?;
        if asked.project != project.id {
            return Err(none());
        }
        let shell = Shell::load(read, visitor, "/projects")?;
        let sections = links(visitor, &project.slug, "agents");
        Ok(TryPage::of(shell, sections, &project, asked.profile, job, now))
    });
    Ok(Page(page.await?))
}

impl TryPage {
    fn of(
        shell: Shell,
        sections: Vec<SectionLink>,
        project: &Project,
        profile: String,
        job: JobRecord,
        now: Millis,
    ) -> Self {
        let is_open = !job.state.is_final();
        let tried = job.result.and_then(|result| serde_json::from_value::<Tried>(result).ok());
        let (mark, said) = match (job.state, &tried) {
            (JobState::Ready, _) => ("queued", "It is about to start.".to_owned()),
            (JobState::Running, _) => ("running", "It has two minutes to answer.".to_owned()),
            (JobState::Cancelled, _) => ("cancelled", "It was stopped.".to_owned()),
            (JobState::Done, Some(tried)) if tried.passed => ("succeeded", tried.said.clone()),
            (JobState::Done, Some(tried)) => ("failed", tried.said.clone()),
            _ => {
                let why = job.failures.last().map(|failure| failure.message.clone());
                ("failed", why.unwrap_or_else(|| "It left no result.".to_owned()))
            }
        };
        let lasted = tried.as_ref().map(|tried| Duration::from_millis(tried.duration_ms));
        let lines = match (&tried, &job.progress) {
            (Some(tried), _) => tried.lines.clone(),
            (None, Some(progress)) => progress.text.lines().map(str::to_owned).collect(),
            (None, None) => Vec::new(),
        };
        let mut reader = Reader::default();
        Self {
            shell: if is_open { shell } else { shell.still() },
            key: project.short_name().to_owned(),
            name: project.name.clone(),
            href: format!("/projects/{}", project.slug),
            sections,
            profile,
            mark: Mark::status(mark),
            said,
            lasted: lasted.map(humane::duration).unwrap_or_default(),
            begun: Moment::at(job.created_at, now),
            is_open,
            lines: lines.iter().map(|line| reader.line(line)).collect(),
        }
    }
}

#[cfg(test)]
impl TryPage {
    pub(in crate::web::dashboard) fn sample() -> Self {
        Self {
            shell: Shell::sample("/projects"),
            key: "ACME".to_owned(),
            name: "Acme Widgets".to_owned(),
            href: "/projects/acme".to_owned(),
            sections: Vec::new(),
            profile: "claude".to_owned(),
            mark: Mark::status("running"),
            said: "It has two minutes to answer.".to_owned(),
            lasted: String::new(),
            begun: crate::web::dashboard::parts::samples::minutes_ago(1),
            is_open: true,
            lines: vec![Reader::default().line("Hello.")],
        }
    }
}
