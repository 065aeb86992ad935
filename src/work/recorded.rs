//! A process that stands on record from before anything of it runs until it is gone.

use super::env::Env;
use super::insist::insist;
use crate::base::{Fault, NodeId, RunId, TenantId};
use crate::jobs::Ctx;
use crate::tickets::processes::{self, Recorded};
use crate::tickets::runner::{self, Ended, Launch, ProcessId};

/// Runs an agent or a check to its end, for a node where it is of one. What it came to is given
/// back even where the record could not be cleared: the next start finds the process gone, and
/// clears it.
pub(super) async fn run(
    env: &Env,
    ctx: &Ctx,
    (tenant, node): (TenantId, Option<NodeId>),
    run: RunId,
    launch: Launch,
) -> Result<Ended, Fault> {
    let (db, boot) = (env.db.clone(), env.boot);
    let record = move |process: ProcessId| async move {
        let recorded = Recorded { run, pid: process.pid, started: process.started };
        db.write(move |tx| processes::record(tx, tenant, node, boot, &recorded)).await
    };
    let ended = runner::run(launch, record, ctx.cancel.clone()).await;
    let forget = || env.db.write(move |tx| processes::forget(tx, run));
    if let Err(fault) = insist(env, ctx, "forget a process", forget).await {
        tracing::warn!(?fault, %run, "A process that is gone stays on record");
    }
    ended
}
