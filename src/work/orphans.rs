//! Ends what an earlier start of the server left running: its agents have nobody to report to, and
//! their nodes start again from their branches.

use std::time::Duration;

use super::env::Env;
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
