//! Whether the program of an agent profile is there. Nothing is run.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Profile;

/// Where programs are looked for in an environment without a PATH.
const USUAL: &str = "/bin:/usr/bin";

/// A profile whose program is not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// The profile's name.
    pub profile: String,
    /// The program.
    pub program: String,
}

/// The profiles whose program is not found from this process, which looks as the server does
/// where it is the server. A program within the worktree cannot be looked for.
#[must_use]
pub fn not_found(profiles: &BTreeMap<String, Profile>) -> Vec<NotFound> {
    let own = search_path();
    let missing = profiles.iter().filter_map(|(name, profile)| {
        let program = profile.command.first()?;
        let path = profile.set.get("PATH").map_or(own.as_os_str(), OsStr::new);
        (!is_found(program, path))
            .then(|| NotFound { profile: name.clone(), program: program.clone() })
    });
    missing.collect()
}

#[expect(clippy::disallowed_methods, reason = "agents get this process's own PATH")]
fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| USUAL.into())
}

fn is_found(program: &str, path: &OsStr) -> bool {
    if program.contains('/') {
        return !program.starts_with('/') || is_program(Path::new(program));
    }
    // A relative folder is one of the worktree, which may hold it.
    std::env::split_paths(path)
        .any(|folder| !folder.is_absolute() || is_program(&folder.join(program)))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_looked_for_on_the_path_and_one_of_the_worktree_is_not() {
        let usual = OsStr::new(USUAL);

        for found in ["sh", "/bin/sh", ".assay/agent", "./agent"] {
            assert!(is_found(found, usual), "{found}");
        }
        for missing in ["no-such-agent", "/no/such/agent", "/bin"] {
            assert!(!is_found(missing, usual), "{missing}");
        }
        assert!(!is_found("sh", OsStr::new("/no/such/folder")));
    }

    #[test]
    fn a_profile_may_have_a_path_of_its_own() {
        let mut profile = Profile::script(vec!["sh".to_owned()]);
        profile.set.insert("PATH".to_owned(), "/no/such/folder".to_owned());
        let profiles = BTreeMap::from([("mine".to_owned(), profile)]);

        let missing = NotFound { profile: "mine".to_owned(), program: "sh".to_owned() };
        assert_eq!(not_found(&profiles), [missing]);
    }
}
