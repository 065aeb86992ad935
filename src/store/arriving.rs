//! A blob that arrives piece by piece, too large to be held in memory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use super::blob::{Blobs, Hash};
use crate::base::Fault;

/// A blob on its way. What is dropped before it is kept leaves nothing behind.
pub struct Arriving {
    blobs: Blobs,
    half: PathBuf,
    file: File,
    hasher: blake3::Hasher,
    size: u64,
}

impl Arriving {
    pub(super) fn begin(blobs: &Blobs, half: PathBuf) -> io::Result<Self> {
        let file = File::create_new(&half)?;
        Ok(Self { blobs: blobs.clone(), half, file, hasher: blake3::Hasher::new(), size: 0 })
    }

    /// Takes the next bytes. Blocks.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.file.write_all(bytes).map_err(|error| self.blobs.fault(error))?;
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// How many bytes have come.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The hash of what has come.
    #[must_use]
    pub fn hash(&self) -> Hash {
        Hash::from_bytes(*self.hasher.finalize().as_bytes())
    }

    /// Keeps it. Once this returns it is on disk under its hash. Blocks.
    pub fn keep(self) -> Result<Hash, Fault> {
        let hash = self.hash();
        let kept = self.blobs.name(&self.file, &self.half, &self.blobs.path(hash));
        kept.map_err(|error| self.blobs.fault(error))?;
        Ok(hash)
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        // It is gone already where it was kept, and goes at the next start where it cannot go now.
        drop(fs::remove_file(&self.half));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Entropy;

    #[test]
    fn pieces_become_the_blob_that_they_are_together() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path().join("blobs"), Entropy::seeded(1)).unwrap();
        let mut arriving = blobs.begin().unwrap();
        for piece in [&b"pro"[..], b"", b"of"] {
            arriving.write(piece).unwrap();
        }

        assert_eq!((arriving.size(), arriving.hash()), (5, Hash::of(b"proof")));
        let hash = arriving.keep().unwrap();

        assert_eq!(blobs.get(hash).unwrap().unwrap(), b"proof");
        blobs.remove(hash).unwrap();
        blobs.remove(hash).unwrap();
        assert_eq!(blobs.get(hash).unwrap(), None);
    }

    #[test]
    fn what_is_not_kept_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path().join("blobs"), Entropy::seeded(1)).unwrap();
        let mut arriving = blobs.begin().unwrap();
        arriving.write(b"half").unwrap();

        drop(arriving);

        assert_eq!(fs::read_dir(dir.path().join("blobs/half-written")).unwrap().count(), 0);
    }
}
