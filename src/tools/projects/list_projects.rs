//! `list_projects`: the projects a caller reaches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::{Fault, ProjectId};
use crate::projects::{self, LIST_MAX, Project};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Lists the projects a caller reaches.
pub struct ListProjects;

/// What `list_projects` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// How many at most; 50 where absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// The id of the last project of the page before.
    after: Option<ProjectId>,
}

/// What `list_projects` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The projects, by name.
    projects: Vec<ProjectRow>,
    /// How many these are.
    count: usize,
    /// What to send as `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<ProjectId>,
}

/// A project in short.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProjectRow {
    /// The project.
    id: ProjectId,
    /// Its name.
    name: String,
    /// Its name in addresses.
    slug: String,
    /// What its tickets' refs begin with.
    key: Option<String>,
    /// Where its site is served.
    base_url: Option<String>,
}

impl Tool for ListProjects {
    const NAME: &'static str = "list_projects";
    const TITLE: &'static str = "List projects";
    const ABOUT: &'static str = "Lists the projects you reach, by name. Their ids, keys, slugs and \
        names are what other tools take as `project`.";
    const FAMILY: Family = Family::Projects;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = "{}";

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let limit = input.limit.unwrap_or(50).min(LIST_MAX);
        let found = cx.read(move |read, actor| projects::list(read, actor, limit, input.after));
        let found = found.await?;
        let next_after = (found.len() == limit).then(|| found.last().map(|last| last.id)).flatten();
        let rows: Vec<ProjectRow> = found.into_iter().map(row).collect();
        let count = rows.len();
        let summary = match count {
            1 => "1 project.".to_owned(),
            n => format!("{n} projects."),
        };
        Ok(Done::new(Output { projects: rows, count, next_after }, summary))
    }
}

fn row(project: Project) -> ProjectRow {
    ProjectRow {
        id: project.id,
        name: project.name,
        slug: project.slug,
        key: project.key,
        base_url: project.base_url,
    }
}
