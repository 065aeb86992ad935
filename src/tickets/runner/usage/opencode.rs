//! The JSON lines of `opencode run --format json`.

use serde::Deserialize;
use serde_json::Value;

use super::{Metered, Usage, brief, is_event, micros};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Text { part: Text },
    ToolUse { part: Tool },
    StepFinish { part: Step },
    Error { error: Value },
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
struct Tool {
    tool: String,
    state: State,
}

#[derive(Deserialize)]
struct State {
    status: Option<String>,
    title: Option<String>,
    error: Option<String>,
    #[serde(default)]
    input: Value,
}

#[derive(Deserialize)]
struct Step {
    cost: Option<f64>,
    #[serde(default)]
    tokens: Tokens,
}

#[derive(Deserialize, Default)]
struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    #[serde(default)]
    cache: Cache,
}

#[derive(Deserialize, Default)]
struct Cache {
    read: Option<u64>,
    write: Option<u64>,
}

/// Reads the events. Each step tells its own use, and they add up.
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
            Event::Text { part } => vec![part.text],
            Event::ToolUse { part } => used(&part),
            Event::StepFinish { part } => {
                self.add(&part);
                Vec::new()
            }
            Event::Error { error } => {
                let name = error.get("name").and_then(Value::as_str).unwrap_or("failed");
                let said = error.pointer("/data/message").and_then(Value::as_str).unwrap_or(name);
                let said = brief(said);
                self.complaint = Some(said.clone());
                vec![format!("✗ {said}")]
            }
        })
    }

    fn add(&mut self, step: &Step) {
        let usage = &mut self.usage;
        let sum = |all: &mut u64, more: Option<u64>| *all = all.saturating_add(more.unwrap_or(0));
        usage.turns += 1;
        let Tokens { input, output, reasoning, cache } = &step.tokens;
        for read in [*input, cache.read, cache.write] {
            sum(&mut usage.input_tokens, read);
        }
        sum(&mut usage.cached_tokens, cache.read);
        sum(&mut usage.output_tokens, *output);
        sum(&mut usage.output_tokens, *reasoning);
        if let Some(cost) = step.cost.and_then(micros) {
            usage.cost_micros = Some(usage.cost_micros.unwrap_or(0).saturating_add(cost));
        }
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

fn used(part: &Tool) -> Vec<String> {
    let shown = ["command", "filePath", "pattern", "path", "url", "description"];
    let about = shown.iter().find_map(|key| part.state.input.get(*key)?.as_str());
    let about = about.or(part.state.title.as_deref()).unwrap_or_default();
    let mut out = vec![format!("→ {} {}", brief(&part.tool), brief(about)).trim_end().to_owned()];
    if part.state.status.as_deref() == Some("error") {
        let why = part.state.error.as_deref().unwrap_or("the tool failed");
        out.push(format!("✗ {}", brief(why)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_shown_and_its_steps_add_up() {
        let mut reader = Reader::default();
        let mut shown = Vec::new();
        for line in [
            r#"{"type":"step_start","timestamp":1,"part":{"type":"step-start"}}"#,
            r#"{"type":"text","part":{"type":"text","text":"I look."}}"#,
            r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"error",
                "input":{"command":"make"},"error":"exit 2"}}}"#,
            r#"{"type":"step_finish","part":{"cost":0.5,"tokens":{"total":39,"input":10,"output":5,
                "reasoning":1,"cache":{"read":20,"write":3}}}}"#,
            r#"{"type":"step_finish","part":{"cost":0.25,"tokens":{"input":1,"output":2}}}"#,
        ] {
            shown.extend(reader.line(line).unwrap());
        }

        assert_eq!(shown, ["I look.", "→ bash make", "✗ exit 2"]);
        let usage = reader.so_far().usage;
        assert_eq!((usage.turns, usage.input_tokens, usage.output_tokens), (2, 34, 8));
        assert_eq!((usage.cached_tokens, usage.cost_micros), (20, Some(750_000)));
    }

    #[test]
    fn why_it_failed_is_kept() {
        let mut reader = Reader::default();
        let failed = r#"{"type":"error","error":{"name":"Unknown","data":{"message":"no key"}}}"#;

        assert_eq!(reader.line(failed).unwrap(), ["✗ no key"]);
        assert_eq!(reader.so_far().complaint.as_deref(), Some("no key"));
    }
}
