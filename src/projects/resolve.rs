//! Which project a call means. Every tool asks here, so that one rule holds everywhere.

use super::project::{Project, find, list};
use crate::accounts::Actor;
use crate::base::text::{cut, normalised, or_list};
use crate::base::{Code, Fault, ProjectId};
use crate::params;
use crate::sql;
use crate::store::Read;

/// How many projects a fault names.
const NAMED_MAX: usize = 10;

/// The project that a call means: the one with `id`; else the one called `name` (its id, key,
/// slug or name); else the caller's default; else the only one the caller may touch.
pub fn resolve(
    read: &Read<'_>,
    actor: &Actor,
    id: Option<ProjectId>,
    name: Option<&str>,
) -> Result<Project, Fault> {
    if let Some(id) = id {
        return get(read, actor, id);
    }
    match (name.filter(|name| !name.trim().is_empty()), actor.default_project) {
        (Some(name), _) => named(read, actor, name),
        (None, Some(id)) => get(read, actor, id),
        (None, None) => only(read, actor),
    }
}

/// The project with an id, where the caller may touch it.
pub fn get(read: &Read<'_>, actor: &Actor, id: ProjectId) -> Result<Project, Fault> {
    match find(read, actor.tenant, id)? {
        Some(project) => reachable(actor, project),
        None => Err(none(read, actor, &id.to_string())?),
    }
}

/// The project that a text names, where the caller may touch it: its id, its key, its slug, its
/// name in any case and spacing, or its key in another case, tried in this order.
pub fn named(read: &Read<'_>, actor: &Actor, text: &str) -> Result<Project, Fault> {
    let text = text.trim();
    if let Some(id) = ProjectId::parse(text) {
        return get(read, actor, id);
    }
    let slug = params! { ":tenant": actor.tenant, ":slug": text };
    let mut found = by_key(read, actor, text)?;
    if found.is_none() {
        found = read.find(sql!("projects.sql", "find_by_slug"), slug, Project::from_row)?;
    }
    if found.is_none() {
        found = by_name(read, actor, text)?;
    }
    if found.is_none() {
        found = by_key(read, actor, &text.to_ascii_uppercase())?;
    }
    match found {
        Some(project) => reachable(actor, project),
        None => Err(none(read, actor, text)?),
    }
}

fn by_key(read: &Read<'_>, actor: &Actor, key: &str) -> Result<Option<Project>, Fault> {
    let params = params! { ":tenant": actor.tenant, ":key": key };
    read.find(sql!("projects.sql", "find_by_key"), params, Project::from_row)
}

/// The project of that name; where several have it, the one that the caller may touch.
fn by_name(read: &Read<'_>, actor: &Actor, text: &str) -> Result<Option<Project>, Fault> {
    let params = params! { ":tenant": actor.tenant, ":name_norm": normalised(text) };
    let all = read.list(sql!("projects.sql", "list_by_name"), params, Project::from_row)?;
    let (mut near, mut far): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|project| actor.may_reach(project.id));
    if near.len() > 1 {
        return Err(ambiguous(text, &near));
    }
    Ok(near.pop().or_else(|| far.pop()))
}

fn only(read: &Read<'_>, actor: &Actor) -> Result<Project, Fault> {
    let mut all = list(read, actor, NAMED_MAX, None)?;
    if all.len() == 1
        && let Some(project) = all.pop()
    {
        return Ok(project);
    }
    let said = if all.is_empty() {
        "There is no project yet. Create one with create_project or `assay project create`."
            .to_owned()
    } else {
        let names: Vec<&str> = all.iter().map(Project::short_name).collect();
        format!("Say which project is meant, such as {}.", or_list(&names))
    };
    Err(Fault::new(Code::MissingProject, said))
}

fn reachable(actor: &Actor, project: Project) -> Result<Project, Fault> {
    if actor.may_reach(project.id) {
        return Ok(project);
    }
    let said = format!(
        "This key may not touch the project {}. Use a key that may, or one without limits.",
        project.short_name()
    );
    Err(Fault::new(Code::Forbidden, said))
}

/// That no project is called so, and which there are.
fn none(read: &Read<'_>, actor: &Actor, text: &str) -> Result<Fault, Fault> {
    let all = list(read, actor, NAMED_MAX + 1, None)?;
    let names: Vec<&str> = all.iter().take(NAMED_MAX).map(Project::short_name).collect();
    let known = match names.as_slice() {
        [] => String::new(),
        [one] => format!(" There is {one}."),
        _ if all.len() > NAMED_MAX => format!(" There are {}, and more.", names.join(", ")),
        [start @ .., last] => format!(" There are {} and {last}.", start.join(", ")),
    };
    let said = format!("There is no project {:?}.{known}", cut(text, 80));
    Ok(Fault::new(Code::ProjectNotFound, said))
}

fn ambiguous(text: &str, projects: &[Project]) -> Fault {
    let said = format!("Several projects are called {:?}. Give the id or the key.", cut(text, 80));
    let fault = Fault::new(Code::AmbiguousProject, said);
    projects.iter().take(NAMED_MAX).fold(fault, |fault, project| {
        fault.issue("project", format!("{} has the id {}", project.short_name(), project.id))
    })
}
