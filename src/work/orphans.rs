//! What an earlier start of the server left behind: its agents have nobody to report to, and their
//! nodes start again from their branches; the folders of their runs hold nothing that is needed.

use std::ffi::OsStr;
use std::time::Duration;

use super::agent_log::remove_folder;
use super::env::Env;
use crate::base::{Fault, NodeId};
use crate::tickets::claims;
use crate::tickets::processes::{self, Recorded};
use crate::tickets::runner::{ProcessId, end_orphan};

/// How long an orphan may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Ends every process that an earlier start recorded. Called before any work is taken up.
pub async fn end_orphans(env: &Env) -> Result<(), Fault> {
    let boot = env.boot;
    let orphans = env.db.read(move |read| processes::orphans(read, boot)).await?;
    let ends = orphans.into_iter().map(|orphan| end(env, orphan));
    futures_util::future::try_join_all(ends).await?;
    Ok(())
}

async fn end(env: &Env, orphan: Recorded) -> Result<(), Fault> {
    let process = ProcessId { pid: orphan.pid, started: orphan.started };
    let run = orphan.run;
    match end_orphan(process, &run.to_string(), GRACE).await {
        Ok(true) => tracing::warn!(pid = orphan.pid, "Ended a process of an earlier start"),
        Ok(false) => {}
        Err(fault) => tracing::error!(?fault, pid = orphan.pid, "A process could not be ended"),
    }
    env.db.write(move |tx| processes::forget(tx, run)).await
}

/// Removes the folders of runs that an earlier start did not end. Called before any work is taken
/// up, once nobody writes there any more. An agent in somebody's editor goes on after a restart, so
/// what it was given stays.
pub async fn remove_runs(env: &Env) {
    let Ok(mut folders) = tokio::fs::read_dir(env.paths.runs()).await else { return };
    while let Ok(Some(folder)) = folders.next_entry().await {
        match is_claimed(env, &folder.file_name()).await {
            Ok(true) => {}
            Ok(false) => remove_folder(&folder.path()).await,
            Err(fault) => tracing::warn!(?fault, "A run's folder is kept"),
        }
    }
}

/// Whether the folder is that of a node that an editor's agent does now.
async fn is_claimed(env: &Env, folder: &OsStr) -> Result<bool, Fault> {
    let parts = folder.to_str().and_then(|name| name.rsplit_once('-'));
    let run = parts.and_then(|(node, attempt)| {
        Some((NodeId::from_uuid(node.parse().ok()?), attempt.parse().ok()?))
    });
    let Some((node, attempt)) = run else { return Ok(false) };
    env.db.read(move |read| claims::is_open(read, node, attempt)).await
}
