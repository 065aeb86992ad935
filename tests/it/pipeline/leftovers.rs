//! What an idle server must not leave behind.

use std::fs;
use std::path::Path;

/// What must not be left under a folder once its server is idle: processes, locks, folders of
/// runs, half-done operations of git.
pub(crate) fn left_in(root: &Path) -> Vec<String> {
    let root = root.canonicalize().unwrap();
    let mut left = processes(&root);
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let is_runs = folder == root.join("data/runs");
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_lock = path.extension().is_some_and(|extension| extension == "lock");
            let is_landing = name.starts_with("landing-");
            if is_runs || is_lock || is_landing || name == "MERGE_HEAD" || name == "rebase-merge" {
                left.push(path.display().to_string());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    left
}

/// Processes that work under a folder or were started for it.
fn processes(root: &Path) -> Vec<String> {
    let mark = format!("STAGE={}", root.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry.path();
        let works_there = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(root));
        let is_marked = fs::read(process.join("environ"))
            .is_ok_and(|bytes| bytes.split(|&b| b == 0).any(|set| set == mark.as_bytes()));
        if works_there || is_marked {
            let command = fs::read(process.join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}
