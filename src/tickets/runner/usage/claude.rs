//! The JSON lines of Claude Code in print mode.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Metered, Usage, brief, is_event, micros};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    System { subtype: Option<String>, model: Option<String> },
    Assistant { message: Message, parent_tool_use_id: Option<String> },
    User { message: UserMessage },
    Result(Outcome),
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Tokens>,
    #[serde(default)]
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct UserMessage {
    /// Blocks, or the prompt as a text.
    content: Value,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {
        name: String,
        #[serde(default)]
        input: Map<String, Value>,
    },
    ToolResult {
        is_error: Option<bool>,
        content: Option<Value>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "the names are the agent's")]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Tokens {
    fn add_to(self, usage: &mut Usage) {
        let cached = self.cache_read_input_tokens.unwrap_or(0);
        let read = [self.input_tokens, self.cache_creation_input_tokens, Some(cached)];
        usage.cached_tokens = usage.cached_tokens.saturating_add(cached);
        for tokens in read.into_iter().flatten() {
            usage.input_tokens = usage.input_tokens.saturating_add(tokens);
        }
        let written = self.output_tokens.unwrap_or(0);
        usage.output_tokens = usage.output_tokens.saturating_add(written);
    }
}

#[derive(Deserialize)]
struct Outcome {
    subtype: Option<String>,
    is_error: Option<bool>,
    num_turns: Option<u64>,
    total_cost_usd: Option<f64>,
    usage: Option<Tokens>,
    result: Option<String>,
}

/// Reads the events. The final one has the totals; until it comes, as when the run is ended from
/// outside, they are added up from the single answers.
#[derive(Debug, Default)]
pub(super) struct Reader {
    model: Option<String>,
    answers: BTreeMap<String, Answer>,
    total: Option<Usage>,
    complaint: Option<String>,
}

/// One answer of the model. It comes as several events that repeat its id and its tokens.
#[derive(Debug)]
struct Answer {
    of_main_agent: bool,
    usage: Usage,
}

impl Reader {
    /// The texts for people, or nothing where the line is no event.
    pub(super) fn line(&mut self, line: &str) -> Option<Vec<String>> {
        let Ok(event) = serde_json::from_str::<Event>(line) else {
            return is_event(line).then(Vec::new);
        };
        Some(match event {
            Event::System { subtype, model } if subtype.as_deref() == Some("init") => {
                self.model = model;
                let model = self.model.as_deref().unwrap_or("its usual model");
                vec![format!("Claude Code starts with {model}")]
            }
            Event::System { .. } => Vec::new(),
            Event::Assistant { message, parent_tool_use_id } => {
                self.answer(message, parent_tool_use_id.is_none())
            }
            Event::User { message } => refusals(message),
            Event::Result(outcome) => self.outcome(outcome),
        })
    }

    fn answer(&mut self, message: Message, of_main_agent: bool) -> Vec<String> {
        if self.model.is_none() {
            self.model = message.model;
        }
        if let Some(id) = message.id {
            let mut usage = Usage::default();
            message.usage.unwrap_or_default().add_to(&mut usage);
            self.answers.insert(id, Answer { of_main_agent, usage });
        }
        message.content.into_iter().filter_map(said).collect()
    }

    fn outcome(&mut self, outcome: Outcome) -> Vec<String> {
        let mut usage = Usage { turns: outcome.num_turns.unwrap_or(0), ..Usage::default() };
        outcome.usage.unwrap_or_default().add_to(&mut usage);
        usage.cost_micros = outcome.total_cost_usd.and_then(micros);
        self.total = Some(usage);
        let subtype = outcome.subtype.unwrap_or_default();
        if outcome.is_error == Some(true) || subtype.starts_with("error") {
            let text = outcome.result.filter(|text| !text.trim().is_empty());
            let said = brief(&text.unwrap_or(subtype));
            self.complaint = Some(said.clone());
            return vec![format!("✗ {said}")];
        }
        self.complaint = None;
        Vec::new()
    }

    /// The totals.
    pub(super) fn so_far(&self) -> Metered {
        let mut usage = self.total.clone().unwrap_or_else(|| {
            let mut sum = Usage::default();
            for answer in self.answers.values() {
                sum.turns += u64::from(answer.of_main_agent);
                sum.input_tokens = sum.input_tokens.saturating_add(answer.usage.input_tokens);
                sum.cached_tokens = sum.cached_tokens.saturating_add(answer.usage.cached_tokens);
                sum.output_tokens = sum.output_tokens.saturating_add(answer.usage.output_tokens);
            }
            sum
        });
        usage.model.clone_from(&self.model);
        Metered { usage, complaint: self.complaint.clone(), ..Metered::default() }
    }
}

fn said(block: Block) -> Option<String> {
    match block {
        Block::Text { text } => Some(text).filter(|text| !text.trim().is_empty()),
        Block::ToolUse { name, input } => {
            let shown = ["command", "file_path", "pattern", "path", "url", "query", "description"];
            let about = shown.iter().find_map(|key| input.get(*key)?.as_str());
            Some(format!("→ {name} {}", brief(about.unwrap_or_default())).trim_end().to_owned())
        }
        Block::ToolResult { .. } | Block::Other => None,
    }
}

/// What went wrong in tools; what went well is seen in the work.
fn refusals(message: UserMessage) -> Vec<String> {
    let Value::Array(blocks) = message.content else { return Vec::new() };
    let failed = blocks.into_iter().filter_map(|block| match Block::deserialize(block) {
        Ok(Block::ToolResult { is_error: Some(true), content }) => Some(content),
        _ => None,
    });
    failed
        .map(|content| match content {
            Some(Value::String(text)) => format!("✗ {}", brief(&text)),
            Some(Value::Array(parts)) => {
                let text = parts.iter().find_map(|part| part.get("text")?.as_str());
                format!("✗ {}", brief(text.unwrap_or("the tool failed")))
            }
            _ => "✗ the tool failed".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"5b1c",
        "tools":["Bash","Edit"],"mcp_servers":[],"model":"claude-sonnet-4-5-20250929",
        "permissionMode":"acceptEdits","apiKeySource":"none"}"#;
    const TEXT: &str = r#"{"type":"assistant","message":{"id":"msg_1","type":"message",
        "role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text",
        "text":"I will add the footer.\nThen run the test."}],"stop_reason":null,"usage":{
        "input_tokens":4,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,
        "output_tokens":20,"service_tier":"standard"}},"parent_tool_use_id":null,
        "session_id":"5b1c"}"#;
    const TOOL: &str = r#"{"type":"assistant","message":{"id":"msg_1","content":[
        {"type":"thinking","thinking":"…","signature":"x"},{"type":"tool_use","id":"toolu_1",
        "name":"Bash","input":{"command":"sh test.sh\necho","timeout":1}}],"usage":{
        "input_tokens":4,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,
        "output_tokens":25}},"parent_tool_use_id":null,"session_id":"5b1c"}"#;
    const SUB: &str = r#"{"type":"assistant","message":{"id":"msg_s","content":[],"usage":{
        "input_tokens":10,"output_tokens":5}},"parent_tool_use_id":"toolu_9"}"#;
    const FAILED: &str = r#"{"type":"user","message":{"role":"user","content":[{
        "tool_use_id":"toolu_1","type":"tool_result","is_error":true,
        "content":"sh: 0: cannot open test.sh"}]},"parent_tool_use_id":null}"#;
    const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,
        "duration_ms":8123,"duration_api_ms":7900,"num_turns":6,"result":"Added the footer.",
        "stop_reason":"end_turn","session_id":"5b1c","total_cost_usd":0.031234,"usage":{
        "input_tokens":12,"cache_creation_input_tokens":300,"cache_read_input_tokens":9000,
        "output_tokens":410,"server_tool_use":{"web_search_requests":0}},"modelUsage":{},
        "permission_denials":[]}"#;

    #[test]
    fn a_whole_run_is_counted_from_its_result() {
        let mut reader = Reader::default();

        let shown: Vec<String> = [INIT, TEXT, TOOL, SUB, FAILED, RESULT]
            .iter()
            .flat_map(|line| reader.line(line).unwrap())
            .collect();

        let expected = [
            "Claude Code starts with claude-sonnet-4-5-20250929",
            "I will add the footer.\nThen run the test.",
            "→ Bash sh test.sh",
            "✗ sh: 0: cannot open test.sh",
        ];
        assert_eq!(shown, expected);
        let usage = Usage {
            turns: 6,
            input_tokens: 9_312,
            cached_tokens: 9_000,
            output_tokens: 410,
            cost_micros: Some(31_234),
            model: Some("claude-sonnet-4-5-20250929".to_owned()),
        };
        let metered = reader.so_far();
        assert_eq!(metered, Metered { usage, ..Metered::default() });
    }

    #[test]
    fn a_run_ended_from_outside_is_counted_from_its_answers_each_once() {
        let mut reader = Reader::default();

        for line in [INIT, TEXT, TOOL, SUB] {
            reader.line(line).unwrap();
        }

        let usage = reader.so_far().usage;
        assert_eq!((usage.turns, usage.input_tokens, usage.output_tokens), (1, 1_114, 30));
    }

    #[test]
    fn a_run_that_ends_in_an_error_says_which() {
        let mut reader = Reader::default();
        let limit = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,
            "result":"Claude usage limit reached|1760000000","total_cost_usd":null}"#;

        assert_eq!(reader.line(limit).unwrap(), ["✗ Claude usage limit reached|1760000000"]);
        let complaint = reader.so_far().complaint;
        assert_eq!(complaint.as_deref(), Some("Claude usage limit reached|1760000000"));

        reader.line(r#"{"type":"result","subtype":"error_max_turns","num_turns":50}"#).unwrap();
        assert_eq!(reader.so_far().complaint.as_deref(), Some("error_max_turns"));
        assert_eq!(reader.so_far().usage.turns, 50);
    }

    #[test]
    fn a_cost_that_is_no_price_is_not_told() {
        assert_eq!(micros(1.5), Some(1_500_000));
        for dollars in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(micros(dollars), None);
        }
    }
}
