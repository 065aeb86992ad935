//! The profiles that ship with the product.

use super::{OutputFormat, Profile};
use crate::words;

words! {
    /// The profiles that ship with the product.
    pub enum Builtin {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
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

impl Profile {
    /// A profile that ships with the product, where `name` is one.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        let named = Builtin::parse(name)?;
        let (words, output, env): (&[&str], OutputFormat, &[&str]) = match named {
            // Edits are accepted and commands allowed, since nobody is there to be asked; what
            // would still need asking is denied by print mode. The prompt comes on stdin.
            Builtin::Claude => (
                &[
                    "claude",
                    "--print",
                    "--output-format=stream-json",
                    "--verbose",
                    "--permission-mode=acceptEdits",
                    "--allowedTools=Bash,Edit,Write,Read,Glob,Grep",
                    "--add-dir={reportDir}",
                    "--model={model}",
                ],
                OutputFormat::ClaudeStreamJson,
                &[
                    "ANTHROPIC_API_KEY",
                    "ANTHROPIC_AUTH_TOKEN",
                    "ANTHROPIC_BASE_URL",
                    "CLAUDE_CODE_OAUTH_TOKEN",
                    "CLAUDE_CONFIG_DIR",
                ],
            ),
            // Its sandbox lets it write in the worktree and beside the report only; the network
            // is opened so that it can reach Assay and fetch what a build needs.
            Builtin::Codex => (
                &[
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
                OutputFormat::CodexJson,
                &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"],
            ),
            Builtin::Script => (&[".assay/agent"], OutputFormat::Plain, &[]),
        };
        let mut profile = Self::script(words.iter().map(|&word| word.to_owned()).collect());
        profile.output = output;
        if named != Builtin::Script {
            profile.env = env.iter().chain(&PROXY).map(|&name| name.to_owned()).collect();
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
