//! `delete_category`: takes a ticket category out of use.

use schemars::JsonSchema;
use serde::Deserialize;

use super::category::{self, CategoryWire, Named, OneCategory};
use crate::accounts::Feature;
use crate::base::{CategoryId, Fault, ProjectId};
use crate::projects::categories;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Takes a ticket category out of use.
pub struct DeleteCategory;

/// What `delete_category` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The category's UUID. Wins over `category`.
    category_id: Option<CategoryId>,
    /// The category's name, in any case and spacing.
    category: Option<String>,
    /// The UUID of its project. Wins over `project`.
    project_id: Option<ProjectId>,
    /// Its project: UUID, key, slug or name. Left out, it is the key's default project, or the only
    /// one there is.
    project: Option<String>,
}

impl Tool for DeleteCategory {
    const NAME: &'static str = "delete_category";
    const TITLE: &'static str = "Delete a ticket category";
    const ABOUT: &'static str = "Takes a category out of use. Its tickets keep it, with a label \
        that ends with ` (deleted)`, and can still be listed by its `category_id`. The name is \
        free: a ticket that is dispatched with it makes a new category. Deleting one again, by \
        its id, changes nothing.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Destroys;
    const IDEMPOTENT: bool = true;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{ "project": "Acme Widgets", "category": "Auth" }"#;

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
                categories::delete(tx, actor.tenant, &found.category)?;
                let named = Named { id: Some(found.category.id), ..named };
                let subject = found.category.id.to_string();
                Ok((CategoryWire::of(category::find(tx, actor, &named)?), subject))
            })
            .await?;
        let summary = format!("The category {:?} is deleted.", category.name());
        Ok(Done::new(OneCategory { category }, summary))
    }
}
