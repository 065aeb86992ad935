//! From a conversation to a ticket: by a language model where one is configured and answers as it
//! should ([`model`]), and else by rule. The rule is pure: the same turns give the same ticket.
//!
//! The title is the last thing that a user asked for and that says itself what it is about; where
//! there is none, it stays what the caller sent. The description is complete in itself: what the
//! caller sent, what users asked, in their words, what they agreed to, and then, pulled out, the
//! constraints, the acceptance points, and every file and address verbatim. System turns are never
//! quoted, and secrets are taken out first.

pub mod model;
mod phrases;

use crate::base::redact::redact;
use crate::base::text;
use crate::words;
use phrases::sentences;

use super::dispatch::{DESCRIPTION_MAX, Dispatch, TITLE_MAX};

/// Characters of one turn that a description quotes at most.
const TURN_MAX: usize = 8_000;

/// Characters of all that was asked that a description quotes at most; the newest stay.
const ASKED_MAX: usize = 40_000;

/// Points that one list of a description has at most.
const POINTS_MAX: usize = 40;

/// Characters of an assistant's turn that is quoted whole once it is agreed to.
const PROPOSAL_MAX: usize = 1_500;

words! {
    /// Who said something.
    pub enum Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The rules that the model was given. Never quoted.
        System = "system",
    }
}

words! {
    /// What drafted a ticket.
    pub enum DraftedBy {
        /// The rule.
        Rule = "rule",
        /// The language model.
        Model = "model",
    }
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// What.
    pub content: String,
}

/// What may be drafted from: without the system's turns, and without secrets. `None` where no user
/// said anything.
fn material(conversation: &[Turn]) -> Option<Vec<Turn>> {
    let said = conversation.iter().filter(|turn| turn.role != Role::System);
    let turns: Vec<Turn> = said
        .filter(|turn| !turn.content.trim().is_empty())
        .map(|turn| Turn { role: turn.role, content: redact(&turn.content).into_owned() })
        .collect();
    turns.iter().any(|turn| turn.role == Role::User).then_some(turns)
}

/// The call as it is filed once its conversation was read, and what drafted it; `None` where there
/// is nothing to draft from, or the caller wants title and description as they are.
pub(super) fn drafted(asked: &Dispatch) -> Option<(Dispatch, DraftedBy)> {
    let turns = material(&asked.conversation).filter(|_| !asked.predrafted)?;
    if let Some(draft) = &asked.by_model {
        let model::Draft { title, description, kind } = draft.clone();
        let kind = asked.kind.or(kind);
        return Some((Dispatch { title, description, kind, ..asked.clone() }, DraftedBy::Model));
    }
    let title = title(&turns);
    let description = description(asked, title.as_deref(), &turns);
    let title = title.unwrap_or_else(|| asked.title.clone());
    Some((Dispatch { title, description, ..asked.clone() }, DraftedBy::Rule))
}

/// What was asked last, as an order; only where it says itself what it is about.
fn title(turns: &[Turn]) -> Option<String> {
    let mut users = turns.iter().rev().filter(|turn| turn.role == Role::User);
    let asked = |turn: &Turn| sentences(&turn.content).into_iter().find_map(phrases::order);
    users.find_map(asked).map(|order| text::cut(&order, TITLE_MAX))
}

fn description(asked: &Dispatch, title: Option<&str>, turns: &[Turn]) -> String {
    let mut out = redact(asked.description.trim()).into_owned();
    let mut add = |heading: &str, body: &str| {
        if !body.is_empty() {
            let gap = if out.is_empty() { "" } else { "\n\n" };
            out.extend([gap, "## ", heading, "\n\n", body]);
        }
    };
    let sent = redact(&asked.title);
    if title.is_some_and(|title| text::normalised(title) != text::normalised(&sent)) {
        add("In short", &sent);
    }
    add("What was asked", &what_was_asked(turns));
    add("What was agreed", &what_was_agreed(turns));
    add("Constraints", &points(turns, phrases::is_constraint));
    add("Acceptance", &acceptance(turns));
    add("Files and addresses", &places(turns));
    text::cut(&out, DESCRIPTION_MAX)
}

/// The users' turns in their order, without those that only agree. The newest stay whole longest.
fn what_was_asked(turns: &[Turn]) -> String {
    let mut kept = Vec::new();
    let mut room = ASKED_MAX;
    let users = turns.iter().rev().filter(|turn| turn.role == Role::User);
    for turn in users.filter(|turn| !phrases::only_agrees(&turn.content)) {
        let said = text::cut(turn.content.trim(), TURN_MAX);
        let size = said.chars().count();
        if size > room {
            kept.push("(What was said before this is kept with the ticket.)".to_owned());
            break;
        }
        room -= size;
        kept.push(said);
    }
    kept.reverse();
    kept.join("\n\n")
}

/// What an assistant proposed, or asked, right before a user said yes.
fn what_was_agreed(turns: &[Turn]) -> String {
    let agreed = turns.windows(2).filter(|two| {
        two[0].role == Role::Assistant
            && two[1].role == Role::User
            && phrases::begins_with_yes(&two[1].content)
    });
    let proposal = |two: &[Turn]| {
        let said = two[0].content.trim();
        let is_short = said.chars().count() <= PROPOSAL_MAX;
        let agreed = |sentence: &str| {
            if sentence.ends_with('?') {
                return phrases::asks_for_a_yes(sentence).then(|| format!("{sentence} Yes."));
            }
            (is_short || phrases::is_proposal(sentence)).then(|| sentence.to_owned())
        };
        bullets(sentences(said).into_iter().filter_map(agreed))
    };
    let all: Vec<String> = agreed.map(proposal).filter(|text| !text.is_empty()).collect();
    all.join("\n")
}

/// The users' sentences that a rule picks.
fn points(turns: &[Turn], is_meant: fn(&str) -> bool) -> String {
    let users = turns.iter().filter(|turn| turn.role == Role::User);
    let said = users.flat_map(|turn| sentences(&turn.content)).filter(|said| is_meant(said));
    bullets(said.map(str::to_owned))
}

/// The entries under a heading of acceptance, and sentences that say what holds when it is done.
fn acceptance(turns: &[Turn]) -> String {
    let users = turns.iter().filter(|turn| turn.role == Role::User);
    bullets(users.flat_map(|turn| phrases::acceptance(&turn.content)))
}

/// Every path and address in the order of its first mention, as it was written.
fn places(turns: &[Turn]) -> String {
    let words = turns.iter().flat_map(|turn| turn.content.split_whitespace());
    bullets(words.filter_map(phrases::place).map(|place| format!("`{place}`")))
}

/// A list of what is said, each once.
fn bullets(said: impl Iterator<Item = String>) -> String {
    let mut out: Vec<String> = Vec::new();
    for one in said {
        let line = format!("- {}", one.trim_start_matches(['-', '*', '+', ' ']));
        if out.len() < POINTS_MAX && !out.contains(&line) {
            out.push(line);
        }
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tickets::states::{PassProfile, Preset};
    use crate::tickets::ticket::Requester;

    fn asked(conversation: Vec<Turn>) -> Dispatch {
        Dispatch {
            title: "Header work".to_owned(),
            description: "For the dashboard.".to_owned(),
            kind: None,
            preset: Preset::Auto,
            pass_profile: PassProfile::Auto,
            depends_on: Vec::new(),
            depends_on_reason: None,
            requester: Requester::default(),
            category: None,
            replaces: None,
            seed_from_ref: None,
            attached: None,
            operation_key: None,
            override_duplicate: false,
            no_split: false,
            predrafted: false,
            conversation,
            by_model: None,
            source: "mcp".to_owned(),
            actor: "test".to_owned(),
        }
    }

    fn turns(said: &[(Role, &str)]) -> Vec<Turn> {
        said.iter()
            .map(|(role, content)| Turn { role: *role, content: (*content).to_owned() })
            .collect()
    }

    fn draft(said: &[(Role, &str)]) -> Dispatch {
        drafted(&asked(turns(said))).expect("a user said something").0
    }

    #[test]
    fn the_title_is_what_was_asked_last_and_says_itself_what_it_is_about() {
        use Role::{Assistant, User};
        for (said, title) in [
            (
                &[(User, "Can you please add a dark mode to the header?")][..],
                "Add a dark mode to the header",
            ),
            (&[(User, "We need to fix the login. It fails.")], "Fix the login"),
            (
                &[(User, "Hi! I want a button that exports invoices.")],
                "Add a button that exports invoices",
            ),
            (&[(User, "Peux-tu corriger l'erreur du panier ?")], "Corriger l'erreur du panier"),
            (&[(User, "Il faut un bouton d'export.")], "Ajouter un bouton d'export"),
            (
                &[
                    (User, "Add a footer"),
                    (Assistant, "Shall I?"),
                    (User, "Rename the store to Shop"),
                ],
                "Rename the store to Shop",
            ),
            (
                &[
                    (User, "Add a footer to all pages"),
                    (Assistant, "Blue?"),
                    (User, "Make it green"),
                    (User, "Thanks, go ahead"),
                ],
                "Add a footer to all pages",
            ),
            (&[(User, "The login is odd on phones")], "Header work"),
        ] {
            assert_eq!(draft(said).title, title, "{said:?}");
        }
    }

    #[test]
    fn the_description_is_complete_in_itself() {
        use Role::{Assistant, System, User};
        let said = draft(&[
            (System, "You are Chip. Never tell that the admin's name is Zoe."),
            (User, "The header of web/src/Header.svelte has no theme. Add a toggle to the header."),
            (Assistant, "I will store the choice in localStorage. Is that fine?"),
            (
                User,
                "Yes. It must not flash on load.\n\nAcceptance:\n- WCAG AA holds\n- it stays \
                 after a reload",
            ),
            (Assistant, "See https://example.com/wcag. I'll use a cookie as well."),
            (User, "No cookie, token=abcdef0123456789abcdef"),
        ]);

        for part in [
            "For the dashboard.",
            "## In short\n\nHeader work",
            "## What was asked\n\nThe header of web/src/Header.svelte has no theme.",
            "## What was agreed\n\n- I will store the choice in localStorage.\n",
            "## Constraints\n\n- It must not flash on load.",
            "## Acceptance\n\n- WCAG AA holds\n- it stays after a reload",
            "- `web/src/Header.svelte`\n- `https://example.com/wcag`",
        ] {
            assert!(said.description.contains(part), "{part}\n---\n{}", said.description);
        }
        for part in ["Chip", "Zoe", "abcdef0123456789", "cookie as well", "Is that fine"] {
            assert!(!said.description.contains(part), "{part}\n---\n{}", said.description);
        }
    }

    #[test]
    fn a_question_that_was_answered_with_yes_is_agreed_if_it_says_what() {
        use Role::{Assistant, User};
        let agreed = |question: &str, answer: &str| {
            let said = [(User, "The footer is ugly"), (Assistant, question), (User, answer)];
            let said = draft(&said).description;
            said.split_once("## What was agreed\n\n").map(|(_, agreed)| agreed.to_owned())
        };

        for question in ["Shall I make it grey?", "Veux-tu que je le mette en gris ?", "Grey?"] {
            for answer in ["Yes, and it must show the year.", "Oui", "ok, thanks"] {
                let said = agreed(question, answer).expect(question);
                assert!(said.starts_with(&format!("- {question} Yes.")), "{said}");
            }
        }
        for question in ["Is that fine?", "Shall I go ahead?", "C'est bon ?", "Which colour?"] {
            assert_eq!(agreed(question, "Yes"), None, "{question}");
        }
        assert_eq!(agreed("Shall I make it grey?", "No, blue"), None);
    }

    #[test]
    fn nothing_is_drafted_from_nothing_or_against_the_callers_will() {
        let mut verbatim = asked(turns(&[(Role::User, "Add a footer")]));
        verbatim.predrafted = true;

        assert!(drafted(&verbatim).is_none());
        assert!(drafted(&asked(Vec::new())).is_none());
        assert!(drafted(&asked(turns(&[(Role::System, "x"), (Role::User, " ")]))).is_none());
    }

    #[test]
    fn a_long_conversation_keeps_what_is_newest() {
        let long: Vec<Turn> = (0..100)
            .map(|n| Turn { role: Role::User, content: format!("Point {n}. {}", "x ".repeat(400)) })
            .collect();

        let said = drafted(&asked(long)).expect("users spoke").0.description;

        assert!(said.contains("Point 99.") && !said.contains("Point 3."), "{}", said.len());
        assert!(said.contains("kept with the ticket") && said.chars().count() < 60_000);
    }

    proptest! {
        #[test]
        fn any_conversation_is_taken_and_no_system_turn_is_quoted(
            said in proptest::collection::vec(
                ("user|assistant|system", "[a-z ,.?!]{0,60}|\\PC{0,60}"), 0..8,
            ),
        ) {
            let mut all: Vec<Turn> = said
                .iter()
                .map(|(role, content)| Turn {
                    role: Role::parse(role).expect("a role"), content: content.clone(),
                })
                .collect();
            all.push(Turn { role: Role::System, content: "QQHIDDENQQ must stay".to_owned() });
            if let Some(draft) = drafted(&asked(all)) {
                prop_assert!(!draft.0.description.contains("QQHIDDENQQ"));
                prop_assert!((1..=TITLE_MAX).contains(&draft.0.title.chars().count()));
                prop_assert!(draft.0.description.chars().count() <= DESCRIPTION_MAX);
            }
        }
    }
}
