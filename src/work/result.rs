//! What a node's run came to, ready to be recorded.

use super::verify_node::Checked;
use crate::base::Fault;
use crate::jobs::JobError;
use crate::store::Hash;
use crate::tickets::contract::Check;
use crate::tickets::pending::Asked;
use crate::tickets::pipeline::again::GO_ON;
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::Left;
use crate::tickets::questions::Asking;
use crate::tickets::states::{ItemKind, Pause};

/// What a node's run came to.
pub(super) struct Came {
    pub(super) to: To,
    pub(super) left: Left,
    pub(super) items: Vec<(ItemKind, String)>,
    pub(super) contract: Option<Vec<(String, Check)>>,
    /// What was checked, to be proved in the transaction that records the node.
    pub(super) checked: Vec<Checked>,
}

/// How it ended.
pub(super) enum To {
    /// With a verdict.
    Verdict(Verdict),
    /// With a question to a person.
    Question(Asking),
}

impl Came {
    /// A verdict and what was left, with nothing else to note.
    pub(super) const fn verdict(verdict: Verdict, left: Left) -> Self {
        Self {
            to: To::Verdict(verdict),
            left,
            items: Vec::new(),
            contract: None,
            checked: Vec::new(),
        }
    }

    /// A question to a person and what was left.
    pub(super) fn question(asked: Asked, left: Left) -> Self {
        let Asked { text, choices, secret } = asked;
        let asking = Asking { text, choices, pause: None, secret };
        Self { to: To::Question(asking), ..Self::verdict(Verdict::Good, left) }
    }

    /// What waits for a person to get something out of its way.
    pub(super) fn held(text: impl Into<String>) -> Self {
        let choices = vec![GO_ON.to_owned()];
        let asking = Asking { text: text.into(), choices, pause: Some(Pause::Hold), secret: None };
        Self { to: To::Question(asking), ..Self::verdict(Verdict::Good, Left::default()) }
    }

    /// Whether what waits for the node may start.
    pub(super) const fn is_good(&self) -> bool {
        matches!(self.to, To::Verdict(Verdict::Good | Verdict::NotNeeded))
    }

    /// The same with the run's log.
    pub(super) const fn logged(mut self, (log, lines): (Option<Hash>, u64)) -> Self {
        (self.left.log, self.left.log_lines) = (log, lines);
        self
    }

    /// The end of a node that cannot go on.
    pub(super) fn bad(reason: impl Into<String>) -> Self {
        Self::verdict(Verdict::Bad { reason: reason.into() }, Left::default())
    }
}

/// A run that has no result.
pub(super) struct Stopped {
    pub(super) why: Why,
    /// What it used up and left all the same.
    pub(super) left: Box<Left>,
}

/// Why a run has no result.
pub(super) enum Why {
    /// The ticket ended meanwhile; its record stands.
    Cancelled,
    /// The server stops; the next start goes on.
    HandedBack,
    /// Something failed: time may heal it, or the node cannot go on.
    Fault(Fault),
}

impl Stopped {
    /// The same with what the run used up and left.
    pub(super) fn with(self, left: Left) -> Self {
        Self { left: Box::new(left), ..self }
    }

    /// The same with the run's log.
    pub(super) fn logged(mut self, (log, lines): (Option<Hash>, u64)) -> Self {
        (self.left.log, self.left.log_lines) = (log, lines);
        self
    }
}

impl From<Why> for Stopped {
    fn from(why: Why) -> Self {
        Self { why, left: Box::default() }
    }
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Why::Fault(fault).into()
    }
}

/// Whether trying again later may help.
pub(super) fn may_heal(fault: Fault) -> Result<Fault, Fault> {
    match JobError::from(fault) {
        JobError::Retry(fault) => Ok(fault),
        JobError::Fail(fault) => Err(fault),
        JobError::Later(_) => unreachable!("a fault is tried again or fails"),
    }
}
