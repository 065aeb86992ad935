//! The one thing to do about a ticket now.

use super::super::parts::Link;
use super::NextStep;
use crate::tickets::Ticket;
use crate::tickets::digest::Digest;
use crate::tickets::node::Node;
use crate::tickets::pipeline::end::short;
use crate::tickets::states::{AssertionState, ItemKind, NodeStatus, Outcome, Pause, Status};
use crate::web::humane;

/// What to do now, by where the ticket stands.
pub(super) fn step(digest: &Digest) -> NextStep {
    match digest.ticket.status {
        Status::AwaitingInput => asked(digest),
        Status::Running => running(digest),
        Status::Queued if digest.ticket.held_at.is_some() => held(&digest.ticket),
        Status::Queued if offered(digest).is_some() => waiting_for_claim(digest),
        Status::Queued => nothing("idle", "It starts as soon as there is a free place."),
        Status::Blocked => blocked(digest),
        Status::Succeeded => landed(digest),
        Status::Failed | Status::Timeout => failed(digest),
        Status::Cancelled => NextStep {
            tone: "idle",
            title: "Cancelled".to_owned(),
            text: kept(&digest.ticket),
            link: None,
        },
    }
}

fn nothing(tone: &'static str, text: impl Into<String>) -> NextStep {
    NextStep { tone, title: "Nothing to do now".to_owned(), text: text.into(), link: None }
}

fn asked(digest: &Digest) -> NextStep {
    let asker = digest.question.as_ref().and_then(|question| {
        digest.nodes.iter().find(|node| node.id == question.node).map(|node| &node.name)
    });
    let pause = digest.question.as_ref().and_then(|question| question.pause);
    if let Some(pause) = pause {
        let (title, text) = waits(pause);
        let act = if pause.is_approval() { "Decide" } else { "See what" };
        let link = Some(Link::new(act, "#question"));
        return NextStep { tone: "wait", title: title.to_owned(), text: text.to_owned(), link };
    }
    if let Some(name) = digest.question.as_ref().and_then(|question| question.secret.as_deref()) {
        return NextStep {
            tone: "wait",
            title: format!("{} needs {name}", asker.map_or("An agent", |name| name.as_str())),
            text: "The ticket goes on as soon as somebody gives it through its link.".to_owned(),
            link: Some(Link::new("Give it", "#question")),
        };
    }
    NextStep {
        tone: "wait",
        title: match asker {
            Some(name) => format!("{name} asks a question"),
            None => "An agent asks a question".to_owned(),
        },
        text: "The ticket goes on as soon as it is answered.".to_owned(),
        link: Some(Link::new("Answer", "#question")),
    }
}

/// What a step waits for, and what follows.
const fn waits(pause: Pause) -> (&'static str, &'static str) {
    match pause {
        Pause::Plan => ("The plan waits for an approval", "The work begins once it is approved."),
        Pause::Land => ("The landing waits for an approval", "It lands once it is approved."),
        Pause::Apply => (
            "The change of live data waits for an approval",
            "The script is applied once, and then lands, when it is approved.",
        ),
        Pause::Hold => ("Something is in its way", "It goes on as soon as a person says so."),
        Pause::Unclear => (
            "Nobody knows whether the script was applied",
            "It goes on as soon as a person has looked and says so.",
        ),
    }
}

fn running(digest: &Digest) -> NextStep {
    let names: Vec<&str> = at_work(digest).map(|node| node.name.as_str()).collect();
    match names.as_slice() {
        [] if offered(digest).is_some() => waiting_for_claim(digest),
        [] => nothing("run", "The next node is about to start."),
        [one] => nothing("run", format!("{one} is at work.")),
        several => nothing("run", format!("{} are at work.", several.join(" and "))),
    }
}

fn held(ticket: &Ticket) -> NextStep {
    let times = humane::counted(ticket.credit_block_count, "hold", "holds");
    NextStep {
        tone: "hold",
        title: "The project has used its month up".to_owned(),
        text: format!(
            "It starts once the month turns or an administrator raises limits.projectMonth \
             ({times} so far)."
        ),
        link: None,
    }
}

/// The node that waits for an agent in somebody's editor.
fn offered(digest: &Digest) -> Option<&Node> {
    let waits = |node: &&Node| node.status == NodeStatus::Queued && node.offered_at.is_some();
    digest.nodes.iter().find(waits)
}

fn waiting_for_claim(digest: &Digest) -> NextStep {
    let name = offered(digest).map_or("The next node", |node| node.name.as_str());
    NextStep {
        tone: "wait",
        title: format!("{name} waits to be claimed"),
        text: "An agent in somebody's editor takes it with claim_ticket_node.".to_owned(),
        link: Some(Link::new("How", "/docs/tools#claim_ticket_node")),
    }
}

fn at_work(digest: &Digest) -> impl Iterator<Item = &Node> {
    digest.nodes.iter().filter(|node| node.status == NodeStatus::Running)
}

fn blocked(digest: &Digest) -> NextStep {
    let open = digest.parents.iter().filter(|parent| parent.status != Status::Succeeded);
    let (dead, alive): (Vec<&Ticket>, Vec<&Ticket>) = open.partition(|p| p.status.is_terminal());
    if let Some(parent) = dead.first() {
        return NextStep {
            tone: "hold",
            title: format!("{} did not land", parent.reference()),
            text: "This ticket waits for it: retry that one, or cancel this one.".to_owned(),
            link: Some(Link::new(
                format!("Go to {}", parent.reference()),
                super::super::parts::ticket_href(parent),
            )),
        };
    }
    let names: Vec<String> = alive.iter().map(|parent| parent.reference()).collect();
    nothing("hold", format!("It starts by itself once {} landed.", have(&names)))
}

/// `ACME-1 has`, `ACME-1 and ACME-2 have`.
fn have(names: &[String]) -> String {
    match names {
        [] => "what it waits for has".to_owned(),
        [one] => format!("{one} has"),
        [start @ .., last] => format!("{} and {last} have", start.join(", ")),
    }
}

fn landed(digest: &Digest) -> NextStep {
    let ticket = &digest.ticket;
    let commit = ticket.commit_sha.as_deref().map(short);
    let base = ticket.base_branch.as_deref().unwrap_or("the base branch");
    let title = match commit {
        Some(commit) => format!("Landed on {base} as {commit}"),
        None => "Done".to_owned(),
    };
    let people = digest.items_of(ItemKind::HumanAction).count() as u64;
    if people > 0 {
        let left = humane::counted(people, "thing is", "things are");
        let link = Some(Link::new("See what", "#remarks"));
        return NextStep { tone: "wait", title, text: format!("{left} left for a person."), link };
    }
    let tone = if digest.outcome == Outcome::PartiallyVerified { "wait" } else { "ok" };
    NextStep { tone, title, text: verified(digest), link: None }
}

/// How much of it was proved, in a sentence.
pub(super) fn verified(digest: &Digest) -> String {
    let all = digest.assertions.len();
    let held = digest.assertions.iter().filter(|a| a.state == AssertionState::Confirmed).count();
    match digest.outcome {
        Outcome::FullyVerified if all == 0 => "Every verify command passed.".to_owned(),
        Outcome::FullyVerified => format!("Fully verified: {held} of {all} assertions hold."),
        Outcome::PartiallyVerified => format!("{held} of {all} assertions were confirmed."),
        Outcome::ImplementationSucceeded => "There was nothing to check it by.".to_owned(),
        Outcome::Failed | Outcome::Timeout | Outcome::InProgress => String::new(),
    }
}

fn failed(digest: &Digest) -> NextStep {
    let ticket = &digest.ticket;
    let culprit = digest.nodes.iter().rev().find(|node| node.status == NodeStatus::Failed);
    let title = match (ticket.status, culprit) {
        (Status::Timeout, _) => "Its time was up".to_owned(),
        (_, Some(node)) => format!("{} failed", node.name),
        (_, None) => "It failed".to_owned(),
    };
    let reason = ticket.failure_reason.as_deref().unwrap_or("No reason was given.");
    let text = format!("{}\n{}", sentence(reason), kept(ticket));
    let link = culprit.map(|node| Link::new("See why", format!("#node-{}", node.name)));
    NextStep { tone: "bad", title, text: text.trim().to_owned(), link }
}

/// A reason with a mark at its end, so that another sentence can follow.
fn sentence(reason: &str) -> String {
    let reason = reason.trim_end();
    let is_ended = reason.ends_with(['.', '!', '?', ':', '…']);
    if is_ended { reason.to_owned() } else { format!("{reason}.") }
}

/// What a retry goes on from.
fn kept(ticket: &Ticket) -> String {
    match ticket.checkpoint_commits {
        0 => String::new(),
        n => {
            let commits = humane::counted(n, "commit", "commits");
            format!("Its branch keeps {commits}; a retry goes on from there.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_ends_as_a_sentence_does() {
        assert_eq!(sentence("sh check.sh: exit code 1\n"), "sh check.sh: exit code 1.");
        assert_eq!(sentence("Its time was up."), "Its time was up.");
    }

    #[test]
    fn what_is_waited_for_reads_as_a_sentence() {
        let named =
            |names: &[&str]| have(&names.iter().map(ToString::to_string).collect::<Vec<_>>());

        assert_eq!(named(&["ACME-1"]), "ACME-1 has");
        assert_eq!(named(&["ACME-1", "ACME-2", "ACME-3"]), "ACME-1, ACME-2 and ACME-3 have");
    }
}
