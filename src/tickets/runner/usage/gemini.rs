//! The JSON lines of `gemini --output-format stream-json`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Metered, Usage, brief, is_event};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Init {
        model: Option<String>,
    },
    Message {
        role: String,
        content: String,
    },
    ToolUse {
        tool_name: String,
        #[serde(default)]
        parameters: Map<String, Value>,
    },
    ToolResult {
        status: Option<String>,
        error: Option<Failure>,
    },
    Error {
        message: String,
    },
    Result {
        error: Option<Failure>,
        stats: Option<Stats>,
    },
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

#[derive(Deserialize)]
struct Stats {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cached: Option<u64>,
}

/// Reads the events. Messages come in pieces; the totals come at the end.
#[derive(Debug, Default)]
pub(super) struct Reader {
    usage: Usage,
    complaint: Option<String>,
    held: String,
}

impl Reader {
    /// The texts for people, or nothing where the line is no event.
    pub(super) fn line(&mut self, line: &str) -> Option<Vec<String>> {
        let Ok(event) = serde_json::from_str::<Event>(line) else {
            return is_event(line).then(Vec::new);
        };
        if let Event::Message { role, content } = event {
            return Some(if role == "assistant" { self.chunk(&content) } else { Vec::new() });
        }
        let mut out = self.rest();
        match event {
            Event::Init { model } => self.usage.model = model,
            Event::ToolUse { tool_name, parameters } => {
                let shown = ["command", "file_path", "path", "pattern", "query", "url"];
                let about = shown.iter().find_map(|key| parameters.get(*key)?.as_str());
                let about = brief(about.unwrap_or_default());
                out.push(format!("→ {} {about}", brief(&tool_name)).trim_end().to_owned());
            }
            Event::ToolResult { status, error } if status.as_deref() == Some("error") => {
                let said = error.map(|error| error.message);
                out.push(format!("✗ {}", brief(said.as_deref().unwrap_or("the tool failed"))));
            }
            Event::Error { message } => out.push(self.complain(&message)),
            Event::Result { error, stats } => {
                self.complaint = None;
                self.usage.turns += 1;
                if let Some(stats) = stats {
                    self.usage.input_tokens = stats.input_tokens.unwrap_or(0);
                    self.usage.cached_tokens = stats.cached.unwrap_or(0);
                    self.usage.output_tokens = stats.output_tokens.unwrap_or(0);
                }
                out.extend(error.map(|error| self.complain(&error.message)));
            }
            Event::ToolResult { .. } | Event::Message { .. } => {}
        }
        Some(out)
    }

    fn chunk(&mut self, text: &str) -> Vec<String> {
        self.held.push_str(text);
        match self.held.rfind('\n') {
            Some(end) => vec![self.held.drain(..=end).collect()],
            None if self.held.len() > 8 * 1024 => self.rest(),
            None => Vec::new(),
        }
    }

    /// What was held back, now that the message has ended.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let held = std::mem::take(&mut self.held);
        if held.trim().is_empty() { Vec::new() } else { vec![held] }
    }

    fn complain(&mut self, message: &str) -> String {
        let said = brief(message);
        self.complaint = Some(said.clone());
        format!("✗ {said}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_shown_by_lines_and_counted() {
        let mut reader = Reader::default();
        let mut shown = Vec::new();
        for line in [
            r#"{"type":"init","timestamp":"t","session_id":"s","model":"gemini-3-pro"}"#,
            r#"{"type":"message","role":"user","content":"do it"}"#,
            r#"{"type":"message","role":"assistant","content":"I lo","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"ok.","delta":true}"#,
            r#"{"type":"tool_use","tool_name":"run_shell_command","tool_id":"1",
                "parameters":{"command":"npm test"}}"#,
            r#"{"type":"tool_result","tool_id":"1","status":"error",
                "error":{"type":"x","message":"exit 1"}}"#,
            r#"{"type":"result","status":"success","stats":{"total_tokens":33,"input_tokens":30,
                "output_tokens":3,"cached":20,"input":10,"duration_ms":1,"tool_calls":1}}"#,
        ] {
            shown.extend(reader.line(line).unwrap());
        }

        assert_eq!(shown, ["I look.", "→ run_shell_command npm test", "✗ exit 1"]);
        let usage = reader.so_far().usage;
        assert_eq!((usage.turns, usage.input_tokens, usage.output_tokens), (1, 30, 3));
        assert_eq!((usage.cached_tokens, usage.model.as_deref()), (20, Some("gemini-3-pro")));
    }

    #[test]
    fn why_it_failed_is_kept() {
        let mut reader = Reader::default();
        let failed = r#"{"type":"result","status":"error","error":{"type":"q","message":"quota"}}"#;

        assert_eq!(reader.line(failed).unwrap(), ["✗ quota"]);
        assert_eq!(reader.so_far().complaint.as_deref(), Some("quota"));
    }
}
