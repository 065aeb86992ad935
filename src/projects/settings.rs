//! How a project's tickets are worked on: the one settings document of a project, written by
//! people. Every problem of it is reported at once, each with its path.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agents::{Permissions, Profile};
use super::dispatching::Dispatching;
use super::limits::{Bounds, MonthBounds};
use super::steps::{Approvals, CleanUp, DeployVerify, Pipeline};
use crate::base::text::or_list;
use crate::base::{Code, Fault, Issue};
use crate::words;

/// The kinds of nodes that an agent runs, and so may have a profile of their own.
pub const AGENT_NODES: [&str; 12] = [
    "plan",
    "contract",
    "research",
    "investigate",
    "implement",
    "docs",
    "integration",
    "review",
    "security",
    "qa_authoring",
    "reconcile",
    "merge_repair",
];

/// The presets that a ticket may ask for, and so may have a profile of their own.
pub const PRESETS: [&str; 7] = ["auto", "max", "high", "fast", "economy", "trivial", "cheap"];

/// The name that stands for an agent in somebody's editor, wherever a profile is named. Nothing is
/// started for such a node: it waits until somebody claims it.
pub const EDITOR: &str = "editor";

/// The most profiles, and the most verify commands.
const ENTRIES_MAX: usize = 50;

/// The settings of a project. The document form is this struct in camel case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Settings {
    /// Which agents there are, and which of them does what.
    pub agents: Agents,
    /// What must succeed in a ticket's worktree before the ticket may land, in this order.
    pub verify: Vec<VerifyCommand>,
    /// How a verified ticket reaches the base branch.
    pub landing: Landing,
    /// How much may be tried, and how much at once.
    pub limits: Limits,
    /// How a brief is judged before it becomes a ticket.
    pub dispatch: Dispatching,
    /// How a ticket's graph is planned.
    pub pipeline: Pipeline,
    /// What goes on only after a person's word.
    pub approvals: Approvals,
    /// How long what a ticket leaves on disk is kept.
    pub clean_up: CleanUp,
}

/// Which agents there are, and which of them does what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Agents {
    /// The profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// What an agent over the Agent Client Protocol may do that it asks permission for.
    pub permissions: Permissions,
    /// The profile that is meant where nothing else says. One profile alone needs no mention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The profile for a ticket's preset; see [`PRESETS`].
    pub presets: BTreeMap<String, String>,
    /// The profile for a kind of node; see [`AGENT_NODES`]. It wins over the preset.
    pub nodes: BTreeMap<String, String>,
}

/// A command that must succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VerifyCommand {
    /// What it is called in records and on pages; unique among the commands.
    pub name: String,
    /// The line that `sh -c` runs in the worktree. Exit code 0 is success.
    pub command: String,
    /// The longest that it may take, in seconds.
    #[serde(default = "default_timeout_secs")]
    pub timeout_secs: u64,
}

const fn default_timeout_secs() -> u64 {
    900
}

impl VerifyCommand {
    /// A command with the usual time.
    #[must_use]
    pub fn new(name: impl Into<String>, command: impl Into<String>) -> Self {
        Self { name: name.into(), command: command.into(), timeout_secs: default_timeout_secs() }
    }
}

words! {
    /// What a landing leaves on the base branch.
    #[derive(Default)]
    pub enum LandingStrategy {
        /// The ticket's commits and a merge commit.
        #[default]
        Merge = "merge",
        /// One commit.
        Squash = "squash",
    }
}

/// How a verified ticket reaches the base branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Landing {
    /// What it leaves there.
    pub strategy: LandingStrategy,
    /// Whether every assertion must be confirmed. Otherwise a ticket lands once nothing failed,
    /// and says what was not confirmed.
    pub require_fully_verified: bool,
    /// What looks at the deployed result once a ticket has landed. What it finds undoes nothing:
    /// the ticket has succeeded, and a person is asked to look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deploy_verify: Option<DeployVerify>,
}

/// How much may be tried, and how much at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// How many times an agent may implement a ticket before it fails.
    pub implement_rounds: u32,
    /// How many of the project's nodes run at once.
    pub concurrency: u32,
    /// What one node may use for each of its starts. Crossing it ends the ticket as `timeout`.
    pub node: Bounds,
    /// What a ticket may use for each try of a person's. Crossing it ends the ticket as `timeout`.
    pub ticket: Bounds,
    /// What the project's tickets may use in a calendar month, in UTC. Once it is used up no
    /// further ticket starts until the month turns or the limit is raised; others go on.
    pub project_month: MonthBounds,
}

impl Default for Limits {
    fn default() -> Self {
        let (node, ticket) = (Bounds::default(), Bounds::default());
        let project_month = MonthBounds::default();
        Self { implement_rounds: 3, concurrency: 2, node, ticket, project_month }
    }
}

impl Agents {
    /// The profile for a kind of node of a ticket with that preset, with its name; `None` where
    /// the project names no agent for it.
    #[must_use]
    pub fn choose(&self, node: &str, preset: &str) -> Option<(&str, &Profile)> {
        let name = self.named(node, preset)?;
        self.profiles.get_key_value(name).map(|(name, profile)| (name.as_str(), profile))
    }

    /// Whether that is done by an agent in somebody's editor; see [`EDITOR`].
    #[must_use]
    pub fn is_for_editor(&self, node: &str, preset: &str) -> bool {
        self.named(node, preset).is_some_and(|name| name == EDITOR)
    }

    fn named(&self, node: &str, preset: &str) -> Option<&String> {
        let sole = || match self.profiles.len() {
            1 => self.profiles.keys().next(),
            _ => None,
        };
        let named = self.nodes.get(node).or_else(|| self.presets.get(preset));
        named.or(self.default.as_ref()).or_else(sole)
    }

    fn issues(&self, issues: &mut Vec<Issue>) {
        if self.profiles.len() > ENTRIES_MAX {
            issues.push(issue("agents.profiles", format!("holds more than {ENTRIES_MAX}.")));
        }
        for (name, profile) in &self.profiles {
            let path = format!("agents.profiles.{name}");
            if let Some(why) = bad_name(name) {
                issues.push(issue(&path, why));
            }
            if name == EDITOR {
                issues.push(issue(&path, "is the name of agents in editors, which need none."));
            }
            issues.extend(profile.issues().into_iter().map(|found| under(&path, found)));
        }
        let mut known = |path: String, name: &str| {
            if name != EDITOR && !self.profiles.contains_key(name) {
                issues
                    .push(issue(&path, format!("names the profile {name:?}, which is not there.")));
            }
        };
        if let Some(name) = &self.default {
            known("agents.default".to_owned(), name);
        }
        for (what, map) in [("presets", &self.presets), ("nodes", &self.nodes)] {
            for (key, name) in map {
                known(format!("agents.{what}.{key}"), name);
            }
        }
        only("agents.presets", &self.presets, &PRESETS, issues);
        only("agents.nodes", &self.nodes, &AGENT_NODES, issues);
    }
}

impl Settings {
    /// Reads a settings document. The fault lists every problem with its path.
    pub fn parse(document: &Value) -> Result<Self, Fault> {
        let issues = shape_issues(document);
        if !issues.is_empty() {
            return Err(refused(issues));
        }
        let settings = Self::deserialize(document)
            .map_err(|error| refused(vec![issue("", format!("{error}."))]))?;
        settings.validate().map(|()| settings)
    }

    /// Reads a settings document from its text.
    pub fn parse_text(text: &str) -> Result<Self, Fault> {
        match serde_json::from_str(text) {
            Ok(document) => Self::parse(&document),
            Err(error) => Err(refused(vec![issue("", format!("is not JSON: {error}."))])),
        }
    }

    /// Refuses settings that read well but cannot work.
    pub fn validate(&self) -> Result<(), Fault> {
        let mut issues = Vec::new();
        self.agents.issues(&mut issues);
        self.verify_issues(&mut issues);
        let mut within = |path: &str, value: u32, most: u32| {
            if !(1..=most).contains(&value) {
                issues.push(issue(path, format!("must be between 1 and {most}.")));
            }
        };
        within("limits.implementRounds", self.limits.implement_rounds, 20);
        within("limits.concurrency", self.limits.concurrency, 64);
        within("dispatch.splitAbove", self.dispatch.split_above, 1_000);
        within("cleanUp.keepFailedHours", self.clean_up.keep_failed_hours, 8_760);
        let bounded = [("node", &self.limits.node), ("ticket", &self.limits.ticket)];
        let mut zeros: Vec<String> = bounded
            .iter()
            .flat_map(|(of, bounds)| bounds.zeros().map(move |name| format!("{of}.{name}")))
            .collect();
        let month = self.limits.project_month.zeros();
        zeros.extend(month.map(|name| format!("projectMonth.{name}")));
        for name in zeros {
            issues
                .push(issue(&format!("limits.{name}"), "must be above 0; leave it out for none."));
        }
        let deploy = self.landing.deploy_verify.iter().flat_map(DeployVerify::issues);
        issues.extend(deploy.map(|one| issue(&format!("landing.{}", one.path), one.message)));
        if issues.is_empty() { Ok(()) } else { Err(refused(issues)) }
    }

    fn verify_issues(&self, issues: &mut Vec<Issue>) {
        if self.verify.len() > ENTRIES_MAX {
            issues.push(issue("verify", format!("holds more than {ENTRIES_MAX} commands.")));
        }
        let mut names = BTreeSet::new();
        for (at, command) in self.verify.iter().enumerate() {
            if let Some(why) = bad_name(&command.name) {
                issues.push(issue(&format!("verify[{at}].name"), why));
            } else if !names.insert(&command.name) {
                issues.push(issue(&format!("verify[{at}].name"), "names two commands."));
            }
            let path = format!("verify[{at}].command");
            if command.command.trim().is_empty() {
                issues.push(issue(&path, "is empty."));
            } else if command.command.len() > 8_192 || command.command.contains('\0') {
                issues.push(issue(&path, "must be shorter than 8 KiB and hold no NUL."));
            }
            if !(1..=86_400).contains(&command.timeout_secs) {
                let path = format!("verify[{at}].timeoutSecs");
                issues.push(issue(&path, "must be between 1 and 86400."));
            }
        }
    }
}

/// What is wrong with the name of a profile or a command.
fn bad_name(name: &str) -> Option<&'static str> {
    let odd = name.chars().any(char::is_control) || name.trim() != name;
    let long = name.chars().count() > 60;
    (name.is_empty() || odd || long)
        .then_some("needs a name of 1 to 60 characters, without line breaks or outer spaces.")
}

fn only(path: &str, map: &BTreeMap<String, String>, keys: &[&str], issues: &mut Vec<Issue>) {
    for key in map.keys().filter(|key| !keys.contains(&key.as_str())) {
        issues.push(issue(&format!("{path}.{key}"), format!("is not one of {}.", or_list(keys))));
    }
}

/// Which parts of a document do not read, found by reading each of them alone.
fn shape_issues(document: &Value) -> Vec<Issue> {
    let Value::Object(fields) = document else {
        return vec![issue("", "must be an object.")];
    };
    let mut issues = Vec::new();
    for (name, value) in fields {
        match name.as_str() {
            "agents" => agents_shape(value, &mut issues),
            "verify" => verify_shape(value, &mut issues),
            "landing" => part::<Landing>(name, value, &mut issues),
            "limits" => part::<Limits>(name, value, &mut issues),
            "dispatch" => part::<Dispatching>(name, value, &mut issues),
            "approvals" => part::<Approvals>(name, value, &mut issues),
            "cleanUp" => part::<CleanUp>(name, value, &mut issues),
            "pipeline" => {
                if Pipeline::deserialize(value).is_err() {
                    let said = format!("must be {}.", Pipeline::choices());
                    issues.push(issue(name, said));
                }
            }
            _ => {
                let said = "is not a setting; there are agents, verify, landing, limits, \
                            dispatch, pipeline, approvals and cleanUp.";
                issues.push(issue(name, said));
            }
        }
    }
    issues
}

fn agents_shape(value: &Value, issues: &mut Vec<Issue>) {
    let Value::Object(fields) = value else {
        return issues.push(issue("agents", "must be an object."));
    };
    let mut others = Map::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("profiles", Value::Object(profiles)) => {
                // One that reads is judged with the rest, once the whole document does.
                let unread = profiles.iter().filter(|(_, it)| Profile::deserialize(*it).is_err());
                for (name, profile) in unread {
                    let Err(fault) = Profile::parse(profile) else { continue };
                    let path = format!("agents.profiles.{name}");
                    issues.extend(fault.issues.iter().map(|found| under(&path, found.clone())));
                }
            }
            _ => drop(others.insert(name.clone(), value.clone())),
        }
    }
    part::<Agents>("agents", &Value::Object(others), issues);
}

fn verify_shape(value: &Value, issues: &mut Vec<Issue>) {
    let Value::Array(commands) = value else {
        return issues.push(issue("verify", "must be an array of commands."));
    };
    for (at, command) in commands.iter().enumerate() {
        part::<VerifyCommand>(&format!("verify[{at}]"), command, issues);
    }
}

fn part<T: DeserializeOwned>(path: &str, value: &Value, issues: &mut Vec<Issue>) {
    // An array would be read as a struct's fields in their order, which nobody means.
    if !value.is_object() {
        issues.push(issue(path, "must be an object."));
    } else if let Err(error) = T::deserialize(value) {
        issues.push(issue(path, format!("{error}.")));
    }
}

/// A problem of an agent profile, whose path starts with `profile`, under its place here.
fn under(path: &str, found: Issue) -> Issue {
    let rest = found.path.strip_prefix("profile").unwrap_or(&found.path);
    issue(&format!("{path}{rest}"), found.message)
}

fn issue(path: &str, message: impl Into<String>) -> Issue {
    let path = match path {
        "" => "settings".to_owned(),
        path => format!("settings.{path}"),
    };
    Issue { path, message: message.into() }
}

fn refused(issues: Vec<Issue>) -> Fault {
    let said = match &issues[..] {
        [only] => format!("The settings cannot be used: {} {}", only.path, only.message),
        all => format!("The settings cannot be used: they have {} problems.", all.len()),
    };
    let fault = Fault::new(Code::InvalidArgument, said);
    issues.into_iter().fold(fault, |fault, found| fault.issue(found.path, found.message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(document: &Value) -> Vec<String> {
        let fault = Settings::parse(document).expect_err("the document has problems");
        fault.issues.iter().map(|issue| issue.path.clone()).collect()
    }

    #[test]
    fn an_empty_document_is_the_default() {
        assert_eq!(Settings::parse(&json!({})).ok(), Some(Settings::default()));
    }

    #[test]
    fn settings_read_back_as_they_were_written() {
        let document = json!({
            "agents": {
                "profiles": { "fast": { "command": ["./agent"] } },
                "default": "fast",
                "presets": { "max": "fast" },
                "nodes": { "review": "fast" }
            },
            "verify": [{ "name": "tests", "command": "make test", "timeoutSecs": 60 }],
            "landing": { "strategy": "squash", "requireFullyVerified": true },
            "limits": { "implementRounds": 1 }
        });

        let settings = Settings::parse(&document).expect("the document is right");
        let written = serde_json::to_value(&settings).expect("settings are JSON");

        assert_eq!(settings.limits.concurrency, 2);
        assert_eq!(Settings::parse(&written).ok(), Some(settings));
    }

    #[test]
    fn all_parts_that_do_not_read_are_named_at_once() {
        let document = json!({
            "agents": { "profiles": { "a": { "command": "x" } }, "defualt": "a" },
            "verify": [{ "name": "t", "command": "x" }, { "name": "u" }],
            "landing": { "strategy": "rebase" },
            "limits": { "concurrency": "2" },
            "dispatch": { "duplicateThreshold": 1.5 },
            "colour": true
        });

        let expected = [
            "settings.agents.profiles.a.command",
            "settings.agents",
            "settings.verify[1]",
            "settings.landing",
            "settings.limits",
            "settings.dispatch",
            "settings.colour",
        ];
        assert_eq!(paths(&document), expected);
        assert_eq!(paths(&json!([])), ["settings"]);
        assert_eq!(paths(&json!({ "landing": ["squash"] })), ["settings.landing"]);
    }

    #[test]
    fn settings_that_read_but_cannot_work_are_refused() {
        let document = json!({
            "agents": {
                "profiles": { "a": { "command": ["x", "{promt}"] } },
                "default": "b",
                "presets": { "auto": "a", "turbo": "a" },
                "nodes": { "land": "c" }
            },
            "verify": [
                { "name": "", "command": " " },
                { "name": "t", "command": "x", "timeoutSecs": 0 },
                { "name": "t", "command": "x" }
            ],
            "limits": { "implementRounds": 0, "concurrency": 1000 },
            "dispatch": { "splitAbove": 0 }
        });

        let expected = [
            "settings.agents.profiles.a.command[1]",
            "settings.agents.default",
            "settings.agents.nodes.land",
            "settings.agents.presets.turbo",
            "settings.agents.nodes.land",
            "settings.verify[0].name",
            "settings.verify[0].command",
            "settings.verify[1].timeoutSecs",
            "settings.verify[2].name",
            "settings.limits.implementRounds",
            "settings.limits.concurrency",
            "settings.dispatch.splitAbove",
        ];
        assert_eq!(paths(&document), expected);
    }

    #[test]
    fn a_nodes_own_profile_wins_over_the_presets_and_that_over_the_default() {
        let mut agents = Agents::default();
        assert_eq!(agents.choose("implement", "auto"), None);

        agents.profiles.insert("a".to_owned(), Profile::script(vec!["a".to_owned()]));
        let chosen = |agents: &Agents, node, preset| {
            agents.choose(node, preset).map(|(name, _)| name.to_owned())
        };
        assert_eq!(chosen(&agents, "implement", "auto").as_deref(), Some("a"));

        agents.profiles.insert("b".to_owned(), Profile::script(vec!["b".to_owned()]));
        assert_eq!(agents.choose("implement", "auto"), None);

        agents.default = Some("a".to_owned());
        agents.presets.insert("max".to_owned(), "b".to_owned());
        agents.nodes.insert("review".to_owned(), "a".to_owned());
        assert_eq!(chosen(&agents, "implement", "auto").as_deref(), Some("a"));
        assert_eq!(chosen(&agents, "implement", "max").as_deref(), Some("b"));
        assert_eq!(chosen(&agents, "review", "max").as_deref(), Some("a"));
    }
}
