//! The `NAME=VALUE` of `assay project set`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

use crate::base::Fault;
use crate::base::text::or_list;
use crate::projects::Project;
use crate::projects::agents::{Builtin, Permissions, Profile};
use crate::projects::dispatching::Likeness;
use crate::projects::settings::{EDITOR, LandingStrategy, Settings, VerifyCommand};

/// The most that is read of a settings document, in bytes.
const DOCUMENT_MAX: u64 = 1 << 20;

/// What the profile of a plain shell line is called.
const COMMAND_PROFILE: &str = "command";

/// One change, as it stands on the command line.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    what: What,
    value: String,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Label,
    Description,
    BaseUrl,
    Repository,
    BaseBranch,
    Agent,
    AgentCommand,
    AgentPermissions,
    Verify,
    Landing,
    RequireFullyVerified,
    ImplementRounds,
    Concurrency,
    DuplicateThreshold,
    SplitAbove,
    Settings,
}

const NAMES: [(&str, What); 16] = [
    ("name", What::Label),
    ("description", What::Description),
    ("base-url", What::BaseUrl),
    ("repository", What::Repository),
    ("base-branch", What::BaseBranch),
    ("agent", What::Agent),
    ("agent-command", What::AgentCommand),
    ("agent-permissions", What::AgentPermissions),
    ("verify", What::Verify),
    ("landing", What::Landing),
    ("require-fully-verified", What::RequireFullyVerified),
    ("implement-rounds", What::ImplementRounds),
    ("concurrency", What::Concurrency),
    ("duplicate-threshold", What::DuplicateThreshold),
    ("split-above", What::SplitAbove),
    ("settings", What::Settings),
];

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        let known = NAMES.iter().find(|(known, _)| *known == name);
        let Some((_, what)) = known else {
            return Err(format!("the names are {}", or_list(&NAMES.map(|(name, _)| name))));
        };
        Ok(Self { what: *what, value: value.to_owned() })
    }
}

impl Setting {
    /// What the command's help says of the names.
    pub(super) const HELP: &'static str = "Names:
  name=TEXT                    the name for people
  description=TEXT             what it is about
  base-url=URL                 where its site is served
  repository=PATH|URL          its git repository
  base-branch=BRANCH           the branch that tickets start from and land on
  agent=PROFILE                the default agent: claude, codex, gemini, goose or opencode; the
                               same over the Agent Client Protocol, as claude-acp, codex-acp,
                               gemini-acp, goose-acp or opencode-acp; script; a profile of the
                               project; or editor: nodes wait until an agent in an editor
                               claims them
  agent-command=LINE           a shell line as the default agent; the prompt is its standard input
  agent-permissions=POLICY     what an agent over the protocol may do that it asks for: worktree
                               (what stays there), ask (a person, about the rest), allow or deny
  verify=LINE                  a shell line that must succeed before a ticket lands; give it
                               several times for several
  landing=merge|squash         what a landing leaves on the base branch
  require-fully-verified=BOOL  whether every assertion must be confirmed before a ticket lands
  implement-rounds=N           how many times an agent may implement a ticket
  concurrency=N                how many nodes run at once
  duplicate-threshold=SHARE    how alike briefs of one ticket are: 0.7 unless set, 0 for never
  split-above=N                the nodes above which a brief in parts becomes a chain of tickets
  settings=FILE|-              the whole settings document, or what `project show --json`
                               prints, from a file or standard input";

    /// The change with what it needs from outside the database: paths made absolute, files read.
    pub(super) fn load(self) -> anyhow::Result<Self> {
        let value = match self.what {
            What::Repository if !self.value.is_empty() => absolute_repository(&self.value)?,
            What::Settings => read_document(&self.value)?,
            _ => return Ok(self),
        };
        Ok(Self { value, ..self })
    }

    /// Makes the change. The first verify command of a command line replaces those that are
    /// there; `verify_begun` says whether it has come.
    pub(super) fn apply(self, project: &mut Project, verify_begun: &mut bool) -> Result<(), Fault> {
        let Self { what, value } = self;
        let settings = &mut project.settings;
        match what {
            What::Label => project.name = value,
            What::Description => project.description = value,
            What::BaseUrl => project.base_url = given(value),
            What::Repository => project.repository = given(value),
            What::BaseBranch => project.base_branch = given(value),
            What::Agent => set_agent(settings, &value)?,
            What::AgentCommand => set_agent_command(settings, value),
            What::AgentPermissions => {
                settings.agents.permissions = Permissions::parse(&value).ok_or_else(|| {
                    let said = format!("expected {}.", Permissions::choices());
                    Fault::argument("agent-permissions", said)
                })?;
            }
            What::Verify => {
                if !std::mem::replace(verify_begun, true) {
                    settings.verify.clear();
                }
                settings.verify.extend(given(value).map(|line| VerifyCommand::new(&line, &line)));
            }
            What::Landing => {
                settings.landing.strategy = LandingStrategy::parse(&value).ok_or_else(|| {
                    Fault::argument("landing", format!("expected {}.", LandingStrategy::choices()))
                })?;
            }
            What::RequireFullyVerified => {
                settings.landing.require_fully_verified =
                    value_of("require-fully-verified", &value, "true or false")?;
            }
            What::ImplementRounds => {
                settings.limits.implement_rounds =
                    value_of("implement-rounds", &value, "a number")?;
            }
            What::Concurrency => {
                settings.limits.concurrency = value_of("concurrency", &value, "a number")?;
            }
            What::DuplicateThreshold => {
                let expected = "a share from 0 to 1";
                let share: f64 = value_of("duplicate-threshold", &value, expected)?;
                settings.dispatch.duplicate_threshold =
                    Likeness::try_from(share).map_err(|_| {
                        Fault::argument("duplicate-threshold", "expected a share from 0 to 1.")
                    })?;
            }
            What::SplitAbove => {
                settings.dispatch.split_above = value_of("split-above", &value, "a number")?;
            }
            What::Settings => *settings = settings_of(&value)?,
        }
        Ok(())
    }
}

fn given(value: String) -> Option<String> {
    Some(value).filter(|value| !value.is_empty())
}

fn value_of<T: FromStr>(name: &str, value: &str, expected: &str) -> Result<T, Fault> {
    value.parse().map_err(|_| Fault::argument(name, format!("expected {expected}.")))
}

/// Makes a profile the default one: one that the project has, or one that ships with the product.
pub(super) fn set_agent(settings: &mut Settings, name: &str) -> Result<(), Fault> {
    let agents = &mut settings.agents;
    if name.is_empty() {
        agents.default = None;
        return Ok(());
    }
    if name != EDITOR && !agents.profiles.contains_key(name) {
        let Some(profile) = Profile::builtin(name) else {
            let mut known: BTreeSet<&str> = agents.profiles.keys().map(String::as_str).collect();
            known.extend(Builtin::ALL.iter().map(|builtin| builtin.word()));
            known.insert(EDITOR);
            let known: Vec<&str> = known.into_iter().collect();
            let said = format!(
                "there is no profile {name:?}; there are {}. Others come with settings=FILE.",
                or_list(&known)
            );
            return Err(Fault::argument("agent", said));
        };
        agents.profiles.insert(name.to_owned(), profile);
    }
    agents.default = Some(name.to_owned());
    Ok(())
}

/// The settings of a document: one of settings alone, or what `project show --json` prints.
fn settings_of(text: &str) -> Result<Settings, Fault> {
    match serde_json::from_str(text) {
        Ok(Value::Object(shown)) if shown.contains_key("id") && shown.contains_key("settings") => {
            Settings::parse(&shown["settings"])
        }
        _ => Settings::parse_text(text),
    }
}

/// Makes a shell line the default agent. It may take as long as the present agent.
fn set_agent_command(settings: &mut Settings, line: String) {
    let agents = &mut settings.agents;
    if line.is_empty() {
        agents.profiles.remove(COMMAND_PROFILE);
        agents.default.take_if(|name| name == COMMAND_PROFILE);
        return;
    }
    let mut profile = Profile::script(vec!["sh".to_owned(), "-c".to_owned(), line]);
    let own = agents.profiles.get(COMMAND_PROFILE);
    let present = own.or_else(|| agents.choose("implement", "auto").map(|(_, profile)| profile));
    if let Some(present) = present {
        profile.timeout_secs = present.timeout_secs;
        profile.idle_timeout_secs = present.idle_timeout_secs;
    }
    if let Some(own) = own {
        (profile.env, profile.set) = (own.env.clone(), own.set.clone());
        (profile.max_output_bytes, profile.max_concurrent) =
            (own.max_output_bytes, own.max_concurrent);
    }
    agents.profiles.insert(COMMAND_PROFILE.to_owned(), profile);
    agents.default = Some(COMMAND_PROFILE.to_owned());
}

/// A repository as the server finds it from wherever it runs: a path that is there, or is meant as
/// one, made absolute; an address as it stands.
pub(super) fn absolute_repository(text: &str) -> anyhow::Result<String> {
    let path = Path::new(text);
    let is_path = text.starts_with('.') || (!text.contains(':') && !text.starts_with('-'));
    if !is_path && !path.exists() {
        return Ok(text.to_owned());
    }
    let absolute = path.canonicalize().or_else(|_| std::path::absolute(path))?;
    match absolute.into_os_string().into_string() {
        Ok(text) => Ok(text),
        Err(_) => Err(Fault::argument("repository", "its path is not UTF-8 text.").into()),
    }
}

fn read_document(from: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = match from {
        "-" => std::io::stdin().lock().take(DOCUMENT_MAX).read_to_string(&mut text),
        path => {
            fs::File::open(path).and_then(|file| file.take(DOCUMENT_MAX).read_to_string(&mut text))
        }
    };
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(Fault::argument("settings", format!("{from} cannot be read: {error}.")).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_name() {
        for (name, _) in NAMES {
            assert!(Setting::HELP.contains(&format!("  {name}=")), "{name}");
        }
    }

    #[test]
    fn a_setting_is_a_known_name_and_a_value() {
        assert!("verify=a=b".parse::<Setting>().is_ok_and(|setting| setting.value == "a=b"));
        for text in ["verify", "=x", "colour=red"] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_relative_repository_is_made_absolute_and_an_address_is_left() {
        let absolute = absolute_repository("./no/such").expect("a path can be made absolute");
        assert!(absolute.starts_with('/') && absolute.ends_with("no/such"), "{absolute}");
        for text in ["https://host/r.git", "git@host:team/r.git", "--upload-pack=x"] {
            assert_eq!(absolute_repository(text).ok().as_deref(), Some(text));
        }
    }

    #[test]
    fn a_shell_line_keeps_the_time_that_the_agent_has() {
        let mut settings = Settings::default();
        set_agent_command(&mut settings, "./work".to_owned());
        let present = settings.agents.profiles.get_mut(COMMAND_PROFILE).expect("it was set");
        (present.timeout_secs, present.idle_timeout_secs) = (77, 7);

        set_agent_command(&mut settings, "./work --harder".to_owned());

        let profile = &settings.agents.profiles[COMMAND_PROFILE];
        assert_eq!((profile.timeout_secs, profile.idle_timeout_secs), (77, 7));
        assert_eq!(profile.command[2], "./work --harder");
    }

    #[test]
    fn a_shown_project_stands_for_its_settings() {
        let shown = r#"{"id":"p","settings":{"limits":{"concurrency":9}}}"#;
        assert_eq!(settings_of(shown).map(|read| read.limits.concurrency).ok(), Some(9));
        assert!(settings_of(r#"{"settings":{}}"#).is_err());
    }

    #[test]
    fn an_agent_is_one_of_the_project_or_one_that_ships() {
        let mut settings = Settings::default();

        set_agent(&mut settings, "claude").expect("it ships");
        let unknown = set_agent(&mut settings, "nobody").expect_err("nobody has it");

        assert!(unknown.message.contains("there are claude, claude-acp, codex"), "{unknown}");
        for builtin in Builtin::ALL {
            assert!(unknown.message.contains(builtin.word()), "{unknown}");
            assert!(Setting::HELP.contains(builtin.word()), "{builtin}");
        }
        assert_eq!(settings.agents.default.as_deref(), Some("claude"));
        set_agent_command(&mut settings, "./work".to_owned());
        assert_eq!(settings.agents.default.as_deref(), Some(COMMAND_PROFILE));
        set_agent_command(&mut settings, String::new());
        assert_eq!(settings.agents.profiles.len(), 1);
        assert!(settings.validate().is_ok());
    }
}
