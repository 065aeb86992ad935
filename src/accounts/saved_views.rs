//! Named filters of the list of tickets. Each is its person's own: nobody else sees it.

use crate::base::text::normalised;
use crate::base::{Code, Fault, SavedViewId, TenantId, UserId, field};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// Views of a person at most.
pub const VIEWS_MAX: u32 = 20;

/// Characters of a name at most.
pub const NAME_MAX: usize = 40;

/// Bytes of a query at most.
const QUERY_MAX: usize = 2_000;

/// A named filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    /// The view.
    pub id: SavedViewId,
    /// What its person calls it.
    pub name: String,
    /// The filter, as the query of the list's address.
    pub query: String,
}

impl SavedView {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self { id: row.get("id")?, name: row.get("name")?, query: row.get("query")? })
    }
}

/// A person's views, the oldest first.
pub fn list(read: &Read<'_>, tenant: TenantId, user: UserId) -> Result<Vec<SavedView>, Fault> {
    let of = params! { ":tenant": tenant, ":user": user, ":limit": VIEWS_MAX };
    read.list(sql!("saved_views.sql", "list"), of, SavedView::from_row)
}

/// Saves a filter under a name.
///
/// # Errors
/// `InvalidArgument` for a name or a query that cannot be taken; `Conflict` where the name is in
/// use, or the person has as many views as fit above the list.
pub fn save(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    user: UserId,
    name: &str,
    query: &str,
) -> Result<SavedView, Fault> {
    let name = field::line("name", name, NAME_MAX)?;
    if query.len() > QUERY_MAX {
        return Err(Fault::argument("query", "is longer than a view can be"));
    }
    let known = list(tx, tenant, user)?;
    if known.len() >= VIEWS_MAX as usize {
        let said = format!("You have {VIEWS_MAX} views, the most there can be. Remove one first.");
        return Err(Fault::new(Code::Conflict, said).issue("name", "there are too many"));
    }
    check_name(&known, None, &name)?;
    let view = SavedView { id: tx.new_id(), name, query: query.to_owned() };
    let now = tx.now();
    tx.run_one(
        sql!("saved_views.sql", "insert"),
        params! { ":id": view.id, ":tenant": tenant, ":user": user, ":name": view.name,
        ":name_norm": normalised(&view.name), ":query": view.query, ":now": now },
    )?;
    Ok(view)
}

/// Gives a view another name.
///
/// # Errors
/// `InvalidArgument`, `Conflict` as [`save`]; `NotFound` where the person has no such view.
pub fn rename(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    user: UserId,
    id: SavedViewId,
    name: &str,
) -> Result<(), Fault> {
    let name = field::line("name", name, NAME_MAX)?;
    check_name(&list(tx, tenant, user)?, Some(id), &name)?;
    let of = params! { ":tenant": tenant, ":user": user, ":id": id, ":name": name,
    ":name_norm": normalised(&name) };
    found(tx.run(sql!("saved_views.sql", "rename"), of)?)
}

/// Takes a view away.
///
/// # Errors
/// `NotFound` where the person has no such view.
pub fn remove(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    user: UserId,
    id: SavedViewId,
) -> Result<(), Fault> {
    let of = params! { ":tenant": tenant, ":user": user, ":id": id };
    found(tx.run(sql!("saved_views.sql", "remove"), of)?)
}

fn check_name(known: &[SavedView], own: Option<SavedViewId>, name: &str) -> Result<(), Fault> {
    let is_same = |view: &&SavedView| normalised(&view.name) == normalised(name);
    match known.iter().find(is_same) {
        Some(view) if Some(view.id) != own => {
            let said = format!("You have a view called {:?}. Choose another name.", view.name);
            Err(Fault::new(Code::Conflict, said).issue("name", "is in use"))
        }
        _ => Ok(()),
    }
}

fn found(rows: usize) -> Result<(), Fault> {
    if rows == 1 {
        return Ok(());
    }
    Err(Fault::new(Code::NotFound, "There is no such view, or it is not yours."))
}
