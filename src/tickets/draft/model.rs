//! What a language model drafts from, and what it drafts. `work/` knows how to reach one.

use futures_util::future::BoxFuture;

use super::{Turn, material};
use crate::base::redact::redact;
use crate::tickets::states::Kind;

/// What a model is given: nothing of the system's turns, and no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The title that was sent.
    pub title: String,
    /// The description that was sent.
    pub description: String,
    /// What was said, oldest first.
    pub turns: Vec<Turn>,
}

impl Said {
    /// What may be drafted from; `None` where no user said anything.
    #[must_use]
    pub fn of(title: &str, description: &str, conversation: &[Turn]) -> Option<Self> {
        Some(Self {
            title: redact(title).into_owned(),
            description: redact(description).into_owned(),
            turns: material(conversation)?,
        })
    }
}

/// What a model drafted, held to the bounds of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The title.
    pub title: String,
    /// The brief.
    pub description: String,
    /// The kind, where the model said one.
    pub kind: Option<Kind>,
}

/// A language model.
pub trait Drafter: Send + Sync {
    /// A draft, within seconds; `None` for whatever reason, which is logged: the rule drafts then.
    fn draft(&self, said: Said) -> BoxFuture<'_, Option<Draft>>;
}
