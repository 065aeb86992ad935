//! Ticket categories: names that a project's tickets are sorted under.

use crate::base::text::normalised;
use crate::base::{CategoryId, Fault, ProjectId, TenantId, field};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// A name that tickets are sorted under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// The id.
    pub id: CategoryId,
    /// The project.
    pub project: ProjectId,
    /// The name, as it was first written.
    pub name: String,
}

impl Category {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self { id: row.get("id")?, project: row.get("project_id")?, name: row.get("name")? })
    }
}

/// The project's category of that name, made where there is none. Case and spacing of the name
/// do not matter.
pub fn ensure(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: ProjectId,
    name: &str,
) -> Result<Category, Fault> {
    let name = field::line("category", name, 100)?;
    if let Some(found) = find(tx, tenant, project, &name)? {
        return Ok(found);
    }
    let category = Category { id: tx.new_id(), project, name };
    let now = tx.now();
    tx.run_one(
        sql!("projects.sql", "create_category"),
        params! {
            ":id": category.id,
            ":tenant": tenant,
            ":project": project,
            ":name": category.name,
            ":name_norm": normalised(&category.name),
            ":now": now,
        },
    )?;
    Ok(category)
}

/// The project's category of that name. Case and spacing do not matter.
pub fn find(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
    name: &str,
) -> Result<Option<Category>, Fault> {
    let params = params! { ":tenant": tenant, ":project": project, ":name_norm": normalised(name) };
    read.find(sql!("projects.sql", "find_category"), params, Category::from_row)
}

/// A project's categories, by name; 200 at most.
pub fn list(read: &Read<'_>, tenant: TenantId, project: ProjectId) -> Result<Vec<Category>, Fault> {
    let params = params! { ":tenant": tenant, ":project": project };
    read.list(sql!("projects.sql", "list_categories"), params, Category::from_row)
}
