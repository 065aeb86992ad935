//! What a mail says to whoever asked for a ticket: a few plain lines and the way to its page. It
//! never holds a secret, nor a link that gives one.

use super::smtp::Outgoing;
use crate::notices::mails::{Mail, Reason};

/// The mail as it is sent. `origin` is the address at which people reach the server.
pub(super) fn write(mail: &Mail, origin: &str) -> Outgoing {
    Outgoing {
        id: mail.id,
        to: mail.address.clone(),
        subject: subject(mail),
        text: text(mail, origin),
        thread: Some(mail.ticket.to_string()),
        at: mail.created_at,
    }
}

fn subject(mail: &Mail) -> String {
    let ticket = &mail.letter.ticket;
    format!("{} {}: {}", ticket.reference, what(mail.reason), ticket.title)
}

/// What became of a ticket, after its name.
const fn what(reason: Reason) -> &'static str {
    match reason {
        Reason::Question => "has a question",
        Reason::Secret => "needs a secret",
        Reason::Plan => "has a plan to approve",
        Reason::Land => "has work to approve",
        Reason::Apply => "has a script to approve",
        Reason::Hold | Reason::Unclear => "waits for a person",
        Reason::Succeeded => "is done",
        Reason::Failed => "failed",
        Reason::Timeout => "was stopped at a limit",
        Reason::Cancelled => "was cancelled",
    }
}

fn text(mail: &Mail, origin: &str) -> String {
    let letter = &mail.letter;
    let ticket = &letter.ticket;
    let mut parts = vec![subject(mail)];
    parts.extend(Some(letter.text.trim().to_owned()).filter(|text| !text.is_empty()));
    if !letter.choices.is_empty() {
        let choices: Vec<String> = letter.choices.iter().map(|one| format!("- {one}")).collect();
        parts.push(choices.join("\n"));
    }
    if mail.reason == Reason::Secret {
        parts.push(
            "Its value belongs neither in a mail nor in an answer: the ticket's page makes a link \
             through which it is given."
                .to_owned(),
        );
    }
    if let (Reason::Succeeded, Some(commit)) = (mail.reason, &ticket.commit) {
        let branch = ticket.base_branch.as_deref().unwrap_or("its base branch");
        parts.push(format!("Its work is on {branch} as {commit}."));
    }
    parts.push(format!("{origin}{}", ticket.path()));
    parts.push(format!(
        "You are told because the ticket names you as the one who asked for it, in the project {}.",
        letter.project
    ));
    parts.join("\n\n") + "\n"
}
