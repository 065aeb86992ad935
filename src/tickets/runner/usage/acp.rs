//! The messages of an agent that speaks the Agent Client Protocol, one JSON-RPC message a line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    ContentBlock, Diff, PlanEntry, PlanEntryStatus, PromptResponse, SessionNotification,
    SessionUpdate, ToolCallContent, ToolCallStatus, ToolCallUpdate, UsageUpdate,
};
use serde::Deserialize;
use serde_json::Value;

use super::{Metered, Usage, brief, micros};

/// The longest text of a message that is held until its line ends, in bytes.
const HELD_MAX: usize = 8 * 1024;
/// The longest last message that is kept, in bytes: it may hold the report.
const SAID_MAX: usize = 256 * 1024;
/// The most tool calls whose titles are remembered.
const CALLS_MAX: usize = 1_000;

/// What every message has, of all kinds.
#[derive(Deserialize)]
struct Message {
    #[serde(rename = "jsonrpc")]
    _version: String,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

/// What is remembered of a tool call.
#[derive(Debug, Default)]
struct Call {
    title: String,
    diffs: BTreeSet<PathBuf>,
}

/// Reads the updates of one session.
#[derive(Debug, Default)]
pub(super) struct Reader {
    usage: Usage,
    /// The most tokens that stood in the context at once, for agents that tell nothing better.
    context: u64,
    complaint: Option<String>,
    /// The text of a message whose line has not ended yet.
    held: String,
    /// The last message so far.
    said: String,
    calls: BTreeMap<String, Call>,
    plan: Vec<(String, &'static str)>,
}

impl Reader {
    /// The texts for people, or nothing where the line is no message.
    pub(super) fn line(&mut self, line: &str) -> Option<Vec<String>> {
        let message = serde_json::from_str::<Message>(line).ok()?;
        if let Some(failure) = message.error {
            let said = brief(&failure.message);
            self.complaint = Some(said.clone());
            return Some(vec![format!("✗ {said}")]);
        }
        if let Some(result) = message.result {
            self.answered(&result);
            return Some(self.rest());
        }
        if message.method.as_deref() != Some("session/update") {
            return Some(Vec::new());
        }
        // An update of a kind that is not known, or not of the expected shape, is passed over.
        let update = SessionNotification::deserialize(message.params.unwrap_or_default());
        Some(update.map(|update| self.update(update.update)).unwrap_or_default())
    }

    fn update(&mut self, update: SessionUpdate) -> Vec<String> {
        let mut out = match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                return match chunk.content {
                    ContentBlock::Text(text) => self.chunk(&text.text),
                    _ => Vec::new(),
                };
            }
            SessionUpdate::UsageUpdate(update) => {
                self.costs(&update);
                return Vec::new();
            }
            SessionUpdate::ToolCall(_)
            | SessionUpdate::ToolCallUpdate(_)
            | SessionUpdate::Plan(_) => self.rest(),
            _ => return Vec::new(),
        };
        match update {
            SessionUpdate::ToolCall(call) => {
                self.said.clear();
                out.extend(self.call(call.into()));
            }
            SessionUpdate::ToolCallUpdate(call) => out.extend(self.call(call)),
            SessionUpdate::Plan(plan) => out.extend(self.planned(&plan.entries)),
            _ => {}
        }
        out
    }

    /// A piece of a message: agents send a few letters at a time, people read lines.
    fn chunk(&mut self, text: &str) -> Vec<String> {
        if self.said.len() + text.len() <= SAID_MAX {
            self.said.push_str(text);
        }
        self.held.push_str(text);
        let whole = match self.held.rfind('\n') {
            Some(end) => self.held.drain(..=end).collect(),
            None if self.held.len() > HELD_MAX => std::mem::take(&mut self.held),
            None => return Vec::new(),
        };
        vec![whole]
    }

    /// What was held back, now that the message has ended.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let held = std::mem::take(&mut self.held);
        if held.trim().is_empty() { Vec::new() } else { vec![held] }
    }

    fn call(&mut self, update: ToolCallUpdate) -> Vec<String> {
        let id = update.tool_call_id.0.to_string();
        if self.calls.len() >= CALLS_MAX && !self.calls.contains_key(&id) {
            self.calls.pop_first();
        }
        let call = self.calls.entry(id).or_default();
        let mut out = Vec::new();
        let title = update.fields.title.map(|title| brief(&title));
        if let Some(title) = title.filter(|title| !title.is_empty() && *title != call.title) {
            out.push(format!("→ {title}"));
            call.title = title;
        }
        let mut last = None;
        for content in update.fields.content.unwrap_or_default() {
            match content {
                ToolCallContent::Diff(diff) if call.diffs.insert(diff.path.clone()) => {
                    out.push(changed(&diff));
                }
                ToolCallContent::Content(content) => {
                    if let ContentBlock::Text(text) = content.content {
                        last = Some(text.text);
                    }
                }
                _ => {}
            }
        }
        if update.fields.status == Some(ToolCallStatus::Failed) {
            let why = last.unwrap_or_else(|| "the tool failed".to_owned());
            out.push(format!("✗ {}", brief(&format!("{}: {}", call.title, why.trim()))));
        }
        out
    }

    /// The entries of a plan that are new or stand otherwise than before.
    fn planned(&mut self, entries: &[PlanEntry]) -> Vec<String> {
        let now: Vec<(String, &str)> = entries
            .iter()
            .map(|entry| {
                let mark = match entry.status {
                    PlanEntryStatus::Completed => "☑",
                    PlanEntryStatus::InProgress => "▸",
                    _ => "☐",
                };
                (brief(&entry.content), mark)
            })
            .collect();
        let changed = now.iter().filter(|entry| !self.plan.contains(entry));
        let out = changed.map(|(content, mark)| format!("{mark} {content}")).collect();
        self.plan = now;
        out
    }

    fn costs(&mut self, update: &UsageUpdate) {
        self.context = self.context.max(update.used);
        let dollars = update.cost.as_ref().filter(|cost| cost.currency == "USD");
        if let Some(cost) = dollars.and_then(|cost| micros(cost.amount)) {
            self.usage.cost_micros = Some(cost);
        }
    }

    fn answered(&mut self, result: &Value) {
        if result.get("sessionId").is_some() {
            self.usage.model = model(result);
        }
        let Ok(answer) = PromptResponse::deserialize(result) else { return };
        self.complaint = None;
        let usage = &mut self.usage;
        usage.turns += 1;
        let quota = || result.pointer("/_meta/quota/token_count");
        if let Some(told) = answer.usage {
            let cached = told.cached_read_tokens.unwrap_or(0);
            let stored = told.cached_write_tokens.unwrap_or(0);
            // Some count what came from the cache with the input, some beside it: the sum says.
            let apart = told.input_tokens.saturating_add(told.output_tokens);
            let beside = cached.saturating_add(stored);
            let is_beside = told.total_tokens >= apart.saturating_add(beside);
            usage.input_tokens = told.input_tokens + if is_beside { beside } else { 0 };
            usage.cached_tokens = cached;
            usage.output_tokens = told.output_tokens;
        } else if let Some(told) = quota() {
            let tokens = |name: &str| told.get(name).and_then(Value::as_u64).unwrap_or(0);
            usage.input_tokens = tokens("input_tokens");
            usage.output_tokens = tokens("output_tokens");
        }
    }

    /// The totals.
    pub(super) fn so_far(&self) -> Metered {
        let mut usage = self.usage.clone();
        if usage.input_tokens == 0 && usage.output_tokens == 0 {
            usage.input_tokens = self.context;
        }
        Metered { usage, complaint: self.complaint.clone(), said: self.said.clone() }
    }
}

/// The model of a new session, where the agent names it in either of two ways.
fn model(session: &Value) -> Option<String> {
    let options = session.get("configOptions").and_then(Value::as_array);
    let of_options = options.and_then(|options| {
        let is_model = |option: &&Value| option.get("category").is_some_and(|it| it == "model");
        options.iter().find(is_model)?.get("currentValue")?.as_str()
    });
    let named = session.pointer("/models/currentModelId").and_then(Value::as_str);
    of_options.or(named).map(brief)
}

/// A change of a file in one line: how many lines it adds and takes.
fn changed(diff: &Diff) -> String {
    let old: Vec<&str> = diff.old_text.as_deref().unwrap_or("").lines().collect();
    let new: Vec<&str> = diff.new_text.lines().collect();
    let same = |pairs: &mut dyn Iterator<Item = (&str, &str)>| {
        pairs.take_while(|(before, after)| before == after).count()
    };
    let head = same(&mut old.iter().copied().zip(new.iter().copied()));
    let tail = same(&mut old[head..].iter().rev().copied().zip(new[head..].iter().rev().copied()));
    let (added, taken) = (new.len() - head - tail, old.len() - head - tail);
    format!("± {} (+{added} −{taken})", brief(&diff.path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(reader: &mut Reader, update: &Value) -> Vec<String> {
        let message = json!({ "jsonrpc": "2.0", "method": "session/update",
            "params": { "sessionId": "s", "update": update } });
        reader.line(&message.to_string()).expect("it is a message")
    }

    #[test]
    fn a_message_is_shown_by_lines_however_it_is_cut_and_the_last_one_is_kept() {
        let mut reader = Reader::default();
        let chunk = |text: &str| {
            json!({ "sessionUpdate": "agent_message_chunk",
            "content": { "type": "text", "text": text } })
        };

        assert_eq!(read(&mut reader, &chunk("I loo")), Vec::<String>::new());
        assert_eq!(read(&mut reader, &chunk("k.\nThen")), ["I look.\n"]);
        let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "title": "Run tests" });
        assert_eq!(read(&mut reader, &call), ["Then", "→ Run tests"]);
        read(&mut reader, &chunk("Done."));
        assert_eq!(reader.rest(), ["Done."]);
        assert_eq!(reader.so_far().said, "Done.");
    }

    #[test]
    fn tool_calls_diffs_and_the_plan_become_short_lines() {
        let mut reader = Reader::default();
        let diff = json!([{ "type": "diff", "path": "a.rs", "oldText": "a\nb\nc\n",
            "newText": "a\nB\nB2\nc\n" }]);
        let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "title": "Edit a.rs",
            "kind": "edit", "content": diff });
        assert_eq!(read(&mut reader, &call), ["→ Edit a.rs", "± a.rs (+2 −1)"]);

        let failed = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "1",
            "status": "failed", "content": [{ "type": "content",
                "content": { "type": "text", "text": "no such file\nat 1" } }] });
        assert_eq!(read(&mut reader, &failed), ["✗ Edit a.rs: no such file"]);

        let plan = |first: &str| {
            json!({ "sessionUpdate": "plan", "entries": [
            { "content": "look", "priority": "high", "status": first },
            { "content": "mend", "priority": "high", "status": "pending" }] })
        };
        assert_eq!(read(&mut reader, &plan("in_progress")), ["▸ look", "☐ mend"]);
        assert_eq!(read(&mut reader, &plan("completed")), ["☑ look"]);
    }

    #[test]
    fn tokens_and_cost_are_counted_as_the_agent_tells_them() {
        let told = |result: Value| {
            let mut reader = Reader::default();
            let used = json!({ "sessionUpdate": "usage_update", "used": 900, "size": 1000,
                "cost": { "amount": 0.25, "currency": "USD" } });
            assert_eq!(read(&mut reader, &used), Vec::<String>::new());
            reader.line(&json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string());
            let usage = reader.so_far().usage;
            assert_eq!((usage.turns, usage.cost_micros), (1, Some(250_000)));
            (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
        };

        let beside = json!({ "stopReason": "end_turn", "usage": { "totalTokens": 70,
            "inputTokens": 10, "cachedReadTokens": 50, "outputTokens": 10 } });
        assert_eq!(told(beside), (60, 50, 10));
        let within = json!({ "stopReason": "end_turn", "usage": { "totalTokens": 70,
            "inputTokens": 60, "cachedReadTokens": 50, "outputTokens": 10 } });
        assert_eq!(told(within), (60, 50, 10));
        let quota = json!({ "stopReason": "end_turn", "_meta": { "quota": { "token_count":
            { "input_tokens": 7, "output_tokens": 3 } } } });
        assert_eq!(told(quota), (7, 0, 3));
        assert_eq!(told(json!({ "stopReason": "end_turn" })), (900, 0, 0));
    }

    #[test]
    fn the_model_is_the_sessions() {
        let mut reader = Reader::default();
        reader.line(
            &json!({ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": "s",
                "configOptions": [{ "category": "model", "currentValue": "big" }] } })
            .to_string(),
        );
        assert_eq!(reader.so_far().usage.model.as_deref(), Some("big"));
        assert_eq!(reader.line("Loaded credentials."), None);
    }
}
