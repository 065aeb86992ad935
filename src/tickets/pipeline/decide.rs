//! What follows from a node's result. Pure.

use crate::tickets::states::NodeKind;

/// What a node's run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Done; what waits for it may start.
    Good,
    /// There was nothing to do; what waits for it may start.
    NotNeeded,
    /// A check looked at the change, and it is not right yet.
    NotYet {
        /// What is wrong, for the next round.
        findings: String,
    },
    /// What was checked is not what would land: the branch or its base has changed since.
    Outdated {
        /// What an agent has to do before the checks run again, if one has.
        with: Option<NodeKind>,
        /// What is wrong, for that agent.
        findings: String,
    },
    /// It cannot go on.
    Bad {
        /// Why.
        reason: String,
    },
    /// Its time was up.
    OutOfTime {
        /// Which limit it was.
        reason: String,
    },
}

/// What the ticket does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Goes on with what waits for the node.
    GoOn,
    /// Adds another round of work and the check that asked for it.
    AnotherRound {
        /// What the round must set right.
        findings: String,
    },
    /// Has an agent see to it where one has to, checks again, and tries again to land.
    Again {
        /// What the agent does.
        with: Option<NodeKind>,
        /// What it must set right.
        findings: String,
    },
    /// Ends as failed.
    Fail {
        /// Why.
        reason: String,
    },
    /// Ends as out of time.
    TimeOut {
        /// Which limit it was.
        reason: String,
    },
}

/// The next step after a node of `kind`, with `rounds` of work done of `rounds_max` allowed.
#[must_use]
pub fn decide(kind: NodeKind, verdict: Verdict, rounds: u32, rounds_max: u32) -> Step {
    match verdict {
        Verdict::Good | Verdict::NotNeeded => Step::GoOn,
        // Whatever it found, the work is on the base branch.
        _ if kind == NodeKind::DeployVerify => Step::GoOn,
        Verdict::Outdated { with, findings } => Step::Again { with, findings },
        Verdict::Bad { reason } => Step::Fail { reason },
        Verdict::OutOfTime { reason } => Step::TimeOut { reason },
        Verdict::NotYet { findings } if rounds < rounds_max => Step::AnotherRound { findings },
        Verdict::NotYet { findings } => Step::Fail {
            reason: format!(
                "{} was not satisfied after {rounds} {}: {findings}",
                capital(kind.word()),
                if rounds == 1 { "round" } else { "rounds" }
            ),
        },
    }
}

fn capital(word: &str) -> String {
    let word = word.replace('_', " ");
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_yet() -> Verdict {
        Verdict::NotYet { findings: "test.sh fails".to_owned() }
    }

    #[test]
    fn a_check_that_is_not_satisfied_asks_for_another_round() {
        let step = decide(NodeKind::Verification, not_yet(), 1, 3);

        assert_eq!(step, Step::AnotherRound { findings: "test.sh fails".to_owned() });
    }

    #[test]
    fn what_looks_at_a_deployment_undoes_no_landing() {
        for verdict in [not_yet(), Verdict::Bad { reason: "down".to_owned() }] {
            assert_eq!(decide(NodeKind::DeployVerify, verdict, 1, 1), Step::GoOn);
        }
    }

    #[test]
    fn rounds_are_bounded_and_the_reason_names_what_was_wrong() {
        let step = decide(NodeKind::Verification, not_yet(), 3, 3);

        let Step::Fail { reason } = step else { panic!("{step:?}") };
        assert_eq!(reason, "Verification was not satisfied after 3 rounds: test.sh fails");
    }
}
