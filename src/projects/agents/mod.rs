//! Agent profiles: how the agent of a project is started. A profile is a settings document that
//! people write by hand, so every problem of it is reported at once, each with its path.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::text::or_list;
use crate::base::{Code, Fault, Issue};
use crate::words;

mod builtin;
mod program;
mod protocol;
mod template;

pub use builtin::Builtin;
pub use program::{NotFound, not_found};
pub use protocol::{Permissions, Protocol};
pub use template::{Fill, verbatim};
use template::{Piece, pieces};

words! {
    /// How the prompt reaches the agent.
    #[derive(Default)]
    pub enum PromptBy {
        /// On its standard input, which is then closed.
        #[default]
        Stdin = "stdin",
        /// As an argument: the one that holds `{prompt}`.
        Argument = "argument",
        /// In a file whose path an argument holds: `{promptFile}`.
        File = "file",
    }
}

words! {
    /// What the agent prints, and so where its turns and tokens are read from.
    #[derive(Default)]
    pub enum OutputFormat {
        /// Lines for people; nothing is counted.
        #[default]
        Plain = "plain",
        /// The JSON lines of `claude --print --output-format stream-json`.
        ClaudeStreamJson = "claude_stream_json",
        /// The JSON lines of `codex exec --json`.
        CodexJson = "codex_json",
        /// The JSON lines of `gemini --output-format stream-json`.
        GeminiStreamJson = "gemini_stream_json",
        /// The JSON lines of `opencode run --format json`.
        OpencodeJson = "opencode_json",
        /// The JSON lines of `goose run --output-format stream-json`.
        GooseStreamJson = "goose_stream_json",
    }
}

/// How to start an agent. The document form is this struct in camel case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    /// The program and its arguments, each started as it stands: no shell reads them. See
    /// [`Fill`] for the placeholders; `{{word}}` is the text `{word}`.
    pub command: Vec<String>,
    /// How Assay and the agent talk.
    #[serde(default)]
    pub protocol: Protocol,
    /// The way to log in that an agent over the protocol is told to take where it wants one: an id
    /// of those that it offers, such as `gemini-api-key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticate: Option<String>,
    /// How the prompt reaches the agent; over the protocol it is a message of it.
    #[serde(default)]
    pub prompt: PromptBy,
    /// What the agent prints.
    #[serde(default)]
    pub output: OutputFormat,
    /// Names of the server's own environment variables that the agent may see, beside
    /// [`Profile::ALWAYS`].
    #[serde(default)]
    pub env: Vec<String>,
    /// Variables with fixed values.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// The longest that one run may take, in seconds.
    #[serde(default = "default_timeout_secs")]
    pub timeout_secs: u64,
    /// The longest that a run may print nothing, in seconds.
    #[serde(default = "default_idle_timeout_secs")]
    pub idle_timeout_secs: u64,
    /// The most that a run may print, in bytes over both streams.
    #[serde(default = "default_max_output_bytes")]
    pub max_output_bytes: u64,
    /// How many nodes of the project it does at once at most; as many as the project where absent.
    /// A ticket that finds no place waits, and others go past it to other profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u64>,
    /// The model to ask the agent for. Without one, arguments that hold `{model}` are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

const fn default_timeout_secs() -> u64 {
    3_600
}
const fn default_idle_timeout_secs() -> u64 {
    900
}
const fn default_max_output_bytes() -> u64 {
    64 * 1024 * 1024
}

const MAX_SECS: u64 = 7 * 24 * 3_600;
const MAX_CONCURRENT: u64 = 64;
const MAX_ARGUMENTS: usize = 100;
const MAX_TEXT: usize = 8 * 1024;

impl Profile {
    /// The variables that every agent sees, so that programs are found and speak the right
    /// language. None of them holds a secret.
    pub const ALWAYS: [&str; 10] =
        ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

    /// A profile that starts `command` and gives it the prompt on standard input.
    #[must_use]
    pub fn script(command: Vec<String>) -> Self {
        Self {
            command,
            protocol: Protocol::Command,
            authenticate: None,
            prompt: PromptBy::Stdin,
            output: OutputFormat::Plain,
            env: Vec::new(),
            set: BTreeMap::new(),
            timeout_secs: default_timeout_secs(),
            idle_timeout_secs: default_idle_timeout_secs(),
            max_output_bytes: default_max_output_bytes(),
            max_concurrent: None,
            model: None,
        }
    }

    /// Reads a profile document. The fault lists every problem with its path under `profile`.
    pub fn parse(document: &Value) -> Result<Self, Fault> {
        let Value::Object(fields) = document else {
            return Err(refused(vec![issue("", "must be an object with a `command`.")]));
        };
        match Self::deserialize(document) {
            Ok(profile) => {
                let issues = profile.issues();
                if issues.is_empty() { Ok(profile) } else { Err(refused(issues)) }
            }
            Err(whole) => Err(refused(field_issues(fields, &whole))),
        }
    }

    /// What is wrong with the profile; empty where it can be used.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        let mut issues = Vec::new();
        self.command_issues(&mut issues);
        self.protocol_issues(&mut issues);
        self.environment_issues(&mut issues);
        let mut within = |path: &str, value: u64, least: u64, most: u64| {
            if !(least..=most).contains(&value) {
                issues.push(issue(path, format!("must be between {least} and {most}.")));
            }
        };
        within("timeoutSecs", self.timeout_secs, 1, MAX_SECS);
        within("idleTimeoutSecs", self.idle_timeout_secs, 1, MAX_SECS);
        within("maxOutputBytes", self.max_output_bytes, 1_024, 1 << 30);
        within("maxConcurrent", self.max_concurrent.unwrap_or(1), 1, MAX_CONCURRENT);
        if let Some(model) = &self.model
            && (model.is_empty()
                || model.len() > 200
                || model.starts_with('-')
                || model.contains(|c: char| c.is_whitespace() || c.is_control()))
        {
            issues.push(issue("model", "must be a model's name: no spaces, no leading hyphen."));
        }
        issues
    }

    fn command_issues(&self, issues: &mut Vec<Issue>) {
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            issues.push(issue("command", "must start with the program to run."));
        }
        if self.command.len() > MAX_ARGUMENTS {
            issues.push(issue("command", format!("may have {MAX_ARGUMENTS} parts at most.")));
        }
        let mut used = Vec::new();
        for (at, argument) in self.command.iter().enumerate() {
            let path = format!("command[{at}]");
            if argument.len() > MAX_TEXT || argument.contains('\0') {
                issues.push(issue(&path, "must be shorter than 8 KiB and hold no NUL."));
            }
            for name in pieces(argument).iter().filter_map(Piece::name) {
                if at == 0 {
                    issues.push(issue(&path, "the program itself cannot hold a placeholder."));
                } else if !Fill::NAMES.contains(&name) {
                    let known: Vec<String> =
                        Fill::NAMES.iter().map(|known| format!("{{{known}}}")).collect();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    let said = format!(
                        "{{{name}}} is not a placeholder; use {}, or write {{{{{name}}}}} \
                         for the text.",
                        or_list(&known)
                    );
                    issues.push(issue(&path, said));
                }
                used.push(name);
            }
        }
        let needed = match self.prompt {
            PromptBy::Stdin if used.contains(&"prompt") => {
                let said = "is stdin, but the command holds {prompt}; say argument instead.";
                issues.push(issue("prompt", said));
                return;
            }
            PromptBy::Stdin => return,
            PromptBy::Argument => "prompt",
            PromptBy::File => "promptFile",
        };
        if !used.contains(&needed) {
            let said = format!("is {}, so an argument must hold {{{needed}}}.", self.prompt);
            issues.push(issue("prompt", said));
        }
    }

    fn environment_issues(&self, issues: &mut Vec<Issue>) {
        let given = self.env.iter().enumerate().map(|(at, name)| (format!("env[{at}]"), name));
        let fixed = self.set.keys().map(|name| (format!("set.{name}"), name));
        for (path, name) in given.chain(fixed) {
            let mut letters = name.chars();
            let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if !first || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
                issues.push(issue(&path, "must be a variable's name: letters, digits and _."));
            } else if name.starts_with("ASSAY_") {
                issues.push(issue(&path, "names starting with ASSAY_ are set by Assay itself."));
            }
        }
        for (name, value) in &self.set {
            if value.len() > MAX_TEXT || value.contains('\0') {
                let said = "must be shorter than 8 KiB and hold no NUL.";
                issues.push(issue(&format!("set.{name}"), said));
            }
        }
        if self.env.len() + self.set.len() > MAX_ARGUMENTS {
            issues.push(issue("env", format!("{MAX_ARGUMENTS} variables at most, with set.")));
        }
    }

    /// The program and its arguments with every placeholder filled.
    #[must_use]
    pub fn argv(&self, fill: &Fill<'_>) -> Vec<OsString> {
        let names_model =
            |argument: &&String| pieces(argument).iter().any(|piece| piece.name() == Some("model"));
        let kept = self.command.iter().filter(|arg| self.model.is_some() || !names_model(arg));
        kept.map(|argument| {
            let mut out = OsString::new();
            for piece in pieces(argument) {
                match piece {
                    Piece::Text(text) => out.push(text),
                    Piece::Name(name) => out.push(fill.value(name, self.model.as_deref())),
                }
            }
            out
        })
        .collect()
    }
}

/// Which fields of a document do not read, found by reading each of them alone.
fn field_issues(fields: &Map<String, Value>, whole: &serde_json::Error) -> Vec<Issue> {
    let mut issues = Vec::new();
    if !fields.contains_key("command") {
        issues.push(issue("command", "is missing: the program to run and its arguments."));
    }
    for (name, value) in fields {
        let mut alone = Map::new();
        alone.insert("command".to_owned(), Value::Array(Vec::new()));
        alone.insert(name.clone(), value.clone());
        if let Err(error) = Profile::deserialize(&Value::Object(alone)) {
            issues.push(issue(name, format!("{error}.")));
        }
    }
    if issues.is_empty() {
        issues.push(issue("", format!("{whole}.")));
    }
    issues
}

fn issue(path: &str, message: impl Into<String>) -> Issue {
    let path = if path.is_empty() { "profile".to_owned() } else { format!("profile.{path}") };
    Issue { path, message: message.into() }
}

fn refused(issues: Vec<Issue>) -> Fault {
    let said = match &issues[..] {
        [only] => format!("The agent profile cannot be used: {} {}", only.path, only.message),
        _ => format!("The agent profile cannot be used: it has {} problems.", issues.len()),
    };
    issues.into_iter().fold(Fault::new(Code::InvalidArgument, said), |fault, issue| {
        fault.issue(issue.path, issue.message)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn fill() -> Fill<'static> {
        Fill {
            prompt: "do it",
            prompt_file: Path::new("/run/prompt.md"),
            report: Path::new("/run/report.json"),
            worktree: Path::new("/w"),
            branch: "agent/1",
            ticket: "ACME-1",
            node: "implement",
        }
    }

    fn paths(document: &Value) -> Vec<String> {
        let fault = Profile::parse(document).unwrap_err();
        fault.issues.iter().map(|issue| issue.path.clone()).collect()
    }

    #[test]
    fn an_argument_about_the_model_is_left_out_where_none_is_named() {
        let mut profile = Profile::builtin("codex").unwrap();
        let without = profile.argv(&fill());
        profile.model = Some("gpt-5-codex".to_owned());
        let with = profile.argv(&fill());

        assert_eq!(without.len() + 1, with.len());
        assert!(with.contains(&OsString::from("--model=gpt-5-codex")));
        assert!(with.contains(&OsString::from("--add-dir=/run")));
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_stand_for_themselves() {
        let command = ["a", "{ticket}:{node}", r#"{"a":{"b":1}}"#, "{{print}} {", "{} {worktree}"];
        let profile = Profile::script(command.map(str::to_owned).to_vec());

        assert_eq!(profile.issues(), []);
        assert_eq!(
            profile.argv(&fill()),
            ["a", "ACME-1:implement", r#"{"a":{"b":1}}"#, "{print} {", "{} /w"]
        );
    }

    #[test]
    fn all_problems_of_a_document_are_named_at_once() {
        let document = json!({
            "command": "claude", "prompt": "pigeon", "timeoutSecs": -1, "colour": true
        });

        let expected = ["profile.command", "profile.prompt", "profile.timeoutSecs"];
        assert_eq!(paths(&document)[..3], expected);
        assert_eq!(paths(&document)[3], "profile.colour");
        assert_eq!(paths(&json!({})), ["profile.command"]);
        assert_eq!(paths(&json!("claude")), ["profile"]);
    }

    #[test]
    fn a_profile_that_reads_but_cannot_work_is_refused() {
        let document = json!({
            "command": ["x", "{promt}"], "prompt": "argument", "env": ["1X", "ASSAY_KEY"],
            "set": { "A B": "1" }, "timeoutSecs": 0, "maxOutputBytes": 1, "model": "-x"
        });

        let expected = [
            "profile.command[1]",
            "profile.prompt",
            "profile.env[0]",
            "profile.env[1]",
            "profile.set.A B",
            "profile.timeoutSecs",
            "profile.maxOutputBytes",
            "profile.model",
        ];
        assert_eq!(paths(&document), expected);
        assert_eq!(paths(&json!({ "command": [] })), ["profile.command"]);
        assert_eq!(paths(&json!({ "command": ["{node}"] })), ["profile.command[0]"]);
        assert_eq!(paths(&json!({ "command": ["x", "{prompt}"] })), ["profile.prompt"]);
    }
}
