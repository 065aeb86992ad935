//! How a conversation with an agent goes wrong, and what to do about it.

use agent_client_protocol::{Error, ErrorCode, is_incoming_transport_closed};
use serde_json::Value;

/// How a conversation over the Agent Client Protocol went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It did not answer a request about the conversation itself in time.
    NoAnswer,
    /// It speaks another version of the protocol.
    Version,
    /// It wants somebody to log in.
    Login,
    /// It wrote what is no message of the protocol.
    Malformed,
    /// It answered a request with an error.
    Refused,
    /// It ended, or closed its output, before it had answered.
    Left,
    /// It stopped at the most tokens that its model may write.
    MaxTokens,
    /// It stopped at the most requests that it makes for one prompt.
    MaxRequests,
    /// It declined to go on.
    Declined,
    /// It stopped as if it had been cancelled, which it was not.
    Dropped,
}

impl Trouble {
    /// What happened and what to do, as sentences.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NoAnswer => {
                "The agent did not answer over the Agent Client Protocol in time. Check that the \
                 profile's command starts it as an agent of that protocol, such as `gemini --acp`."
            }
            Self::Version => {
                "The agent speaks a version of the Agent Client Protocol that Assay does not: it \
                 speaks version 1. Use another release of the agent, or a profile that runs it as \
                 a command."
            }
            Self::Login => {
                "The agent wants somebody to log in. Log in once on the server's machine, as the \
                 account that the server runs as; or name the agent's key in `env` of its profile, \
                 and, where it must be told, the way to log in as `authenticate`."
            }
            Self::Malformed => {
                "The agent wrote something that is no message of the Agent Client Protocol. Let \
                 the profile's command print nothing but the protocol on standard output, and its \
                 log on standard error."
            }
            Self::Refused => {
                "The agent answered with an error over the Agent Client Protocol. What it said is \
                 below; its log may say more."
            }
            Self::Left => {
                "The agent ended before it had answered its prompt. Its last lines are below; \
                 retry the ticket once the cause is gone."
            }
            Self::MaxTokens => {
                "The agent stopped at the most tokens that its model may use. Make the ticket \
                 smaller, or choose a model with more room."
            }
            Self::MaxRequests => {
                "The agent stopped at the most requests that it makes for one prompt. Make the \
                 ticket smaller, or raise that number in the agent's own settings."
            }
            Self::Declined => {
                "The agent declined to go on. Say in other words what the ticket asks for, or \
                 choose another agent."
            }
            Self::Dropped => {
                "The agent stopped as if cancelled, and nobody did cancel it: it may have been \
                 refused what it needed. The log says what was refused; `agent-permissions` of \
                 the project decides."
            }
        }
    }

    /// What an error in place of an answer means, and the agent's own words.
    pub(super) fn of(error: &Error, asked: &str) -> (Self, Option<String>) {
        if is_incoming_transport_closed(error) {
            return (Self::Left, None);
        }
        let more = match &error.data {
            Some(Value::String(text)) => format!(" ({text})"),
            Some(data) => {
                let text = ["message", "details"].iter().find_map(|key| data.get(*key)?.as_str());
                text.map(|text| format!(" ({text})")).unwrap_or_default()
            }
            None => String::new(),
        };
        let said = Some(format!("To `{asked}` it said: {}{more}", error.message));
        if error.code == ErrorCode::AUTH_REQUIRED {
            return (Self::Login, said);
        }
        (Self::Refused, said)
    }
}
