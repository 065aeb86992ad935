//! Running an agent: one process group in one worktree, from a recorded start to a certain end.
//!
//! The agent is started through this very binary as a shim that waits for a word before it
//! becomes the agent. So the process is written down before anything of it runs, and a server
//! that dies in between leaves nothing behind. Whichever way a run ends, every process that it
//! started is gone when [`run()`] returns.

mod acp;
mod ended;
pub mod output;
pub mod process;
pub mod report;
mod run;
mod spawn;
pub mod usage;

pub use acp::Trouble;
pub use ended::{Ended, Exit};
pub use output::{LogLine, Redact, Stream};
pub use process::{ProcessId, end_orphan};
pub use report::{Handed, Report};
pub use run::run;
pub use spawn::{Access, GO, Launch, Limits, NOT_FOUND, NOT_RUNNABLE, NOT_STARTED};
pub use usage::{Bound, Usage};
