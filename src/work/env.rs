//! What background work works with.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::base::{BootId, Clock, Entropy, MailServer};
use crate::events::Bus;
use crate::projects::git::Git;
use crate::store::{Blobs, Db, Uploads};
use crate::tickets::duplicates::Place;

/// The folders of a data directory.
#[derive(Debug, Clone)]
pub struct Paths {
    data: PathBuf,
}

impl Paths {
    /// The folders under `data`, which must be an absolute path.
    #[must_use]
    pub const fn new(data: PathBuf) -> Self {
        Self { data }
    }

    /// The data directory itself.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Where each ticket has its work tree.
    #[must_use]
    pub fn worktrees(&self) -> PathBuf {
        self.data.join("worktrees")
    }

    /// Where remote repositories are mirrored.
    #[must_use]
    pub fn mirrors(&self) -> PathBuf {
        self.data.join("repositories")
    }

    /// Where each run of a node keeps its prompt, report and log while it lasts.
    #[must_use]
    pub fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    /// The folder of one run of a node.
    #[must_use]
    pub fn run(&self, node: impl std::fmt::Display, attempt: u32) -> PathBuf {
        self.runs().join(format!("{node}-{attempt}"))
    }

    /// Where the files are that people upload.
    #[must_use]
    pub fn uploads(&self) -> PathBuf {
        self.data.join("uploads")
    }

    /// Where blobs are.
    #[must_use]
    pub fn blobs(&self) -> PathBuf {
        self.data.join("blobs")
    }

    /// The first of the folders in which nothing can be made at the moment: its disk is read-only,
    /// or the server's user may not. One that is not there yet is made where the others are.
    #[must_use]
    pub fn unwritable(&self) -> Option<PathBuf> {
        let inner = [self.blobs(), self.uploads(), self.runs(), self.worktrees(), self.mirrors()];
        let all = std::iter::once(self.data.clone()).chain(inner);
        all.into_iter().find(|folder| refuses(folder))
    }
}

/// Whether nothing can be made in a folder that is there.
pub(super) fn refuses(folder: &Path) -> bool {
    let may = access(folder, Access::WRITE_OK | Access::EXEC_OK);
    matches!(may, Err(Errno::ACCESS | Errno::ROFS | Errno::PERM))
}

/// What background work works with.
pub struct Env {
    /// The database.
    pub db: Db,
    /// Large bytes.
    pub blobs: Blobs,
    /// Files that people upload.
    pub uploads: Uploads,
    /// Where events are published.
    pub bus: Bus,
    /// The time.
    pub clock: Clock,
    /// Randomness.
    pub entropy: Entropy,
    /// The git program.
    pub git: Git,
    /// This start of the server.
    pub boot: BootId,
    /// The folders of the data directory.
    pub paths: Paths,
    /// This very program: the shim that agents are started through.
    pub assay: PathBuf,
    /// The address at which agents reach this server.
    pub url: String,
    /// The address at which people reach it, without a slash at its end.
    pub origin: String,
    /// The server that takes mails, where there is one.
    pub mail: Option<MailServer>,
    /// One landing at a time for each repository.
    pub landings: Turns,
    /// One run at a time in each ticket's work tree.
    pub desks: Turns,
    /// How far the sweep of what tickets were asked with has come.
    pub keys_swept: Mutex<Place>,
}

impl Env {
    /// Tells whether the data directory is still where it was.
    #[must_use]
    pub fn in_place(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let db = self.db.clone();
        Arc::new(move || db.is_in_place())
    }
}

/// A turn for each name: whoever holds it is alone.
#[derive(Default)]
pub struct Turns(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits for the turn of `name`. It ends when what is returned is dropped.
    pub async fn take(&self, name: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Names that nobody holds or waits for are forgotten.
            turns.retain(|_, turn| turn.strong_count() > 0);
            turns.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
                let turn = Arc::default();
                turns.insert(name.to_owned(), Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_turn_is_for_one_alone_and_ends_with_its_holder() {
        let turns = Turns::default();
        let held = turns.take("a").await;

        assert!(turns.take("a").now_or_never().is_none());
        assert!(turns.take("b").now_or_never().is_some());
        drop(held);
        assert!(turns.take("a").now_or_never().is_some());
    }

    #[tokio::test]
    async fn names_that_nobody_holds_are_forgotten() {
        let turns = Turns::default();
        for n in 0..100 {
            drop(turns.take(&n.to_string()).await);
        }

        assert!(turns.0.lock().unwrap().len() <= 1);
    }
}
