//! Keeping what has been done: a disk that is full for a while must not undo an agent's work.

use std::future::Future;
use std::time::Duration;

use super::env::{Env, refuses};
use crate::base::{Code, Fault};
use crate::jobs::{Ctx, Stop};
use crate::tickets::runner::Exit;

/// How long to wait before it is tried again: the first time, and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(3));

/// Tries until it is done, as long as the run's claim holds and only the disk is in the way. A run
/// that shall stop goes on trying all the same: what it has done is not done again.
pub(super) async fn insist<T, Act, Doing>(
    env: &Env,
    ctx: &Ctx,
    what: &'static str,
    act: Act,
) -> Result<T, Fault>
where
    Act: Fn() -> Doing,
    Doing: Future<Output = Result<T, Fault>>,
{
    let mut wait = AGAIN.0;
    loop {
        let fault = match act().await {
            Ok(done) => return Ok(done),
            Err(fault) => fault,
        };
        if !is_of_the_disk(env, &fault) || ctx.stop() == Some(Stop::Lost) {
            return Err(fault);
        }
        if wait == AGAIN.0 {
            tracing::warn!(?fault, what, "The disk is in the way; trying until it is not");
        }
        env.clock.sleep(wait).await;
        wait = (wait * 2).min(AGAIN.1);
    }
}

/// Why a process that ended badly is not to blame for it: nothing can be written where it works. It
/// could not be started now, so it is not started in vain before a person has seen to that.
pub(super) fn excuse(env: &Env, exit: Exit) -> Option<Fault> {
    if !matches!(exit, Exit::Code(1..) | Exit::Broke(_)) {
        return None;
    }
    let refuses = refuses(&env.paths.runs()) || !env.db.is_in_place();
    let said = "The data directory could not be written to while this ran.";
    refuses.then(|| Fault::new(Code::Unavailable, said))
}

/// Whether what has been done may be kept once the disk is well again.
pub(super) fn is_of_the_disk(env: &Env, fault: &Fault) -> bool {
    fault.code == Code::Unavailable || is_no_room(env, fault)
}

/// Whether the disk is full, or the data directory is not where it was or cannot be written to:
/// nothing goes on before a person has seen to that, and no ticket is to blame.
pub(super) fn is_no_room(env: &Env, fault: &Fault) -> bool {
    fault.code == Code::StorageFull || !env.db.is_in_place() || env.paths.unwritable().is_some()
}
