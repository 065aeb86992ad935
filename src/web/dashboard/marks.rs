//! Marks: how a state is shown, by a word, a shape and a tone together.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::projects::health::Health;
use crate::tickets::node::Outline;

/// A state as a page shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Template)]
#[template(path = "parts/mark.html")]
pub(super) struct Mark {
    /// What a person reads.
    pub(super) word: &'static str,
    /// The class that carries the colours.
    pub(super) tone: &'static str,
    /// The name of the shape in `assets/icons.svg`.
    pub(super) icon: &'static str,
}

impl HtmlSafe for Mark {}

impl Default for Mark {
    fn default() -> Self {
        Self::status("queued")
    }
}

impl Mark {
    const fn new(word: &'static str, tone: &'static str, icon: &'static str) -> Self {
        Self { word, tone, icon }
    }

    /// The mark of a ticket's or a node's status, by the word of the contract.
    pub(super) fn status(word: &str) -> Self {
        match word {
            "blocked" => Self::new("Blocked", "hold", "blocked"),
            "running" => Self::new("Running", "run", "running"),
            "succeeded" => Self::new("Succeeded", "ok", "succeeded"),
            "failed" => Self::new("Failed", "bad", "failed"),
            "timeout" => Self::new("Timed out", "bad", "timeout"),
            "cancelled" => Self::new("Cancelled", "idle", "cancelled"),
            "skipped" => Self::new("Skipped", "idle", "skipped"),
            "awaiting_input" => Self::new("Needs answer", "wait", "awaiting"),
            _ => Self::new("Queued", "idle", "queued"),
        }
    }

    /// The mark of an assertion of a contract.
    pub(super) fn assertion(word: &str) -> Self {
        match word {
            "confirmed" => Self::new("Confirmed", "ok", "succeeded"),
            "partial" => Self::new("Partial", "wait", "partial"),
            "unconfirmed" => Self::new("Unconfirmed", "bad", "failed"),
            _ => Self::new("Not checked", "idle", "open"),
        }
    }

    /// The mark of a proof's verdict.
    pub(super) fn verdict(word: &str) -> Self {
        match word {
            "proven" => Self::new("Proven", "ok", "succeeded"),
            "failed" => Self::new("Failed", "bad", "failed"),
            _ => Self::new("Inconclusive", "wait", "partial"),
        }
    }

    /// The mark of a webhook: on, failing or off.
    pub(super) fn webhook(word: &str) -> Self {
        match word {
            "on" => Self::new("On", "ok", "succeeded"),
            "failing" => Self::new("Failing", "wait", "partial"),
            _ => Self::new("Off", "bad", "failed"),
        }
    }

    /// The mark of what a webhook was told, by the word of its state.
    pub(super) fn delivery(word: &str) -> Self {
        match word {
            "delivered" => Self::new("Delivered", "ok", "succeeded"),
            "pending" => Self::new("Pending", "wait", "queued"),
            "dropped" => Self::new("Dropped", "idle", "cancelled"),
            _ => Self::new("Given up", "bad", "failed"),
        }
    }

    /// The mark of a link of the chain of proofs.
    pub(super) fn chain(word: &str) -> Self {
        match word {
            "holds" => Self::new("Holds", "ok", "succeeded"),
            "broken" => Self::new("Broken", "bad", "failed"),
            _ => Self::new("Unknown", "wait", "partial"),
        }
    }

    /// The mark of a job's state.
    pub(super) fn job(word: &str) -> Self {
        match word {
            "running" => Self::new("Running", "run", "running"),
            "done" => Self::new("Done", "ok", "succeeded"),
            "failed" => Self::new("Failed", "bad", "failed"),
            "cancelled" => Self::new("Cancelled", "idle", "cancelled"),
            "later" => Self::new("Scheduled", "idle", "timeout"),
            _ => Self::new("Waiting", "idle", "queued"),
        }
    }

    /// The mark of something that was done, or refused.
    pub(super) const fn outcome(is_ok: bool) -> Self {
        if is_ok {
            Self::new("Done", "ok", "succeeded")
        } else {
            Self::new("Refused", "bad", "failed")
        }
    }

    /// The mark of a person who may sign in, or may not.
    pub(super) const fn person(is_active: bool) -> Self {
        if is_active {
            Self::new("Active", "ok", "succeeded")
        } else {
            Self::new("Disabled", "idle", "cancelled")
        }
    }

    /// The mark of a part of the server: as it should be, or not.
    pub(super) const fn part(is_well: bool) -> Self {
        if is_well {
            Self::new("Fine", "ok", "succeeded")
        } else {
            Self::new("Amiss", "bad", "failed")
        }
    }

    /// The mark of one set-up check: fine, to be looked at, or in the way.
    pub(super) fn health(word: &str) -> Self {
        match word {
            "ok" => Self::new("Ready", "ok", "succeeded"),
            "warning" => Self::new("Incomplete", "wait", "partial"),
            _ => Self::new("Blocked", "bad", "failed"),
        }
    }

    /// The mark of a project's set-up.
    pub(super) fn of_project(health: &Health) -> Self {
        Self::health(match (health.is_ready(), health.warnings.is_empty()) {
            (true, true) => "ok",
            (true, false) => "warning",
            (false, _) => "blocked",
        })
    }
}

/// A row of small shapes, one a node, in the order of the graph.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "parts/pips.html")]
pub(super) struct Pips {
    tones: Vec<&'static str>,
    said: String,
}

impl HtmlSafe for Pips {}

impl Pips {
    /// The pips of a ticket's nodes.
    pub(super) fn of_nodes(nodes: &[Outline]) -> Self {
        let statuses: Vec<&str> = nodes.iter().map(|node| node.status.word()).collect();
        Self::of(&statuses)
    }

    /// The pips of nodes with these statuses.
    pub(super) fn of(statuses: &[&str]) -> Self {
        let is_done = |status: &&&str| matches!(**status, "succeeded" | "skipped");
        let done = statuses.iter().filter(is_done).count();
        let tones = statuses.iter().map(|status| Mark::status(status).tone).collect();
        Self { tones, said: format!("{done} of {} nodes done", statuses.len()) }
    }

    /// `3 of 6 nodes done`.
    pub(super) fn said(&self) -> &str {
        &self.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::assets::ICONS;

    const STATUSES: [&str; 9] = [
        "queued",
        "blocked",
        "running",
        "succeeded",
        "failed",
        "timeout",
        "cancelled",
        "skipped",
        "awaiting_input",
    ];

    #[test]
    fn no_two_states_share_a_word_or_a_shape() {
        let marks: Vec<Mark> = STATUSES.iter().map(|word| Mark::status(word)).collect();

        for (at, mark) in marks.iter().enumerate() {
            assert!(ICONS.contains(&format!("id=\"i-{}\"", mark.icon)), "{mark:?}");
            for other in &marks[..at] {
                assert!(mark.word != other.word && mark.icon != other.icon, "{mark:?} {other:?}");
            }
        }
    }

    #[test]
    fn pips_say_in_words_what_they_show() {
        let pips = Pips::of(&["succeeded", "running", "queued"]);

        assert_eq!(pips.said(), "1 of 3 nodes done");
        assert!(pips.to_string().contains("<i class=\"run\"></i>"), "{pips}");
        assert_eq!(Pips::default().to_string(), "");
    }
}
