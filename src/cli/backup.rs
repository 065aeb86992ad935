//! `assay backup` and `assay restore`: a copy of the data directory, and one made of a copy.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Done;
use super::output;
use super::workspace::{Workspace, record};
use crate::accounts::{Actor, tenants};
use crate::base::{Clock, Code, Entropy, Fault};
use crate::config::{DataArgs, data_flag};
use crate::store::{self, Backup, Wanted};
use crate::web::humane;

#[derive(Args)]
pub(super) struct BackupArgs {
    /// The folder to make; nothing may be there yet
    folder: PathBuf,
    /// Leave out secrets.key, without which nobody can read the secrets of tickets and webhooks
    #[arg(long)]
    without_key: bool,
    #[command(flatten)]
    data: DataArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct RestoreArgs {
    /// The backup; it stays as it is
    folder: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    folder: String,
    taken_at: String,
    bytes: u64,
    took_ms: u64,
    has_key: bool,
}

/// Takes a backup beside a server that may be at work.
pub(super) fn take(args: &BackupArgs) -> Done {
    let workspace = Workspace::open_at(&args.data.data)?;
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let (data, taken_at) = (workspace.dir(), clock.now());
    let wanted = Wanted { data: &data, target: &args.folder, with_key: !args.without_key };
    let bytes = store::take(workspace.db(), wanted, &entropy)?;
    let folder = args.folder.canonicalize().unwrap_or_else(|_| args.folder.clone());
    let took_ms = u64::try_from(clock.now().since(taken_at).as_millis()).unwrap_or(u64::MAX);
    let has_key = folder.join("secrets.key").exists();
    let backup = Backup { taken_at, folder, bytes, took_ms, has_key };
    let noted = backup.clone();
    workspace.write(move |tx| {
        store::note_backup(tx, &noted)?;
        let Some(host) = tenants::host(tx)? else { return Ok(()) };
        let subject = noted.folder.to_string_lossy();
        record(tx, &Actor::local(host.id, host.plan), "backup", &subject)
    })?;
    if args.json {
        return output::json(&Shown {
            folder: backup.folder.display().to_string(),
            taken_at: backup.taken_at.iso(),
            bytes,
            took_ms,
            has_key,
        });
    }
    let size = humane::size(bytes);
    output::note(&format!("Copied {size} in {took_ms} ms."));
    Ok(output::line(&backup.folder.display().to_string())?)
}

/// Makes a data directory of a backup.
pub(super) fn restore(args: &RestoreArgs) -> Done {
    let (data, entropy) = (&args.data.data, Entropy::system());
    let bytes = store::restore(&args.folder, data, &entropy)?;
    let damaged = store::damaged_blobs(data, &entropy)?;
    output::note(&format!("Restored {}.", humane::size(bytes)));
    output::line(&format!("assay serve{}", data_flag(data)))?;
    if damaged.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = damaged.iter().take(10).map(ToString::to_string).collect();
    let said = format!(
        "The database is whole, but {} kept with it differ from what they were: {}.",
        humane::counted(damaged.len() as u64, "file", "files"),
        names.join(", ")
    );
    Err(Fault::new(Code::Unavailable, said).into())
}
