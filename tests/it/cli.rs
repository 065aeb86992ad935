//! The command line, as a person or a script runs it.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::harness::{Manner, Postbox};

/// A data directory that no test shares.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.current_dir(self.dir.path()).env_clear();
        let path = format!("{}:{}", self.dir.path().join("bin").display(), std::env!("PATH"));
        command.env("PATH", path).env("ASSAY_DATA", self.data());
        command.args(args);
        command
    }

    /// Puts a program on the PATH.
    fn install(&self, program: &str) {
        let bin = self.dir.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::copy("/bin/true", bin.join(program)).unwrap();
    }

    /// What a command that succeeds says beside its result.
    fn said(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a command that succeeds prints.
    fn out(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.out(&[args, &["--json"]].concat())).unwrap()
    }

    /// The exit code and the complaint of a command that fails, having printed no result.
    fn refusal(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        assert!(!output.status.success() && output.stdout.is_empty(), "{args:?}: {output:?}");
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

const KEY: [&str; 6] = ["key", "create", "--scope", "mcp_full", "--name", "ci bot"];

#[test]
fn one_command_on_an_empty_machine_prints_a_key_and_nothing_else() {
    let place = Place::new();

    let key = place.out(&KEY);

    let random = key.strip_prefix("alch_").unwrap().strip_suffix('\n').unwrap();
    assert_eq!(random.len(), 43);
    let listed = place.out(&["key", "list"]);
    assert!(listed.contains("ci bot") && !listed.contains(random), "{listed}");
    assert_eq!(place.json(&["tenant", "list"])[0]["slug"], "default");
}

#[cfg(unix)]
#[test]
fn the_data_directory_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.out(&KEY);

    let mode = std::fs::metadata(place.data()).unwrap().permissions().mode();

    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_revoked_key_is_listed_as_revoked() {
    let place = Place::new();
    place.out(&KEY);

    place.out(&["key", "revoke", "ci bot"]);

    assert!(place.out(&["key", "list"]).contains("revoked"));
    assert_eq!(place.refusal(&["key", "revoke", "ci bot"]).0, 1);
    let rows = place.json(&["key", "list"]);
    assert!(rows[0]["revokedAt"].is_string(), "{rows}");
}

#[test]
fn a_project_key_reaches_its_project_alone() {
    let place = Place::new();
    let project = place.json(&["project", "create", "Acme Widgets"]);

    let limited = [&KEY[..], &["--prefix", "vq_live_", "--project", "ACME"]].concat();
    let key = place.json(&limited);

    assert!(key["key"].as_str().unwrap().starts_with("vq_live_"), "{key}");
    assert_eq!(key["defaultProject"], project["id"]);
    assert_eq!(key["onlyProjects"], serde_json::json!([project["id"]]));
    let whole = place.json(&[&KEY[..], &["--project", "acme-widgets"]].concat());
    assert_eq!(whole["onlyProjects"], Value::Null);
}

#[test]
fn what_cannot_be_done_is_explained_and_has_its_exit_code() {
    let place = Place::new();
    place.out(&["project", "create", "Acme"]);
    let cases: [(&[&str], i32, &str); 13] = [
        (&["fly"], 2, "unrecognized subcommand"),
        (&["key", "create", "--name", "x"], 2, "--scope"),
        (&["key", "create", "--name", "x", "--scope", "all"], 2, "mcp_read, mcp_full or ci"),
        (&["key", "create", "--name", " ", "--scope", "ci"], 2, "name is not usable: it is empty"),
        (&[&KEY[..], &["--prefix", "vq_live_"]].concat(), 2, "belongs to one project"),
        (&[&KEY[..], &["--project", "nothing"]].concat(), 1, "no project \"nothing\""),
        (&[&KEY[..], &["--tenant", "nobody"]].concat(), 1, "no tenant \"nobody\""),
        (&["project", "set", "ACME", "colour=red"], 2, "the names are"),
        (&["project", "set", "ACME", "agent=nobody"], 2, "opencode-acp or script"),
        (&["project", "set", "ACME", "repository=ext::sh -c x"], 2, "repository"),
        (&["project", "show", "nothing"], 1, "no project \"nothing\". There is ACME."),
        (&["call", "get_ticket", "SITE-1"], 2, r#"get_ticket '{"ticket": "SITE-1"}'"#),
        (&["mcp", "--url", "notaurl", "--key", "k"], 2, "such as http://127.0.0.1:7171"),
    ];
    for (args, code, says) in cases {
        let (got, complaint) = place.refusal(args);

        assert_eq!(got, code, "{args:?}: {complaint}");
        assert!(complaint.contains(says), "{args:?}: {complaint}");
    }
}

#[test]
fn with_several_tenants_one_must_be_named() {
    let place = Place::new();
    place.out(&["tenant", "create", "Acme"]);
    place.out(&["tenant", "create", "Other", "--plan", "read_only"]);

    let (code, complaint) = place.refusal(&KEY);

    assert_eq!(code, 2);
    assert!(complaint.contains("acme or other"), "{complaint}");
    place.out(&[&KEY[..], &["--tenant", "other"]].concat());
    assert_eq!(place.json(&["key", "list", "--tenant", "other"]).as_array().unwrap().len(), 1);
    assert_eq!(place.json(&["key", "list", "--tenant", "acme"]).as_array().unwrap().len(), 0);
    assert_eq!(place.refusal(&["tenant", "create", "Acme"]).0, 1);
}

#[test]
fn an_empty_directory_says_what_to_do_first() {
    let place = Place::new();
    let reading: [&[&str]; 7] = [
        &["key", "list"],
        &["key", "revoke", "x"],
        &["user", "list"],
        &["tenant", "list"],
        &["project", "list"],
        &["project", "show", "ACME"],
        &["call", "list_tickets"],
    ];
    for args in reading {
        let (code, complaint) = place.refusal(args);

        assert_eq!(code, 1);
        assert!(complaint.contains("There is no Assay data in "), "{complaint}");
        assert!(complaint.contains("assay tenant create NAME --data "), "{complaint}");
        assert!(!place.data().exists(), "{args:?}");
    }
}

#[test]
fn a_command_that_makes_the_data_directory_says_where() {
    let place = Place::new();

    let first = place.said(&KEY);
    let second = place.said(&KEY);

    let dir = place.data().canonicalize().unwrap().display().to_string();
    assert!(first.contains(&format!("Made the data directory {dir}.")), "{first}");
    assert!(!second.contains("Made the data directory"), "{second}");
    assert!(second.contains(&dir), "{second}");
}

#[test]
fn a_ticket_that_is_filed_while_no_server_runs_is_said_to_wait() {
    let place = Place::new();
    repository(place.dir.path());
    place.out(&["project", "create", "Acme", "--repository", "./repo", "--agent", "script"]);
    let file = ["call", "dispatch_ticket", r#"{"title":"T","description":"Do it."}"#];

    let alone = place.said(&file);
    let lock = std::fs::File::create(place.data().join("lock")).unwrap();
    lock.lock().unwrap();
    let served = place.said(&file);

    assert!(alone.contains("No server is running on this data directory"), "{alone}");
    assert!(!served.contains("No server"), "{served}");
    assert!(!place.said(&["call", "list_tickets"]).contains("No server"));
}

#[test]
fn the_first_person_is_an_owner_and_a_password_is_made_up_or_read() {
    let place = Place::new();

    let made_up = place.out(&["user", "create", "Ada@Example.org", "--name", "Ada"]);
    let mut given = place.command(&["user", "create", "bob@example.org", "--password-stdin"]);
    let given = given.write_stdin("correct horse\n").output().unwrap();

    assert!(made_up.trim_end().len() >= 20 && made_up.lines().count() == 1, "{made_up}");
    assert!(given.status.success() && given.stdout.is_empty(), "{given:?}");
    let people = place.json(&["user", "list"]);
    assert_eq!(people[0]["email"], "ada@example.org");
    assert_eq!([&people[0]["role"], &people[1]["role"]], ["owner", "member"]);
    assert_eq!(place.refusal(&["user", "create", "ADA@example.org"]).0, 1);
}

#[test]
fn a_password_is_changed_and_a_bad_one_is_not_taken() {
    let place = Place::new();
    place.out(&["user", "create", "ada@example.org"]);
    let passwd = ["user", "passwd", "ada@example.org"];

    let mut short = place.command(&[&passwd[..], &["--password-stdin"]].concat());
    let short = short.write_stdin("short\n").output().unwrap();

    assert_eq!(short.status.code(), Some(2), "{short:?}");
    assert!(place.out(&passwd).trim_end().len() >= 20);
    assert_eq!(place.refusal(&["user", "passwd", "eve@example.org"]).0, 1);
    assert!(place.refusal(&["user", "disable", "ada@example.org"]).1.contains("last owner"));
}

#[test]
fn a_project_is_set_up_step_by_step_and_tells_what_is_amiss() {
    let place = Place::new();
    let created = place.json(&["project", "create", "Acme", "--base-url", "https://acme.example"]);
    assert_eq!(codes(&created, "blockers"), ["no_repository", "no_agent"]);
    repository(place.dir.path());
    let missing = place.json(&["project", "set", "ACME", "repository=./repo", "agent=claude"]);
    assert_eq!(codes(&missing, "blockers"), ["agent_not_found"]);
    place.install("claude");

    let set = place.json(&[
        "project",
        "set",
        "acme",
        "repository=./repo",
        "agent=claude",
        "verify=make test",
        "verify=make lint",
        "landing=squash",
        "concurrency=4",
        "description=Widgets",
    ]);

    assert_eq!(codes(&set, "blockers"), Vec::<String>::new());
    assert_eq!(codes(&set, "warnings"), Vec::<String>::new());
    let repo = place.dir.path().canonicalize().unwrap().join("repo");
    assert_eq!(set["repository"], repo.to_str().unwrap());
    assert_eq!(set["settings"]["verify"][1]["command"], "make lint");
    assert_eq!(set["settings"]["agents"]["default"], "claude");
    let shown = place.out(&["project", "show", "ACME"]);
    assert!(shown.contains("claude (default)") && shown.contains("make test"), "{shown}");
    assert!(place.out(&["project", "list"]).contains("ACME"));

    let cleared = place.json(&["project", "set", "ACME", "verify=", "base-branch=nowhere"]);
    assert_eq!(codes(&cleared, "blockers"), ["repository_unusable"]);
    assert_eq!(codes(&cleared, "warnings"), ["no_verify_command"]);
}

#[test]
fn a_whole_settings_document_comes_from_a_file_or_standard_input() {
    let place = Place::new();
    place.out(&["project", "create", "Acme"]);
    let file = place.dir.path().join("settings.json");
    std::fs::write(&file, r#"{"limits":{"implementRounds":1}}"#).unwrap();

    let set = place.json(&["project", "set", "ACME", "settings=settings.json"]);
    std::fs::write(&file, place.out(&["project", "show", "ACME", "--json"])).unwrap();
    let again = place.json(&["project", "set", "ACME", "settings=settings.json"]);
    let mut bad = place.command(&["project", "set", "ACME", "settings=-"]);
    let bad = bad.write_stdin(r#"{"limits":{"implementRounds":0},"verify":[]}"#).output().unwrap();

    assert_eq!(set["settings"]["limits"]["implementRounds"], 1);
    assert_eq!(again["settings"], set["settings"]);
    assert_eq!(bad.status.code(), Some(2));
    let complaint = String::from_utf8(bad.stderr).unwrap();
    assert!(complaint.contains("settings.limits.implementRounds"), "{complaint}");
}

fn codes(project: &Value, list: &str) -> Vec<String> {
    let found = project["health"][list].as_array().unwrap();
    found.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// A repository with one commit at `repo` under a directory.
fn repository(under: &Path) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(under).args(args);
        command.env("HOME", under).env("GIT_CONFIG_NOSYSTEM", "1");
        command.assert().success();
    };
    git(&["init", "--quiet", "--initial-branch=main", "repo"]);
    git(&[
        "-C",
        "repo",
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message=First",
    ]);
}

#[test]
fn a_test_mail_says_exactly_what_came_of_it() {
    let place = Place::new();
    let (taking, refusing) = (Postbox::start(), Postbox::treating(|_| Manner::Says(550)));
    let test = |postbox: &Postbox| {
        let mut command = place.command(&["mail", "test", "ada@example.com"]);
        command.env("ASSAY_SMTP_URL", postbox.url().replace("//", "//me:hunter2@"));
        command.env("ASSAY_SMTP_FROM", "Assay <assay@example.com>");
        let output = command.output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!said.contains("hunter2"), "{said}");
        (output.status.success(), said)
    };

    let (is_taken, said) = test(&taking);
    assert!(is_taken && said.contains("took the mail to ada@example.com: 250"), "{said}");
    assert_eq!(taking.posted()[0].header("Subject"), "A test of Assay's mails");
    let (is_taken, said) = test(&refusing);
    assert!(!is_taken && said.contains("for good") && said.contains("550 No such"), "{said}");
    let output = place.run(&["mail", "test", "ada@example.com"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ASSAY_SMTP_URL") && !output.status.success(), "{said}");
}
