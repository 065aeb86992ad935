//! Which nodes a ticket's graph has when it is dispatched. Pure: the same ticket gives the same
//! plan.

use std::sync::LazyLock;

use crate::projects::steps::Pipeline;
use crate::tickets::lexicon::{Lexicon, Place};
use crate::tickets::states::{Kind, NodeKind, PassProfile, Preset};

/// How far apart planned nodes stand in the reading order: room for the rounds that come between.
pub const SPACING: i64 = 1_000;

/// What the plan depends on.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What sort of work it is.
    pub kind: Kind,
    /// Which agent profile does it.
    pub preset: Preset,
    /// Which passes were asked for.
    pub passes: PassProfile,
    /// The title.
    pub title: &'a str,
    /// The brief.
    pub description: &'a str,
    /// How many tickets it builds on.
    pub parents: usize,
    /// How the project plans.
    pub pipeline: Pipeline,
    /// Whether the project names a command that looks at what was deployed.
    pub looks_at_deployment: bool,
}

/// Words that make a change worth a look for security: access, secrets, what comes from outside,
/// money.
const SECURITY_WORDS: &[&str] = &[
    "auth",
    "login",
    "password",
    "secret",
    "token",
    "session",
    "cookie",
    "permission",
    "role",
    "admin",
    "encrypt",
    "crypto",
    "sql",
    "upload",
    "payment",
    "billing",
    "webhook",
    "cors",
    "csrf",
    "xss",
    "sanitiz",
    "injection",
    "api key",
    "oauth",
    "personal data",
    "gdpr",
];

/// Words that say that the documentation changes too.
const DOCS_WORDS: &[&str] =
    &["readme", "changelog", "document", "docs", "guide", "manual", "public api", "endpoint"];

/// Words that ask for something to be compared or explored before it is chosen.
const RESEARCH_WORDS: &[&str] = &[
    "compare",
    "comparison",
    "evaluate",
    "explore",
    "research",
    "alternatives",
    "pros and cons",
    "trade-off",
    "which library",
    "which approach",
    "find out which",
    "options for",
];

/// Words of a symptom.
const SYMPTOM_WORDS: &[&str] = &[
    "fail",
    "crash",
    "error",
    "wrong",
    "broken",
    "breaks",
    "slow",
    "hang",
    "freez",
    "stuck",
    "does not",
    "doesn't",
    "do not",
    "don't",
    "cannot",
    "can't",
    "no longer",
    "not working",
    "sometimes",
    "intermittent",
    "unexpected",
    "missing",
    "disappear",
];

/// Words that name a cause.
const CAUSE_WORDS: &[&str] =
    &["because", "caused by", "cause is", "root cause", "due to", "since commit", "introduced by"];

/// Words that ask for tests.
const TEST_WORDS: &[&str] = &[
    "add test",
    "add a test",
    "write test",
    "write a test",
    "with test",
    "with a test",
    "test for",
    "tests for",
    "unit test",
    "regression test",
    "integration test",
    "e2e test",
    "end-to-end test",
    "test coverage",
    "covered by test",
];

/// What a brief may speak of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Topic {
    Security,
    Docs,
    Research,
    Symptom,
    Cause,
    Tests,
}

static TOPICS: LazyLock<Lexicon<Topic>> = LazyLock::new(|| {
    let lists = [
        (Topic::Security, SECURITY_WORDS),
        (Topic::Docs, DOCS_WORDS),
        (Topic::Research, RESEARCH_WORDS),
        (Topic::Symptom, SYMPTOM_WORDS),
        (Topic::Cause, CAUSE_WORDS),
        (Topic::Tests, TEST_WORDS),
    ];
    Lexicon::new(lists.iter().flat_map(|(of, words)| words.iter().map(move |word| (*of, *word))))
});

/// The five passes of the fixed plan, in the order of their numbers.
pub const FIVE_PASSES: [NodeKind; 5] =
    [NodeKind::Plan, NodeKind::Implement, NodeKind::Review, NodeKind::Security, NodeKind::Docs];

/// The nodes in the order in which they run, each waiting for the one before it.
///
/// - `integration` comes first where a ticket builds on several others.
/// - `research` comes before the plan where the text asks for a comparison; `investigate`, where a
///   `fix` tells a symptom and no cause.
/// - `plan` is left out of a `trivial` ticket, and so are the three before it.
/// - `contract`, `implement` and `review` are always there.
/// - `qa_authoring` follows `implement` where the text asks for tests.
/// - `security` and `docs` follow the profile: `full` has both, `minimal` neither, and with `auto`
///   the text decides.
/// - `verification` and `land` end every plan, and `deploy_verify` follows where the project names
///   its command.
///
/// `reconcile` and `merge_repair` are in no plan: a landing asks for them.
#[must_use]
pub fn plan(asked: &Asked<'_>) -> Vec<NodeKind> {
    let mut nodes = match asked.pipeline {
        Pipeline::FivePassV1 => FIVE_PASSES.to_vec(),
        Pipeline::Dynamic => by_text(asked),
    };
    nodes.extend([NodeKind::Verification, NodeKind::Land]);
    if asked.looks_at_deployment {
        nodes.push(NodeKind::DeployVerify);
    }
    nodes
}

fn by_text(asked: &Asked<'_>) -> Vec<NodeKind> {
    let text = format!("{} {}", asked.title, asked.description).to_lowercase();
    // A word counts where it begins one of the text's: `auth` in `authentication`.
    let topics = TOPICS.found(&text, |_, place: &Place<'_>| place.begins_word());
    let speaks_of = |topic: Topic| topics.contains(&topic);
    let mut nodes = Vec::new();
    let is_trivial = matches!(asked.preset, Preset::Trivial);
    let mut add = |wanted: bool, kind: NodeKind| nodes.extend(wanted.then_some(kind));
    add(!is_trivial && asked.parents > 1, NodeKind::Integration);
    add(!is_trivial && speaks_of(Topic::Research), NodeKind::Research);
    add(!is_trivial && is_unexplained(asked, &topics), NodeKind::Investigate);
    add(!is_trivial, NodeKind::Plan);
    add(true, NodeKind::Contract);
    add(true, NodeKind::Implement);
    add(!is_trivial && speaks_of(Topic::Tests), NodeKind::QaAuthoring);
    add(true, NodeKind::Review);
    add(wants_security(asked, &topics), NodeKind::Security);
    add(wants_docs(asked, &topics), NodeKind::Docs);
    nodes
}

/// Whether something is said to be broken and not why.
fn is_unexplained(asked: &Asked<'_>, topics: &[Topic]) -> bool {
    asked.kind == Kind::Fix && topics.contains(&Topic::Symptom) && !topics.contains(&Topic::Cause)
}

fn wants_security(asked: &Asked<'_>, topics: &[Topic]) -> bool {
    match asked.passes {
        PassProfile::Full => true,
        PassProfile::Minimal => false,
        PassProfile::Auto => topics.contains(&Topic::Security),
    }
}

fn wants_docs(asked: &Asked<'_>, topics: &[Topic]) -> bool {
    match asked.passes {
        PassProfile::Full => true,
        PassProfile::Minimal => false,
        PassProfile::Auto => {
            !matches!(asked.preset, Preset::Trivial | Preset::Cheap)
                && !matches!(asked.kind, Kind::Refactor)
                && topics.contains(&Topic::Docs)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(title: &str, passes: PassProfile) -> Asked<'_> {
        Asked {
            kind: Kind::Feature,
            preset: Preset::Auto,
            passes,
            title,
            description: "",
            parents: 0,
            pipeline: Pipeline::Dynamic,
            looks_at_deployment: false,
        }
    }

    #[test]
    fn the_usual_plan_ends_on_the_base_branch() {
        let nodes = plan(&asked("Add a dark mode toggle", PassProfile::Auto));

        assert_eq!(
            nodes,
            [
                NodeKind::Plan,
                NodeKind::Contract,
                NodeKind::Implement,
                NodeKind::Review,
                NodeKind::Verification,
                NodeKind::Land
            ]
        );
    }

    #[test]
    fn the_profile_decides_over_the_text() {
        let full = plan(&asked("Add a toggle", PassProfile::Full));
        let minimal = plan(&asked("Fix the login and the README", PassProfile::Minimal));

        assert!(full.contains(&NodeKind::Security) && full.contains(&NodeKind::Docs));
        assert!(!minimal.contains(&NodeKind::Security) && !minimal.contains(&NodeKind::Docs));
    }

    #[test]
    fn a_word_counts_only_where_a_word_starts() {
        let login = plan(&asked("Fix the login form", PassProfile::Auto));
        let author = plan(&asked("Colourise the parole board", PassProfile::Auto));

        assert!(login.contains(&NodeKind::Security));
        assert!(!author.contains(&NodeKind::Security));
    }

    fn of(title: &str, kind: Kind, parents: usize) -> Vec<NodeKind> {
        plan(&Asked { kind, parents, ..asked(title, PassProfile::Auto) })
    }

    #[test]
    fn what_comes_before_the_plan_follows_from_the_brief() {
        let compared = of("Compare two queues and take one", Kind::Feature, 0);
        let symptom = of("The report crashes on Mondays", Kind::Fix, 0);
        let explained = of("The report crashes because a date is null", Kind::Fix, 0);
        let joined = of("Show both numbers", Kind::Feature, 2);

        assert_eq!(compared[..2], [NodeKind::Research, NodeKind::Plan]);
        assert_eq!(symptom[..2], [NodeKind::Investigate, NodeKind::Plan]);
        assert_eq!(explained[0], NodeKind::Plan);
        assert_eq!(joined[..2], [NodeKind::Integration, NodeKind::Plan]);
    }

    #[test]
    fn tests_that_are_asked_for_are_written_before_the_review() {
        let nodes = of("Round amounts up, with a regression test", Kind::Fix, 0);

        let at = nodes.iter().position(|kind| *kind == NodeKind::QaAuthoring).unwrap();
        assert_eq!(nodes[at - 1], NodeKind::Implement);
        assert_eq!(nodes[at + 1], NodeKind::Review);
    }

    #[test]
    fn the_fixed_plan_is_the_same_for_every_ticket() {
        let five = |title| {
            plan(&Asked { pipeline: Pipeline::FivePassV1, ..asked(title, PassProfile::Minimal) })
        };

        let nodes = five("Compare logins and write tests for them");

        assert_eq!(nodes[..5], FIVE_PASSES);
        assert_eq!(nodes[5..], [NodeKind::Verification, NodeKind::Land]);
        assert_eq!(nodes, five("Say hello"));
    }

    proptest! {
        #[test]
        fn whatever_is_asked_is_implemented_verified_and_landed_once(
            title in ".{0,60}", description in "[a-z' ]{0,200}", kind in 0..Kind::ALL.len(),
            preset in 0..Preset::ALL.len(), passes in 0..PassProfile::ALL.len(),
            pipeline in 0..Pipeline::ALL.len(), parents in 0_usize..4, looks in any::<bool>(),
        ) {
            let nodes = plan(&Asked {
                kind: Kind::ALL[kind],
                preset: Preset::ALL[preset],
                passes: PassProfile::ALL[passes],
                title: &title,
                description: &description,
                parents,
                pipeline: Pipeline::ALL[pipeline],
                looks_at_deployment: looks,
            });

            let at = |kind| nodes.iter().position(|one| *one == kind);
            for kind in NodeKind::ALL {
                prop_assert!(nodes.iter().filter(|one| *one == kind).count() <= 1);
            }
            prop_assert!(at(NodeKind::Implement) < at(NodeKind::Verification));
            prop_assert_eq!(at(NodeKind::Land), at(NodeKind::Verification).map(|at| at + 1));
            prop_assert_eq!(at(NodeKind::DeployVerify).is_some(), looks);
            prop_assert!(at(NodeKind::Implement).is_some());
            prop_assert!(!nodes.contains(&NodeKind::Reconcile));
            prop_assert!(!nodes.contains(&NodeKind::MergeRepair));
        }
    }
}
