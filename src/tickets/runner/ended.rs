//! How a run ended, and what is said of it.

use super::acp::Trouble;
use super::output::uncoloured;
use super::report::Handed;
use super::spawn::{Limits, NOT_FOUND, NOT_RUNNABLE};
use super::usage::Usage;

/// How many of the last lines a failure quotes.
const QUOTED_LINES: usize = 10;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The agent ended with this exit code.
    Code(i32),
    /// Somebody else ended the agent with this signal.
    Signal(i32),
    /// It was ended: the time was over.
    TimedOut,
    /// It was ended: it printed nothing for too long.
    Silent,
    /// It was ended: it printed too much.
    OutputFlood,
    /// It was ended: it told that it had used more than it may.
    OverLimit,
    /// It was ended: the caller cancelled it.
    Cancelled,
    /// It has answered its prompt over the Agent Client Protocol.
    Answered,
    /// Talking with it went wrong.
    Broke(Trouble),
}

impl Exit {
    /// Whether the agent did its part to the end.
    #[must_use]
    pub const fn is_well(self) -> bool {
        matches!(self, Self::Code(0) | Self::Answered)
    }

    /// What happened, as a sentence; nothing where the agent ended well. A limit that was reached
    /// is named with the setting of the agent profile that sets it.
    #[must_use]
    pub fn problem(self, limits: Limits) -> Option<String> {
        let said = match self {
            Self::Code(0) | Self::Answered => return None,
            Self::Code(code) if code == i32::from(NOT_FOUND) => {
                "The agent's command was not found (exit code 127).".to_owned()
            }
            Self::Code(code) if code == i32::from(NOT_RUNNABLE) => {
                "The agent's command could not be run (exit code 126).".to_owned()
            }
            Self::Code(code) => format!("The agent ended with exit code {code}."),
            Self::Signal(signal) => format!("The agent was ended by signal {signal}."),
            Self::TimedOut => format!(
                "The agent did not end within its time limit of {} s (timeoutSecs of its profile).",
                limits.total.as_secs_f64()
            ),
            Self::Silent => format!(
                "The agent printed nothing for {} s (idleTimeoutSecs of its profile).",
                limits.idle.as_secs_f64()
            ),
            Self::OutputFlood => format!(
                "The agent printed more than {} bytes (maxOutputBytes of its profile).",
                limits.output_bytes
            ),
            Self::OverLimit => "The agent has used more than it may.".to_owned(),
            Self::Cancelled => "The agent was stopped.".to_owned(),
            Self::Broke(trouble) => trouble.sentence().to_owned(),
        };
        Some(said)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why it ended.
    pub exit: Exit,
    /// How much it was allowed.
    pub limits: Limits,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What it used up, as far as the agent printed it.
    pub usage: Usage,
    /// The agent's own words for why it failed, where it said so.
    pub complaint: Option<String>,
    /// Which bound it crossed, in words, where that ended it.
    pub over: Option<String>,
    /// The last lines of its log.
    pub tail: Vec<String>,
    /// What it handed back. Read even where the run was ended, for what can be saved.
    pub report: Handed,
    /// Whether the worktree is gone, or no worktree any more.
    pub worktree_gone: bool,
}

impl Ended {
    /// Why the run failed, for people: a sentence, and below it what the agent said last.
    /// Nothing where the agent ended well in its worktree; whether a report must be there is the
    /// caller's to say.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let gone = || self.worktree_gone.then(|| "The agent deleted its worktree.".to_owned());
        let over = self.over.clone().filter(|_| self.exit == Exit::OverLimit);
        let mut said = over.or_else(|| self.exit.problem(self.limits)).or_else(gone)?;
        if let Some(complaint) = &self.complaint {
            said.push_str("\n\n");
            said.push_str(&uncoloured(complaint));
        } else {
            let from = self.tail.len().saturating_sub(QUOTED_LINES);
            for (at, line) in self.tail[from..].iter().enumerate() {
                said.push_str(if at == 0 { "\n\n" } else { "\n" });
                said.push_str(&uncoloured(line));
            }
        }
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ended(exit: Exit, tail: &[&str]) -> Ended {
        let limits = Limits {
            total: Duration::from_hours(1),
            idle: Duration::from_mins(15),
            output_bytes: 1_024,
            grace: Duration::ZERO,
        };
        Ended {
            exit,
            limits,
            duration_ms: 1,
            usage: Usage::default(),
            complaint: None,
            over: None,
            tail: tail.iter().map(|&line| line.to_owned()).collect(),
            report: Handed::Missing,
            worktree_gone: false,
        }
    }

    #[test]
    fn a_failure_quotes_what_the_agent_said_last() {
        let run = ended(Exit::Code(2), &["\u{1b}[31mboom\u{1b}[0m", "at line 3"]);

        let expected = "The agent ended with exit code 2.\n\nboom\nat line 3";
        assert_eq!(run.failure().as_deref(), Some(expected));

        let run = Ended { complaint: Some("usage limit reached".to_owned()), ..run };
        let expected = "The agent ended with exit code 2.\n\nusage limit reached";
        assert_eq!(run.failure().as_deref(), Some(expected));
    }

    #[test]
    fn a_limit_that_was_reached_is_named_with_its_setting() {
        let said = |exit| ended(exit, &[]).failure().unwrap();

        let expected =
            "The agent did not end within its time limit of 3600 s (timeoutSecs of its profile).";
        assert_eq!(said(Exit::TimedOut), expected);
        assert!(said(Exit::Silent).contains("900 s (idleTimeoutSecs"));
        assert!(said(Exit::OutputFlood).contains("1024 bytes (maxOutputBytes"));
    }

    #[test]
    fn a_run_that_ended_well_has_no_failure_unless_its_worktree_is_gone() {
        let run = ended(Exit::Code(0), &["done"]);
        assert_eq!(run.failure(), None);

        let run = Ended { worktree_gone: true, tail: Vec::new(), ..run };
        assert_eq!(run.failure().as_deref(), Some("The agent deleted its worktree."));
    }
}
