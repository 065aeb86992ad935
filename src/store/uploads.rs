//! Files that people and programs upload: blobs of their own, of which those that nobody uses are
//! removed again.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use super::blob::{Blobs, Hash};
use crate::base::{Entropy, Fault};

/// The folder of uploads. Cheap to clone.
#[derive(Clone)]
pub struct Uploads {
    blobs: Blobs,
    turn: Arc<RwLock<()>>,
}

impl Uploads {
    /// Opens, and where needed makes, the folder.
    pub fn open(root: PathBuf, entropy: Entropy) -> Result<Self, Fault> {
        Ok(Self { blobs: Blobs::open(root, entropy)?, turn: Arc::default() })
    }

    /// The blobs.
    #[must_use]
    pub const fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Held from before a blob is kept until the commit that names it: nothing is removed
    /// meanwhile.
    pub async fn naming(&self) -> OwnedRwLockReadGuard<()> {
        self.turn.clone().read_owned().await
    }

    /// Removes the blobs that `unnamed` finds to be named by nothing, while nothing is being named.
    pub async fn remove(
        &self,
        unnamed: impl Future<Output = Result<Vec<Hash>, Fault>>,
    ) -> Result<(), Fault> {
        let turn = self.turn.clone().write_owned().await;
        let (blobs, unnamed) = (self.blobs.clone(), unnamed.await?);
        if unnamed.is_empty() {
            return Ok(());
        }
        let removed = tokio::task::spawn_blocking(move || {
            unnamed.into_iter().try_for_each(|hash| blobs.remove(hash))
        });
        let removed = removed.await.map_err(Fault::internal)?;
        drop(turn);
        removed
    }
}
