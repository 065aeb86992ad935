//! `assay key`: API keys. `create` prints the key alone on standard output, so that a script can
//! take it as it stands.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Done;
use super::output::{self, moment};
use super::workspace::{Flags, Workspace, record};
use crate::accounts::keys::{self, NewKey, Prefix};
use crate::accounts::{Actor, Key, KeyScope, Reach};
use crate::base::{Fault, Millis, Secret};
use crate::projects;
use crate::store::Tx;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a key and print it
    Create(Create),
    /// List the keys
    List {
        #[command(flatten)]
        flags: Flags,
    },
    /// Revoke a key, at once
    Revoke {
        /// Its name or id
        key: String,
        #[command(flatten)]
        flags: Flags,
    },
}

#[derive(Args)]
pub(super) struct Create {
    #[arg(long, value_parser = scope, help = "What it may do: mcp_read, mcp_full or ci")]
    scope: KeyScope,
    /// What to call it
    #[arg(long)]
    name: String,
    /// The project that is meant where a call names none; the only one for a `vq_live_` key
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Let the key reach this project and no other (repeatable)
    #[arg(long, value_name = "PROJECT")]
    only: Vec<String>,
    /// What its text starts with: `alch_`, `vq_org_live_` or `vq_live_`
    #[arg(long, default_value = "alch_", value_parser = prefix)]
    prefix: Prefix,
    /// After how many days it stops working by itself
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=3650))]
    expires_days: Option<u64>,
    #[command(flatten)]
    flags: Flags,
}

fn scope(text: &str) -> Result<KeyScope, String> {
    KeyScope::parse(text).ok_or_else(|| format!("expected {}", KeyScope::choices()))
}

fn prefix(text: &str) -> Result<Prefix, String> {
    Prefix::parse(text).ok_or_else(|| format!("expected {}", Prefix::choices()))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyView {
    id: String,
    name: String,
    scope: KeyScope,
    shown: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    default_project: Option<String>,
    only_projects: Option<Vec<String>>,
    created_by: String,
    created_at: String,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
}

impl KeyView {
    fn new(key: &Key, secret: Option<&Secret>) -> Self {
        let only_projects = match &key.reach {
            Reach::All => None,
            Reach::Only(projects) => Some(projects.iter().map(ToString::to_string).collect()),
        };
        Self {
            id: key.id.to_string(),
            name: key.name.clone(),
            scope: key.scope,
            shown: key.shown.clone(),
            key: secret.map(|secret| secret.reveal().to_owned()),
            default_project: key.default_project.map(|id| id.to_string()),
            only_projects,
            created_by: key.created_by.clone(),
            created_at: key.created_at.iso(),
            expires_at: key.expires_at.map(Millis::iso),
            last_used_at: key.last_used_at.map(Millis::iso),
            revoked_at: key.revoked_at.map(Millis::iso),
        }
    }
}

pub(super) fn run(command: Command) -> Done {
    match command {
        Command::Create(args) => create(args),
        Command::List { flags } => list(&flags),
        Command::Revoke { key, flags } => revoke(key, &flags),
    }
}

fn create(args: Create) -> Done {
    let workspace = Workspace::open_or_make(&args.flags)?;
    let (json, dir) = (args.flags.json, workspace.dir());
    let actor = workspace.actor_or_new()?;
    let (key, secret) = workspace.write(move |tx| {
        let new = wanted(tx, &actor, &args)?;
        let (key, secret) = keys::create(tx, actor.tenant, &new)?;
        record(tx, &actor, "create_key", &format!("{} ({})", key.name, key.id))?;
        Ok((key, secret))
    })?;
    if json {
        return output::json(&KeyView::new(&key, Some(&secret)));
    }
    output::note(&format!(
        "Made the {} key {} in {}. It is shown only this once:",
        key.scope,
        key.name,
        dir.display()
    ));
    Ok(output::line(secret.reveal())?)
}

fn wanted<'a>(tx: &Tx<'_>, actor: &Actor, args: &'a Create) -> Result<NewKey<'a>, Fault> {
    let find = |text: &String| projects::named(tx, actor, text).map(|project| project.id);
    let mut only = args.only.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut default_project = args.project.as_ref().map(find).transpose()?;
    if args.prefix == Prefix::VqLive && only.is_empty() {
        only.extend(default_project);
    }
    if let (None, [sole]) = (default_project, &only[..]) {
        default_project = Some(*sole);
    }
    Ok(NewKey {
        name: &args.name,
        scope: args.scope,
        prefix: args.prefix,
        default_project,
        reach: if only.is_empty() { Reach::All } else { Reach::Only(only) },
        ticket: None,
        expires_at: args
            .expires_days
            .map(|days| tx.now().plus(Duration::from_hours(days.saturating_mul(24)))),
        created_by: "command line",
    })
}

fn list(flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let (all, now) = workspace.read(|read| Ok((keys::list(read, actor.tenant)?, read.now())))?;
    if flags.json {
        return output::json(&all.iter().map(|key| KeyView::new(key, None)).collect::<Vec<_>>());
    }
    let rows: Vec<_> = all.iter().map(|key| row(key, now)).collect();
    Ok(output::table(["name", "scope", "key", "reach", "state", "last used", "id"], &rows)?)
}

fn row(key: &Key, now: Millis) -> [String; 7] {
    let state = match (key.revoked_at, key.works_at(now)) {
        (Some(_), _) => "revoked",
        (None, true) => "active",
        (None, false) => "expired",
    };
    let reach = match &key.reach {
        Reach::All => "all projects".to_owned(),
        Reach::Only(projects) if projects.len() == 1 => "1 project".to_owned(),
        Reach::Only(projects) => format!("{} projects", projects.len()),
    };
    [
        key.name.clone(),
        key.scope.to_string(),
        key.shown.clone(),
        reach,
        state.to_owned(),
        moment(key.last_used_at),
        key.id.to_string(),
    ]
}

fn revoke(text: String, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let (key, newly) = workspace.write(move |tx| {
        let key = keys::choose(tx, actor.tenant, &text)?;
        let newly = keys::revoke(tx, actor.tenant, key.id)?;
        if newly {
            record(tx, &actor, "revoke_key", &format!("{} ({})", key.name, key.id))?;
        }
        let key = keys::find(tx, actor.tenant, key.id)?.unwrap_or(key);
        Ok((key, newly))
    })?;
    if flags.json {
        return output::json(&KeyView::new(&key, None));
    }
    let said = if newly { "is revoked" } else { "was revoked before" };
    output::note(&format!("The key {} ({}) {said}.", key.name, key.shown));
    Ok(())
}
