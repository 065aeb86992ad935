//! Environments: where a project's site is served.

use http::Uri;

use crate::base::text::slug;
use crate::base::{Code, EnvironmentId, Fault, ProjectId, TenantId, field};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// What the environment of a project's own base URL is called.
const DEFAULT_NAME: &str = "Production";

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
    let (id, now): (EnvironmentId, _) = (tx.new_id(), tx.now());
    tx.run_one(
        sql!("projects.sql", "create_environment"),
        params! {
            ":id": id,
            ":tenant": tenant,
            ":project": project,
            ":name": DEFAULT_NAME,
            ":slug": slug(DEFAULT_NAME),
            ":base_url": base_url,
            ":is_default": true,
            ":now": now,
        },
    )
}

/// The base URL in `text`, or a fault that names `baseUrl`.
pub(super) fn check_base_url(text: &str) -> Result<String, Fault> {
    let text = field::line("baseUrl", text, 2_000)?;
    let refused = |why: &str| Err(Fault::argument("baseUrl", why));
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
