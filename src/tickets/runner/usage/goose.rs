//! The JSON lines of `goose run --output-format stream-json`.

use serde::Deserialize;
use serde_json::Value;

use super::{Metered, Usage, brief, is_event};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Message { message: Message },
    Error { error: String },
    Complete { total_tokens: Option<u64> },
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Vec<Value>,
}

/// Reads the events. Only the sum of the tokens is told, without what was read and written.
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
        let mut out = Vec::new();
        match event {
            Event::Message { message } if message.role == "assistant" => {
                for part in message.content {
                    self.part(&part, &mut out);
                }
            }
            Event::Message { .. } => {}
            Event::Error { error } => {
                let said = brief(&error);
                self.complaint = Some(said.clone());
                out.extend(self.rest());
                out.push(format!("✗ {said}"));
            }
            Event::Complete { total_tokens } => {
                self.complaint = None;
                self.usage.turns += 1;
                self.usage.input_tokens = total_tokens.unwrap_or(0);
                out.extend(self.rest());
            }
        }
        Some(out)
    }

    fn part(&mut self, part: &Value, out: &mut Vec<String>) {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        match (kind, part.get("text").and_then(Value::as_str)) {
            ("text", Some(text)) => {
                self.held.push_str(text);
                match self.held.rfind('\n') {
                    Some(end) => out.push(self.held.drain(..=end).collect()),
                    None if self.held.len() > 8 * 1024 => out.extend(self.rest()),
                    None => {}
                }
            }
            ("toolRequest", _) => {
                out.extend(self.rest());
                let name = part.pointer("/toolCall/value/name").and_then(Value::as_str);
                let about = ["command", "path", "file_path"]
                    .iter()
                    .find_map(|key| part.pointer("/toolCall/value/arguments")?.get(*key)?.as_str());
                let (name, about) = (name.unwrap_or("tool"), about.unwrap_or_default());
                out.push(format!("→ {} {}", brief(name), brief(about)).trim_end().to_owned());
            }
            _ => {}
        }
    }

    /// What was held back, now that the message has ended.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let held = std::mem::take(&mut self.held);
        if held.trim().is_empty() { Vec::new() } else { vec![held] }
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
    fn a_run_is_shown_by_lines_and_its_tokens_are_counted() {
        let mut reader = Reader::default();
        let mut shown = Vec::new();
        for line in [
            r#"{"type":"message","message":{"role":"assistant","created":1,
                "content":[{"type":"text","text":"I lo"}]}}"#,
            r#"{"type":"message","message":{"role":"assistant",
                "content":[{"type":"text","text":"ok."},{"type":"toolRequest","id":"1","toolCall":
                {"status":"success","value":{"name":"developer__shell",
                "arguments":{"command":"make"}}}}]}}"#,
            r#"{"type":"message","message":{"role":"user","content":[{"type":"toolResponse"}]}}"#,
            r#"{"type":"notification","extension_id":"developer"}"#,
            r#"{"type":"complete","total_tokens":77}"#,
        ] {
            shown.extend(reader.line(line).unwrap());
        }

        assert_eq!(shown, ["I look.", "→ developer__shell make"]);
        assert_eq!((reader.so_far().usage.turns, reader.so_far().usage.input_tokens), (1, 77));
        assert_eq!(reader.line(r#"{"type":"error","error":"no provider"}"#).unwrap().len(), 1);
        assert_eq!(reader.so_far().complaint.as_deref(), Some("no provider"));
    }
}
