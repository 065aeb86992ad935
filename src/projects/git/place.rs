//! Where a ticket's worktree belongs, and what stands there.

use std::io;
use std::path::{Path, PathBuf};

use tokio::fs;

use super::repository::Repository;
use super::{BranchName, not_ready};
use crate::base::text::cut;
use crate::base::{Code, Fault};

/// Where a worktree belongs and which branch it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
    name: String,
    branch: BranchName,
}

impl Place {
    /// The worktree `<root>/<name>` for `branch`. A name is made of letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// `ProjectNotReady` where the name could lead out of the root.
    pub fn new(root: &Path, name: &str, branch: BranchName) -> Result<Self, Fault> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if name.is_empty() || name.len() > 100 || !name.bytes().all(plain) {
            let shown = cut(name, 40);
            return Err(not_ready(format!("“{shown}” cannot be the name of a worktree.")));
        }
        Ok(Self { root: root.to_owned(), name: name.to_owned(), branch })
    }

    /// The worktree `<root>/<ticket id>` for the branch `agent/<ticket id>`.
    pub fn of_ticket(root: &Path, ticket: &str) -> Result<Self, Fault> {
        let branch = BranchName::parse(&format!("agent/{ticket}")).map_err(|problem| {
            not_ready(format!("“{}” cannot be part of a branch: {problem}.", cut(ticket, 40)))
        })?;
        Self::new(root, ticket, branch)
    }

    /// The branch it is for.
    #[must_use]
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// The worktree's path, which must have a worktree.
    pub(super) async fn existing_path(&self, repository: &Repository) -> Result<PathBuf, Fault> {
        let path = self.path().await?;
        match Ground::look(repository, &path).await? {
            Ground::Linked => Ok(path),
            Ground::Free | Ground::Files => {
                Err(not_ready(format!("The worktree {} is gone.", path.display())))
            }
        }
    }

    /// The worktree's path with no link in it, once its root is sure to be there.
    pub(super) async fn path(&self) -> Result<PathBuf, Fault> {
        let broken = |cause: io::Error| {
            let code = match cause.kind() {
                io::ErrorKind::StorageFull => Code::StorageFull,
                _ => Code::Upstream,
            };
            let message = format!("The directory {} cannot be used.", self.root.display());
            Fault::new(code, message).because(cause)
        };
        fs::create_dir_all(&self.root).await.map_err(broken)?;
        Ok(fs::canonicalize(&self.root).await.map_err(broken)?.join(&self.name))
    }
}

/// What stands at a worktree's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// Nothing, or an empty directory.
    Free,
    /// A directory linked to some repository, as a worktree is.
    Linked,
    /// A directory with files and no link.
    Files,
}

impl Ground {
    /// Looks, and refuses everything that is not Assay's to touch.
    pub(super) async fn look(repository: &Repository, path: &Path) -> Result<Self, Fault> {
        let refused = |what: &str| {
            let path = path.display();
            Err(not_ready(format!("{path} is {what}, so no worktree can be there. Move it away.")))
        };
        if repository.dir().starts_with(path) {
            return refused("the project's own repository");
        }
        match fs::symlink_metadata(path).await {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Self::Free),
            Err(cause) => {
                let message = format!("{} cannot be looked at.", path.display());
                return Err(Fault::new(Code::Upstream, message).because(cause));
            }
            Ok(found) if !found.is_dir() => return refused("a file or a link"),
            Ok(_) => {}
        }
        match fs::symlink_metadata(path.join(".git")).await {
            Ok(link) if link.is_file() => return Ok(Self::Linked),
            Ok(_) => return refused("a repository of its own"),
            Err(_) => {}
        }
        let is_empty = match fs::read_dir(path).await {
            Ok(mut entries) => matches!(entries.next_entry().await, Ok(None)),
            Err(_) => false,
        };
        Ok(if is_empty { Self::Free } else { Self::Files })
    }
}

pub(super) fn taken(path: &Path) -> Fault {
    let path = path.display();
    not_ready(format!("{path} is in the way: it is no worktree of the repository. Move it away."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_out_of_the_root_is_refused() {
        let branch = BranchName::parse("agent/x").expect("a name");

        for name in ["", ".", "..", "../x", "a/b", "/etc", "-x y", "a\0"] {
            assert!(Place::new(Path::new("/w"), name, branch.clone()).is_err(), "{name:?}");
        }
        assert!(Place::of_ticket(Path::new("/w"), "../../etc").is_err());
    }
}
