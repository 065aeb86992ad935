//! Starting an agent: where, with what, and in which environment.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::output::{LogLine, Redact};
use super::process::MARKER;
use super::usage::Bound;
use crate::base::{Clock, Code, Fault, Secret};
use crate::projects::agents::{Fill, Permissions, Profile, PromptBy, Protocol};

/// The byte that means: recorded, start. It precedes the agent's own standard input.
pub const GO: u8 = b'g';
/// Exit code where the word to start never came.
pub const NOT_STARTED: u8 = 1;
/// Exit code where the program exists but cannot be run, as shells have it.
pub const NOT_RUNNABLE: u8 = 126;
/// Exit code where the program does not exist, as shells have it.
pub const NOT_FOUND: u8 = 127;

/// Everything that one run needs.
pub struct Launch {
    /// The path of this very binary, which is the shim.
    pub assay: PathBuf,
    /// How the agent is started.
    pub profile: Profile,
    /// When the run is ended; [`Limits::of`] the profile unless something stricter applies.
    pub limits: Limits,
    /// The ticket's name, such as `ACME-1`.
    pub ticket: String,
    /// The kind of the node.
    pub node: String,
    /// The branch that is checked out in the worktree.
    pub branch: String,
    /// What the agent is asked to do.
    pub prompt: String,
    /// Where it works: the top of a git worktree, as an absolute path.
    pub worktree: PathBuf,
    /// A folder for this run alone, outside the worktree, as an absolute path. It is made where
    /// it is missing. The prompt goes there, and the report comes there.
    pub folder: PathBuf,
    /// The folder with the files that came with the ticket, where it has some.
    pub attachments: Option<PathBuf>,
    /// What it may do that it asks permission for, as an agent over the protocol does.
    pub permissions: Permissions,
    /// Questions of the ticket and what people answered, oldest first: what somebody allowed
    /// stays allowed.
    pub answers: Vec<(String, String)>,
    /// How the agent may call Assay, where it may.
    pub access: Option<Access>,
    /// The ticket's secrets: what each is worth in the environment variable of its name.
    pub secrets: Vec<(String, Secret)>,
    /// A text that no other run has, such as a UUID. Keep it with the process: it is how the
    /// run's processes are found again after a crash.
    pub marker: String,
    /// What time it is.
    pub clock: Clock,
    /// Takes secrets out of what the agent prints and reports, those above among them. The agent's
    /// own key is taken out in any case.
    pub redact: Redact,
    /// Whether the folders above are still where they were. What an agent left is read once they
    /// are: it did not delete what somebody moved away.
    pub in_place: Arc<dyn Fn() -> bool + Send + Sync>,
    /// What else ends the run, by what the agent tells of its use.
    pub bound: Option<Bound>,
    /// Where the log goes. A full channel holds the agent up; a closed one does not.
    pub log: mpsc::Sender<LogLine>,
}

/// What ends a run that does not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest that it may take.
    pub total: Duration,
    /// The longest that it may print nothing.
    pub idle: Duration,
    /// The most that it may print, in bytes.
    pub output_bytes: u64,
    /// How long its processes have to end by themselves once asked to; five seconds at most.
    pub grace: Duration,
}

impl Limits {
    /// The limits that a profile sets.
    #[must_use]
    pub const fn of(profile: &Profile) -> Self {
        Self {
            total: Duration::from_secs(profile.timeout_secs),
            idle: Duration::from_secs(profile.idle_timeout_secs),
            output_bytes: profile.max_output_bytes,
            grace: Duration::from_secs(3),
        }
    }
}

/// How an agent calls Assay.
pub struct Access {
    /// The address of the server.
    pub url: String,
    /// The agent's own key.
    pub key: Secret,
}

/// The longest prompt that fits in one argument, in bytes; the system takes 128 KiB.
const MAX_ARGUMENT: usize = 120_000;

impl Launch {
    /// Where the agent is asked to leave its report.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.folder.join("report.json")
    }

    fn prompt_file(&self) -> PathBuf {
        self.folder.join("prompt.md")
    }

    /// Takes the agent's own key and the caller's secrets out of texts.
    pub(super) fn redaction(&self) -> Redact {
        let redact = self.redact.clone();
        let key = self.access.as_ref().map(|access| access.key.clone());
        std::sync::Arc::new(move |text| match &key {
            Some(key) if !key.reveal().is_empty() => redact(&text.replace(key.reveal(), "[key]")),
            _ => redact(text),
        })
    }

    /// Checks the place and puts the prompt there. Blocks. Gives the worktree's real path.
    pub(super) fn prepare(&self) -> Result<PathBuf, Fault> {
        let worktree = worktree(&self.worktree)?;
        fs::create_dir_all(&self.folder).map_err(|error| unusable(&self.folder, &error))?;
        let folder = self.folder.canonicalize().map_err(|error| unusable(&self.folder, &error))?;
        if folder.starts_with(&worktree) {
            return Err(refused("The run's folder lies within the worktree."));
        }
        match fs::remove_file(self.report()) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(unusable(&self.report(), &error));
            }
            _ => {}
        }
        if self.profile.prompt == PromptBy::Argument
            && (self.prompt.len() > MAX_ARGUMENT || self.prompt.contains('\0'))
        {
            return Err(refused(
                "The prompt is too long for an argument. Let the agent profile take it by stdin \
                 or file.",
            ));
        }
        if self.profile.prompt == PromptBy::File {
            let path = self.prompt_file();
            write(&path, self.prompt.as_bytes()).map_err(|error| unusable(&path, &error))?;
        }
        Ok(worktree)
    }

    /// Starts the shim, which waits. Its process group is its own, and ends with the child.
    pub(super) fn spawn(&self, worktree: &Path) -> Result<Child, Fault> {
        let fill = Fill {
            prompt: &self.prompt,
            prompt_file: &self.prompt_file(),
            report: &self.report(),
            worktree,
            branch: &self.branch,
            ticket: &self.ticket,
            node: &self.node,
        };
        let mut command = command(&self.assay);
        command
            .args(["agent-shim", "--"])
            .args(self.profile.argv(&fill))
            .current_dir(worktree)
            .env_clear()
            .envs(self.environment(worktree, std::env::vars_os()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command.spawn().map_err(|error| {
            Fault::new(Code::Unavailable, "The agent's process could not be started.")
                .because(error)
        })
    }

    /// Whether the agent speaks the Agent Client Protocol.
    pub(super) fn talks(&self) -> bool {
        self.profile.protocol == Protocol::Acp
    }

    /// What the shim reads after the word to start.
    pub(super) fn standard_input(&self) -> Vec<u8> {
        match self.profile.prompt {
            PromptBy::Stdin => self.prompt.clone().into_bytes(),
            PromptBy::Argument | PromptBy::File => Vec::new(),
        }
    }

    fn environment(
        &self,
        worktree: &Path,
        server: impl Iterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let allowed = |name: &OsString| {
            Profile::ALWAYS.iter().any(|always| name == always)
                || self.profile.env.iter().any(|given| name.as_os_str() == given.as_str())
        };
        let mut out: Vec<(OsString, OsString)> = server.filter(|(name, _)| allowed(name)).collect();
        out.extend(self.profile.set.iter().map(|(name, value)| (name.into(), value.into())));
        let mut set = |name: &str, value: OsString| out.push((name.into(), value));
        for (name, value) in &self.secrets {
            set(name, value.reveal().into());
        }
        set("ASSAY_TICKET", self.ticket.clone().into());
        set("ASSAY_NODE", self.node.clone().into());
        set("ASSAY_REPORT", self.report().into());
        if let Some(folder) = &self.attachments {
            set("ASSAY_ATTACHMENTS", folder.into());
        }
        set(MARKER, self.marker.clone().into());
        if let Some(access) = &self.access {
            set("ASSAY_URL", access.url.clone().into());
            set("ASSAY_KEY", access.key.reveal().into());
        }
        // Git never asks anybody, and never takes a repository above the worktree for it.
        set("GIT_TERMINAL_PROMPT", "0".into());
        if let Some(above) = worktree.parent() {
            set("GIT_CEILING_DIRECTORIES", above.into());
        }
        out
    }
}

/// The real path of a worktree, if it can be worked in. Without its `.git`, git would take the
/// repository around it for it, and the agent would work in somebody's checkout.
fn worktree(path: &Path) -> Result<PathBuf, Fault> {
    let about = fs::symlink_metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => refused("The worktree does not exist."),
        _ => unusable(path, &error),
    })?;
    if !path.is_absolute() || !about.is_dir() {
        return Err(refused("The worktree is not a folder at an absolute path."));
    }
    if fs::symlink_metadata(path.join(".git")).is_err() {
        return Err(refused("The worktree is not the top of a git worktree: it has no .git."));
    }
    path.canonicalize().map_err(|error| unusable(path, &error))
}

/// Whether the process works where it should, as far as the system tells.
pub(super) fn works_in(pid: u32, worktree: &Path) -> bool {
    !cfg!(target_os = "linux")
        || fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place == worktree)
}

pub(super) fn refused(why: &str) -> Fault {
    Fault::new(Code::Upstream, format!("The agent was not started. {why}"))
}

fn unusable(path: &Path, error: &std::io::Error) -> Fault {
    let full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    let code = if full { Code::StorageFull } else { Code::Upstream };
    let said = format!("The agent was not started. {} cannot be used: {error}.", path.display());
    Fault::new(code, said)
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(bytes)
}

#[expect(clippy::disallowed_methods, reason = "agents start here and nowhere else")]
fn command(program: &Path) -> Command {
    Command::new(program)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::base::Millis;

    fn launch(profile: Profile) -> Launch {
        Launch {
            assay: "/bin/assay".into(),
            limits: Limits::of(&profile),
            profile,
            ticket: "ACME-1".to_owned(),
            node: "plan".to_owned(),
            branch: "agent/1".to_owned(),
            prompt: "Plan it.".to_owned(),
            worktree: "/nowhere".into(),
            folder: "/run/1".into(),
            attachments: Some("/run/1/attachments".into()),
            permissions: Permissions::default(),
            answers: Vec::new(),
            access: Some(Access { url: "http://a".to_owned(), key: Secret::new("alch_1") }),
            secrets: vec![("WEBHOOK".to_owned(), Secret::new("whsec"))],
            marker: "m".to_owned(),
            clock: Clock::fake(Millis(0)),
            redact: Arc::new(|text| text.replace("pw", "[pw]")),
            in_place: Arc::new(|| true),
            bound: None,
            log: mpsc::channel(1).0,
        }
    }

    #[test]
    fn an_agent_sees_what_its_profile_allows_and_nothing_else() {
        let mut profile = Profile::script(vec!["x".to_owned()]);
        profile.env = vec!["API_KEY".to_owned()];
        profile.set = BTreeMap::from([("MODE".to_owned(), "fast".to_owned())]);
        let server = ["PATH", "API_KEY", "AWS_SECRET", "ASSAY_DATA"];
        let server = server.map(|name| (name.into(), format!("{name}'s").into()));

        let seen = launch(profile).environment(Path::new("/w/1"), server.into_iter());

        let show = |(name, value): &(OsString, OsString)| {
            format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
        };
        let expected = [
            "PATH=PATH's",
            "API_KEY=API_KEY's",
            "MODE=fast",
            "WEBHOOK=whsec",
            "ASSAY_TICKET=ACME-1",
            "ASSAY_NODE=plan",
            "ASSAY_REPORT=/run/1/report.json",
            "ASSAY_ATTACHMENTS=/run/1/attachments",
            "ASSAY_RUN=m",
            "ASSAY_URL=http://a",
            "ASSAY_KEY=alch_1",
            "GIT_TERMINAL_PROMPT=0",
            "GIT_CEILING_DIRECTORIES=/w",
        ];
        assert_eq!(seen.iter().map(show).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_agents_own_key_is_redacted_with_the_rest() {
        let launch = launch(Profile::script(vec!["x".to_owned()]));

        assert_eq!(launch.redaction()("alch_1 and pw"), "[key] and [pw]");
    }

    #[test]
    fn a_prompt_that_fits_no_argument_is_refused_before_anything_starts() {
        let place = tempfile::tempdir().unwrap();
        let mut launch = launch(Profile::script(vec!["x".to_owned(), "{prompt}".to_owned()]));
        launch.profile.prompt = PromptBy::Argument;
        launch.worktree = place.path().join("tree");
        launch.folder = place.path().join("run");
        fs::create_dir_all(launch.worktree.join(".git")).unwrap();
        assert!(launch.prepare().is_ok());

        launch.prompt = "x".repeat(MAX_ARGUMENT + 1);
        assert!(launch.prepare().unwrap_err().message.contains("too long for an argument"));

        launch.folder = launch.worktree.join("run");
        assert!(launch.prepare().unwrap_err().message.contains("within the worktree"));
    }
}
