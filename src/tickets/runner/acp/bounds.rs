//! Where an agent may read and write through Assay: its work tree, its report, and the files that
//! came with the ticket.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

/// What is wanted of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Read,
    Write,
}

/// The places of one run.
#[derive(Debug, Clone)]
pub(in crate::tickets::runner) struct Bounds {
    /// The work tree, by its real path.
    pub(in crate::tickets::runner) tree: PathBuf,
    /// Where the report goes.
    pub(in crate::tickets::runner) report: PathBuf,
    /// The folder with the ticket's files, where there is one.
    pub(in crate::tickets::runner) attachments: Option<PathBuf>,
}

impl Bounds {
    /// The folder that a path lies in and the way from there; otherwise why it may not be used.
    /// Nothing is looked at on disk: links are refused when the path is opened.
    pub(super) fn place(&self, path: &Path, want: Want) -> Result<(PathBuf, PathBuf), String> {
        let path = self.tree.join(path);
        if path == self.report
            && let (Some(folder), Some(name)) = (path.parent(), path.file_name())
        {
            return Ok((folder.to_owned(), name.into()));
        }
        let named = |path: &Path| path.display().to_string();
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(format!("{} holds `..`", named(&path)));
        }
        if let Ok(way) = path.strip_prefix(&self.tree) {
            let of_git = |part: Component<'_>| part.as_os_str() == OsStr::new(".git");
            if want == Want::Write && way.components().any(of_git) {
                return Err(format!("{} belongs to git", named(&path)));
            }
            return Ok((self.tree.clone(), way.to_owned()));
        }
        let attached = self.attachments.as_ref().filter(|_| want == Want::Read);
        match attached.and_then(|folder| Some((folder, path.strip_prefix(folder).ok()?))) {
            Some((folder, way)) => Ok((folder.clone(), way.to_owned())),
            None => Err(format!("{} lies outside the work tree", named(&path))),
        }
    }

    /// The same, looking at what is there: a link on the way may lead anywhere.
    pub(super) fn check(&self, path: &Path, want: Want) -> Result<(), String> {
        let (base, way) = self.place(path, want)?;
        let mut at = base;
        for part in way.components() {
            at.push(part);
            if at.is_symlink() {
                let inside = at.canonicalize().is_ok_and(|real| real.starts_with(&self.tree));
                if !inside {
                    return Err(format!("{} is a link out of the work tree", at.display()));
                }
            }
        }
        Ok(())
    }
}

/// Opens a file below `base`, following no link on the way. Folders that are missing are made
/// where it is to be written.
pub(super) fn open(base: &Path, way: &Path, want: Want) -> std::io::Result<OwnedFd> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, base, folder, Mode::empty())?;
    let (Some(parent), Some(name)) = (way.parent(), way.file_name()) else {
        return Err(std::io::ErrorKind::IsADirectory.into());
    };
    for part in parent.components() {
        if want == Want::Write {
            match mkdirat(&at, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        at = openat(&at, part.as_os_str(), folder | OFlags::NOFOLLOW, Mode::empty())?;
    }
    // A pipe must not hold the conversation up.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = flags
        | match want {
            Want::Read => OFlags::RDONLY,
            Want::Write => OFlags::WRONLY | OFlags::CREATE,
        };
    Ok(openat(&at, name, flags, Mode::from_raw_mode(0o666))?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn bounds(root: &Path) -> Bounds {
        Bounds {
            tree: root.join("tree"),
            report: root.join("run/report.json"),
            attachments: Some(root.join("run/attachments")),
        }
    }

    #[test]
    fn paths_within_the_tree_and_the_runs_own_files_are_placed() {
        let root = Path::new("/r");
        let bounds = bounds(root);
        let ok = |path: &str, want| bounds.place(Path::new(path), want).is_ok();

        for path in ["a.rs", "/r/tree/src/a.rs", "/r/run/report.json"] {
            assert!(ok(path, Want::Read) && ok(path, Want::Write), "{path}");
        }
        assert!(ok("/r/run/attachments/1.pdf", Want::Read));
        assert!(!ok("/r/run/attachments/1.pdf", Want::Write));
        assert!(ok(".git", Want::Read) && !ok(".git", Want::Write));
        assert!(!ok("sub/.git/config", Want::Write));
        for path in ["../x", "/r/tree/../x", "a/../b", "/etc/passwd", "/r/treeish"] {
            assert!(!ok(path, Want::Read), "{path}");
        }
    }

    #[test]
    fn a_link_is_not_followed_on_the_way_nor_at_the_end() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let bounds = bounds(&root);
        std::fs::create_dir_all(root.join("tree/sub")).unwrap();
        std::fs::write(root.join("secret"), "s").unwrap();
        symlink(&root, root.join("tree/out")).unwrap();
        symlink(root.join("secret"), root.join("tree/file")).unwrap();
        symlink("sub", root.join("tree/in")).unwrap();

        for path in ["out/secret", "file"] {
            assert!(bounds.check(Path::new(path), Want::Read).is_err(), "{path}");
            for want in [Want::Read, Want::Write] {
                assert!(open(&bounds.tree, Path::new(path), want).is_err(), "{path}");
            }
        }
        assert!(bounds.check(Path::new("in/a"), Want::Write).is_ok());
        assert!(open(&bounds.tree, Path::new("new/deep/a"), Want::Write).is_ok());
        assert!(root.join("tree/new/deep/a").is_file());
    }
}
