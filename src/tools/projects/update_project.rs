//! `update_project`: changes a project's texts, environments and settings.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::get_project::{Found, Output, look};
use crate::accounts::{Actor, Feature};
use crate::base::{EnvironmentId, Fault, Millis, ProjectId};
use crate::projects::change::{self, set_environments, settings_with};
use crate::projects::environments::Wanted;
use crate::projects::{self, Project};
use crate::store::Tx;
use crate::tickets::pipeline;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Changes a project.
pub struct UpdateProject;

/// What `update_project` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The project: its id, key, slug or name. Left out, it is the key's default project, or the
    /// only one there is.
    project: Option<String>,
    /// The project's id; wins over `project`.
    project_id: Option<ProjectId>,
    /// The `updatedAt` that you saw with `get_project`. Where the project has changed since, the
    /// call is refused with CONFLICT instead of undoing somebody's change.
    seen_updated_at: Option<String>,
    /// The name for people.
    #[schemars(length(min = 1, max = 100))]
    name: Option<String>,
    /// What it is about.
    #[schemars(length(max = 4000))]
    description: Option<String>,
    /// Where its site is served: the address of its default environment.
    #[schemars(length(max = 2000))]
    base_url: Option<String>,
    /// Its git repository: an absolute path of the server's machine, or an address. An empty text
    /// takes it away.
    #[schemars(length(max = 1000))]
    repository: Option<String>,
    /// The branch that tickets start from and land on. An empty text means the repository's own.
    base_branch: Option<String>,
    /// All of its environments: those that are not listed are removed.
    #[schemars(length(max = 50))]
    environments: Option<Vec<EnvironmentInput>>,
    /// Parts of the settings document, each as a whole: `agents`, `verify`, `landing`, `limits`,
    /// `dispatch`, `pipeline`, `approvals`, `cleanUp`. Parts that are left out stay.
    settings: Option<HashMap<String, Value>>,
    /// True takes `settings` for the whole document: what it leaves out goes back to its default.
    replace_settings: Option<bool>,
}

/// An environment as it is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentInput {
    /// The id of one that is there; a new one has none.
    id: Option<EnvironmentId>,
    /// Its name.
    name: String,
    /// Where the site is served.
    base_url: String,
    /// Whether it is meant where a call names none; the first where none says so.
    is_default: Option<bool>,
}

impl Tool for UpdateProject {
    const NAME: &'static str = "update_project";
    const TITLE: &'static str = "Change a project";
    const ABOUT: &'static str = "Changes a project: its name, repository and base branch, its \
        environments, and its settings document, part by part or whole. Everything is checked \
        before anything is changed, and each problem names the path of the setting, such as \
        `settings.limits.concurrency`. Read the present values with `get_project` and send its \
        `updatedAt` as `seenUpdatedAt`, so that nobody's change is undone unseen. Answers the new \
        settings and health. Send `confirm: true`. A key that is limited to some projects cannot \
        change one.";
    const FAMILY: Family = Family::Projects;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = true;
    const FEATURE: Option<Feature> = Some(Feature::Projects);
    const CONFIRM: bool = true;
    const EXAMPLE: &'static str = r#"{
  "project": "Acme Widgets",
  "settings": { "limits": { "implementRounds": 5, "concurrency": 4 } },
  "confirm": true
}"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let found = cx
            .write(move |tx, actor| {
                let project = update(tx, actor, input)?;
                let subject = project.short_name().to_owned();
                Ok((Found::of(tx, project, None)?, subject))
            })
            .await?;
        let named = found.short_name().to_owned();
        let output = look(cx, found).await?;
        let ready = if output.is_ready() { "is ready" } else { "is not ready" };
        let summary = format!("{named} is changed, and {ready} for tickets.");
        let again = json!({ "project": named });
        Ok(Done::new(output, summary).next("Read it again", "get_project", again))
    }
}

fn update(tx: &mut Tx<'_>, actor: &Actor, input: Input) -> Result<Project, Fault> {
    let named = input.project.as_deref();
    let project = projects::resolve(tx, actor, input.project_id, named)?;
    super::check_may_manage(actor)?;
    let seen = input.seen_updated_at.as_deref().map(seen).transpose()?;
    let mut changed = project.clone();
    if let Some(all) = input.environments {
        let wanted: Vec<Wanted> = all.into_iter().map(Wanted::from).collect();
        set_environments(tx, &mut changed, &wanted)?;
    }
    let given = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    let project = change::change(tx, project, seen, |project| {
        project.base_url = changed.base_url;
        project.name = input.name.unwrap_or_else(|| project.name.clone());
        project.description = input.description.unwrap_or_else(|| project.description.clone());
        if let Some(base_url) = input.base_url {
            project.base_url = given(base_url);
        }
        if let Some(repository) = input.repository {
            project.repository = given(repository);
        }
        if let Some(branch) = input.base_branch {
            project.base_branch = given(branch);
        }
        let whole = input.replace_settings.unwrap_or(false);
        if let Some(parts) = input.settings {
            let parts = parts.into_iter().collect();
            project.settings = settings_with(&project.settings, parts, whole)?;
        }
        Ok(())
    })?;
    // There may be places now that there were not before.
    pipeline::start_waiting(tx, project.tenant, &project)?;
    Ok(project)
}

fn seen(text: &str) -> Result<Millis, Fault> {
    Millis::parse(text).ok_or_else(|| {
        Fault::argument("seenUpdatedAt", "must be the updatedAt that get_project answered.")
    })
}

impl From<EnvironmentInput> for Wanted {
    fn from(sent: EnvironmentInput) -> Self {
        Self {
            id: sent.id,
            name: sent.name,
            base_url: sent.base_url,
            is_default: sent.is_default.unwrap_or(false),
        }
    }
}
