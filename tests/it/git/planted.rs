//! Programs that somebody planted in a repository, as an agent can, and that git would start when
//! the server looks at the work. Each trap is shown to work before it is shown not to spring.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assay::base::{Code, Fault};
use assay::projects::git::commit::commit_all;
use assay::projects::git::diff;
use assay::projects::git::inspect::State;
use assay::projects::git::landing::{Outcome, Preparation, Strategy, apply, prepare};
use assay::projects::git::removal::{Uncommitted, remove};
use assay::projects::git::{Git, Location, inspect, worktree};

use super::{AT, Bench, author, branch, message, request, run_in, write};

/// A bench with a trap: a program that leaves a file behind.
struct Trapped {
    bench: Bench,
}

impl Trapped {
    fn new() -> Self {
        let bench = Bench::new();
        let trap = Self { bench };
        write(&trap.program(), &format!("#!/bin/sh\n: >'{}'\ncat\n", trap.mark().display()));
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(trap.program(), executable).expect("it is ours");
        trap
    }

    fn program(&self) -> PathBuf {
        self.bench.path("trap.sh")
    }

    fn mark(&self) -> PathBuf {
        self.bench.path("sprung")
    }

    /// The trap as a line of shell, for a setting.
    fn line(&self) -> String {
        self.program().to_str().expect("a plain path").to_owned()
    }

    fn set(&self, key: &str) {
        self.set_in(&self.bench.person(), key);
    }

    fn set_in(&self, repository: &Path, key: &str) {
        run_in(repository, &["config", key, &self.line()]);
    }

    /// Demands that the trap has sprung, and sets it again.
    fn springs(&self, what: &str) {
        assert!(self.mark().exists(), "{what} is no trap");
        std::fs::remove_file(self.mark()).expect("it is there");
    }

    fn is_unsprung(&self, what: &str) {
        assert!(!self.mark().exists(), "{what} ran");
    }
}

fn is_refused(fault: &Fault, key: &str) {
    assert_eq!(fault.code, Code::ProjectNotReady, "{fault}");
    assert!(fault.message.contains(key), "{fault}");
    assert!(fault.message.contains("git config --unset"), "{fault}");
}

#[tokio::test]
async fn a_filter_that_an_agent_configured_is_refused_and_never_runs() {
    let trapped = Trapped::new();
    let bench = &trapped.bench;
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    let tree = bench.root().join("t1");

    write(&tree.join(".gitattributes"), "*.txt filter=x\n");
    write(&tree.join("b.txt"), "b\n");
    trapped.set_in(&tree, "filter.x.clean");
    run_in(&tree, &["add", "--dry-run", "--all"]);
    run_in(&tree, &["hash-object", "--path=b.txt", "b.txt"]);
    trapped.springs("a filter");
    let place = bench.place("t1");
    let refused = commit_all(&repository, &place, &author(), &message(), AT).await;

    is_refused(&refused.expect_err("it names a program"), "filter.x.clean");
    let state = inspect(&bench.git, &Location::Local(bench.person()), None).await;
    assert!(matches!(state, Ok(State::Refused { .. })), "{state:?}");
    remove(&repository, &place, Uncommitted::Keep).await.expect_err("it looks at files");
    trapped.is_unsprung("the filter");
}

#[tokio::test]
async fn a_filter_for_one_worktree_alone_is_refused_too() {
    let trapped = Trapped::new();
    let bench = &trapped.bench;
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    let tree = bench.root().join("t1");

    run_in(&tree, &["config", "extensions.worktreeConfig", "true"]);
    run_in(&tree, &["config", "--worktree", "filter.x.process", &trapped.line()]);
    write(&tree.join(".gitattributes"), "* filter=x\n");
    let place = bench.place("t1");
    let refused = commit_all(&repository, &place, &author(), &message(), AT).await;

    is_refused(&refused.expect_err("it names a program"), "filter.x.process");
    trapped.is_unsprung("the filter");
}

#[tokio::test]
async fn a_repository_within_the_worktree_runs_nothing_either() {
    for key in ["filter.x.clean", "core.fsmonitor"] {
        let trapped = Trapped::new();
        let bench = &trapped.bench;
        let repository = bench.open().await;
        bench.work(&repository, "t1", "a.txt", "a\n").await;
        let (tree, inner) = (bench.root().join("t1"), bench.root().join("t1/inner"));
        std::fs::create_dir(&inner).expect("a directory");
        run_in(&inner, &["init", "--quiet"]);
        write(&inner.join("f.txt"), "one\n");
        run_in(&inner, &["add", "--all"]);
        run_in(&inner, &["commit", "--quiet", "-m", "Inner"]);
        run_in(&tree, &["-c", "advice.addEmbeddedRepo=false", "add", "inner"]);
        write(&inner.join(".gitattributes"), "* filter=x\n");
        write(&inner.join("f.txt"), "two\n");
        trapped.set_in(&inner, key);

        run_in(&tree, &["status"]);
        trapped.springs(key);
        write(&inner.join("f.txt"), "six\n");
        let place = bench.place("t1");
        let committed = commit_all(&repository, &place, &author(), &message(), AT).await;

        trapped.is_unsprung(key);
        match key {
            "core.fsmonitor" => assert!(committed.is_ok(), "{committed:?}"),
            _ => is_refused(&committed.expect_err("it names a program"), key),
        }
    }
}

#[tokio::test]
async fn a_merge_driver_gives_way_to_gits_own_merge() {
    let trapped = Trapped::new();
    let bench = &trapped.bench;
    bench.write("list.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    bench.write(".gitattributes", "list.txt merge=x\n");
    bench.person_commits("A list");
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "list.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n").await;
    bench.write("list.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    bench.person_commits("Another line");

    let attributes = bench.person().join(".git/info/attributes");
    write(&attributes, "list.txt merge=x\n");
    trapped.set("merge.x.driver");
    bench.run(&["merge-tree", "--write-tree", "main", tip.as_str()]);
    trapped.springs("a merge driver");
    let prepared = prepare(&repository, &request(tip, Strategy::Merge)).await;

    trapped.is_unsprung("the merge driver");
    let Ok(Preparation::Ready(prepared)) = prepared else { panic!("{prepared:?}") };
    let outcome = apply(&repository, &prepared).await.expect("it lands");
    assert!(matches!(outcome, Outcome::Landed { .. }), "{outcome:?}");
    assert_eq!(bench.read("list.txt"), "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    trapped.is_unsprung("the merge driver");
}

#[tokio::test]
async fn whatever_else_a_repository_names_stays_unstarted_and_the_work_goes_on() {
    let trapped = Trapped::new();
    let bench = &trapped.bench;
    bench.write(".gitattributes", "*.txt diff=x\n");
    let base = bench.person_commits("Attributes");
    let repository = bench.open().await;
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.askPass",
        "core.editor",
        "core.pager",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "sequence.editor",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "gpg.program",
        "gpg.ssh.program",
        "credential.helper",
        "alias.status",
        "alias.commit",
        "hook.x.command",
        "interactive.diffFilter",
        "submodule.x.update",
    ] {
        trapped.set(key);
    }
    for key in ["commit.gpgSign", "tag.gpgSign", "push.gpgSign", "log.showSignature"] {
        bench.run(&["config", key, "true"]);
    }
    for event in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
        bench.run(&["config", "--add", "hook.x.event", event]);
        let hook = bench.person().join(".git/hooks").join(event);
        std::fs::create_dir_all(hook.parent().expect("a folder")).expect("a directory");
        std::fs::copy(trapped.program(), &hook).expect("a hook");
    }
    bench.run(&["branch", "of-the-person"]);
    trapped.springs("a hook");

    let location = Location::Local(bench.person());
    let state = inspect(&bench.git, &location, None).await.expect("git runs");
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    diff::summary(&repository, &base, &tip).await.expect("a summary");
    diff::text(&repository, &base, &tip, &[], 1_000).await.expect("a text");
    diff::whole(&repository, &base, &tip, 1_000).await.expect("both");
    let prepared = prepare(&repository, &request(tip, Strategy::Squash)).await;
    let Ok(Preparation::Ready(prepared)) = prepared else { panic!("{prepared:?}") };
    let outcome = apply(&repository, &prepared).await.expect("it lands");
    remove(&repository, &bench.place("t1"), Uncommitted::Keep).await.expect("it goes");

    assert!(matches!(state, State::Ready(_)), "{state:?}");
    assert!(matches!(outcome, Outcome::Landed { .. }), "{outcome:?}");
    assert_eq!(bench.read("a.txt"), "a\n");
    trapped.is_unsprung("something");
}

#[tokio::test]
async fn a_link_to_a_repository_of_the_agents_own_is_not_followed() {
    let trapped = Trapped::new();
    let bench = &trapped.bench;
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    let (tree, own) = (bench.root().join("t1"), bench.path("own"));
    std::fs::create_dir(&own).expect("a directory");
    run_in(&own, &["init", "--quiet"]);
    trapped.set_in(&own, "core.fsmonitor");
    trapped.set_in(&own, "filter.x.clean");

    write(&tree.join(".gitattributes"), "* filter=x\n");
    write(&tree.join(".git"), &format!("gitdir: {}\n", own.join(".git").display()));
    let place = bench.place("t1");
    let fault = commit_all(&repository, &place, &author(), &message(), AT).await;

    assert_eq!(fault.expect_err("it is another's").code, Code::ProjectNotReady);
    trapped.is_unsprung("something");
}

#[tokio::test]
async fn a_mirror_is_fetched_from_nowhere_but_the_projects_remote() {
    let trapped = Trapped::new();
    let bench = &trapped.bench;
    let remote = format!("file://{}", bench.bare().display());
    let repository = bench.open_at(&remote).await;
    repository.refresh().await.expect("the remote answers");
    bench.work(&repository, "t1", "a.txt", "a\n").await;

    let elsewhere = format!("url.file://{}.insteadOf", bench.person().display());
    run_in(&bench.root().join("t1"), &["config", &elsewhere, &remote]);
    let fault = repository.refresh().await.expect_err("somebody turned it aside");

    is_refused(&fault, "insteadof");
}

#[tokio::test]
async fn an_object_that_is_not_here_is_not_fetched_by_the_repositorys_own_program() {
    let trapped = Trapped::new();
    let bench = &trapped.bench;
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let tree = bench.root().join("t1");
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "x"),
        ("remote.x.promisor", "true"),
        ("remote.x.url", bench.person().to_str().expect("a plain path")),
        ("remote.x.uploadPack", &trapped.line()),
    ] {
        run_in(&tree, &["config", key, value]);
    }
    let absent = "0123456789012345678901234567890123456789";
    write(&bench.person().join(".git/refs/heads/absent"), &format!("{absent}\n"));

    let asked = repository.branch(&branch("absent")).await;
    let landed = prepare(&repository, &request(tip, Strategy::Merge)).await;

    assert!(asked.is_err() || asked.is_ok_and(|found| found.is_none()));
    is_refused(&landed.expect_err("it names a program"), "remote.x.uploadpack");
    trapped.is_unsprung("the program of the remote");
}

#[tokio::test]
async fn git_sees_nothing_of_the_servers_environment_but_what_it_needs() {
    let bench = Bench::new();
    let seen = bench.path("seen");
    let program = bench.path("git.sh");
    let script = format!("#!/bin/sh\nenv >'{}'\necho git version 2.50.0\n", seen.display());
    write(&program, &script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("ours");

    // While another test starts a program, the script may count as still being written.
    let mut tries = 0..50;
    while Git::new(&program).version().await.is_err() {
        assert!(tries.next().is_some(), "it never answers");
    }

    let seen = std::fs::read_to_string(seen).expect("it ran");
    let names: Vec<&str> = seen.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(names.contains(&"PATH") && names.contains(&"GIT_TERMINAL_PROMPT"), "{names:?}");
    for name in names {
        let is_ours = name.starts_with("GIT_") || name.starts_with("XDG_") || name == "LC_ALL";
        let known = ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LD_LIBRARY_PATH"];
        let keys = ["CURL_CA_BUNDLE", "GNUPGHOME", "PASSWORD_STORE_DIR", "GPG_AGENT_INFO"];
        let usual = ["KRB5CCNAME", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"];
        let shells = ["PWD", "SHLVL", "_"];
        let proxy = name.to_ascii_lowercase().ends_with("_proxy");
        let lists = [&known[..], &keys, &usual, &shells];
        let is_known = lists.iter().any(|list| list.contains(&name)) || name.starts_with("SSL_");
        assert!(is_ours || is_known || proxy, "{name} reaches git");
    }
}

#[tokio::test]
async fn large_files_by_the_usual_program_are_not_in_the_way() {
    let bench = Bench::new();
    for (key, value) in [
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.lfs.smudge", "git-lfs smudge -- %f"),
        ("filter.lfs.process", "git-lfs filter-process"),
        ("filter.lfs.required", "true"),
    ] {
        bench.run(&["config", key, value]);
    }
    let repository = bench.open().await;

    bench.work(&repository, "t1", "a.txt", "a\n").await;

    let base = repository.tip(&branch("main")).await.expect("a base");
    assert!(worktree::ensure(&repository, &bench.place("t1"), &base).await.is_ok());
}
