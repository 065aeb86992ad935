//! `/projects`: the repositories that tickets work on.

use askama::Template;
use axum::extract::State;

use super::marks::Mark;
use super::parts::{Code, Moment};
use super::shell::Shell;
use crate::base::{Fault, Millis};
use crate::projects::settings::EDITOR;
use crate::projects::{self, LIST_MAX, Project, health};
use crate::store::Read;
use crate::web::auth::Visitor;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The projects of the team.
#[derive(Template)]
#[template(path = "projects.html")]
pub(super) struct ProjectsPage {
    shell: Shell,
    projects: Vec<ProjectRow>,
    can_manage: bool,
    /// The command that makes one.
    create: Code,
}

/// One project.
pub(super) struct ProjectRow {
    key: String,
    name: String,
    href: String,
    repository: String,
    health: Mark,
    /// Who works on it: the agent that is meant where nothing else says.
    agent: String,
    /// How many commands prove its tickets.
    verify: usize,
    changed: Moment,
}

/// `GET /projects`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
) -> Result<Page<ProjectsPage>, Trouble> {
    let now = site.now();
    let page = visitor.read(&site, move |read, visitor| ProjectsPage::load(read, visitor, now));
    Ok(Page(page.await?))
}

impl ProjectsPage {
    fn load(read: &Read<'_>, visitor: &Visitor, now: Millis) -> Result<Self, Fault> {
        let projects = projects::list(read, visitor.actor(), LIST_MAX, None)?;
        Ok(Self {
            shell: Shell::load(read, visitor, "/projects")?,
            projects: projects.iter().map(|project| ProjectRow::of(project, now)).collect(),
            can_manage: visitor.actor().is_admin(),
            create: create_command(),
        })
    }
}

/// The command that makes a project.
pub(super) fn create_command() -> Code {
    let text = "assay project create --name \"Acme Widgets\" --repository /path/to/acme-widgets";
    Code::new("create-project", text)
}

impl ProjectRow {
    fn of(project: &Project, now: Millis) -> Self {
        let health = health::judge(project, None);
        let agents = &project.settings.agents;
        let agent = agents.choose("implement", "auto").map(|(name, _)| name);
        let agent = agent.or(agents.is_for_editor("implement", "auto").then_some(EDITOR));
        Self {
            key: project.short_name().to_owned(),
            name: project.name.clone(),
            href: format!("/projects/{}", project.slug),
            repository: project.location().map(|place| place.to_string()).unwrap_or_default(),
            health: Mark::of_project(&health),
            agent: agent.map(str::to_owned).unwrap_or_default(),
            verify: project.settings.verify.len(),
            changed: Moment::at(project.updated_at, now),
        }
    }
}

#[cfg(test)]
impl ProjectsPage {
    pub(super) fn sample() -> Self {
        use super::parts::samples::minutes_ago;
        let row = |key: &str, name: &str, health, verify| ProjectRow {
            key: key.to_owned(),
            name: name.to_owned(),
            href: format!("/projects/{}", crate::base::text::slug(name)),
            repository: format!("/srv/git/{}", crate::base::text::slug(name)),
            health: Mark::health(health),
            agent: "claude".to_owned(),
            verify,
            changed: minutes_ago(3),
        };
        Self {
            shell: Shell::sample("/projects"),
            projects: vec![
                row("ACME", "Acme Widgets", "ok", 2),
                row("BILL", "Billing", "warning", 0),
            ],
            can_manage: true,
            create: create_command(),
        }
    }
}
