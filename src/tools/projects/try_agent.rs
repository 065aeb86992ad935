//! `try_agent`: starts an agent profile once, to see whether it works.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::accounts::{Actor, Feature};
use crate::base::{Code, Fault, JobId, ProjectId};
use crate::jobs::{self, Enqueue, Priority};
use crate::projects::tries::TryAgent as Job;
use crate::projects::{self, Project};
use crate::store::Tx;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Starts an agent profile once.
pub struct TryAgent;

/// What `try_agent` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The project: its id, key, slug or name. Left out, it is the key's default project, or the
    /// only one there is.
    project: Option<String>,
    /// The project's id; wins over `project`.
    project_id: Option<ProjectId>,
    /// The agent profile. The one that implements tickets where absent.
    profile: Option<String>,
}

/// What `try_agent` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The job that runs it; `get_job_status` has its output.
    job_id: JobId,
    /// The profile that is tried.
    profile: String,
}

impl Tool for TryAgent {
    const NAME: &'static str = "try_agent";
    const TITLE: &'static str = "Try an agent profile";
    const ABOUT: &'static str = "Starts an agent profile of a project once, with a harmless prompt \
        and two minutes of time, in a work tree that is thrown away: to see that it is installed, \
        signed in and answers. None of your branches changes. Answers a job; `get_job_status` says \
        how it went, and its `result` holds the output. Send `confirm: true`. A key that is \
        limited to some projects cannot do it.";
    const FAMILY: Family = Family::Projects;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Projects);
    const CONFIRM: bool = true;
    const BACKGROUND: bool = true;
    const EXAMPLE: &'static str =
        r#"{ "project": "Acme Widgets", "profile": "claude", "confirm": true }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let output = cx
            .write(move |tx, actor| {
                let project =
                    projects::resolve(tx, actor, input.project_id, input.project.as_deref())?;
                let output = begin(tx, actor, &project, input.profile.as_deref())?;
                let subject = format!("{} {}", project.short_name(), output.profile);
                Ok((output, subject))
            })
            .await?;
        let summary = format!("The agent {} is being tried.", output.profile);
        let follow = json!({ "jobId": output.job_id.to_string() });
        Ok(Done::new(output, summary).next("See how it went", "get_job_status", follow))
    }
}

fn begin(
    tx: &mut Tx<'_>,
    actor: &Actor,
    project: &Project,
    profile: Option<&str>,
) -> Result<Output, Fault> {
    super::check_may_manage(actor)?;
    let agents = &project.settings.agents;
    let found = match profile {
        Some(name) => agents.profiles.get_key_value(name).map(|(name, _)| name.as_str()),
        None => agents.choose("implement", "auto").map(|(name, _)| name),
    };
    let Some(profile) = found else {
        return Err(Fault::argument("profile", "is no agent profile of the project."));
    };
    if project.location().is_none() {
        let said = "The project names no repository, so there is no place to try an agent in.";
        return Err(Fault::new(Code::ProjectNotReady, said));
    }
    let job = Job { tenant: project.tenant, project: project.id, profile: profile.to_owned() };
    let options = Enqueue { priority: Priority::Urgent, ..Enqueue::of(actor.tenant) };
    let job_id = jobs::enqueue(tx, &job, options)?.id();
    Ok(Output { job_id, profile: profile.to_owned() })
}
