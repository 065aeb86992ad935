//! Webhooks and what they were told, as the command line shows them.

use serde::Serialize;

use super::output::moment;
use crate::base::Millis;
use crate::notices::Event;
use crate::notices::deliveries::{Attempt, Message, State};
use crate::notices::webhooks::Webhook;

/// A webhook for a program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookView {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) events: Vec<Event>,
    private: bool,
    enabled: bool,
    pub(super) off_reason: Option<String>,
    pub(super) failing_since: Option<String>,
    pub(super) pending: u64,
    created_by: String,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
}

/// A message for a program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageView {
    id: String,
    event: Event,
    state: State,
    text: String,
    created_at: String,
    next_at: Option<String>,
    attempts: Vec<AttemptView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttemptView {
    attempt: u32,
    at: String,
    duration_ms: u64,
    status: Option<u16>,
    answer: String,
    error: Option<String>,
}

impl WebhookView {
    pub(super) fn new(webhook: Webhook, pending: u64) -> Self {
        Self {
            id: webhook.id.to_string(),
            url: webhook.url,
            events: webhook.events,
            private: webhook.is_private,
            enabled: webhook.off.is_none(),
            off_reason: webhook.off,
            failing_since: webhook.failing_since.map(Millis::iso),
            pending,
            created_by: webhook.created_by,
            created_at: webhook.created_at.iso(),
            secret: None,
        }
    }
}

impl MessageView {
    pub(super) fn new(message: &Message, attempts: Vec<Attempt>) -> Self {
        Self {
            id: message.id.to_string(),
            event: message.event,
            state: message.state,
            text: message.facts.text.clone(),
            created_at: message.created_at.iso(),
            next_at: message.next_at.map(Millis::iso),
            attempts: attempts.into_iter().map(AttemptView::new).collect(),
        }
    }
}

impl AttemptView {
    fn new(attempt: Attempt) -> Self {
        Self {
            attempt: attempt.number,
            at: attempt.at.iso(),
            duration_ms: u64::try_from(attempt.took.as_millis()).unwrap_or(u64::MAX),
            status: attempt.status,
            answer: attempt.answer,
            error: attempt.error,
        }
    }
}

/// A line for each try of a message; one that says so where there was none.
pub(super) fn rows(message: &MessageView) -> Vec<[String; 7]> {
    let row = |tried: Option<&AttemptView>| {
        let at = Millis::parse(tried.map_or(&message.created_at, |tried| &tried.at));
        let said = tried.map_or("", |tried| tried.error.as_deref().unwrap_or(&tried.answer));
        [
            message.id.clone(),
            message.event.to_string(),
            moment(at),
            message.state.to_string(),
            tried.map_or_else(|| "-".to_owned(), |tried| tried.attempt.to_string()),
            tried
                .and_then(|tried| tried.status)
                .map_or_else(|| "-".to_owned(), |status| status.to_string()),
            said.lines().next().unwrap_or_default().to_owned(),
        ]
    };
    if message.attempts.is_empty() {
        return vec![row(None)];
    }
    message.attempts.iter().map(Some).map(row).collect()
}
