//! A copy of the data directory that is of one moment, taken while others read and write: the
//! database, what it names, and the branches that lie in mirrors. It is written under another name
//! beside its place and gets its own last, so what has the name is whole.
//!
//! A blob is on disk before a row names it, and is removed only after no row does. So blobs are
//! copied before the database, and those that came meanwhile after it: whatever the copied rows
//! name is there.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::blob::{Blobs, Hash};
use super::db::{Db, FILE, KEY_FILE};
use super::open;
use super::row::{Row, to_int};
use super::tx::{Read, Tx};
use crate::base::stops::{self, Stop};
use crate::base::{Code, Entropy, Fault, Millis};
use crate::{params, sql};

/// Folders of blobs in a data directory.
const BLOBS: [&str; 2] = ["blobs", "uploads"];

/// The folder of mirrors of remote repositories, whose branches may be nowhere else.
const MIRRORS: &str = "repositories";

/// Of a folder of blobs and of a repository, what is of no use elsewhere: what is not yet written
/// whole, and what git notes of work trees that are not copied.
const LEFT_OUT: [&str; 2] = ["half-written", "worktrees"];

/// How many notes of copies are kept.
const NOTES_KEPT: u32 = 100;

/// What was copied, as it is noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// When it was begun: all that was accepted before is in it.
    pub taken_at: Millis,
    /// Where it is, as an absolute path.
    pub folder: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Whether the key that secrets are sealed with is in it.
    pub has_key: bool,
}

/// A copy to take.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The data directory.
    pub data: &'a Path,
    /// Where the copy shall be; nothing may be there yet.
    pub target: &'a Path,
    /// Whether the key that secrets are sealed with is to be in it.
    pub with_key: bool,
}

/// Takes a copy.
///
/// # Errors
/// Where something is at its place already, or anything cannot be read or written; then nothing of
/// the copy is left.
pub fn take(db: &Db, wanted: Wanted<'_>, entropy: &Entropy) -> Result<u64, Fault> {
    let data = wanted.data;
    whole_or_nothing(wanted.target, data, entropy, |half| {
        let mut bytes = copy_folders(data, half, &BLOBS)?;
        db.copy_to(&half.join(FILE))?;
        bytes += fs::metadata(half.join(FILE)).map_err(|e| Fault::of_folder(half, e))?.len();
        bytes += copy_folders(data, half, &BLOBS)?;
        bytes += copy_folders(data, half, &[MIRRORS])?;
        // After the database: a row that is sealed was sealed with a key that was on disk.
        let key = data.join(KEY_FILE);
        if wanted.with_key && key.exists() {
            let copied = fs::copy(&key, half.join(KEY_FILE));
            bytes += copied.map_err(|e| Fault::of_folder(half, e))?;
        }
        Ok(bytes)
    })
}

/// Makes a data directory of a copy, which stays as it is.
///
/// # Errors
/// Where there is no copy, the data directory holds something, or the database of the copy is
/// damaged; then nothing is made.
pub fn restore(from: &Path, data: &Path, entropy: &Entropy) -> Result<u64, Fault> {
    if !Db::is_in(from) {
        let said = format!("{} holds no backup: there is no {FILE} in it.", from.display());
        return Err(Fault::new(Code::NotFound, said));
    }
    if from.join("lock").exists() {
        let said = format!(
            "{} is a data directory that a server works or worked on, and no backup. Take one with \
             `assay backup DIR`.",
            from.display()
        );
        return Err(Fault::new(Code::Conflict, said));
    }
    whole_or_nothing(data, from, entropy, |half| {
        let whole = copy_tree(from, half).map_err(|e| Fault::of_folder(half, e))?;
        open::sound(&half.join(FILE))?;
        Ok(whole)
    })
}

/// The blobs of a data directory whose bytes are not those that their names tell.
pub fn damaged_blobs(data: &Path, entropy: &Entropy) -> Result<Vec<Hash>, Fault> {
    let mut damaged = Vec::new();
    for folder in BLOBS.map(|name| data.join(name)).into_iter().filter(|folder| folder.exists()) {
        let blobs = Blobs::open(folder, entropy.clone())?;
        damaged.extend(blobs.damaged()?);
    }
    Ok(damaged)
}

/// Notes a copy that was taken.
pub fn note_backup(tx: &mut Tx<'_>, backup: &Backup) -> Result<(), Fault> {
    tx.run(
        sql!("backups.sql", "note"),
        params! {
            ":taken_at": backup.taken_at,
            ":folder": backup.folder.to_string_lossy().as_ref(),
            ":bytes": to_int(backup.bytes),
            ":took_ms": to_int(backup.took_ms),
            ":has_key": backup.has_key,
        },
    )?;
    tx.run(sql!("backups.sql", "forget"), params! { ":kept": NOTES_KEPT })?;
    Ok(())
}

/// The last copy that was taken, if one ever was.
pub fn last_backup(read: &Read<'_>) -> Result<Option<Backup>, Fault> {
    read.find(sql!("backups.sql", "last"), params! {}, |row: &Row<'_>| {
        Ok(Backup {
            taken_at: row.get("taken_at")?,
            folder: row.get::<String>("folder")?.into(),
            bytes: row.unsigned("bytes")?,
            took_ms: row.unsigned("took_ms")?,
            has_key: row.get("has_key")?,
        })
    })
}

/// Fills a new folder beside `target` and gives it that name once all of it is on disk.
fn whole_or_nothing(
    target: &Path,
    apart_from: &Path,
    entropy: &Entropy,
    fill: impl FnOnce(&Path) -> Result<u64, Fault>,
) -> Result<u64, Fault> {
    let (parent, name) = place(target)?;
    let apart = apart_from.canonicalize().map_err(|e| Fault::of_folder(apart_from, e))?;
    if parent.starts_with(&apart) {
        let said =
            format!("{} lies in {}; choose another place.", target.display(), apart.display());
        return Err(Fault::new(Code::Conflict, said));
    }
    let tag = u64::from_le_bytes(entropy.bytes());
    let half = parent.join(format!("{name}.half-{tag:016x}"));
    let fault = |error| Fault::of_folder(&parent, error);
    DirBuilder::new().mode(0o700).create(&half).map_err(fault)?;
    let done = fill(&half).and_then(|bytes| {
        let flushed = flush(&half);
        stops::reach(Stop::BackupWritten);
        let named = flushed.and_then(|()| fs::rename(&half, parent.join(&name)));
        named.and_then(|()| File::open(&parent)?.sync_all()).map_err(fault)?;
        Ok(bytes)
    });
    if done.is_err() {
        // The first failure is the one to tell.
        drop(fs::remove_dir_all(&half));
    }
    done
}

/// The folder that something new is to be in, and its name there. An empty folder may be there.
fn place(target: &Path) -> Result<(PathBuf, String), Fault> {
    let unusable = |said: &str| {
        Fault::new(Code::Conflict, format!("{} cannot be used: {said}.", target.display()))
    };
    let absolute = std::path::absolute(target).map_err(|_| unusable("it is no path"))?;
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Err(unusable("it has no name"));
    };
    let parent = parent.canonicalize().map_err(|_| unusable("the folder above is not there"))?;
    let is_free = match fs::read_dir(&absolute) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_free {
        return Err(unusable("something is there already; name a new folder"));
    }
    Ok((parent, name.to_string_lossy().into_owned()))
}

fn copy_folders(data: &Path, half: &Path, names: &[&str]) -> Result<u64, Fault> {
    let mut bytes = 0;
    for name in names {
        let (from, to) = (data.join(name), half.join(name));
        if from.exists() {
            bytes += copy_tree(&from, &to).map_err(|e| Fault::of_folder(&to, e))?;
        }
    }
    Ok(bytes)
}

/// Copies the files of a folder that the target lacks. What git names stands in `objects`, and is
/// there before it is named: those come last, and twice, for git may pack them anew meanwhile. What
/// is removed meanwhile is left out.
fn copy_tree(from: &Path, to: &Path) -> io::Result<u64> {
    let mut folder = DirBuilder::new();
    folder.recursive(true).mode(0o700).create(to)?;
    let (mut bytes, mut objects) = (0, false);
    let Some(entries) = there(fs::read_dir(from))? else { return Ok(0) };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let (path, target) = (entry.path(), to.join(&name));
        let Some(kind) = there(entry.file_type())? else { continue };
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        if is_lock || LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if kind.is_dir() && name == "objects" {
            objects = true;
        } else if kind.is_dir() {
            bytes += copy_tree(&path, &target)?;
        } else if kind.is_file() && !target.exists() {
            bytes += there(fs::copy(&path, &target))?.unwrap_or(0);
        }
    }
    if objects {
        for _ in 0..2 {
            bytes += copy_tree(&from.join("objects"), &to.join("objects"))?;
        }
    }
    Ok(bytes)
}

/// What was found, or nothing where it is gone.
fn there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Brings all files of a folder, and their names, to the disk.
fn flush(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            flush(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_fails_half_way_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (data, target) = (dir.path().join("data"), dir.path().join("copy"));
        fs::create_dir(&data).unwrap();

        let failed = whole_or_nothing(&target, &data, &Entropy::seeded(1), |half| {
            write(half, "blobs/aa/bb", "x");
            Err(Fault::new(Code::StorageFull, "no room"))
        });

        assert_eq!(failed.unwrap_err().code, Code::StorageFull);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "only the data is there");
    }

    #[test]
    fn a_place_that_is_taken_or_within_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        write(&data, "assay.db", "x");
        write(dir.path(), "taken/file", "mine");
        let to = |target: &Path| {
            whole_or_nothing(target, &data, &Entropy::seeded(1), |half| {
                write(half, "a", "b");
                Ok(1)
            })
        };

        for taken in ["taken", "taken/file", "data/copy", "nowhere/copy"] {
            let refused = to(&dir.path().join(taken)).unwrap_err();
            assert_eq!(refused.code, Code::Conflict, "{taken}");
        }
        fs::create_dir(dir.path().join("empty")).unwrap();
        assert_eq!(to(&dir.path().join("empty")).unwrap(), 1);
        assert_eq!(fs::read_to_string(dir.path().join("taken/file")).unwrap(), "mine");
        assert!(dir.path().join("empty/a").exists());
    }

    #[test]
    fn of_a_folder_what_is_unfinished_is_left_out_and_nothing_is_copied_twice() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for name in ["x.git/objects/ab/c", "x.git/refs/heads/agent/1", "x.git/HEAD", "aa/bb"] {
            write(&from, name, "text");
        }
        for name in ["half-written/1", "x.git/worktrees/1/HEAD", "x.git/packed-refs.lock"] {
            write(&from, name, "text");
        }

        assert_eq!(copy_tree(&from, &to).unwrap(), 16);
        write(&from, "aa/new", "later");
        assert_eq!(copy_tree(&from, &to).unwrap(), 5);

        assert!(to.join("x.git/objects/ab/c").exists() && to.join("aa/new").exists());
        for absent in ["half-written", "x.git/worktrees", "x.git/packed-refs.lock"] {
            assert!(!to.join(absent).exists(), "{absent}");
        }
    }
}
