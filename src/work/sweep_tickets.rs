//! Moves on tickets that stand still although something could be done: the net under the pipeline,
//! for whatever a crash or an older version left behind.

use super::env::Env;
use crate::base::Fault;
use crate::store::Tx;
use crate::tickets::pipeline::{self, advance, start_waiting};
use crate::tickets::states::Status;
use crate::tickets::ticket::{self, Unfinished};

/// Tickets looked at in one transaction: other writers get their turn in between.
const PAGE: u32 = 100;

pub(super) async fn run(env: &Env) -> Result<(), Fault> {
    let mut after = 0;
    loop {
        let page = env.db.read(move |read| ticket::unfinished(read, after, PAGE)).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.n;
        env.db.write(move |tx| page.iter().try_for_each(|ticket| move_on(tx, ticket))).await?;
    }
}

fn move_on(tx: &mut Tx<'_>, of: &Unfinished) -> Result<(), Fault> {
    let ticket = ticket::get(tx, of.tenant, of.id)?;
    match ticket.status {
        Status::Running => advance(tx, of.tenant, of.id),
        Status::Queued => {
            let project = pipeline::project_of(tx, &ticket)?;
            start_waiting(tx, of.tenant, &project)
        }
        _ => Ok(()),
    }
}
