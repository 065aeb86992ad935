//! What an agent that asks is allowed. It is judged by what the agent says that it will do: which
//! files a tool call names, and which words its command has. That confines no process; it keeps an
//! agent that asks honestly where its work is.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    PermissionOptionId, PermissionOptionKind, RequestPermissionRequest, ToolCallContent,
    ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;

use super::bounds::{Bounds, Want};
use crate::base::text::{cut, first_line, printable};
use crate::projects::agents::Permissions;
use crate::tickets::runner::report::Question;

/// The answer of a person that lets an agent do what it asked for.
const YES: &str = "Allow";
/// The answer that does not.
const NO: &str = "Refuse";
/// The longest title of a tool call in a question, in characters.
const TITLE_MAX: usize = 300;
/// Programs that leave the account or the machine.
const ELSEWHERE: [&str; 5] = ["sudo", "su", "doas", "ssh", "scp"];
/// Where programs and devices lie that a command may name.
const COMMON: [&str; 4] = ["/usr/", "/bin/", "/dev/null", "/dev/std"];

/// What becomes of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    /// It may.
    Allow,
    /// It may not, and why.
    Refuse(String),
    /// A person is asked.
    Ask(Question),
}

/// Judges a request; `answers` are what people said to questions of this ticket, oldest first.
pub(super) fn judge(
    policy: Permissions,
    bounds: &Bounds,
    answers: &[(String, String)],
    request: &RequestPermissionRequest,
) -> Ruling {
    let stays = || stays_within(bounds, &request.tool_call.fields);
    match policy {
        Permissions::Allow => Ruling::Allow,
        Permissions::Deny => Ruling::Refuse("the project refuses whatever is asked for".to_owned()),
        Permissions::Worktree => stays().map_or_else(Ruling::Refuse, |()| Ruling::Allow),
        Permissions::Ask => match stays() {
            Ok(()) => Ruling::Allow,
            Err(why) => ask(answers, &title(request), &why),
        },
    }
}

fn ask(answers: &[(String, String)], title: &str, why: &str) -> Ruling {
    let text = format!("May the agent do this? {title} (It asks because {why}.)");
    let answered = answers.iter().rev().find(|(asked, _)| *asked == text);
    match answered {
        Some((_, answer)) if answer.trim().eq_ignore_ascii_case(YES) => Ruling::Allow,
        Some(_) => Ruling::Refuse("a person refused it".to_owned()),
        None => Ruling::Ask(Question {
            text,
            choices: vec![YES.to_owned(), NO.to_owned()],
            secret: None,
        }),
    }
}

/// What a tool call is called, for people.
pub(super) fn title(request: &RequestPermissionRequest) -> String {
    let fields = &request.tool_call.fields;
    let title = fields.title.as_deref().filter(|title| !title.trim().is_empty());
    cut(first_line(&printable(title.unwrap_or("a tool without a name"))), TITLE_MAX)
}

/// The option that stands for a ruling. One that would also allow what comes later is taken only
/// where everything is allowed.
pub(super) fn option(
    allowed: bool,
    policy: Permissions,
    request: &RequestPermissionRequest,
) -> Option<PermissionOptionId> {
    let kinds: &[PermissionOptionKind] = match (allowed, policy) {
        (true, Permissions::Allow) => {
            &[PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]
        }
        (true, _) => &[PermissionOptionKind::AllowOnce],
        (false, _) => &[PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
    };
    let of_kind =
        |kind: &PermissionOptionKind| request.options.iter().find(|option| option.kind == *kind);
    kinds.iter().find_map(of_kind).map(|option| option.option_id.clone())
}

/// Whether a tool call stays in the work tree, by its own account; otherwise why not.
fn stays_within(bounds: &Bounds, call: &ToolCallUpdateFields) -> Result<(), String> {
    let kind = call.kind.unwrap_or_default();
    let want = match kind {
        ToolKind::Read | ToolKind::Search => Want::Read,
        _ => Want::Write,
    };
    let mut named = 0;
    let mut check = |path: &Path, want: Want| {
        named += 1;
        bounds.check(path, want)
    };
    for location in call.locations.iter().flatten() {
        check(&location.path, want)?;
    }
    for content in call.content.iter().flatten() {
        if let ToolCallContent::Diff(diff) = content {
            check(&diff.path, Want::Write)?;
        }
    }
    for path in call.raw_input.iter().flat_map(paths) {
        // Where a command works is no file that it writes.
        let want = if kind == ToolKind::Execute { Want::Read } else { want };
        check(Path::new(&path), want)?;
    }
    match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::SwitchMode => Ok(()),
        ToolKind::Execute => command(bounds, call),
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move if named > 0 => Ok(()),
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => {
            Err("it does not say which file it changes".to_owned())
        }
        ToolKind::Fetch => Err("it reaches out to the network".to_owned()),
        _ if named > 0 => Ok(()),
        _ => Err("it does not say what it does".to_owned()),
    }
}

/// The values of a tool's input that are paths, by their names.
fn paths(input: &Value) -> Vec<String> {
    let is_path = |name: &str| {
        let name = name.to_ascii_lowercase();
        let ends = ["path", "file", "dir", "directory", "cwd", "folder"];
        ends.iter().any(|end| name.ends_with(end))
    };
    let Value::Object(fields) = input else { return Vec::new() };
    let mut out = Vec::new();
    for (name, value) in fields {
        match value {
            Value::String(text) if is_path(name) && !text.is_empty() => out.push(text.clone()),
            Value::Object(_) => out.extend(paths(value)),
            _ => {}
        }
    }
    out
}

/// Whether the words of a command stay in the work tree.
fn command(bounds: &Bounds, call: &ToolCallUpdateFields) -> Result<(), String> {
    let given = call.raw_input.as_ref().and_then(|input| {
        let command = input.get("command").or_else(|| input.get("cmd"))?;
        match command {
            Value::String(line) => Some(line.clone()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                Some(words.join(" "))
            }
            _ => None,
        }
    });
    let line = given.or_else(|| call.title.clone()).unwrap_or_default();
    if line.trim().is_empty() {
        return Err("it does not say which command it runs".to_owned());
    }
    let apart = |c: char| c.is_whitespace() || ";|&<>()[]{}\"'`=,:".contains(c);
    for word in line.split(apart).filter(|word| !word.is_empty()) {
        let is_common = COMMON.iter().any(|common| word.starts_with(common));
        if ELSEWHERE.contains(&word) {
            return Err(format!("its command has `{word}`"));
        }
        if word.starts_with('~') || word.starts_with("$HOME") {
            return Err(format!("its command names {word}, outside the work tree"));
        }
        let leaves = word.starts_with('/') && !is_common || word.split('/').any(|it| it == "..");
        if leaves && bounds.check(Path::new(word), Want::Read).is_err() {
            return Err(format!("its command names {word}, outside the work tree"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(call: &Value) -> RequestPermissionRequest {
        let mut call = call.clone();
        call["toolCallId"] = json!("1");
        let request = json!({ "sessionId": "s", "toolCall": call, "options": [
            { "optionId": "a", "name": "Always", "kind": "allow_always" },
            { "optionId": "y", "name": "Yes", "kind": "allow_once" },
            { "optionId": "n", "name": "No", "kind": "reject_once" }] });
        serde_json::from_value(request).unwrap()
    }

    fn bounds() -> Bounds {
        Bounds { tree: "/w".into(), report: "/r/report.json".into(), attachments: None }
    }

    fn stays(call: &Value) -> bool {
        let ruling = judge(Permissions::Worktree, &bounds(), &[], &request(call));
        ruling == Ruling::Allow
    }

    #[test]
    fn what_names_files_of_the_work_tree_is_allowed_and_the_rest_refused() {
        for call in [
            json!({ "kind": "edit", "locations": [{ "path": "/w/a.rs" }] }),
            json!({ "kind": "edit", "locations": [{ "path": "/r/report.json" }] }),
            json!({ "kind": "edit", "content": [
                { "type": "diff", "path": "a.rs", "newText": "x" }] }),
            json!({ "kind": "delete", "rawInput": { "file_path": "/w/b" } }),
            json!({ "kind": "read" }),
            json!({ "kind": "switch_mode", "title": "Ready to code?" }),
            json!({ "kind": "execute", "rawInput": { "command": "cargo test 2>/dev/null" } }),
            json!({ "kind": "execute", "rawInput": { "command": ["sh", "-c", "ls /w/src"] } }),
            json!({ "kind": "execute", "title": "npm test" }),
            json!({ "kind": "execute", "title": "x", "rawInput":
                { "command": "/usr/bin/env true", "cwd": "/w" } }),
        ] {
            assert!(stays(&call), "{call}");
        }
        for call in [
            json!({ "kind": "edit", "locations": [{ "path": "/etc/hosts" }] }),
            json!({ "kind": "edit", "locations": [{ "path": "/w/../x" }] }),
            json!({ "kind": "edit", "locations": [{ "path": "/w/.git/config" }] }),
            json!({ "kind": "edit" }),
            json!({ "kind": "read", "rawInput": { "path": "/home2/key" } }),
            json!({ "kind": "fetch", "title": "https://example.org" }),
            json!({ "kind": "other", "title": "mcp" }),
            json!({ "title": "unknown" }),
            json!({ "kind": "execute" }),
            json!({ "kind": "execute", "rawInput": { "command": "cat ../../secret" } }),
            json!({ "kind": "execute", "rawInput": { "command": "cp a ~/.ssh/x" } }),
            json!({ "kind": "execute", "rawInput": { "command": "sudo make install" } }),
            json!({ "kind": "execute", "rawInput": { "command": "ls", "cwd": "/etc" } }),
            json!({ "kind": "execute", "rawInput": { "command": "tar --file=/etc/x" } }),
        ] {
            assert!(!stays(&call), "{call}");
        }
    }

    #[test]
    fn a_person_is_asked_once_and_the_answer_holds() {
        let call = request(&json!({ "kind": "fetch", "title": "Fetch the docs" }));
        let asked = judge(Permissions::Ask, &bounds(), &[], &call);
        let Ruling::Ask(question) = asked else { panic!("nobody was asked: {asked:?}") };
        assert!(question.text.contains("Fetch the docs"), "{}", question.text);

        let answered = |answer: &str| {
            let answers = [(question.text.clone(), answer.to_owned())];
            judge(Permissions::Ask, &bounds(), &answers, &call)
        };
        assert_eq!(answered("allow"), Ruling::Allow);
        assert!(matches!(answered("Refuse"), Ruling::Refuse(_)));
        assert!(matches!(judge(Permissions::Deny, &bounds(), &[], &call), Ruling::Refuse(_)));
        assert_eq!(judge(Permissions::Allow, &bounds(), &[], &call), Ruling::Allow);
    }

    #[test]
    fn nothing_is_allowed_for_good() {
        let mut call = request(&json!({ "kind": "read" }));
        let chosen =
            |allowed, policy, call: &_| option(allowed, policy, call).map(|id| id.0.to_string());

        assert_eq!(chosen(true, Permissions::Worktree, &call).as_deref(), Some("y"));
        assert_eq!(chosen(false, Permissions::Worktree, &call).as_deref(), Some("n"));
        call.options.truncate(1);
        assert_eq!(chosen(true, Permissions::Worktree, &call), None);
        assert_eq!(chosen(true, Permissions::Allow, &call).as_deref(), Some("a"));
    }
}
