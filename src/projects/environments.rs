//! Environments: where a project's site is served.

use http::Uri;

use crate::base::text::slug;
use crate::base::{Code, EnvironmentId, Fault, ProjectId, TenantId, field};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// What the environment of a project's own base URL is called.
const DEFAULT_NAME: &str = "Production";

/// The most environments of a project; what a list of them holds.
const ENVIRONMENTS_MAX: usize = 50;

/// A named base URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The id.
    pub id: EnvironmentId,
    /// The name for people.
    pub name: String,
    /// The name in addresses and calls; unique in the project.
    pub slug: String,
    /// Where the site is served.
    pub base_url: String,
    /// Whether it is meant where a call names none.
    pub is_default: bool,
}

impl Environment {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            name: row.get("name")?,
            slug: row.get("slug")?,
            base_url: row.get("base_url")?,
            is_default: row.get("is_default")?,
        })
    }
}

/// A project's environments, the default first; 100 at most.
pub fn list(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
) -> Result<Vec<Environment>, Fault> {
    let params = params! { ":tenant": tenant, ":project": project };
    read.list(sql!("projects.sql", "list_environments"), params, Environment::from_row)
}

/// The environment that a call means: the one with that id, slug or name, or the default one.
/// `None` where a call names none and the project has none.
pub fn choose(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
    text: Option<&str>,
) -> Result<Option<Environment>, Fault> {
    let mut all = list(read, tenant, project)?.into_iter();
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(all.next());
    };
    let (id, wanted) = (EnvironmentId::parse(text), slug(text));
    let found = all.find(|environment| Some(environment.id) == id || environment.slug == wanted);
    found.map(Some).ok_or_else(|| {
        let said =
            format!("The project has no environment {:?}.", crate::base::text::cut(text, 80));
        Fault::new(Code::ProjectNotFound, said)
    })
}

/// Gives the default environment its base URL; makes it where the project has none.
pub(super) fn set_default_url(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: ProjectId,
    base_url: &str,
) -> Result<(), Fault> {
    let params = params! { ":tenant": tenant, ":project": project, ":base_url": base_url };
    if tx.run(sql!("projects.sql", "set_default_url"), params)? > 0 {
        return Ok(());
    }
    insert(tx, tenant, project, (DEFAULT_NAME, base_url), true)
}

fn insert(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: ProjectId,
    (name, base_url): (&str, &str),
    is_default: bool,
) -> Result<(), Fault> {
    let (id, now): (EnvironmentId, _) = (tx.new_id(), tx.now());
    tx.run_one(
        sql!("projects.sql", "create_environment"),
        params! {
            ":id": id,
            ":tenant": tenant,
            ":project": project,
            ":name": name,
            ":slug": slug(name),
            ":base_url": base_url,
            ":is_default": is_default,
            ":now": now,
        },
    )
}

/// An environment as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// One that is there and stays, by its id; `None` for a new one.
    pub id: Option<EnvironmentId>,
    /// The name for people, and its slug the name in calls.
    pub name: String,
    /// Where the site is served.
    pub base_url: String,
    /// Whether it is meant where a call names none. The first is where none says so.
    pub is_default: bool,
}

/// Gives a project these environments and no others, and says where the default one is served.
/// Problems are named by their place in the list, such as `environments[1].baseUrl`.
pub(super) fn replace(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: ProjectId,
    wanted: &[Wanted],
) -> Result<Option<String>, Fault> {
    let known: Vec<EnvironmentId> =
        list(tx, tenant, project)?.into_iter().map(|known| known.id).collect();
    let checked = check_all(&known, wanted)?;
    let default = wanted.iter().position(|one| one.is_default).unwrap_or(0);
    for gone in known.iter().filter(|id| !wanted.iter().any(|one| one.id == Some(**id))) {
        let params = params! { ":tenant": tenant, ":project": project, ":id": *gone };
        tx.run_one(sql!("projects.sql", "delete_environment"), params)?;
    }
    // Names may change hands, so none is held while they are given.
    let params = params! { ":tenant": tenant, ":project": project };
    tx.run(sql!("projects.sql", "park_environments"), params)?;
    for (at, (one, (name, base_url))) in wanted.iter().zip(&checked).enumerate() {
        let (short, is_default) = (slug(name), at == default);
        let Some(id) = one.id else {
            insert(tx, tenant, project, (name, base_url), is_default)?;
            continue;
        };
        tx.run_one(
            sql!("projects.sql", "change_environment"),
            params! { ":id": id, ":tenant": tenant, ":project": project, ":name": name,
            ":slug": short, ":base_url": base_url, ":is_default": is_default },
        )?;
    }
    Ok(checked.into_iter().nth(default).map(|(_, base_url)| base_url))
}

/// The names and base URLs of the wanted environments, each checked.
fn check_all(known: &[EnvironmentId], wanted: &[Wanted]) -> Result<Vec<(String, String)>, Fault> {
    if wanted.len() > ENVIRONMENTS_MAX {
        let said = format!("a project has at most {ENVIRONMENTS_MAX}.");
        return Err(Fault::argument("environments", said));
    }
    let mut checked: Vec<(String, String)> = Vec::new();
    for (at, one) in wanted.iter().enumerate() {
        let path = |of: &str| format!("environments[{at}].{of}");
        let is_twice = wanted[..at].iter().any(|other| other.id.is_some() && other.id == one.id);
        if is_twice || one.id.is_some_and(|id| !known.contains(&id)) {
            return Err(Fault::argument(
                path("id"),
                "is no environment of the project, or stands twice.",
            ));
        }
        let name = field::line(&path("name"), &one.name, 60)?;
        let short = slug(&name);
        if short.is_empty() {
            return Err(Fault::argument(path("name"), "needs a letter or a digit."));
        }
        if checked.iter().any(|(other, _)| slug(other) == short) {
            return Err(Fault::argument(path("name"), "is the name of another one."));
        }
        let base_url = check_base_url_at(&path("baseUrl"), &one.base_url)?;
        checked.push((name, base_url));
    }
    Ok(checked)
}

/// The base URL in `text`, or a fault that names `baseUrl`.
pub(super) fn check_base_url(text: &str) -> Result<String, Fault> {
    check_base_url_at("baseUrl", text)
}

fn check_base_url_at(path: &str, text: &str) -> Result<String, Fault> {
    let text = field::line(path, text, 2_000)?;
    let refused = |why: &str| Err(Fault::argument(path, why));
    let Ok(uri) = text.parse::<Uri>() else { return refused("it is not a URL.") };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return refused("it must start with https:// or http://.");
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            refused("it holds a user name or a password; leave them out.")
        }
        Some(authority) if !authority.host().is_empty() => Ok(text),
        _ => refused("it names no host."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_an_address_of_the_web_without_a_login() {
        for good in ["https://acme.example", "http://127.0.0.1:8080/shop?x=1"] {
            assert_eq!(check_base_url(good).ok().as_deref(), Some(good));
        }
        for bad in [
            "",
            "acme.example",
            "/shop",
            "ftp://acme.example",
            "https://",
            "https:///x",
            "https://u:p@acme.example",
            "https://a b",
            "javascript:alert(1)",
            "https://a\nb",
        ] {
            assert!(check_base_url(bad).is_err(), "{bad:?}");
        }
    }
}
