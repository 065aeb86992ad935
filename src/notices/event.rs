//! What can be told, and what is said of it.

use serde::{Deserialize, Serialize};

use crate::base::{ProjectId, ProofId, TicketId};
use crate::words;

words! {
    /// What a webhook is told of. Published: a word keeps its meaning, and receivers ignore those
    /// that they do not know.
    pub enum Event {
        /// A ticket is free to start: it was filed, what it waited for landed, it was tried again,
        /// or a person answered.
        TicketQueued = "ticket.queued",
        /// A ticket waits for its parents to land.
        TicketBlocked = "ticket.blocked",
        /// Work on a ticket began, or went on after a wait.
        TicketRunning = "ticket.running",
        /// A ticket waits for a person: an answer, an approval, or something out of its way.
        TicketAwaitingInput = "ticket.awaiting_input",
        /// A ticket ended well.
        TicketResolved = "ticket.resolved",
        /// A ticket ended without landing.
        TicketFailed = "ticket.failed",
        /// A ticket ended because it crossed a limit.
        TicketTimeout = "ticket.timeout",
        /// A ticket ended because somebody said so, or because a parent did not land.
        TicketCancelled = "ticket.cancelled",
        /// A ticket's work was put on its base branch.
        TicketLanded = "ticket.landed",
        /// A check or an agent left a proof.
        ProofMade = "proof.made",
        /// Somebody tried the webhook out. Sent to every webhook, chosen or not.
        Test = "webhook.test",
    }
}

impl Event {
    /// Those that a webhook may choose, in their order.
    pub fn choosable() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|event| *event != Self::Test)
    }

    /// The event of a ticket that has come to a status, spelled as the tickets contract does.
    pub(super) fn of_status(status: &str) -> Option<Self> {
        Self::parse(&match status {
            "succeeded" => "ticket.resolved".to_owned(),
            status => format!("ticket.{status}"),
        })
    }
}

/// What is said of an event, as it was when it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The project.
    pub project: ProjectId,
    /// Its key, where it has one.
    pub project_key: Option<String>,
    /// Its name.
    pub project_name: String,
    /// One line in words, without credentials.
    pub text: String,
    /// The ticket that it is about.
    pub ticket: Option<TicketFacts>,
    /// The proof that was made.
    pub proof: Option<ProofFacts>,
}

/// What is said of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketFacts {
    /// The ticket.
    pub id: TicketId,
    /// `KEY-N`, or `#N` where the project has no key.
    pub reference: String,
    /// Its title.
    pub title: String,
    /// Where it stood.
    pub status: String,
    /// The commit on the base branch, once it has landed.
    pub commit: Option<String>,
    /// The base branch, once it has started.
    pub base_branch: Option<String>,
}

/// What is said of a proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofFacts {
    /// The proof.
    pub id: ProofId,
    /// What was found.
    pub verdict: String,
}

impl TicketFacts {
    /// The path of its page.
    #[must_use]
    pub fn path(&self) -> String {
        if self.reference.starts_with('#') {
            return format!("/tickets/{}", self.id);
        }
        format!("/tickets/{}", self.reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_ticket_is_an_event() {
        for (status, event) in [
            ("queued", Some(Event::TicketQueued)),
            ("blocked", Some(Event::TicketBlocked)),
            ("running", Some(Event::TicketRunning)),
            ("awaiting_input", Some(Event::TicketAwaitingInput)),
            ("succeeded", Some(Event::TicketResolved)),
            ("failed", Some(Event::TicketFailed)),
            ("timeout", Some(Event::TicketTimeout)),
            ("cancelled", Some(Event::TicketCancelled)),
            ("odd", None),
        ] {
            assert_eq!(Event::of_status(status), event, "{status}");
        }
    }

    #[test]
    fn a_test_is_not_for_choosing() {
        assert_eq!(Event::choosable().count(), Event::ALL.len() - 1);
    }
}
