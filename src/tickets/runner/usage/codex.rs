//! The JSON lines of `codex exec --json`.

use serde::Deserialize;

use super::{Metered, Usage, brief, is_event};
use crate::base::text::cut;

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Event {
    #[serde(rename = "turn.completed")]
    TurnCompleted { usage: Option<Tokens> },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Failure },
    #[serde(rename = "item.started")]
    ItemStarted { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "error")]
    Error { message: String },
}

#[derive(Deserialize, Default)]
#[expect(clippy::struct_field_names, reason = "the names are the agent's")]
struct Tokens {
    input_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    AgentMessage {
        text: String,
    },
    CommandExecution {
        command: String,
        aggregated_output: Option<String>,
        exit_code: Option<i64>,
    },
    FileChange {
        #[serde(default)]
        changes: Vec<Change>,
    },
    McpToolCall {
        server: String,
        tool: String,
        error: Option<Failure>,
    },
    WebSearch {
        query: String,
    },
    Error {
        message: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Change {
    path: String,
    kind: Option<String>,
}

/// Reads the events. Tokens are told a turn and add up.
#[derive(Debug, Default)]
pub(super) struct Reader {
    usage: Usage,
    complaint: Option<String>,
}

impl Reader {
    /// The texts for people, or nothing where the line is no event.
    pub(super) fn line(&mut self, line: &str) -> Option<Vec<String>> {
        let Ok(event) = serde_json::from_str::<Event>(line) else {
            return is_event(line).then(Vec::new);
        };
        Some(match event {
            Event::TurnCompleted { usage } => {
                self.add(&usage.unwrap_or_default());
                self.complaint = None;
                Vec::new()
            }
            Event::TurnFailed { error } => {
                self.usage.turns += 1;
                self.complain(&error.message)
            }
            Event::Error { message } => self.complain(&message),
            Event::ItemStarted { item } => started(&item).into_iter().collect(),
            Event::ItemCompleted { item } => completed(item),
        })
    }

    fn add(&mut self, tokens: &Tokens) {
        let usage = &mut self.usage;
        let sum = |all: &mut u64, more: Option<u64>| *all = all.saturating_add(more.unwrap_or(0));
        usage.turns += 1;
        sum(&mut usage.input_tokens, tokens.input_tokens);
        sum(&mut usage.cached_tokens, tokens.cached_input_tokens);
        sum(&mut usage.output_tokens, tokens.output_tokens);
    }

    /// Keeps the last failure, and shows the same one once: it is told as an event of its own
    /// and again as the turn's end.
    fn complain(&mut self, message: &str) -> Vec<String> {
        let said = brief(message);
        let again = self.complaint.as_ref() == Some(&said);
        self.complaint = Some(said.clone());
        if again { Vec::new() } else { vec![format!("✗ {said}")] }
    }

    /// The totals.
    pub(super) fn so_far(&self) -> Metered {
        Metered {
            usage: self.usage.clone(),
            complaint: self.complaint.clone(),
            ..Metered::default()
        }
    }
}

fn started(item: &Item) -> Option<String> {
    match item {
        Item::CommandExecution { command, .. } => Some(format!("→ {}", brief(command))),
        Item::McpToolCall { server, tool, .. } => {
            Some(format!("→ {}", brief(&format!("{server}.{tool}"))))
        }
        _ => None,
    }
}

fn completed(item: Item) -> Vec<String> {
    match item {
        Item::AgentMessage { text } => vec![text],
        Item::CommandExecution { exit_code: Some(code), aggregated_output, .. } if code != 0 => {
            let output = aggregated_output.unwrap_or_default();
            let last = output.lines().rev().find(|line| !line.trim().is_empty());
            vec![format!("✗ exit code {code}: {}", brief(last.unwrap_or("no output")))]
        }
        Item::FileChange { changes } => changes
            .iter()
            .map(|change| {
                let kind = change.kind.as_deref().unwrap_or("update");
                format!("→ {} {}", cut(kind, 20), brief(&change.path))
            })
            .collect(),
        Item::McpToolCall { error: Some(error), .. } => {
            vec![format!("✗ {}", brief(&error.message))]
        }
        Item::WebSearch { query } => vec![format!("→ search {}", brief(&query))],
        Item::Error { message } => vec![format!("✗ {}", brief(&message))],
        Item::CommandExecution { .. } | Item::McpToolCall { .. } | Item::Other => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_run_is_shown_and_counted() {
        let mut reader = Reader::default();
        let run = [
            r#"{"type":"thread.started","thread_id":"0199a213-81c0"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"reasoning",
                "text":"**Looking around**"}}"#,
            r#"{"type":"item.started","item":{"id":"item_1","type":"command_execution",
                "command":"bash -lc 'sh test.sh'","aggregated_output":"","exit_code":null,
                "status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution",
                "command":"bash -lc 'sh test.sh'","aggregated_output":"running\nno footer\n",
                "exit_code":1,"status":"failed"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":[
                {"path":"/w/index.html","kind":"update"},{"path":"/w/a.css","kind":"add"}],
                "status":"completed"}}"#,
            r#"{"type":"item.started","item":{"id":"item_3","type":"mcp_tool_call",
                "server":"assay","tool":"get_ticket","arguments":{},"result":null,"error":null,
                "status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_4","type":"agent_message",
                "text":"The footer is there."}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":24763,
                "cached_input_tokens":24448,"output_tokens":122}}"#,
        ];

        let shown: Vec<String> = run.iter().flat_map(|line| reader.line(line).unwrap()).collect();

        let expected = [
            "→ bash -lc 'sh test.sh'",
            "✗ exit code 1: no footer",
            "→ update /w/index.html",
            "→ add /w/a.css",
            "→ assay.get_ticket",
            "The footer is there.",
        ];
        assert_eq!(shown, expected);
        let usage = Usage {
            turns: 1,
            input_tokens: 24_763,
            cached_tokens: 24_448,
            output_tokens: 122,
            ..Usage::default()
        };
        assert_eq!(reader.so_far(), Metered { usage, ..Metered::default() });
    }

    #[test]
    fn tokens_of_several_turns_add_up() {
        let mut reader = Reader::default();
        let turn = r#"{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}"#;

        reader.line(turn).unwrap();
        reader.line(turn).unwrap();

        let usage = reader.so_far().usage;
        assert_eq!((usage.turns, usage.input_tokens, usage.output_tokens), (2, 20, 4));
    }

    #[test]
    fn a_failure_is_shown_once_and_kept() {
        let mut reader = Reader::default();
        let said = "stream disconnected: 429 Too Many Requests";
        let error = format!(r#"{{"type":"error","message":"{said}"}}"#);
        let failed = format!(r#"{{"type":"turn.failed","error":{{"message":"{said}"}}}}"#);

        assert_eq!(reader.line(&error).unwrap(), [format!("✗ {said}")]);
        assert_eq!(reader.line(&failed).unwrap(), Vec::<String>::new());
        assert_eq!(reader.so_far().complaint.as_deref(), Some(said));
    }
}
