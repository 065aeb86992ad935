//! `assay serve --demo`: a demonstration that needs nothing else. A tenant, a project with a real
//! git repository, an agent that is part of this program, a key, and three tickets. Making it again
//! changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::workspace::record;
use crate::accounts::keys::{self, NewKey};
use crate::accounts::{Actor, KeyScope, Plan, Reach, Tenant, tenants};
use crate::app::App;
use crate::base::{Code, Fault, Secret};
use crate::projects::agents::Profile;
use crate::projects::git::Git;
use crate::projects::settings::{Settings, VerifyCommand};
use crate::projects::{self, NewProject, Project};
use crate::store::Tx;
use crate::tickets::dispatch::{self, Dispatch, Dispatched};
use crate::tickets::states::{PassProfile, Preset};
use crate::tickets::ticket::Requester;

/// The demonstration, as the terminal shows it.
pub(super) struct Demo {
    pub(super) repository: PathBuf,
    pub(super) key: Secret,
}

/// The files of the demonstration's repository.
const FILES: [(&str, &str); 4] = [
    ("index.html", include_str!("demo/index.html")),
    ("style.css", include_str!("demo/style.css")),
    ("test.sh", include_str!("demo/test.sh")),
    ("README.md", include_str!("demo/README.md")),
];

/// Makes whatever of the demonstration is missing.
pub(super) async fn make(app: &App, assay: &Path) -> anyhow::Result<Demo> {
    let folder = app.env().paths.data().join("demo");
    let repository = folder.join("acme-widgets");
    make_repository(&app.env().git, &repository).await?;
    let program = assay.to_str().context("this program's path is not UTF-8")?.to_owned();
    let location = repository.to_str().context("the data directory is not UTF-8")?.to_owned();
    let known = read_key(&folder)?;
    let usable = match &known {
        Some(key) => app.gate().caller(Some(key)).await.is_ok(),
        None => false,
    };
    let made = app.env().db.write(move |tx| write(tx, &program, &location, usable)).await?;
    let key = match (made, known) {
        (Some(key), _) => {
            write_key(&folder, &key)?;
            key
        }
        (None, Some(known)) => known,
        (None, None) => anyhow::bail!("the demonstration's key is missing"),
    };
    Ok(Demo { repository, key })
}

/// A repository with one commit, unless it is there. A half-made one is made again.
async fn make_repository(git: &Git, place: &Path) -> anyhow::Result<()> {
    if place.join(".git").join("HEAD").exists()
        && git.tree(place).args(["rev-parse", "--verify", "--quiet", "HEAD"]).asks().await?
    {
        return Ok(());
    }
    fs::create_dir_all(place)?;
    for (name, text) in FILES {
        fs::write(place.join(name), text)?;
    }
    git.tree(place).args(["init", "--quiet", "--initial-branch=main"]).succeed().await?;
    git.tree(place).args(["add", "--all"]).succeed().await?;
    git.tree(place)
        .args(["commit", "--quiet", "-m", "A page for Acme Widgets"])
        .env("GIT_AUTHOR_NAME", "Ada Builder")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_NAME", "Ada Builder")
        .env("GIT_COMMITTER_EMAIL", "ada@example.com")
        .succeed()
        .await?;
    Ok(())
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("key")
}

/// The key is kept beside the repository, so that the next start can show it again. It opens the
/// demonstration and nothing else.
fn read_key(folder: &Path) -> anyhow::Result<Option<Secret>> {
    match fs::read_to_string(key_file(folder)) {
        Ok(text) => Ok(Some(Secret::new(text.trim()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn write_key(folder: &Path, key: &Secret) -> anyhow::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = fs::OpenOptions::new();
    options.create(true).truncate(true).write(true).mode(0o600);
    options.open(key_file(folder))?.write_all(key.reveal().as_bytes())?;
    Ok(())
}

/// The rows. Answers with a new key where the one that is kept does not work.
fn write(
    tx: &mut Tx<'_>,
    program: &str,
    location: &str,
    key_works: bool,
) -> Result<Option<Secret>, Fault> {
    let tenant = if let Some(tenant) = tenants::choose(tx, None)? {
        tenant
    } else {
        let made = tenants::create(tx, "Demonstration", Plan::default())?;
        note(tx, &made, "create_tenant", &made.slug)?;
        made
    };
    let project = project(tx, &tenant, program, location)?;
    for asked in tickets() {
        file(tx, &tenant, &project, &asked)?;
    }
    if key_works {
        return Ok(None);
    }
    let new = NewKey {
        default_project: Some(project.id),
        reach: Reach::Only(vec![project.id]),
        ..NewKey::plain("demonstration", KeyScope::McpFull, "assay serve --demo")
    };
    let (made, key) = keys::create(tx, tenant.id, &new)?;
    note(tx, &tenant, "create_key", &made.name)?;
    Ok(Some(key))
}

/// A row of the audit log, as every other door writes one.
fn note(tx: &mut Tx<'_>, tenant: &Tenant, action: &str, subject: &str) -> Result<(), Fault> {
    record(tx, &Actor::local(tenant.id, tenant.plan), action, subject)
}

fn project(
    tx: &mut Tx<'_>,
    tenant: &Tenant,
    program: &str,
    location: &str,
) -> Result<Project, Fault> {
    let actor = Actor::local(tenant.id, tenant.plan);
    if let Ok(known) = projects::named(tx, &actor, "ACME") {
        if known.repository.as_deref() != Some(location) {
            let message = "The data directory has another project with the key ACME, so there is \
                           no room for the demonstration. Give it a data directory of its own: \
                           --data.";
            return Err(Fault::new(Code::Conflict, message));
        }
        return set_program(tx, known, program);
    }
    let mut settings = Settings::default();
    settings.agents.profiles.insert("demo".to_owned(), Profile::demonstration(program));
    settings.verify.push(VerifyCommand::new("page test", "sh test.sh"));
    let made = projects::create(
        tx,
        tenant.id,
        NewProject {
            name: "Acme Widgets",
            key: Some("ACME"),
            description: "A small web page, and an agent that is part of Assay itself.",
            base_url: None,
            repository: Some(location),
            base_branch: Some("main"),
            settings,
        },
    )?;
    note(tx, tenant, "create_project", made.short_name())?;
    Ok(made)
}

/// The program may have moved since the demonstration was made.
fn set_program(tx: &mut Tx<'_>, mut known: Project, program: &str) -> Result<Project, Fault> {
    let profile = Profile::demonstration(program);
    match known.settings.agents.profiles.get_mut("demo") {
        Some(there) if *there != profile => {
            *there = profile;
            projects::save(tx, known)
        }
        _ => Ok(known),
    }
}

/// A ticket of the demonstration.
struct Asked {
    key: &'static str,
    title: &'static str,
    description: &'static str,
    waits: Option<(&'static str, &'static str)>,
}

fn tickets() -> [Asked; 3] {
    [
        Asked {
            key: "demo:1",
            title: "Add a dark mode toggle to the header",
            description: "A button in the page's header switches between light and dark. It starts \
                          as the reader's system has it. `sh test.sh` passes.",
            waits: None,
        },
        Asked {
            key: "demo:2",
            title: "Add a footer with the year",
            description: "The page ends with a footer that names Acme Widgets and the year. It \
                          reads well in light and dark.",
            waits: Some((
                "ACME-1",
                "The footer uses the colours that the dark mode toggle brings.",
            )),
        },
        Asked {
            key: "demo:3",
            title: "Which accent colour should the page have?",
            description: "Set the page's accent colour. Ask which one before you change anything.",
            waits: None,
        },
    ]
}

fn file(tx: &mut Tx<'_>, tenant: &Tenant, project: &Project, asked: &Asked) -> Result<(), Fault> {
    let dispatch = Dispatch {
        title: asked.title.to_owned(),
        description: asked.description.to_owned(),
        kind: None,
        preset: Preset::Auto,
        pass_profile: PassProfile::Minimal,
        depends_on: asked.waits.iter().map(|(parent, _)| (*parent).to_owned()).collect(),
        depends_on_reason: asked.waits.map(|(_, reason)| reason.to_owned()),
        requester: Requester {
            name: Some("Ada Builder".to_owned()),
            email: Some("ada@example.com".to_owned()),
            ..Requester::default()
        },
        category: Some("Demonstration".to_owned()),
        replaces: None,
        seed_from_ref: None,
        attached: None,
        operation_key: Some(asked.key.to_owned()),
        override_duplicate: false,
        no_split: true,
        predrafted: true,
        conversation: Vec::new(),
        by_model: None,
        source: "cli".to_owned(),
        actor: "assay serve --demo".to_owned(),
    };
    match dispatch::dispatch(tx, tenant.id, project, &dispatch, None)? {
        Dispatched::Filed { ticket, .. } => {
            note(tx, tenant, "dispatch_ticket", &ticket.reference())
        }
        Dispatched::Replayed(_) | Dispatched::Folded(_) => Ok(()),
    }
}
