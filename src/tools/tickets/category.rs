//! A category as the tools show it, and how a call names one.

use schemars::JsonSchema;
use serde::Serialize;

use crate::accounts::Actor;
use crate::base::{CategoryId, Code, Fault, Millis, ProjectId};
use crate::projects;
use crate::projects::categories::{self, Counted};
use crate::store::Read;

/// A category.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CategoryWire {
    /// The category.
    id: CategoryId,
    /// The project that it belongs to.
    project_id: ProjectId,
    /// Its name.
    name: String,
    /// What its tickets show: the name, which ends with ` (deleted)` where it has been deleted.
    label: String,
    /// Whether it has been deleted.
    deleted: bool,
    /// How many of its tickets have not ended.
    open_tickets: u64,
    /// When it was made. ISO 8601, UTC.
    created_at: String,
    /// When it was deleted. ISO 8601, UTC.
    deleted_at: Option<String>,
}

impl CategoryWire {
    pub(super) fn of(counted: Counted) -> Self {
        let Counted { category, created_at, deleted_at, open_tickets } = counted;
        let mark = if deleted_at.is_some() { " (deleted)" } else { "" };
        Self {
            id: category.id,
            project_id: category.project,
            label: format!("{}{mark}", category.name),
            name: category.name,
            deleted: deleted_at.is_some(),
            open_tickets,
            created_at: created_at.iso(),
            deleted_at: deleted_at.map(Millis::iso),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// The answer that is one category.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneCategory {
    /// The category as it now stands.
    pub(super) category: CategoryWire,
}

/// How a call names a category.
pub(super) struct Named<'a> {
    pub(super) id: Option<CategoryId>,
    pub(super) name: Option<&'a str>,
    pub(super) project_id: Option<ProjectId>,
    pub(super) project: Option<&'a str>,
}

/// The category that a call names, if the caller may touch its project.
pub(super) fn find(read: &Read<'_>, actor: &Actor, named: &Named<'_>) -> Result<Counted, Fault> {
    let id = match (named.id, named.name.filter(|name| !name.trim().is_empty())) {
        (Some(id), _) => Some(id),
        (None, Some(name)) => {
            let project = projects::resolve(read, actor, named.project_id, named.project)?;
            categories::find(read, actor.tenant, project.id, name)?.map(|found| found.id)
        }
        (None, None) => {
            return Err(Fault::argument("category", "send the category's name or category_id"));
        }
    };
    let found = id.map(|id| categories::get(read, actor.tenant, id)).transpose()?.flatten();
    let Some(found) = found else {
        let message = "There is no such category, or it is not yours to see.";
        return Err(Fault::new(Code::NotFound, message));
    };
    if actor.may_reach(found.category.project) {
        return Ok(found);
    }
    let message = "This key does not reach the category's project.";
    Err(Fault::new(Code::Forbidden, message))
}
