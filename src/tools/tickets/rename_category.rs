//! `rename_category`: gives a ticket category another name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::category::{self, CategoryWire, Named, OneCategory};
use crate::accounts::Feature;
use crate::base::{CategoryId, Fault, ProjectId};
use crate::projects::categories;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Gives a ticket category another name.
pub struct RenameCategory;

/// What `rename_category` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The category's UUID. Wins over `category`.
    category_id: Option<CategoryId>,
    /// The category's present name, in any case and spacing.
    category: Option<String>,
    /// The UUID of its project. Wins over `project`.
    project_id: Option<ProjectId>,
    /// Its project: UUID, key, slug or name. Left out, it is the key's default project, or the only
    /// one there is.
    project: Option<String>,
    /// The new name.
    #[schemars(length(min = 1, max = 100))]
    name: String,
}

impl Tool for RenameCategory {
    const NAME: &'static str = "rename_category";
    const TITLE: &'static str = "Rename a ticket category";
    const ABOUT: &'static str = "Gives a category another name; all its tickets show it at once. \
        Two names that differ only in case or spacing are one name, and a project has it once: \
        a name that another category has is refused with CONFLICT. So is a category that has been \
        deleted.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = true;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str =
        r#"{ "project": "Acme Widgets", "category": "Auth", "name": "Auth & Billing" }"#;

    type Input = Input;
    type Output = OneCategory;

    async fn run(cx: &Cx, input: Input) -> Result<Done<OneCategory>, Fault> {
        let category = cx
            .write(move |tx, actor| {
                let named = Named {
                    id: input.category_id,
                    name: input.category.as_deref(),
                    project_id: input.project_id,
                    project: input.project.as_deref(),
                };
                let found = category::find(tx, actor, &named)?;
                categories::rename(tx, actor.tenant, &found, &input.name)?;
                let named = Named { id: Some(found.category.id), ..named };
                let subject = found.category.id.to_string();
                Ok((CategoryWire::of(category::find(tx, actor, &named)?), subject))
            })
            .await?;
        let summary = format!("The category is called {:?}.", category.name());
        Ok(Done::new(OneCategory { category }, summary))
    }
}
