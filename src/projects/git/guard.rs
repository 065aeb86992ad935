//! What the configuration of a repository would make git run. An agent that works in a worktree can
//! write it, and git would obey when the server looks at the agent's work. What a person wrote for
//! all their repositories is theirs and stays in force.
//!
//! Options of each call close what has one name (`environment.rs`). What is named freely, such as a
//! filter, is looked up here before a call that might start it: it is put out of force where git
//! has a meaning for that, and refused where it has none.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::not_ready;
use super::program::{Git, failed};
use crate::base::Fault;
use crate::base::text::{cut, printable};

/// How many repositories within a work tree are looked into.
const NESTED_MAX: usize = 200;
/// How many settings a refusal names.
const NAMED: usize = 5;

/// Filters that are the same program for everybody. A setting of this value does no harm.
const KNOWN_FILTERS: &[&str] = &[
    "",
    "cat",
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
];
/// What git itself does with two texts, written as a driver.
const TEXT_MERGE: &str = "git merge-file --marker-size=%L %A %O %B";

/// What a call of git is up to, as far as it matters here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// It may start programs that the configuration names.
    pub(super) starts_programs: bool,
    /// It talks to a remote.
    pub(super) network: bool,
    /// It starts a git of its own within each repository that is nested in the work tree.
    pub(super) nested: bool,
}

impl Reach {
    /// The reach of a call, from its arguments. Whatever is not known to start nothing may.
    pub(super) fn of<'a>(args: impl Iterator<Item = &'a OsStr>) -> Self {
        let words: Vec<&str> = args.filter_map(OsStr::to_str).collect();
        let verb = words.first().copied().unwrap_or_default();
        let has = |word: &str| words[1..].contains(&word);
        let is_quiet = match verb {
            "version" | "config" | "rev-parse" | "rev-list" | "merge-base" | "ls-files"
            | "for-each-ref" | "cat-file" | "commit-tree" | "log" | "init" | "ls-remote" => true,
            "symbolic-ref" => has("--quiet"),
            "worktree" => words.get(1) == Some(&"list"),
            _ => false,
        };
        let looks_inside = matches!(verb, "add" | "status") && !has("--ignore-submodules=dirty");
        Self {
            starts_programs: !is_quiet,
            network: matches!(verb, "fetch" | "push"),
            nested: looks_inside,
        }
    }
}

/// A setting, and what it is to be instead.
pub(super) type Override = (String, String);

/// Looks at what is in force at `directory`, and within it where the call reaches there.
///
/// # Errors
/// `ProjectNotReady`, where a setting names a program that git would run.
pub(super) async fn overrides(
    git: &Git,
    directory: &Path,
    git_dir: Option<&Path>,
    reach: Reach,
) -> Result<Vec<Override>, Fault> {
    let mut found = look(git, directory, git_dir, reach).await?;
    if !reach.nested {
        return Ok(found);
    }
    let mut waiting = nested(git, directory).await?;
    let mut count = 0;
    while let Some(inner) = waiting.pop() {
        count += 1;
        if count > NESTED_MAX {
            let top = directory.display();
            return Err(not_ready(format!(
                "There are more than {NESTED_MAX} repositories within {top}."
            )));
        }
        found.extend(look(git, &inner, None, reach).await?);
        waiting.extend(nested(git, &inner).await?);
    }
    Ok(found)
}

async fn look(
    git: &Git,
    directory: &Path,
    git_dir: Option<&Path>,
    reach: Reach,
) -> Result<Vec<Override>, Fault> {
    let call = match git_dir {
        Some(git_dir) => git.repository(git_dir),
        None => git.tree(directory),
    };
    let output = call.args(["config", "--list", "--show-scope", "-z"]).start().await?;
    if output.code != 0 {
        return Err(failed("config", &output));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    judge(&text, reach.network).map_err(|keys| refusal(directory, &keys))
}

fn refusal(directory: &Path, keys: &[String]) -> Fault {
    let named: Vec<String> = keys.iter().take(NAMED).map(|key| cut(&printable(key), 100)).collect();
    not_ready(format!(
        "The configuration of the repository at {} names programs or servers of its own ({}). An \
         agent may have written that, so git is not started there. If it is yours, move it to your \
         own configuration (`git config --global`); if not, remove it with `git config --unset`.",
        directory.display(),
        named.join(", ")
    ))
}

/// The repositories that are checked out within a work tree and that its index knows: git looks
/// into no others.
async fn nested(git: &Git, top: &Path) -> Result<Vec<PathBuf>, Fault> {
    let output = git.tree(top).args(["ls-files", "--stage", "-z"]).start().await?;
    if output.code != 0 {
        return Err(failed("ls-files", &output));
    }
    let links = output.fields().filter_map(|field| {
        let field = std::str::from_utf8(field).ok()?;
        let (about, path) = field.split_once('\t')?;
        about.starts_with("160000 ").then(|| top.join(path))
    });
    Ok(links.filter(|path| path.join(".git").symlink_metadata().is_ok()).collect())
}

/// Reads `git config --list --show-scope -z` for what the repository itself says: what to put out
/// of force, or the settings that are refused.
fn judge(listing: &str, network: bool) -> Result<Vec<Override>, Vec<String>> {
    let fields: Vec<&str> = listing.split('\0').collect();
    let (mut out, mut refused) = (Vec::new(), Vec::new());
    for [scope, setting] in fields.as_chunks().0 {
        if !matches!(*scope, "local" | "worktree") {
            continue;
        }
        let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
        match weigh(key, value, network) {
            Weight::Harmless => {}
            Weight::Overridden(key, value) => out.push((key, value)),
            Weight::Refused => refused.push(key.to_owned()),
        }
    }
    if refused.is_empty() { Ok(out) } else { Err(refused) }
}

enum Weight {
    Harmless,
    Overridden(String, String),
    Refused,
}

fn weigh(key: &str, value: &str, network: bool) -> Weight {
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let (name, last) = rest.rsplit_once('.').unwrap_or(("", rest));
    match (section, last) {
        ("filter", "clean" | "smudge" | "process") if KNOWN_FILTERS.contains(&value) => {
            Weight::Harmless
        }
        // Git-lfs, too, fetches and stores large files by programs of a repository's choosing.
        ("filter", "clean" | "smudge" | "process")
        | ("lfs", "standalonetransferagent")
        | ("remote", "uploadpack" | "receivepack" | "vcs") => Weight::Refused,
        ("lfs", _) if name.starts_with("customtransfer.") || name.starts_with("extension.") => {
            Weight::Refused
        }
        ("merge", "driver") if matches!(value, "true" | "false") => Weight::Harmless,
        ("merge", "driver") => Weight::Overridden(key.to_owned(), TEXT_MERGE.to_owned()),
        ("hook", _) if !name.is_empty() => {
            Weight::Overridden(format!("hook.{name}.enabled"), "false".to_owned())
        }
        // Where a mirror is fetched from and pushed to, and with which credentials, is the
        // project's to say. Assay writes none of these, so somebody else did.
        ("credential" | "http" | "url" | "remote", _) if network => Weight::Refused,
        // An empty helper forgets those that were named before it.
        ("credential", "helper") => Weight::Overridden("credential.helper".into(), String::new()),
        _ => Weight::Harmless,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighed(
        scope: &str,
        settings: &[&str],
        network: bool,
    ) -> Result<Vec<Override>, Vec<String>> {
        let mut fields: Vec<&str> = settings.iter().flat_map(|&setting| [scope, setting]).collect();
        fields.push("");
        let listing = fields.join("\0");
        judge(&listing, network)
    }

    #[test]
    fn what_a_person_set_for_all_repositories_stays_in_force() {
        for scope in ["global", "system", "command"] {
            assert_eq!(weighed(scope, &["filter.x.clean\nsh -c x"], true), Ok(Vec::new()));
        }
    }

    #[test]
    fn a_repositorys_own_programs_are_refused_or_put_out_of_force() {
        for key in [
            "filter.x.clean",
            "filter.a.b.smudge",
            "filter.x.process",
            "lfs.standalonetransferagent",
            "lfs.customtransfer.x.path",
            "lfs.extension.x.clean",
            "remote.origin.uploadpack",
        ] {
            let refused = weighed("local", &[&format!("{key}\nsh -c x")], false);
            assert_eq!(refused, Err(vec![key.to_owned()]), "{key}");
            assert!(weighed("worktree", &[&format!("{key}\nsh -c x")], false).is_err(), "{key}");
        }
        let one = |key: &str, value: &str| Ok(vec![(key.to_owned(), value.to_owned())]);
        assert_eq!(
            weighed("local", &["merge.x.driver\nsh -c x"], false),
            one("merge.x.driver", TEXT_MERGE)
        );
        assert_eq!(
            weighed("local", &["hook.a.b.command\nsh -c x"], false),
            one("hook.a.b.enabled", "false")
        );
        assert_eq!(
            weighed("local", &["credential.https://h/.helper\n!x"], false),
            one("credential.helper", "")
        );
    }

    #[test]
    fn ordinary_settings_are_left_alone() {
        let settings = [
            "core.bare\nfalse",
            "user.name\nAda",
            "remote.origin.url\nhttps://h/r",
            "url.https://h/.insteadof\ngit@h:",
            "filter.lfs.process\ngit-lfs filter-process",
            "filter.lfs.required\ntrue",
            "merge.ours.driver\ntrue",
            "alias.x\n!sh",
            "novalue",
        ];

        assert_eq!(weighed("local", &settings, false), Ok(Vec::new()));
    }

    #[test]
    fn a_mirror_names_no_servers_of_its_own() {
        for key in ["url.https://evil/.insteadof", "http.proxy", "credential.helper"] {
            assert!(weighed("local", &[&format!("{key}\nx")], true).is_err(), "{key}");
        }
    }

    #[test]
    fn whatever_is_not_known_to_start_nothing_is_looked_into() {
        let reach = |line: &str| Reach::of(line.split(' ').map(OsStr::new));

        assert!(!reach("rev-parse --verify HEAD").starts_programs);
        assert!(!reach("worktree list -z").starts_programs);
        assert!(reach("worktree add --quiet -- /w main").starts_programs);
        assert!(reach("symbolic-ref HEAD refs/heads/x").starts_programs);
        assert!(reach("some-new-verb").starts_programs);
        assert!(reach("add --all").nested);
        assert!(!reach("status --ignore-submodules=dirty").nested);
        assert!(reach("fetch --quiet").network);
    }
}
