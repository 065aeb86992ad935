//! Trying an agent profile: whether it starts, answers and ends, without a ticket.

use serde::{Deserialize, Serialize};

use crate::base::{ProjectId, TenantId};
use crate::jobs::Job;

/// The longest that a try takes, in seconds.
pub const TRY_SECS: u64 = 120;

/// What the agent is asked.
pub const TRY_PROMPT: &str = "This is a check of the set-up. Say hello in one sentence and name \
    the model that you are. Change no file, run no command, and stop after that.";

/// Runs an agent profile once with a harmless prompt, in a work tree that is thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TryAgent {
    /// Whose it is.
    pub tenant: TenantId,
    /// The project.
    pub project: ProjectId,
    /// The name of the profile.
    pub profile: String,
}

impl Job for TryAgent {
    const KIND: &'static str = "try_agent";
    const MAX_ATTEMPTS: u32 = 3;
    const CONCURRENCY: usize = 2;
}

/// What came of a try: the result of its job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// The name of the profile.
    pub profile: String,
    /// Whether the agent ended well and left the work tree as it was.
    pub passed: bool,
    /// How it ended, in a sentence.
    pub said: String,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// The last lines of its output, without secrets.
    pub lines: Vec<String>,
}
