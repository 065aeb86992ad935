//! The project itself: its row, its names, its number of tickets.

use std::time::Duration;

use super::environments;
use super::git::{BranchName, Location};
use super::settings::Settings;
use crate::accounts::{Actor, Reach};
use crate::base::text::{normalised, slug};
use crate::base::{Code, Fault, Millis, ProjectId, TenantId, field};
use crate::events::Event;
use crate::store::{Read, Row, Tx, to_json};
use crate::{params, sql};

/// The most projects that one page of a list holds.
pub const LIST_MAX: usize = 100;

/// The most characters of a key; what `sql/schema` allows.
const KEY_MAX: usize = 12;

/// Slugs that no project has: pages of the dashboard have these addresses.
const RESERVED_SLUGS: [&str; 1] = ["new"];

/// A site and, where it has one, the repository that its tickets change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The id.
    pub id: ProjectId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The name for people. Several projects may have the same.
    pub name: String,
    /// The name in addresses; unique in the tenant.
    pub slug: String,
    /// What its tickets' names begin with, `ACME` in `ACME-1`; unique in the tenant.
    pub key: Option<String>,
    /// What it is about.
    pub description: String,
    /// Where its site is served: the base URL of its default environment.
    pub base_url: Option<String>,
    /// The repository as [`Location`] reads it. Show it through [`Project::location`], as an
    /// address may hold a token.
    pub repository: Option<String>,
    /// The branch that tickets start from and land on; the repository's own `HEAD` where absent.
    pub base_branch: Option<String>,
    /// How its tickets are worked on.
    pub settings: Settings,
    /// When it was made.
    pub created_at: Millis,
    /// When anything of it last changed.
    pub updated_at: Millis,
}

impl Project {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            name: row.get("name")?,
            slug: row.get("slug")?,
            key: row.get("key")?,
            description: row.get("description")?,
            base_url: row.get("base_url")?,
            repository: row.get("repository")?,
            base_branch: row.get("base_branch")?,
            settings: row.json("settings")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
        })
    }

    /// Where the repository is.
    #[must_use]
    pub fn location(&self) -> Option<Location> {
        self.repository.as_deref().and_then(|text| Location::parse(text).ok())
    }

    /// The base branch that the project names.
    #[must_use]
    pub fn base(&self) -> Option<BranchName> {
        self.base_branch.as_deref().and_then(|text| BranchName::parse(text).ok())
    }

    /// How people name it shortly: its key, or its slug where it has none.
    #[must_use]
    pub fn short_name(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.slug)
    }

    /// The same project with its texts trimmed and checked, or the first thing that is wrong.
    fn checked(mut self) -> Result<Self, Fault> {
        self.name = field::line("name", &self.name, 100)?;
        self.description = field::prose("description", &self.description, 4_000)?;
        self.base_url = self.base_url.as_deref().map(environments::check_base_url).transpose()?;
        self.repository = self.repository.as_deref().map(check_repository).transpose()?;
        self.base_branch = self.base_branch.as_deref().map(check_branch).transpose()?;
        self.settings.validate()?;
        Ok(self)
    }
}

fn check_repository(text: &str) -> Result<String, Fault> {
    let text = field::line("repository", text, 1_000)?;
    match Location::parse(&text) {
        Ok(_) => Ok(text),
        Err(why) => Err(Fault::argument("repository", why)),
    }
}

fn check_branch(text: &str) -> Result<String, Fault> {
    match BranchName::parse(text.trim()) {
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(why) => Err(Fault::argument("baseBranch", format!("it is no branch name: {why}."))),
    }
}

/// A project to make.
#[derive(Debug, Clone, Default)]
pub struct NewProject<'a> {
    /// The name for people.
    pub name: &'a str,
    /// What its tickets' names begin with; from the name where absent.
    pub key: Option<&'a str>,
    /// What it is about.
    pub description: &'a str,
    /// Where its site is served. An environment named Production is made of it.
    pub base_url: Option<&'a str>,
    /// Its repository: an absolute path of this machine, or an address.
    pub repository: Option<&'a str>,
    /// The branch that tickets start from and land on.
    pub base_branch: Option<&'a str>,
    /// How its tickets are worked on.
    pub settings: Settings,
}

/// Makes a project.
pub fn create(tx: &mut Tx<'_>, tenant: TenantId, new: NewProject<'_>) -> Result<Project, Fault> {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let project = Project {
        id: tx.new_id(),
        tenant,
        name: new.name.to_owned(),
        slug: String::new(),
        key: None,
        description: new.description.to_owned(),
        base_url: own(new.base_url),
        repository: own(new.repository),
        base_branch: own(new.base_branch),
        settings: new.settings,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    let mut project = project.checked()?;
    let key = match new.key {
        Some(key) => asked_key(tx, tenant, key)?,
        None => free_key(tx, tenant, &project.name)?,
    };
    project.slug = free_slug(tx, tenant, &project.name, &key)?;
    project.key = Some(key);
    tx.run_one(
        sql!("projects.sql", "create"),
        params! {
            ":id": project.id,
            ":tenant": tenant,
            ":name": project.name,
            ":name_norm": normalised(&project.name),
            ":slug": project.slug,
            ":key": project.key,
            ":description": project.description,
            ":base_url": project.base_url,
            ":repository": project.repository,
            ":base_branch": project.base_branch,
            ":settings": to_json(&project.settings)?,
            ":now": project.created_at,
        },
    )?;
    settle(tx, &project)?;
    Ok(project)
}

/// Writes a project whose texts or settings were changed, and returns it as it now stands. Id,
/// tenant, slug and key stay as they are. Who changes what somebody has read uses
/// [`super::change()`].
pub fn save(tx: &mut Tx<'_>, project: Project) -> Result<Project, Fault> {
    let mut project = project.checked()?;
    // Never twice the same, so that it tells one version from the next.
    project.updated_at = tx.now().max(project.updated_at.plus(Duration::from_millis(1)));
    tx.run_one(
        sql!("projects.sql", "save"),
        params! {
            ":id": project.id,
            ":tenant": project.tenant,
            ":name": project.name,
            ":name_norm": normalised(&project.name),
            ":description": project.description,
            ":base_url": project.base_url,
            ":repository": project.repository,
            ":base_branch": project.base_branch,
            ":settings": to_json(&project.settings)?,
            ":now": project.updated_at,
        },
    )?;
    settle(tx, &project)?;
    Ok(project)
}

fn settle(tx: &mut Tx<'_>, project: &Project) -> Result<(), Fault> {
    if let Some(base_url) = &project.base_url {
        environments::set_default_url(tx, project.tenant, project.id, base_url)?;
    }
    tx.emit(Event::Project { tenant: project.tenant.uuid(), project: project.id.uuid() });
    Ok(())
}

/// A tenant's project with an id, whoever asks. Callers have [`super::get`].
pub fn find(read: &Read<'_>, tenant: TenantId, id: ProjectId) -> Result<Option<Project>, Fault> {
    let params = params! { ":tenant": tenant, ":id": id };
    read.find(sql!("projects.sql", "find"), params, Project::from_row)
}

/// The projects that the caller may touch, by name: at most `limit`, never more than
/// [`LIST_MAX`], of those after the project `after` where it is given.
pub fn list(
    read: &Read<'_>,
    actor: &Actor,
    limit: usize,
    after: Option<ProjectId>,
) -> Result<Vec<Project>, Fault> {
    let limit = i64::try_from(limit.clamp(1, LIST_MAX)).unwrap_or(1);
    let only = match &actor.reach {
        Reach::All => None,
        Reach::Only(projects) => {
            let ids: Vec<String> =
                projects.iter().map(|id| id.uuid().simple().to_string()).collect();
            Some(to_json(&ids)?)
        }
    };
    let params = params! {
        ":tenant": actor.tenant,
        ":only": only,
        ":after": after,
        ":limit": limit,
    };
    read.list(sql!("projects.sql", "list"), params, Project::from_row)
}

/// Takes the next number for a ticket of the project. The first is 1; none is given twice.
pub fn next_number(tx: &mut Tx<'_>, tenant: TenantId, id: ProjectId) -> Result<u64, Fault> {
    let params = params! { ":tenant": tenant, ":id": id };
    let number =
        tx.find(sql!("projects.sql", "next_number"), params, |row| row.unsigned("last_seq"))?;
    number.ok_or_else(|| Fault::new(Code::ProjectNotFound, "There is no such project."))
}

/// A key that somebody asked for.
fn asked_key(read: &Read<'_>, tenant: TenantId, text: &str) -> Result<String, Fault> {
    let key = text.trim().to_ascii_uppercase();
    let letter_first = key.starts_with(|c: char| c.is_ascii_uppercase());
    if !letter_first || key.len() > KEY_MAX || !key.chars().all(|c| c.is_ascii_alphanumeric()) {
        let said = format!("it must be a letter and at most {} letters and digits.", KEY_MAX - 1);
        return Err(Fault::argument("key", said));
    }
    if key_taken(read, tenant, &key)? {
        let said = format!("The key {key} belongs to another project.");
        return Err(Fault::new(Code::Conflict, said).issue("key", "it is taken."));
    }
    Ok(key)
}

/// A key out of the name's first word: `ACME` for “Acme Widgets”, then `ACME2` and so on.
fn free_key(read: &Read<'_>, tenant: TenantId, name: &str) -> Result<String, Fault> {
    let stem = key_stem(name);
    first_free(&stem, "", |key| key_taken(read, tenant, key))
}

fn key_stem(name: &str) -> String {
    let letters = name.split_whitespace().map(|word| {
        let word = word.chars().filter(char::is_ascii_alphanumeric);
        word.skip_while(char::is_ascii_digit).take(KEY_MAX - 4).collect::<String>()
    });
    let stem = letters.into_iter().find(|word| !word.is_empty());
    stem.map_or_else(|| "P".to_owned(), |stem| stem.to_ascii_uppercase())
}

fn free_slug(read: &Read<'_>, tenant: TenantId, name: &str, key: &str) -> Result<String, Fault> {
    let stem = match slug(name) {
        stem if stem.is_empty() => key.to_ascii_lowercase(),
        stem => stem,
    };
    first_free(&stem, "-", |slug| {
        if RESERVED_SLUGS.contains(&slug) {
            return Ok(true);
        }
        let params = params! { ":tenant": tenant, ":slug": slug };
        let taken =
            read.find(sql!("projects.sql", "slug_taken"), params, |row| row.get("taken"))?;
        Ok(taken.unwrap_or(false))
    })
}

fn key_taken(read: &Read<'_>, tenant: TenantId, key: &str) -> Result<bool, Fault> {
    let params = params! { ":tenant": tenant, ":key": key };
    let taken = read.find(sql!("projects.sql", "key_taken"), params, |row| row.get("taken"))?;
    Ok(taken.unwrap_or(false))
}

/// The stem, or the stem with the first number that makes it free.
fn first_free(
    stem: &str,
    joint: &str,
    taken: impl Fn(&str) -> Result<bool, Fault>,
) -> Result<String, Fault> {
    if !taken(stem)? {
        return Ok(stem.to_owned());
    }
    for n in 2..10_000 {
        let name = format!("{stem}{joint}{n}");
        if !taken(&name)? {
            return Ok(name);
        }
    }
    Err(Fault::new(Code::Conflict, format!("Too many projects are called {stem}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_from_the_first_word_that_has_letters() {
        for (name, key) in [
            ("Acme Widgets", "ACME"),
            ("2 fast", "FAST"),
            ("x-ray", "XRAY"),
            ("Internationalisation", "INTERNAT"),
            ("日本", "P"),
        ] {
            assert_eq!(key_stem(name), key, "{name}");
        }
    }

    #[test]
    fn a_taken_name_gets_the_first_free_number() {
        let taken = ["acme", "acme-2"];

        let free = first_free("acme", "-", |name| Ok(taken.contains(&name)));

        assert_eq!(free.ok().as_deref(), Some("acme-3"));
    }
}
