//! `assay project`: sites, their repositories, and how their tickets are worked on.

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Done;
use super::output::{self, moment};
use super::project_set::{Setting, absolute_repository};
use super::workspace::{Flags, Workspace, record};
use crate::base::Fault;
use crate::base::fault::Code;
use crate::projects::agents;
use crate::projects::git::inspect::State;
use crate::projects::git::{Git, inspect};
use crate::projects::health::{Finding, Health, judge};
use crate::projects::settings::{Settings, VerifyCommand};
use crate::projects::{self, NewProject, Project};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a project
    Create(Create),
    /// List the projects
    List {
        #[command(flatten)]
        flags: Flags,
    },
    /// Show a project, its settings and what is amiss with its set-up
    Show {
        /// Its id, key, slug or name
        project: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Change a project: `assay project set ACME repository=/srv/acme agent=claude`
    #[command(after_help = Setting::HELP)]
    Set {
        /// Its id, key, slug or name
        project: String,
        /// What to change; an empty value clears it
        #[arg(value_name = "NAME=VALUE", required = true)]
        settings: Vec<Setting>,
        #[command(flatten)]
        flags: Flags,
    },
}

#[derive(Args)]
pub(super) struct Create {
    /// Its name
    #[arg(
        value_name = "NAME",
        required_unless_present = "name_flag",
        conflicts_with = "name_flag"
    )]
    name: Option<String>,
    /// Its name, as a flag
    #[arg(id = "name_flag", long = "name", value_name = "NAME")]
    name_flag: Option<String>,
    /// What its tickets' names begin with; from the name where it is left out
    #[arg(long)]
    key: Option<String>,
    /// What it is about
    #[arg(long, default_value = "")]
    description: String,
    /// Where its site is served
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Its git repository: a path of this machine, or an address
    #[arg(long, value_name = "PATH|URL")]
    repository: Option<String>,
    /// The branch that tickets start from and land on
    #[arg(long, value_name = "BRANCH")]
    base_branch: Option<String>,
    /// The agent profile: claude, codex or script
    #[arg(long, value_name = "PROFILE")]
    agent: Option<String>,
    /// A shell line that must succeed before a ticket lands (repeatable)
    #[arg(long, value_name = "COMMAND")]
    verify: Vec<String>,
    #[command(flatten)]
    flags: Flags,
}

/// A project for a program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: String,
    name: &'a str,
    key: Option<&'a str>,
    slug: &'a str,
    description: &'a str,
    base_url: Option<&'a str>,
    repository: Option<String>,
    base_branch: Option<&'a str>,
    settings: &'a Settings,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<ShownHealth<'a>>,
}

#[derive(Serialize)]
struct ShownHealth<'a> {
    blockers: Vec<ShownFinding<'a>>,
    warnings: Vec<ShownFinding<'a>>,
}

#[derive(Serialize)]
struct ShownFinding<'a> {
    code: projects::health::Amiss,
    message: &'a str,
    fix: &'a str,
}

impl<'a> Shown<'a> {
    fn new(project: &'a Project, health: Option<&'a Health>) -> Self {
        let findings = |all: &'a [Finding]| {
            let shown = |found: &'a Finding| ShownFinding {
                code: found.code,
                message: &found.message,
                fix: &found.fix,
            };
            all.iter().map(shown).collect()
        };
        Self {
            id: project.id.to_string(),
            name: &project.name,
            key: project.key.as_deref(),
            slug: &project.slug,
            description: &project.description,
            base_url: project.base_url.as_deref(),
            repository: project.location().map(|location| location.to_string()),
            base_branch: project.base_branch.as_deref(),
            settings: &project.settings,
            created_at: project.created_at.iso(),
            updated_at: project.updated_at.iso(),
            health: health.map(|health| ShownHealth {
                blockers: findings(&health.blockers),
                warnings: findings(&health.warnings),
            }),
        }
    }
}

pub(super) fn run(command: Command) -> Done {
    match command {
        Command::Create(args) => create(args),
        Command::List { flags } => list(&flags),
        Command::Show { project, flags } => show(&project, &flags),
        Command::Set { project, settings, flags } => set(project, settings, &flags),
    }
}

fn create(args: Create) -> Done {
    let json = args.flags.json;
    let mut settings = Settings::default();
    if let Some(agent) = &args.agent {
        super::project_set::set_agent(&mut settings, agent)?;
    }
    settings.verify = args.verify.iter().map(|line| VerifyCommand::new(line, line)).collect();
    let repository = args.repository.as_deref().map(absolute_repository).transpose()?;
    let workspace = Workspace::open_or_make(&args.flags)?;
    let actor = workspace.actor_or_new()?;
    let project = workspace.write(move |tx| {
        let name = args.name.or(args.name_flag).unwrap_or_default();
        let new = NewProject {
            name: &name,
            key: args.key.as_deref(),
            description: &args.description,
            base_url: args.base_url.as_deref(),
            repository: repository.as_deref(),
            base_branch: args.base_branch.as_deref(),
            settings,
        };
        let project = projects::create(tx, actor.tenant, new)?;
        record(tx, &actor, "create_project", project.short_name())?;
        Ok(project)
    })?;
    tell(&project, json)?;
    if !json {
        output::line(project.short_name())?;
    }
    Ok(())
}

/// Says how a project stands after a change: as JSON, or what is amiss as remarks.
fn tell(project: &Project, json: bool) -> Done {
    let health = examine(project)?;
    if json {
        return output::json(&Shown::new(project, Some(&health)));
    }
    for found in health.blockers.iter().chain(&health.warnings) {
        output::note(&format!("{}\n  {}", found.message, found.fix));
    }
    Ok(())
}

fn list(flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let mut all: Vec<Project> = Vec::new();
    loop {
        let after = all.last().map(|project| project.id);
        let page =
            workspace.read(|read| projects::list(read, &actor, projects::LIST_MAX, after))?;
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    if flags.json {
        let shown: Vec<_> = all.iter().map(|project| Shown::new(project, None)).collect();
        return output::json(&shown);
    }
    let row = |project: &Project| {
        let repository = project.location().map_or_else(|| "-".to_owned(), |at| at.to_string());
        let (short, name) = (project.short_name().to_owned(), project.name.clone());
        [short, name, repository, project.id.to_string()]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    Ok(output::table(["key", "name", "repository", "id"], &rows)?)
}

fn show(text: &str, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let project = workspace.read(|read| projects::named(read, &actor, text))?;
    let health = examine(&project)?;
    if flags.json {
        return output::json(&Shown::new(&project, Some(&health)));
    }
    for line in describe(&project, &health) {
        output::line(&line)?;
    }
    Ok(())
}

fn describe(project: &Project, health: &Health) -> Vec<String> {
    let settings = &project.settings;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let agents = settings.agents.profiles.iter().map(|(name, profile)| {
        let chosen = settings.agents.choose("implement", "auto");
        let mark = if chosen.is_some_and(|(chosen, _)| chosen == name) { " (default)" } else { "" };
        format!("{name}{mark}: {}", profile.command.join(" "))
    });
    let verify = settings.verify.iter().map(|command| match &command.name {
        name if *name == command.command => name.clone(),
        name => format!("{name}: {}", command.command),
    });
    let blockers = health.blockers.iter().map(|found| ("blocker", found));
    let findings = blockers.chain(health.warnings.iter().map(|found| ("warning", found)));
    let mut lines = vec![
        format!("{} ({})", project.name, project.short_name()),
        format!("id           {}", project.id),
        format!("repository   {}", or_dash(project.location().map(|at| at.to_string()))),
        format!("base branch  {}", or_dash(project.base_branch.clone())),
        format!("base URL     {}", or_dash(project.base_url.clone())),
        format!("landing      {}", settings.landing.strategy),
        format!("changed      {}", moment(Some(project.updated_at))),
    ];
    lines.extend(agents.map(|agent| format!("agent        {agent}")));
    if settings.agents.is_for_editor("implement", "auto") {
        lines.push("agent        editor (default): nodes wait to be claimed".to_owned());
    }
    lines.extend(verify.map(|command| format!("verify       {command}")));
    lines.extend(
        findings.map(|(what, found)| {
            format!("{what:<13}{}\n             {}", found.message, found.fix)
        }),
    );
    lines
}

fn set(text: String, settings: Vec<Setting>, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let changes = settings.into_iter().map(Setting::load).collect::<Result<Vec<_>, _>>()?;
    let project = workspace.write(move |tx| {
        let project = projects::named(tx, &actor, &text)?;
        let project = projects::change(tx, project, None, |project| {
            let mut verify_begun = false;
            changes.into_iter().try_for_each(|one| one.apply(project, &mut verify_begun))
        })?;
        record(tx, &actor, "update_project", project.short_name())?;
        Ok(project)
    })?;
    tell(&project, flags.json)
}

/// What is amiss with the project: its repository and its agents' programs are looked at.
fn examine(project: &Project) -> anyhow::Result<Health> {
    let missing = agents::not_found(&project.settings.agents.profiles);
    Ok(examine_repository(project)?.with_missing(project, &missing))
}

fn examine_repository(project: &Project) -> anyhow::Result<Health> {
    let Some(location) = project.location() else { return Ok(judge(project, None)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let base = project.base();
    let state = runtime.block_on(inspect(&Git::new("git"), &location, base.as_ref()));
    match state {
        Ok(state) => Ok(judge(project, Some(&state))),
        Err(Fault { code: Code::Upstream | Code::Unavailable, message, .. }) => {
            Ok(judge(project, Some(&State::Unreachable { said: message })))
        }
        Err(fault) => Err(fault.into()),
    }
}
