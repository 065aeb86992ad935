//! What an agent shows: a text, or a file of its work tree, kept as a blob by its hash.

use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use super::env::Env;
use crate::base::redact::Redactor;
use crate::base::{Fault, TicketId};
use crate::proofs::Evidence;
use crate::store::Hash;
use crate::tickets::editors::Exhibit;

/// Bytes of one exhibit at most.
const BYTES_MAX: u64 = 8 << 20;

/// Keeps an exhibit. Credentials in a text are taken out of it; other bytes that hold one that is
/// known are refused.
pub(super) async fn keep(
    env: &Arc<Env>,
    ticket: TicketId,
    label: String,
    exhibit: Exhibit,
    redactor: Redactor,
) -> Result<Evidence, Fault> {
    let bytes = match exhibit {
        Exhibit::Text(text) => text.into_bytes(),
        Exhibit::File(path) => {
            let tree = env.paths.worktrees().join(ticket.to_string());
            let read = tokio::task::spawn_blocking(move || read(&tree, &path));
            read.await.map_err(Fault::internal)??
        }
    };
    let (bytes, media_type) = match String::from_utf8(bytes) {
        Ok(text) => (redactor.redact(&text).into_owned().into_bytes(), "text/plain; charset=utf-8"),
        Err(other) if redactor.finds_known(&String::from_utf8_lossy(other.as_bytes())) => {
            let said =
                "holds a secret of the ticket, and is no text that it could be taken out of.";
            return Err(Fault::argument("path", said));
        }
        Err(other) => (other.into_bytes(), "application/octet-stream"),
    };
    let size_bytes = bytes.len() as u64;
    let hash = put(env, bytes).await?;
    Ok(Evidence { label, media_type: media_type.to_owned(), hash, size_bytes })
}

/// Keeps some bytes as a blob, off the threads that answer requests.
pub(super) async fn put(env: &Env, bytes: Vec<u8>) -> Result<Hash, Fault> {
    let blobs = env.blobs.clone();
    let put = tokio::task::spawn_blocking(move || blobs.put(&bytes));
    put.await.map_err(Fault::internal)?
}

/// A plain file within the tree. An agent wrote what is there: links lead nowhere, and a pipe would
/// never end.
fn read(tree: &Path, path: &str) -> Result<Vec<u8>, Fault> {
    let wrong = |said: &str| Fault::argument("path", said);
    let relative = Path::new(path);
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || !is_plain || relative.starts_with(".git") {
        return Err(wrong("must lead from the top of the work tree to a file in it."));
    }
    let full: PathBuf = tree.join(relative);
    let absent = || wrong("leads to no plain file of the work tree.");
    let (Ok(root), Ok(found)) = (tree.canonicalize(), full.canonicalize()) else {
        return Err(absent());
    };
    if found != root.join(relative) {
        return Err(wrong("leads through a link; name the file itself."));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&found, flags, Mode::empty()).map_err(|_| absent())?;
    let file = std::fs::File::from(opened);
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Err(absent());
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| match error.kind() {
        ErrorKind::NotFound => absent(),
        _ => Fault::of_folder(tree, error),
    })?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(wrong("is larger than 8 MiB; keep the part that shows it."));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_file_of_the_tree_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        std::fs::create_dir_all(tree.join("out")).unwrap();
        std::fs::write(tree.join("out/log.txt"), "green").unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path(), tree.join("up")).unwrap();
        std::os::unix::fs::symlink("out/log.txt", tree.join("link")).unwrap();

        assert_eq!(read(&tree, "out/log.txt").unwrap(), b"green");
        for bad in ["", "out", "none", "../secret", "/etc/passwd", "up/secret", "link", ".git"] {
            assert_eq!(read(&tree, bad).unwrap_err().issues[0].path, "path", "{bad}");
        }
    }
}
