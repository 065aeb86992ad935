//! Ticket categories: names that a project's tickets are sorted under.

use crate::base::text::normalised;
use crate::base::{CategoryId, Code, Fault, Millis, ProjectId, TenantId, field};
use crate::events::Event;
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

/// Characters of a name at most.
pub const NAME_MAX: usize = 100;

/// Categories that one list holds at most.
pub const LIST_MAX: u32 = 200;

/// A category with what is sorted under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The category.
    pub category: Category,
    /// When it was made.
    pub created_at: Millis,
    /// When it was deleted; its tickets keep it.
    pub deleted_at: Option<Millis>,
    /// How many of its tickets have not ended.
    pub open_tickets: u64,
}

impl Counted {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            category: Category::from_row(row)?,
            created_at: row.get("created_at")?,
            deleted_at: row.get("deleted_at")?,
            open_tickets: row.unsigned("open_tickets")?,
        })
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
    let name = field::line("category", name, NAME_MAX)?;
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

/// The category with this id, deleted or not.
pub fn get(read: &Read<'_>, tenant: TenantId, id: CategoryId) -> Result<Option<Counted>, Fault> {
    let params = params! { ":tenant": tenant, ":id": id };
    read.find(sql!("projects.sql", "get_category"), params, Counted::from_row)
}

/// A project's categories, by name, with what is sorted under each; those that were deleted only
/// where they are asked for. [`LIST_MAX`] at most.
pub fn counted(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
    with_deleted: bool,
) -> Result<Vec<Counted>, Fault> {
    let params = params! { ":tenant": tenant, ":project": project, ":deleted": with_deleted,
    ":limit": LIST_MAX };
    read.list(sql!("projects.sql", "count_categories"), params, Counted::from_row)
}

/// Gives a category another name. All its tickets show it.
///
/// # Errors
/// `Conflict` where it has been deleted, or another of the project has that name.
pub fn rename(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    category: &Counted,
    name: &str,
) -> Result<(), Fault> {
    let name = field::line("name", name, NAME_MAX)?;
    if category.deleted_at.is_some() {
        let message = "The category has been deleted. A ticket that names it makes a new one.";
        return Err(Fault::new(Code::Conflict, message));
    }
    let Category { id, project, .. } = category.category;
    if let Some(other) = find(tx, tenant, project, &name)?.filter(|other| other.id != id) {
        let message = format!("The project has a category {:?} already.", other.name);
        return Err(Fault::new(Code::Conflict, message).issue("name", "is taken"));
    }
    tx.run_one(
        sql!("projects.sql", "rename_category"),
        params! { ":tenant": tenant, ":id": id, ":name": name, ":name_norm": normalised(&name) },
    )?;
    tx.emit(Event::Project { tenant: tenant.uuid(), project: project.uuid() });
    Ok(())
}

/// Deletes a category: its tickets keep it, marked as deleted, and its name is free. Says whether
/// it was there to be deleted.
pub fn delete(tx: &mut Tx<'_>, tenant: TenantId, category: &Category) -> Result<bool, Fault> {
    let now = tx.now();
    let deleted = tx.run(
        sql!("projects.sql", "delete_category"),
        params! { ":tenant": tenant, ":id": category.id, ":now": now },
    )?;
    tx.emit(Event::Project { tenant: tenant.uuid(), project: category.project.uuid() });
    Ok(deleted > 0)
}
