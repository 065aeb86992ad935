//! Who is told of what happens: the webhooks of a project and those who asked for its tickets, what
//! each is to be told, and how that went. What is to be told is written in the very transaction of
//! what it tells of, so that it is told exactly if that happened, at least once, and never waited
//! for.

pub mod address;
pub mod deliveries;
mod event;
pub mod mails;
pub mod outbox;
pub mod signature;
pub mod webhooks;

use serde::{Deserialize, Serialize};

pub use event::{Event, Facts, ProofFacts, TicketFacts};

use crate::base::{MailId, WebhookId};
use crate::jobs::Job;

/// Tells one webhook what it is to be told, one message after the other, until nothing is due: so a
/// receiver that is slow or dead keeps nobody waiting but itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TellWebhook {
    /// The webhook.
    pub webhook: WebhookId,
}

impl Job for TellWebhook {
    const KIND: &'static str = "tell_webhook";
    // What is tried how often is up to each message; only crashes of the server count here.
    const MAX_ATTEMPTS: u32 = 1_000;
    const CONCURRENCY: usize = 8;

    fn unique(&self) -> Option<String> {
        Some(self.webhook.to_string())
    }
}

/// Sends one mail, however often that must be tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SendMail {
    /// The mail.
    pub mail: MailId,
}

impl Job for SendMail {
    const KIND: &'static str = "send_mail";
    // How often it is tried is up to the mail; only crashes of the server count here.
    const MAX_ATTEMPTS: u32 = 1_000;
    const CONCURRENCY: usize = 4;

    fn unique(&self) -> Option<String> {
        Some(self.mail.to_string())
    }
}
