//! The files of a ticket, laid out for an agent: in the folder of its run, beside its work tree and
//! never inside the repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::env::Env;
use super::run_node::Task;
use crate::base::{Code, Fault};
use crate::store::Blobs;
use crate::tickets::attachments::{self, Attachment};
use crate::tickets::prompt::File;

/// The folder's name in that of a run.
const FOLDER: &str = "attachments";

/// Files that lie ready.
pub(super) struct Laid {
    /// The folder they are in.
    pub(super) folder: PathBuf,
    /// The files, as an agent is told of them.
    pub(super) files: Vec<File>,
}

/// Lays a ticket's files out afresh, whatever an earlier run made of them. `None` where it has
/// none.
pub(super) async fn lay_out(env: &Env, task: &Task) -> Result<Option<Laid>, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let files = env.db.read(move |read| attachments::of_ticket(read, tenant, ticket)).await?;
    if files.is_empty() {
        return Ok(None);
    }
    let folder = env.paths.run(task.node.id, task.node.attempt).join(FOLDER);
    let blobs = env.uploads.blobs().clone();
    let laid = tokio::task::spawn_blocking(move || {
        let files = copy_all(&blobs, &folder, &files)?;
        Ok(Laid { folder, files })
    });
    laid.await.map_err(Fault::internal)?.map(Some)
}

fn copy_all(blobs: &Blobs, folder: &Path, files: &[Attachment]) -> Result<Vec<File>, Fault> {
    let unusable = |error| Fault::of_folder(folder, error);
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(unusable)?;
    }
    fs::create_dir_all(folder).map_err(unusable)?;
    let names = attachments::file_names(files.iter().map(|file| file.name.as_str()));
    let mut laid = Vec::new();
    for (file, name) in files.iter().zip(names) {
        let Some(from) = file.hash.map(|hash| blobs.path(hash)).filter(|path| path.exists()) else {
            let said = format!("The attachment {:?} is gone from the server's disk.", file.name);
            return Err(Fault::new(Code::Upstream, said));
        };
        let to = folder.join(&name);
        // A copy, for what an agent does to it must not reach what others will be given.
        fs::copy(from, &to).map_err(unusable)?;
        fs::set_permissions(&to, fs::Permissions::from_mode(0o400)).map_err(unusable)?;
        let path = to.to_string_lossy().into_owned();
        laid.push(File { path, media_type: file.media_type.clone(), size_bytes: file.size_bytes });
    }
    Ok(laid)
}
