//! The record of agent processes that may be alive. A row is on disk before its process may do
//! anything, so a server that died leaves no process behind that the next one does not know.

use crate::base::{BootId, Fault, NodeId, RunId, TenantId};
use crate::store::{Read, Tx};
use crate::{params, sql};

/// Processes looked at in one go at most.
const PROCESSES_MAX: u32 = 1_000;

/// A recorded process.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// This start of it; the mark in its environment.
    pub run: RunId,
    /// Its process id.
    pub pid: u32,
    /// When it started, in clock ticks since boot; tells it from another that got the same id.
    pub started: u64,
}

/// Records a process before it is let go, with the node that it runs for, if it is of one.
pub fn record(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    node: Option<NodeId>,
    boot: BootId,
    process: &Recorded,
) -> Result<(), Fault> {
    let now = tx.now();
    tx.run_one(
        sql!("processes.sql", "insert"),
        params! { ":run": process.run, ":tenant": tenant, ":node": node, ":boot": boot,
        ":pid": process.pid, ":started": crate::store::to_int(process.started), ":now": now },
    )
}

/// Forgets a process that is gone.
pub fn forget(tx: &mut Tx<'_>, run: RunId) -> Result<(), Fault> {
    tx.run(sql!("processes.sql", "delete"), params! { ":run": run })?;
    Ok(())
}

/// Processes that another start of the server recorded and did not see end.
pub fn orphans(read: &Read<'_>, boot: BootId) -> Result<Vec<Recorded>, Fault> {
    read.list(
        sql!("processes.sql", "orphans"),
        params! { ":boot": boot, ":limit": PROCESSES_MAX },
        |row| {
            Ok(Recorded {
                run: row.get("run_id")?,
                pid: row.get("pid")?,
                started: row.unsigned("started")?,
            })
        },
    )
}
