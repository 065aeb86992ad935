//! Git, through the `git` program and nothing else.
//!
//! Assay works in one of two places ([`Repository`]). A project that names a local path is worked
//! on where it stands: its object store takes the tickets' branches, and each ticket's worktree
//! hangs off it. A project that names a remote gets a bare mirror in the data directory, fetched
//! before use and pushed from. In both, a person's checkout and configuration are never changed,
//! with one exception: where the base branch is checked out and clean, landing brings that
//! checkout along, as a pull would.
//!
//! The life of a ticket: [`inspect()`] the repository, [`Repository::open`] it, note the base's tip
//! ([`Repository::tip`]), [`worktree::ensure`], let the agent work, [`commit::commit_all`],
//! [`landing::prepare`], record the intent, [`landing::apply`], and at last [`removal::remove`] and
//! [`removal::drop_branch`]. Every step may be repeated after a crash.
//!
//! Failures: [`Code::ProjectNotReady`] where the repository
//! must be changed by a person (the message says how), `Upstream` where git failed otherwise,
//! `Timeout`, and `StorageFull`. Messages may quote git's own words: redact before they leave.

pub mod branch_name;
pub mod bring_up;
mod checkout;
pub mod commit;
pub mod commit_id;
pub mod diff;
pub mod discard;
mod environment;
mod guard;
pub mod inspect;
pub mod landing;
pub mod location;
pub mod log;
mod place;
mod process;
pub mod program;
mod registered;
pub mod removal;
pub mod repository;
mod settle;
pub mod worktree;

pub use branch_name::BranchName;
pub use commit_id::CommitId;
pub use inspect::inspect;
pub use location::Location;
pub use place::Place;
pub use program::Git;
pub use repository::Repository;
pub use worktree::Worktree;

use crate::base::{Code, Fault};

/// The repository is not as it must be, and a person has to do what the message says.
fn not_ready(message: impl Into<String>) -> Fault {
    Fault::new(Code::ProjectNotReady, message)
}
