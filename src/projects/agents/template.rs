//! The placeholders of a command: `{ticket}` and its kin.

use std::ffi::OsStr;
use std::path::Path;

/// What the placeholders of a command stand for in one run.
#[derive(Debug, Clone, Copy)]
pub struct Fill<'a> {
    /// `{prompt}`: the whole prompt.
    pub prompt: &'a str,
    /// `{promptFile}`: the file that holds the prompt.
    pub prompt_file: &'a Path,
    /// `{report}`: where the agent leaves its report. `{reportDir}` is its folder.
    pub report: &'a Path,
    /// `{worktree}`: where the agent works.
    pub worktree: &'a Path,
    /// `{branch}`: the branch checked out there.
    pub branch: &'a str,
    /// `{ticket}`: the ticket's name, such as `ACME-1`.
    pub ticket: &'a str,
    /// `{node}`: the kind of the node that is run.
    pub node: &'a str,
}

impl Fill<'_> {
    /// Every placeholder. `{model}` comes from the profile itself.
    pub const NAMES: [&'static str; 9] = [
        "prompt",
        "promptFile",
        "report",
        "reportDir",
        "worktree",
        "branch",
        "ticket",
        "node",
        "model",
    ];

    /// What a placeholder stands for.
    pub(super) fn value<'b>(&'b self, name: &str, model: Option<&'b str>) -> &'b OsStr {
        match name {
            "prompt" => self.prompt.as_ref(),
            "promptFile" => self.prompt_file.as_ref(),
            "report" => self.report.as_ref(),
            "reportDir" => self.report.parent().unwrap_or(self.report).as_ref(),
            "worktree" => self.worktree.as_ref(),
            "branch" => self.branch.as_ref(),
            "ticket" => self.ticket.as_ref(),
            "node" => self.node.as_ref(),
            _ => model.unwrap_or_default().as_ref(),
        }
    }
}

/// A part of an argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text that stands for itself.
    Text(&'a str),
    /// The name of a placeholder, known or not.
    Name(&'a str),
}

impl<'a> Piece<'a> {
    /// The placeholder's name, where this is one.
    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Self::Text(_) => None,
            Self::Name(name) => Some(name),
        }
    }
}

/// Splits an argument at its placeholders: `{word}` is one, `{{word}}` is the text `{word}`, and
/// every other brace stands for itself, as in JSON.
pub(super) fn pieces(argument: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let (mut rest, mut from) = (argument, 0);
    while let Some(found) = rest[from..].find('{') {
        let open = from + found;
        let after = &rest[open + 1..];
        let word = after.strip_prefix('{').unwrap_or(after);
        let length = word.bytes().take_while(u8::is_ascii_alphabetic).count();
        let doubled = word.len() < after.len();
        let closing = if doubled { "}}" } else { "}" };
        if length == 0 || !word[length..].starts_with(closing) {
            from = open + 1;
            continue;
        }
        out.push(Piece::Text(&rest[..open]));
        if doubled {
            out.push(Piece::Text(&rest[open + 1..open + 3 + length]));
        } else {
            out.push(Piece::Name(&word[..length]));
        }
        rest = &word[length + closing.len()..];
        from = 0;
    }
    out.push(Piece::Text(rest));
    out
}

/// The argument that stands for this very text, whatever braces it holds.
#[must_use]
pub fn verbatim(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        let length = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        out.push_str(&rest[..=open]);
        rest = after;
        if length > 0 && after[length..].starts_with('}') {
            out.push('{');
            out.push_str(&after[..=length]);
            out.push('}');
            rest = &after[length + 1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(argument: &str) -> String {
        let show = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Name(name) => format!("<{name}>"),
        };
        pieces(argument).iter().map(show).collect()
    }

    #[test]
    fn only_a_word_in_single_braces_is_a_placeholder() {
        for (argument, expected) in [
            ("--ticket={ticket}", "--ticket=<ticket>"),
            ("{a}{b}", "<a><b>"),
            ("{{print}} {", "{print} {"),
            (r#"{"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
            ("{} {1} {a b} {a", "{} {1} {a b} {a"),
            ("{é{node}", "{é<node>"),
        ] {
            assert_eq!(shown(argument), expected, "{argument}");
        }
    }

    #[test]
    fn a_shell_line_with_braces_is_itself() {
        let line = "test -e a || { echo no; exit 3; }; awk '{print}' ${x} {{y}}";

        assert_eq!(shown(&verbatim(line)), line);
    }

    proptest! {
        #[test]
        fn any_text_can_be_said_verbatim(text in "[{}a-zé1 ]{0,20}") {
            prop_assert_eq!(shown(&verbatim(&text)), text);
        }

        #[test]
        fn a_text_without_braces_is_one_piece(text in "[^{]{0,20}") {
            prop_assert_eq!(pieces(&text), [Piece::Text(&text)]);
        }

        #[test]
        fn no_text_makes_the_splitting_fail(text in "[{}a-zé]{0,20}") {
            let opened = text.bytes().filter(|&byte| byte == 0x7b).count();
            prop_assert!(shown(&text).len() <= text.len() + 2 * opened);
        }
    }
}
