//! The profiles that ship with the product.

use super::{OutputFormat, Profile, Protocol};
use crate::words;

words! {
    /// The profiles that ship with the product.
    pub enum Builtin {
        /// Claude Code.
        Claude = "claude",
        /// Claude Code over the Agent Client Protocol, by its adapter.
        ClaudeAcp = "claude-acp",
        /// Codex.
        Codex = "codex",
        /// Codex over the Agent Client Protocol, by its adapter.
        CodexAcp = "codex-acp",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Gemini CLI over the Agent Client Protocol.
        GeminiAcp = "gemini-acp",
        /// Goose.
        Goose = "goose",
        /// Goose over the Agent Client Protocol.
        GooseAcp = "goose-acp",
        /// `OpenCode`.
        Opencode = "opencode",
        /// `OpenCode` over the Agent Client Protocol.
        OpencodeAcp = "opencode-acp",
        /// A program that the repository carries at `.assay/agent`.
        Script = "script",
    }
}

const PROXY: [&str; 7] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
];

const ANTHROPIC: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
];
const OPENAI: &[&str] = &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"];
const GOOGLE: &[&str] = &[
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GENAI_USE_VERTEXAI",
];
/// Those that take whichever provider they are set up for.
const ANY_PROVIDER: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GOOSE_PROVIDER",
    "GOOSE_MODEL",
    "OPENCODE_CONFIG",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

impl Builtin {
    /// The command.
    const fn command(self) -> &'static [&'static str] {
        match self {
            // Edits are accepted and commands allowed, since nobody is there to be asked; what
            // would still need asking is denied by print mode. The prompt comes on stdin.
            Self::Claude => &[
                "claude",
                "--print",
                "--output-format=stream-json",
                "--verbose",
                "--permission-mode=acceptEdits",
                "--allowedTools=Bash,Edit,Write,Read,Glob,Grep",
                "--add-dir={reportDir}",
                "--model={model}",
            ],
            Self::ClaudeAcp => &["claude-agent-acp"],
            // Its sandbox lets it write in the worktree and beside the report only; the network
            // is opened so that it can reach Assay and fetch what a build needs.
            Self::Codex => &[
                "codex",
                "exec",
                "--json",
                "--color=never",
                "--sandbox=workspace-write",
                "--config=sandbox_workspace_write.network_access=true",
                "--add-dir={reportDir}",
                "--model={model}",
                "-",
            ],
            Self::CodexAcp => &["codex-acp"],
            // Without a terminal it takes the prompt from stdin and asks nobody.
            Self::Gemini => &[
                "gemini",
                "--output-format=stream-json",
                "--yolo",
                "--include-directories={reportDir}",
                "--model={model}",
            ],
            Self::GeminiAcp => &["gemini", "--acp", "--model={model}"],
            Self::Goose => &[
                "goose",
                "run",
                "--no-session",
                "--output-format=stream-json",
                "--model={model}",
                "--instructions=-",
            ],
            Self::GooseAcp => &["goose", "acp"],
            Self::Opencode => &["opencode", "run", "--format=json", "--auto", "--model={model}"],
            Self::OpencodeAcp => &["opencode", "acp"],
            Self::Script => &[".assay/agent"],
        }
    }

    /// What it prints.
    const fn output(self) -> OutputFormat {
        match self {
            Self::Claude => OutputFormat::ClaudeStreamJson,
            Self::Codex => OutputFormat::CodexJson,
            Self::Gemini => OutputFormat::GeminiStreamJson,
            Self::Goose => OutputFormat::GooseStreamJson,
            Self::Opencode => OutputFormat::OpencodeJson,
            _ => OutputFormat::Plain,
        }
    }

    /// The names of the variables that it may see.
    const fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::ClaudeAcp => ANTHROPIC,
            Self::Codex | Self::CodexAcp => OPENAI,
            Self::Gemini | Self::GeminiAcp => GOOGLE,
            Self::Goose | Self::GooseAcp | Self::Opencode | Self::OpencodeAcp => ANY_PROVIDER,
            Self::Script => &[],
        }
    }

    const fn protocol(self) -> Protocol {
        match self {
            Self::ClaudeAcp
            | Self::CodexAcp
            | Self::GeminiAcp
            | Self::GooseAcp
            | Self::OpencodeAcp => Protocol::Acp,
            _ => Protocol::Command,
        }
    }
}

impl Profile {
    /// A profile that ships with the product, where `name` is one.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        let named = Builtin::parse(name)?;
        let mut profile =
            Self::script(named.command().iter().map(|&word| word.to_owned()).collect());
        (profile.output, profile.protocol) = (named.output(), named.protocol());
        if named != Builtin::Script {
            let seen = named.variables().iter().chain(&PROXY);
            profile.env = seen.map(|&name| name.to_owned()).collect();
        }
        match named {
            // Otherwise it stops at its first tool for a word that nobody gives.
            Builtin::Goose => drop(profile.set.insert("GOOSE_MODE".to_owned(), "auto".to_owned())),
            // It asks before it acts, so that the project's policy is heard.
            Builtin::GooseAcp => {
                profile.set.insert("GOOSE_MODE".to_owned(), "approve".to_owned());
            }
            _ => {}
        }
        Some(profile)
    }

    /// The profile of the demonstration: `program` is this very binary.
    #[must_use]
    pub fn demonstration(program: &str) -> Self {
        let mut profile = Self::script(vec![program.to_owned(), "demo-agent".to_owned()]);
        (profile.timeout_secs, profile.idle_timeout_secs) = (60, 30);
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_profile_is_valid_and_survives_its_own_document() {
        for builtin in Builtin::ALL {
            let profile = Profile::builtin(builtin.word()).unwrap();

            let again = Profile::parse(&serde_json::to_value(&profile).unwrap());

            assert_eq!(again.unwrap(), profile, "{builtin}");
        }
        assert_eq!(Profile::builtin("emacs"), None);
        assert_eq!(Profile::demonstration("/usr/bin/assay").issues(), []);
    }
}
