//! Several tickets at once: what was ticked in the list is shown again before it is done, then
//! each is a call of its own through the gate, and each answer is told.

use askama::Template;
use axum::extract::{Form, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use super::PAGE_SIZE;
use crate::base::{Code, Fault};
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::states::Status;
use crate::tools::tickets as found;
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::ticket_href;
use crate::web::dashboard::shell::Shell;
use crate::web::humane;
use crate::web::page::{Page, PageWith};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// What is done to several tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Cancel,
    Retry,
}

impl Act {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "cancel" => Some(Self::Cancel),
            "retry" => Some(Self::Retry),
            _ => None,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Retry => "retry",
        }
    }

    const fn tool(self) -> &'static str {
        match self {
            Self::Cancel => "cancel_ticket",
            Self::Retry => "retry_ticket",
        }
    }

    fn can(self, status: Status) -> bool {
        match self {
            Self::Cancel => !status.is_terminal(),
            Self::Retry => {
                matches!(status, Status::Failed | Status::Timeout | Status::Cancelled)
            }
        }
    }
}

/// The tickets that were ticked, before or after something was done to them.
#[derive(Template)]
#[template(path = "tickets_bulk.html")]
pub(in crate::web::dashboard) struct BulkPage {
    shell: Shell,
    title: String,
    lead: &'static str,
    lines: Vec<Line>,
    /// What is left to confirm.
    confirm: Option<Confirm>,
}

/// The button that does it.
struct Confirm {
    act: &'static str,
    button: String,
    tone: &'static str,
    refs: Vec<String>,
}

/// A ticket with what became of it, or will.
struct Line {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    said: String,
}

/// `POST /tickets/bulk`.
pub(in crate::web::dashboard) async fn submit(
    State(site): State<Site>,
    visitor: Visitor,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Result<Response, Trouble> {
    let value = |name: &str| {
        let found = pairs.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    };
    visitor.check(value("csrf"))?;
    let Some(act) = Act::parse(value("act")) else {
        return Err(Trouble(Fault::argument("act", "is cancel or retry")));
    };
    let mut refs: Vec<String> = Vec::new();
    for (_, named) in pairs.iter().filter(|(name, _)| name == "ticket") {
        // A tick holds the address of its ticket, by which it is found whatever its project.
        let named = named.strip_prefix("/tickets/").unwrap_or(named);
        if !refs.iter().any(|known| known == named) {
            refs.push(named.to_owned());
        }
    }
    if refs.len() > PAGE_SIZE {
        let said = format!("At most {PAGE_SIZE} tickets are taken at once.");
        return Err(Trouble(Fault::argument("ticket", said)));
    }
    if refs.is_empty() {
        let shell = visitor.read(&site, |read, visitor| Shell::load(read, visitor, "/tickets"));
        let page = BulkPage::of_nothing(shell.await?.still());
        return Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    let is_sure = value("sure") == "yes";
    let mut done = Vec::new();
    if is_sure {
        for named in &refs {
            done.push(call(&site, &visitor, act, named).await?);
        }
    }
    let page = visitor.read(&site, move |read, visitor| {
        let shell = Shell::load(read, visitor, "/tickets")?.still();
        if is_sure {
            return BulkPage::after(read, visitor, shell, act, &refs, done);
        }
        BulkPage::before(read, visitor, shell, act, refs)
    });
    Ok(Page(page.await?).into_response())
}

/// Does it to one ticket: `None` where it was done, and else why not.
async fn call(
    site: &Site,
    visitor: &Visitor,
    act: Act,
    named: &str,
) -> Result<Option<String>, Fault> {
    let asked = json!({ "ticket": named });
    match visitor.call(site, act.tool(), asked).await {
        Ok(_) => Ok(None),
        // Trouble of the server ends it all; what concerns one ticket is told beside it.
        Err(fault) if matches!(fault.code, Code::Internal | Code::StorageFull) => Err(fault),
        Err(fault) => Ok(Some(fault.message)),
    }
}

/// The ticket that a tick names, where the person may see one.
fn ticket(read: &Read<'_>, visitor: &Visitor, named: &str) -> Result<Option<Ticket>, Fault> {
    match found::find(read, visitor.actor(), named) {
        Ok(ticket) => Ok(Some(ticket)),
        Err(fault) if fault.code == Code::Internal => Err(fault),
        Err(_) => Ok(None),
    }
}

impl Line {
    fn of(ticket: Option<&Ticket>, named: &str, said: String) -> Self {
        match ticket {
            Some(ticket) => Self {
                mark: Mark::status(ticket.status.word()),
                reference: ticket.reference(),
                href: ticket_href(ticket),
                title: ticket.title.clone(),
                said,
            },
            None => Self {
                mark: Mark::health("warning"),
                reference: crate::base::text::cut(named, 40),
                href: "/tickets".to_owned(),
                title: "No such ticket".to_owned(),
                said,
            },
        }
    }
}

impl BulkPage {
    fn of_nothing(shell: Shell) -> Self {
        Self {
            shell,
            title: "No ticket is ticked".to_owned(),
            lead: "Tick the tickets in the list first, then choose what is done to them.",
            lines: Vec::new(),
            confirm: None,
        }
    }

    fn before(
        read: &Read<'_>,
        visitor: &Visitor,
        shell: Shell,
        act: Act,
        refs: Vec<String>,
    ) -> Result<Self, Fault> {
        let (mut lines, mut able) = (Vec::new(), Vec::new());
        for named in refs {
            let ticket = ticket(read, visitor, &named)?;
            let can = ticket.as_ref().is_some_and(|ticket| act.can(ticket.status));
            let said = match (can, act) {
                (true, Act::Cancel) => "Will be cancelled.",
                (true, Act::Retry) => "Will be tried again from where it stopped.",
                (false, Act::Cancel) => "Has ended already, and stays as it is.",
                (false, Act::Retry) => "Is not in a state to be tried again, and stays as it is.",
            };
            lines.push(Line::of(ticket.as_ref(), &named, said.to_owned()));
            if can {
                able.push(named);
            }
        }
        let count = humane::counted(able.len() as u64, "ticket", "tickets");
        let (title, lead, button, tone) = match act {
            Act::Cancel => (
                format!("Cancel {count}?"),
                "Their agents are stopped. Commits on their branches stay, and a later retry \
                 goes on from them.",
                format!("Cancel {count}"),
                "danger",
            ),
            Act::Retry => (
                format!("Retry {count}?"),
                "Each goes on from the step at which it stopped; what is done stays done.",
                format!("Retry {count}"),
                "main-act",
            ),
        };
        let confirm = Confirm { act: act.word(), button, tone, refs: able };
        let confirm = Some(confirm).filter(|confirm| !confirm.refs.is_empty());
        Ok(Self { shell, title, lead, lines, confirm })
    }

    fn after(
        read: &Read<'_>,
        visitor: &Visitor,
        shell: Shell,
        act: Act,
        refs: &[String],
        done: Vec<Option<String>>,
    ) -> Result<Self, Fault> {
        let fine = done.iter().filter(|wrong| wrong.is_none()).count() as u64;
        let verb = if act == Act::Cancel { "cancelled" } else { "retried" };
        let title = match done.len() as u64 - fine {
            0 => format!("{} {verb}", humane::counted(fine, "ticket", "tickets")),
            wrong => format!("{} {verb}, {wrong} not", humane::counted(fine, "ticket", "tickets")),
        };
        let mut lines = Vec::new();
        for (named, wrong) in refs.iter().zip(done) {
            let ticket = ticket(read, visitor, named)?;
            let said = match (wrong, act) {
                (Some(wrong), _) => format!("Not done: {wrong}"),
                (None, Act::Cancel) => "Cancelled.".to_owned(),
                (None, Act::Retry) => "Goes on from where it stopped.".to_owned(),
            };
            lines.push(Line::of(ticket.as_ref(), named, said));
        }
        let lead = "What became of each. The audit log has the same.";
        Ok(Self { shell, title, lead, lines, confirm: None })
    }
}

#[cfg(test)]
impl BulkPage {
    pub(in crate::web::dashboard) fn sample() -> Self {
        Self {
            shell: Shell::sample("/tickets").still(),
            title: "Cancel 1 ticket?".to_owned(),
            lead: "Their agents are stopped.",
            lines: vec![Line {
                mark: Mark::status("running"),
                reference: "ACME-42".to_owned(),
                href: "/tickets/ACME-42".to_owned(),
                title: "Add dark-mode toggle to the dashboard header".to_owned(),
                said: "Will be cancelled.".to_owned(),
            }],
            confirm: Some(Confirm {
                act: "cancel",
                button: "Cancel 1 ticket".to_owned(),
                tone: "danger",
                refs: vec!["ACME-42".to_owned()],
            }),
        }
    }
}
