//! What an earlier start of the server left behind: its agents have nobody to report to, and their
//! nodes start again from their branches; the folders of their runs hold nothing that is needed.

use std::time::Duration;

use super::agent_log::remove_folder;
use super::env::{Env, Paths};
use crate::base::Fault;
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
/// up, once nobody writes there any more.
pub async fn remove_runs(paths: &Paths) {
    let Ok(mut folders) = tokio::fs::read_dir(paths.runs()).await else { return };
    while let Ok(Some(folder)) = folders.next_entry().await {
        remove_folder(&folder.path()).await;
    }
}
