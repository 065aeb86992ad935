//! `create_project`: makes a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::get_project::EnvironmentWire;
use crate::accounts::{Actor, Feature};
use crate::base::{Fault, ProjectId};
use crate::projects::agents::Profile;
use crate::projects::settings::{Settings, VerifyCommand};
use crate::projects::{self, NewProject, environments};
use crate::store::Tx;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Makes a project.
pub struct CreateProject;

/// What `create_project` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The name for people.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Where its site is served. An environment named Production is made of it.
    #[schemars(length(max = 2000))]
    base_url: Option<String>,
    /// What it is about.
    #[schemars(length(max = 4000))]
    description: Option<String>,
    /// What its tickets' refs begin with: a letter and up to 11 letters and digits. Made from the
    /// name where absent.
    #[schemars(length(max = 12))]
    key: Option<String>,
    /// Its git repository: an absolute path of the server's machine, or an address.
    #[schemars(length(max = 1000))]
    repository: Option<String>,
    /// The branch that tickets start from and land on. The repository's own where absent.
    base_branch: Option<String>,
    /// A built-in agent profile that does its tickets: `claude` or `codex`.
    agent: Option<String>,
    /// A shell line that must exit with 0 before a ticket lands, such as `make test`.
    #[schemars(length(max = 2000))]
    verify: Option<String>,
}

/// What `create_project` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The project.
    id: ProjectId,
    /// Its name in addresses.
    slug: String,
    /// Its name.
    name: String,
    /// What its tickets' refs begin with.
    key: Option<String>,
    /// Where its site is served.
    base_url: Option<String>,
    /// Its default environment, if it has a site.
    environment: Option<EnvironmentWire>,
}

impl Tool for CreateProject {
    const NAME: &'static str = "create_project";
    const TITLE: &'static str = "Create a project";
    const ABOUT: &'static str = "Makes a project. With a repository, an agent and a check it is \
        ready for tickets at once; each can be set later with `update_project`. `get_project` \
        says what is still missing. Send `confirm: true`. A key that is limited to some projects \
        cannot make one.";
    const FAMILY: Family = Family::Projects;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Projects);
    const CONFIRM: bool = true;
    const EXAMPLE: &'static str = r#"{
  "name": "Acme Widgets",
  "repository": "/srv/git/widgets",
  "agent": "claude",
  "verify": "npm test",
  "confirm": true
}"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let output = cx
            .write(move |tx, actor| {
                let output = create(tx, actor, &input)?;
                let subject = output.slug.clone();
                Ok((output, subject))
            })
            .await?;
        let summary = format!("The project {} is made.", output.name);
        let look = json!({ "project": output.slug });
        Ok(Done::new(output, summary).next("See whether it is ready", "get_project", look))
    }
}

fn create(tx: &mut Tx<'_>, actor: &Actor, input: &Input) -> Result<Output, Fault> {
    super::check_may_manage(actor)?;
    let project = projects::create(
        tx,
        actor.tenant,
        NewProject {
            name: &input.name,
            key: input.key.as_deref(),
            description: input.description.as_deref().unwrap_or(""),
            base_url: input.base_url.as_deref(),
            repository: input.repository.as_deref(),
            base_branch: input.base_branch.as_deref(),
            settings: settings(input)?,
        },
    )?;
    let environment = environments::choose(tx, actor.tenant, project.id, None)?;
    Ok(Output {
        id: project.id,
        slug: project.slug,
        name: project.name,
        key: project.key,
        base_url: project.base_url,
        environment: environment.map(EnvironmentWire::from),
    })
}

fn settings(input: &Input) -> Result<Settings, Fault> {
    let mut settings = Settings::default();
    if let Some(name) = input.agent.as_deref() {
        let Some(profile) = Profile::builtin(name) else {
            return Err(Fault::argument("agent", "is no built-in agent; say claude or codex"));
        };
        settings.agents.profiles.insert(name.to_owned(), profile);
    }
    if let Some(command) = input.verify.as_deref().filter(|line| !line.trim().is_empty()) {
        settings.verify.push(VerifyCommand::new("verify", command));
    }
    Ok(settings)
}
