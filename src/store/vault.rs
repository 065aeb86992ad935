//! The key that secrets are sealed with: a file of its own beside the database, so that a copy of
//! the database alone tells nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::base::sealed::{KEY_BYTES, SealingKey, Unopened};
use crate::base::{Code, Entropy, Fault};

/// Seals and opens with the key of a data directory, which is made at the first need. The key is
/// read for each use: a file that was exchanged or restored counts at once. Cheap to clone; blocks
/// for as long as a small file takes.
#[derive(Clone)]
pub struct Vault {
    path: PathBuf,
    entropy: Entropy,
}

impl Vault {
    /// The vault whose key is the file at `path`. Nothing is read or made yet.
    #[must_use]
    pub const fn new(path: PathBuf, entropy: Entropy) -> Self {
        Self { path, entropy }
    }

    /// Where the key is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Seals bytes for one purpose, see [`SealingKey::seal`].
    pub fn seal(&self, purpose: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>, Fault> {
        let key = match self.read()? {
            Some(key) => key,
            None => self.make()?,
        };
        Ok(key.seal(purpose, plain, &self.entropy))
    }

    /// Opens what was sealed for the same purpose. Without a key file nothing can be opened, which
    /// is as good as another key.
    pub fn open(
        &self,
        purpose: &[&[u8]],
        sealed: &[u8],
    ) -> Result<Result<Vec<u8>, Unopened>, Fault> {
        Ok(match self.read()? {
            Some(key) => key.open(purpose, sealed),
            None => Err(Unopened::OtherKey),
        })
    }

    fn read(&self) -> Result<Option<SealingKey>, Fault> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unreadable(error)),
        };
        let mut bytes = Vec::with_capacity(KEY_BYTES + 1);
        let read = file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.unreadable(error))?;
        if let Ok(bytes) = <&[u8; KEY_BYTES]>::try_from(bytes.as_slice()) {
            return Ok(Some(SealingKey::new(bytes)));
        }
        let message = format!(
            "The key file {} is damaged: it must have {KEY_BYTES} bytes. Restore it from a backup; \
             without one, move it away: a new key is made, and secrets that were given before are \
             asked for again.",
            self.path.display()
        );
        Err(Fault::new(Code::Unavailable, message))
    }

    /// Makes the key. Two that make one at once come to have the same: that of the quicker.
    fn make(&self) -> Result<SealingKey, Fault> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let fault = |error| Fault::of_folder(folder, error);
        let tag = u64::from_le_bytes(self.entropy.bytes());
        let half = self.path.with_extension(format!("half-{tag:x}"));
        let named = self.write(&half).and_then(|()| match fs::hard_link(&half, &self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            named => named,
        });
        let removed = fs::remove_file(&half);
        named.and(removed).and_then(|()| File::open(folder)?.sync_all()).map_err(fault)?;
        let missing = || Fault::internal("a key file that was just made is gone");
        self.read()?.ok_or_else(missing)
    }

    fn write(&self, half: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(half)?;
        file.write_all(&self.entropy.bytes::<KEY_BYTES>())?;
        file.sync_all()
    }

    fn unreadable(&self, error: io::Error) -> Fault {
        let message = format!(
            "The key file {} cannot be read: {error}. Give the server's user the right to read it.",
            self.path.display()
        );
        Fault::new(Code::Unavailable, message).because(error)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const FOR: &[&[u8]] = &[b"a purpose"];

    fn vault(folder: &Path, seed: u64) -> Vault {
        Vault::new(folder.join("secrets.key"), Entropy::seeded(seed))
    }

    #[test]
    fn the_key_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let one = vault(folder.path(), 1);
        assert_eq!(one.open(FOR, b"sealed").unwrap(), Err(Unopened::OtherKey));
        assert!(!one.path().exists());

        let sealed = one.seal(FOR, b"value").unwrap();

        let mode = fs::metadata(one.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let two = vault(folder.path(), 2);
        assert_eq!(two.open(FOR, &sealed).unwrap().as_deref(), Ok(&b"value"[..]));
        two.seal(FOR, b"value").unwrap();
        assert_eq!(one.open(FOR, &sealed).unwrap().as_deref(), Ok(&b"value"[..]));
    }

    #[test]
    fn a_lost_key_and_a_damaged_one_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path(), 1);
        let sealed = vault.seal(FOR, b"value").unwrap();

        fs::write(vault.path(), b"short").unwrap();
        let fault = vault.open(FOR, &sealed).unwrap_err();
        assert!(fault.message.contains("is damaged"), "{fault}");
        assert!(vault.seal(FOR, b"value").is_err(), "a damaged key is not replaced");

        fs::remove_file(vault.path()).unwrap();
        assert_eq!(vault.open(FOR, &sealed).unwrap(), Err(Unopened::OtherKey));
        vault.seal(FOR, b"value").unwrap();
        assert_eq!(vault.open(FOR, &sealed).unwrap(), Err(Unopened::OtherKey));
    }

    #[test]
    fn many_that_need_a_key_at_once_have_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let seals: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let start = |seed| {
                let vault = vault(folder.path(), seed);
                scope.spawn(move || vault.seal(FOR, b"value").unwrap())
            };
            let started: Vec<_> = (1..9).map(start).collect();
            started.into_iter().map(|one| one.join().unwrap()).collect()
        });

        let vault = vault(folder.path(), 9);
        assert!(seals.iter().all(|sealed| vault.open(FOR, sealed).unwrap().is_ok()));
    }
}
