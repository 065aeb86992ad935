//! Moves on tickets that stand still although something could be done: the net under the pipeline,
//! for whatever a crash or an older version left behind.

use std::sync::PoisonError;

use super::env::Env;
use super::insist::is_of_the_disk;
use crate::base::Fault;
use crate::tickets::duplicates;
use crate::tickets::pipeline::heal::heal;
use crate::tickets::ticket::{self, Unfinished};

/// Tickets looked at in one transaction: other writers get their turn in between.
const PAGE: u32 = 100;

pub(super) async fn run(env: &Env) -> Result<(), Fault> {
    let mut after = 0;
    loop {
        let page = env.db.read(move |read| ticket::unfinished(read, after, PAGE)).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.n;
        let Err(fault) = move_on(env, page.clone()).await else { continue };
        if is_of_the_disk(env, &fault) {
            return Err(fault);
        }
        // One row that nothing can be done with keeps none of its neighbours from moving on.
        for ticket in page {
            if let Err(fault) = move_on(env, vec![ticket]).await {
                tracing::error!(?fault, ticket = %ticket.id, "A ticket cannot be moved on");
            }
        }
    }
}

/// Forgets the words of tickets that nothing is compared with any more: some of them each time.
pub(super) async fn forget_words(env: &Env) -> Result<(), Fault> {
    let swept = || env.keys_swept.lock().unwrap_or_else(PoisonError::into_inner);
    let from = *swept();
    let next = env.db.write(move |tx| duplicates::sweep(tx, from)).await?;
    *swept() = next;
    Ok(())
}

async fn move_on(env: &Env, tickets: Vec<Unfinished>) -> Result<(), Fault> {
    let moving = env
        .db
        .write(move |tx| tickets.iter().try_for_each(|ticket| heal(tx, ticket.tenant, ticket.id)));
    moving.await
}
