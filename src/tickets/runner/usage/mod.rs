//! What agents say of themselves in their own output: turns, tokens, cost, and words for people.
//! Pure readers, one a format. An event that is not known, or not of the expected shape, is
//! passed over: agents change their formats, and a run must not fail by it.

mod acp;
mod claude;
mod codex;
mod gemini;
mod goose;
mod opencode;

use std::sync::Arc;

use crate::base::text::{cut, first_line};
use crate::projects::agents::OutputFormat;

/// What a run used up, as far as its agent printed it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Rounds of the agent: one answer of the model each for Claude Code, one prompt for Codex.
    pub turns: u64,
    /// Tokens that the model read, with those from its cache.
    pub input_tokens: u64,
    /// Of those, the ones read from its cache.
    pub cached_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// The agent's own estimate of the cost, in millionths of a US dollar.
    pub cost_micros: Option<u64>,
    /// The model that did the work.
    pub model: Option<String>,
}

/// Says of what a run has used so far why it must end, if it must.
pub type Bound = Arc<dyn Fn(&Usage) -> Option<String> + Send + Sync>;

/// What was read so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metered {
    /// What the run used up.
    pub usage: Usage,
    /// The agent's own words for why it failed, where it said so.
    pub complaint: Option<String>,
    /// The agent's last message, where the format tells it apart; it may hold the report.
    pub said: String,
}

/// Reads an agent's standard output line by line.
#[derive(Debug)]
pub struct Meter(Reader);

#[derive(Debug)]
enum Reader {
    Plain,
    Claude(claude::Reader),
    Codex(codex::Reader),
    Gemini(gemini::Reader),
    Opencode(opencode::Reader),
    Goose(goose::Reader),
    Acp(acp::Reader),
}

/// The longest short line about a tool call, in characters.
const BRIEF: usize = 200;

impl Meter {
    /// A reader of one format.
    #[must_use]
    pub fn new(format: OutputFormat) -> Self {
        Self(match format {
            OutputFormat::Plain => Reader::Plain,
            OutputFormat::ClaudeStreamJson => Reader::Claude(claude::Reader::default()),
            OutputFormat::CodexJson => Reader::Codex(codex::Reader::default()),
            OutputFormat::GeminiStreamJson => Reader::Gemini(gemini::Reader::default()),
            OutputFormat::OpencodeJson => Reader::Opencode(opencode::Reader::default()),
            OutputFormat::GooseStreamJson => Reader::Goose(goose::Reader::default()),
        })
    }

    /// A reader of the messages of the Agent Client Protocol.
    #[must_use]
    pub fn of_protocol() -> Self {
        Self(Reader::Acp(acp::Reader::default()))
    }

    /// Takes one line and gives the texts that a person should see for it, which may have several
    /// lines each. A line that is no event is shown as it stands.
    pub fn line(&mut self, line: &str) -> Vec<String> {
        let read = match &mut self.0 {
            Reader::Plain => None,
            Reader::Claude(reader) => reader.line(line),
            Reader::Codex(reader) => reader.line(line),
            Reader::Gemini(reader) => reader.line(line),
            Reader::Opencode(reader) => reader.line(line),
            Reader::Goose(reader) => reader.line(line),
            Reader::Acp(reader) => reader.line(line),
        };
        read.unwrap_or_else(|| vec![line.to_owned()])
    }

    /// The texts that were held back for their line's end, once the output has ended.
    pub fn rest(&mut self) -> Vec<String> {
        match &mut self.0 {
            Reader::Gemini(reader) => reader.rest(),
            Reader::Goose(reader) => reader.rest(),
            Reader::Acp(reader) => reader.rest(),
            Reader::Plain | Reader::Claude(_) | Reader::Codex(_) | Reader::Opencode(_) => {
                Vec::new()
            }
        }
    }

    /// What was read so far. Complete once the agent has ended by itself.
    #[must_use]
    pub fn so_far(&self) -> Metered {
        match &self.0 {
            Reader::Plain => Metered::default(),
            Reader::Claude(reader) => reader.so_far(),
            Reader::Codex(reader) => reader.so_far(),
            Reader::Gemini(reader) => reader.so_far(),
            Reader::Opencode(reader) => reader.so_far(),
            Reader::Goose(reader) => reader.so_far(),
            Reader::Acp(reader) => reader.so_far(),
        }
    }
}

/// Whether a line is an event of some kind, known or not.
fn is_event(line: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Any {
        #[serde(rename = "type")]
        _kind: String,
    }
    serde_json::from_str::<Any>(line).is_ok()
}

/// Dollars as millionths of one, where the number can be a price.
fn micros(dollars: f64) -> Option<u64> {
    // Written out and read back: a cast would quietly turn nonsense into a price.
    let whole = format!("{:.0}", dollars * 1_000_000.0);
    (dollars >= 0.0).then(|| whole.parse().ok()).flatten()
}

fn brief(text: &str) -> String {
    cut(first_line(text), BRIEF)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_agent_is_shown_as_it_prints() {
        let mut meter = Meter::new(OutputFormat::Plain);

        assert_eq!(meter.line(r#"{"type":"result"}"#), [r#"{"type":"result"}"#]);
        assert_eq!(meter.so_far(), Metered::default());
    }

    #[test]
    fn unknown_events_are_silent_and_what_is_no_event_is_shown() {
        for format in OutputFormat::ALL.iter().filter(|it| **it != OutputFormat::Plain) {
            let mut meter = Meter::new(*format);

            assert_eq!(meter.line(r#"{"type":"hologram","x":[1]}"#), Vec::<String>::new());
            assert_eq!(meter.line("npm warn old lockfile"), ["npm warn old lockfile"]);
            assert_eq!(meter.line(r#"{"no":"type"}"#), [r#"{"no":"type"}"#]);
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_a_reader_panic(
            kind in "assistant|result|user|turn.completed|item.completed|error|message|tool_use",
            body in "[\\[\\]{}\":,a-z0-9.-]{0,60}",
        ) {
            for format in OutputFormat::ALL {
                let mut meter = Meter::new(*format);
                drop(meter.line(&format!(r#"{{"type":"{kind}",{body}}}"#)));
                drop(meter.line(&body));
                drop(meter.so_far());
            }
        }
    }
}
