//! `get_project`: one project with how it is set up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::accounts::Actor;
use crate::base::{EnvironmentId, Fault, ProjectId};
use crate::projects::agents;
use crate::projects::health::{self, Finding, Health};
use crate::projects::{self, Project, environments, git};
use crate::store::Read;
use crate::tools::{Cx, Done, Effect, Family, Step, Tool};

/// One project with how it is set up.
pub struct GetProject;

/// What `get_project` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The project: its id, key, slug or name. Left out, it is the key's default project, or the
    /// only one there is.
    project: Option<String>,
    /// The project's id; wins over `project`.
    project_id: Option<ProjectId>,
    /// An environment to look up: its id, slug or name. The default one where absent.
    environment: Option<String>,
}

/// What `get_project` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The project.
    id: ProjectId,
    /// Its name.
    name: String,
    /// Its name in addresses.
    slug: String,
    /// What its tickets' refs begin with.
    key: Option<String>,
    /// What it is about.
    description: String,
    /// Where its site is served.
    base_url: Option<String>,
    /// Its repository, without credentials.
    repository: Option<String>,
    /// The branch that tickets land on.
    base_branch: Option<String>,
    /// The names of its agent profiles.
    agents: Vec<String>,
    /// The checks that run before a ticket lands.
    verify: Vec<VerifyWire>,
    /// The environment that was asked for, or the default one.
    environment: Option<EnvironmentWire>,
    /// All of its environments.
    environments: Vec<EnvironmentWire>,
    /// Whether tickets can be done, and what stops them.
    health: HealthWire,
    /// When anything of it last changed. `update_project` takes it as `seenUpdatedAt`.
    updated_at: String,
    /// The whole settings document, for who may change it.
    #[schemars(with = "Option<std::collections::HashMap<String, Value>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<Value>,
}

impl Output {
    pub(super) const fn is_ready(&self) -> bool {
        self.health.ready
    }
}

/// A check.
#[derive(Debug, Serialize, JsonSchema)]
struct VerifyWire {
    /// What it is called.
    name: String,
    /// The shell line.
    command: String,
}

/// An environment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EnvironmentWire {
    /// The environment.
    id: EnvironmentId,
    /// Its name in calls.
    slug: String,
    /// Its name.
    name: String,
    /// Where the site is served.
    base_url: String,
}

impl From<environments::Environment> for EnvironmentWire {
    fn from(known: environments::Environment) -> Self {
        Self { id: known.id, slug: known.slug, name: known.name, base_url: known.base_url }
    }
}

/// How a project is set up.
#[derive(Debug, Serialize, JsonSchema)]
struct HealthWire {
    /// Whether tickets can be done.
    ready: bool,
    /// What stops them.
    blockers: Vec<FindingWire>,
    /// What would make them better.
    warnings: Vec<FindingWire>,
}

/// Something that is amiss.
#[derive(Debug, Serialize, JsonSchema)]
struct FindingWire {
    /// What it is.
    code: String,
    /// What it means.
    message: String,
    /// What to do about it.
    fix: String,
}

impl Tool for GetProject {
    const NAME: &'static str = "get_project";
    const TITLE: &'static str = "Get a project";
    const ABOUT: &'static str = "One project: where its repository and site are, which agents and \
        checks it has, and whether tickets can be done for it, with a fix for each blocker.";
    const FAMILY: Family = Family::Projects;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = r#"{ "project": "Acme Widgets" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let found = cx.read(move |read, actor| find(read, actor, &input)).await?;
        let output = look(cx, found).await?;
        let ready = if output.is_ready() { "is ready" } else { "is not ready" };
        let summary = format!("{} {ready} for tickets.", output.name);
        Ok(Done::new(output, summary))
    }
}

/// The project with its health: its repository and its agents' programs are looked at.
pub(super) async fn look(cx: &Cx, found: Found) -> Result<Output, Fault> {
    let state = match found.project.location() {
        Some(location) => {
            // A repository behind a network may take its time.
            let message = Some(format!("Looking at the repository {location}."));
            cx.step(Step { done: 0.0, total: Some(1.0), message });
            let base = found.project.base();
            Some(git::inspect(cx.git(), &location, base.as_ref()).await?)
        }
        None => None,
    };
    let missing = agents::not_found(&found.project.settings.agents.profiles);
    let health =
        health::judge(&found.project, state.as_ref()).with_missing(&found.project, &missing);
    let may_change = super::check_may_manage(cx.actor()).is_ok() && cx.actor().can_write();
    show(found, health, may_change)
}

/// A project with its environments.
pub(super) struct Found {
    project: Project,
    environments: Vec<environments::Environment>,
    chosen: Option<environments::Environment>,
}

fn find(read: &Read<'_>, actor: &Actor, input: &Input) -> Result<Found, Fault> {
    let project = projects::resolve(read, actor, input.project_id, input.project.as_deref())?;
    Found::of(read, project, input.environment.as_deref())
}

impl Found {
    pub(super) fn short_name(&self) -> &str {
        self.project.short_name()
    }

    /// A project with its environments, of which one is asked for.
    pub(super) fn of(
        read: &Read<'_>,
        project: Project,
        environment: Option<&str>,
    ) -> Result<Self, Fault> {
        let environments = environments::list(read, project.tenant, project.id)?;
        let chosen = environments::choose(read, project.tenant, project.id, environment)?;
        Ok(Self { project, environments, chosen })
    }
}

fn show(found: Found, health: Health, may_change: bool) -> Result<Output, Fault> {
    let Found { project, environments, chosen } = found;
    let repository = project.location().map(|location| location.to_string());
    let settings = may_change.then(|| serde_json::to_value(&project.settings));
    let settings = settings.transpose().map_err(Fault::internal)?;
    let checks = project.settings.verify;
    Ok(Output {
        id: project.id,
        name: project.name,
        slug: project.slug,
        key: project.key,
        description: project.description,
        base_url: project.base_url,
        repository,
        base_branch: project.base_branch,
        agents: project.settings.agents.profiles.into_keys().collect(),
        verify: checks
            .into_iter()
            .map(|check| VerifyWire { name: check.name, command: check.command })
            .collect(),
        environment: chosen.map(EnvironmentWire::from),
        environments: environments.into_iter().map(EnvironmentWire::from).collect(),
        health: HealthWire {
            ready: health.is_ready(),
            blockers: health.blockers.into_iter().map(finding).collect(),
            warnings: health.warnings.into_iter().map(finding).collect(),
        },
        updated_at: project.updated_at.iso(),
        settings,
    })
}

fn finding(found: Finding) -> FindingWire {
    FindingWire { code: found.code.word().to_owned(), message: found.message, fix: found.fix }
}
