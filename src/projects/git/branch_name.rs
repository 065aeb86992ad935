//! Branch names, checked by git's own rules before any of them reaches git.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most bytes a branch name may have: file systems end names at 255, and git adds to them.
pub const MAX_BYTES: usize = 200;

/// A branch name that git accepts, such as `main` or `agent/0190a5b2…`. Never starts with `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

impl BranchName {
    /// The name in `text`, or in a few words why it is none.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match problem(text) {
            None => Ok(Self(text.to_owned())),
            Some(problem) => Err(problem),
        }
    }

    /// The name as people write it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The ref that holds it: `refs/heads/main`.
    #[must_use]
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

/// What git would refuse in a branch name. The rules are those of `git check-ref-format --branch`.
fn problem(name: &str) -> Option<&'static str> {
    let whole = match name {
        "" => Some("it is empty"),
        // Git would make a branch called `@`, and then read the name as `HEAD` nearly everywhere.
        "@" | "HEAD" => Some("git reads it as the current commit"),
        _ if name.len() > MAX_BYTES => Some("it is longer than 200 bytes"),
        _ if name.starts_with('-') => Some("it starts with a hyphen"),
        _ if name.ends_with('.') => Some("it ends with a dot"),
        _ if name.contains("..") => Some("it holds two dots in a row"),
        _ if name.contains("@{") => Some("it holds @{"),
        _ => None,
    };
    whole.or_else(|| name.bytes().find_map(bad_byte)).or_else(|| name.split('/').find_map(bad_part))
}

fn bad_byte(byte: u8) -> Option<&'static str> {
    match byte {
        0..=0x1f | 0x7f => Some("it holds a control character"),
        b' ' => Some("it holds a space"),
        b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\' => Some("it holds one of ~ ^ : ? * [ \\"),
        _ => None,
    }
}

fn bad_part(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("it starts or ends with a slash, or holds two in a row"),
        _ if part.starts_with('.') => Some("a part of it starts with a dot"),
        // Only in lower case, as git has it.
        _ if part.as_bytes().ends_with(b".lock") => Some("a part of it ends with .lock"),
        _ => None,
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> Self {
        name.0
    }
}

impl TryFrom<String> for BranchName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).map_err(|problem| format!("this is not a branch name: {problem}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What git itself makes of the name.
    fn git_accepts(name: &str) -> bool {
        let output = assert_cmd::Command::new("git")
            .args(["check-ref-format", "--branch", name])
            .current_dir("/")
            .output()
            .expect("git runs");
        output.status.success() && output.stdout.strip_suffix(b"\n") == Some(name.as_bytes())
    }

    #[test]
    fn names_that_try_to_be_something_else_are_refused() {
        let long = "x".repeat(201);
        let hostile = [
            "",
            "-",
            "--upload-pack=x",
            "a..b",
            "@",
            "@{-1}",
            "a@{0}",
            "HEAD",
            "a b",
            "a\nb",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a.lock",
            "a.lock/b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.",
            "\u{7f}",
            "a\0b",
            &long,
        ];

        for name in hostile {
            assert!(BranchName::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn ordinary_names_are_taken() {
        for name in ["main", "agent/0190a5b2-7c3d", "fix/ütf-8", "a@b", "v1.2", "x.LOCK", "HEAD/x"]
        {
            assert_eq!(BranchName::parse(name).map(String::from), Ok(name.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn git_and_we_agree(
            name in "[a@{}./:~^?*\\[\\\\ HEADlock\\-é\t]{1,8}\
                |[a-c]{1,3}(\\.lock|/|\\.|@\\{)?[a-c]?",
        ) {
            prop_assume!(name != "@");
            prop_assert_eq!(BranchName::parse(&name).is_ok(), git_accepts(&name), "{:?}", name);
        }
    }
}
