//! `list_categories`: a project's ticket categories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::category::CategoryWire;
use crate::base::{Fault, ProjectId};
use crate::projects::{self, categories};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Lists a project's ticket categories.
pub struct ListCategories;

/// What `list_categories` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The project's UUID. Wins over `project`.
    project_id: Option<ProjectId>,
    /// The project's UUID, key, slug or name. Left out, it is the key's default project, or the
    /// only one there is.
    project: Option<String>,
    /// True lists those too that have been deleted.
    include_deleted: Option<bool>,
}

/// What `list_categories` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The categories, by name; 200 at most.
    categories: Vec<CategoryWire>,
    /// How many these are.
    count: usize,
}

impl Tool for ListCategories {
    const NAME: &'static str = "list_categories";
    const TITLE: &'static str = "List ticket categories";
    const ABOUT: &'static str = "Lists the categories that a project's tickets are sorted under, \
        by name, each with how many of its tickets have not ended. A category is made by \
        `dispatch_ticket`, which takes its name.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = r#"{ "project": "Acme Widgets" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let with_deleted = input.include_deleted.unwrap_or(false);
        let found = cx
            .read(move |read, actor| {
                let named = input.project.as_deref();
                let project = projects::resolve(read, actor, input.project_id, named)?;
                categories::counted(read, actor.tenant, project.id, with_deleted)
            })
            .await?;
        let categories: Vec<CategoryWire> = found.into_iter().map(CategoryWire::of).collect();
        let count = categories.len();
        let summary = match count {
            0 => "The project has no category.".to_owned(),
            1 => "1 category.".to_owned(),
            n => format!("{n} categories."),
        };
        Ok(Done::new(Output { categories, count }, summary))
    }
}
