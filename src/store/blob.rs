//! Large bytes: files named by their BLAKE3 hash under `blobs/`. A row holds the hash, so a blob is
//! written first, flushed and renamed, and only then named by a commit.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::arriving::Arriving;
use crate::base::stops::{self, Stop};
use crate::base::{Entropy, Fault};

/// The BLAKE3 hash of a blob: 32 bytes, shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash in `text`: exactly 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hash = blake3::Hash::from_hex(text).ok()?;
        (hash.to_hex().as_str() == text).then(|| Self(*hash.as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How many blobs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stock {
    /// The files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether both were reckoned from a part.
    pub is_reckoned: bool,
}

/// The folder of blobs.
#[derive(Clone)]
pub struct Blobs {
    root: PathBuf,
    entropy: Entropy,
}

impl Blobs {
    /// Opens, and where needed makes, the folder. What an earlier process left half-written goes.
    pub fn open(root: PathBuf, entropy: Entropy) -> Result<Self, Fault> {
        let blobs = Self { root, entropy };
        let half_written = blobs.half_written();
        if half_written.exists() {
            fs::remove_dir_all(&half_written).map_err(|e| blobs.fault(e))?;
        }
        fs::create_dir_all(&half_written).map_err(|e| blobs.fault(e))?;
        Ok(blobs)
    }

    /// Keeps some bytes. Once this returns they are on disk under their hash.
    pub fn put(&self, bytes: &[u8]) -> Result<Hash, Fault> {
        let hash = Hash::of(bytes);
        let path = self.path(hash);
        if !path.exists() {
            self.write(&path, bytes).map_err(|e| self.fault(e))?;
        }
        Ok(hash)
    }

    /// A blob that is to arrive piece by piece.
    pub fn begin(&self) -> Result<Arriving, Fault> {
        Arriving::begin(self, self.new_half()).map_err(|error| self.fault(error))
    }

    /// Removes a blob that nothing names any more. The caller sees to it that nothing is about to.
    pub fn remove(&self, hash: Hash) -> Result<(), Fault> {
        match fs::remove_file(self.path(hash)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(self.fault(e)),
            _ => Ok(()),
        }
    }

    /// The bytes of a blob; `None` where the file is gone.
    pub fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, Fault> {
        match fs::read(self.path(hash)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.fault(e)),
        }
    }

    /// At most the first `limit` bytes of a blob.
    pub fn head(&self, hash: Hash, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        let file = match File::open(self.path(hash)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(self.fault(e)),
        };
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes).map_err(|e| self.fault(e))?;
        Ok(Some(bytes))
    }

    /// How many blobs there are and how large they are together. Where there are more than
    /// `files_max`, only a part of the folder is read and the rest reckoned from it: blobs lie in
    /// 256 folders by their hashes, and so evenly.
    pub fn count(&self, files_max: u64) -> Result<Stock, Fault> {
        let mut stock = Stock { files: 0, bytes: 0, is_reckoned: false };
        for shard in 0_u64..256 {
            if stock.files > files_max {
                let whole = |part: u64| part.saturating_mul(256) / shard;
                let (files, bytes) = (whole(stock.files), whole(stock.bytes));
                return Ok(Stock { files, bytes, is_reckoned: true });
            }
            let folder = self.root.join(format!("{shard:02x}"));
            let entries = match fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(self.fault(e)),
            };
            // What is removed meanwhile is not counted.
            for about in entries.flatten().filter_map(|entry| entry.metadata().ok()) {
                stock.files += 1;
                stock.bytes = stock.bytes.saturating_add(about.len());
            }
        }
        Ok(stock)
    }

    /// The blobs whose bytes are not those that their names tell. Reads all of them.
    pub fn damaged(&self) -> Result<Vec<Hash>, Fault> {
        let mut damaged = Vec::new();
        for shard in 0_u8..=255 {
            let shard = format!("{shard:02x}");
            let Ok(entries) = fs::read_dir(self.root.join(&shard)) else { continue };
            for entry in entries {
                let name = entry.map_err(|e| self.fault(e))?.file_name();
                let named = name.to_str().and_then(|rest| Hash::parse(&format!("{shard}{rest}")));
                let Some(hash) = named else { continue };
                if self.get(hash)?.is_some_and(|bytes| Hash::of(&bytes) != hash) {
                    damaged.push(hash);
                }
            }
        }
        Ok(damaged)
    }

    /// Where a blob's file is, or would be.
    #[must_use]
    pub fn path(&self, hash: Hash) -> PathBuf {
        let name = hash.to_string();
        self.root.join(&name[..2]).join(&name[2..])
    }

    fn half_written(&self) -> PathBuf {
        self.root.join("half-written")
    }

    fn new_half(&self) -> PathBuf {
        let name = u128::from_le_bytes(self.entropy.bytes());
        self.half_written().join(format!("{name:032x}"))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = self.new_half();
        let written = self.write_half(&half, path, bytes);
        if written.is_err() {
            // The first failure is the one to tell; a leftover goes at the next start.
            drop(fs::remove_file(&half));
        }
        written
    }

    fn write_half(&self, half: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(half)?;
        file.write_all(bytes)?;
        self.name(&file, half, path)
    }

    /// Flushes a file and gives it the name that it is kept under.
    pub(super) fn name(&self, file: &File, half: &Path, path: &Path) -> io::Result<()> {
        file.sync_all()?;
        stops::reach(Stop::BlobWritten);
        let folder = path.parent().unwrap_or(&self.root);
        match fs::create_dir(folder) {
            // A folder's own name stands in the one above it.
            Ok(()) => File::open(&self.root)?.sync_all()?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
        fs::rename(half, path)?;
        File::open(folder)?.sync_all()?;
        stops::reach(Stop::BlobNamed);
        Ok(())
    }

    pub(super) fn fault(&self, error: io::Error) -> Fault {
        Fault::of_folder(&self.root, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blobs(dir: &tempfile::TempDir) -> Blobs {
        Blobs::open(dir.path().join("blobs"), Entropy::seeded(1)).unwrap()
    }

    #[test]
    fn a_blob_reads_back_under_its_hash() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = blobs(&dir);

        let hash = blobs.put(b"proof").unwrap();

        assert_eq!(blobs.get(hash).unwrap().unwrap(), b"proof");
        assert_eq!(blobs.head(hash, 2).unwrap().unwrap(), b"pr");
        assert_eq!(blobs.put(b"proof").unwrap(), hash);
        assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
        assert_eq!(blobs.get(Hash::of(b"absent")).unwrap(), None);
    }

    #[test]
    fn what_a_dead_process_left_half_written_goes() {
        let dir = tempfile::tempdir().unwrap();
        let half = blobs(&dir).half_written().join("x");
        fs::write(&half, b"half").unwrap();

        blobs(&dir);

        assert!(!half.exists());
    }

    #[test]
    fn blobs_are_counted_and_where_they_are_many_reckoned() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = blobs(&dir);
        for n in 0_u32..300 {
            blobs.put(&n.to_le_bytes()).unwrap();
        }

        let whole = blobs.count(1_000).unwrap();
        let part = blobs.count(100).unwrap();

        assert_eq!(whole, Stock { files: 300, bytes: 1_200, is_reckoned: false });
        assert!(part.is_reckoned && (200..450).contains(&part.files), "{part:?}");
    }

    #[test]
    fn a_hash_has_one_spelling() {
        let hash = Hash::of(b"x").to_string();

        assert_eq!(Hash::parse(&hash.to_uppercase()), None);
        assert_eq!(Hash::parse("../../etc/passwd"), None);
    }
}
