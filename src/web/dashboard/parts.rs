//! Small parts that several pages are made of.

use askama::Template;
use askama::filters::HtmlSafe;

use super::marks::{Mark, Pips};
use crate::base::{Fault, Millis, text};
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::node;
use crate::web::humane;

/// Characters of a reason that a list shows.
const NOTE_CHARS: usize = 120;

/// A word of a contract as people read it: `data_operation` gives `Data operation`.
pub(super) fn plain_word(word: &str) -> String {
    let spaced = word.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A moment: `4 min ago`, with the exact UTC beside it.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/moment.html")]
pub(super) struct Moment {
    iso: String,
    said: String,
}

impl HtmlSafe for Moment {}

impl Moment {
    pub(super) fn at(at: Millis, now: Millis) -> Self {
        Self { iso: at.iso(), said: humane::ago(at, now) }
    }
}

/// A link with its words.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) label: String,
    pub(super) href: String,
}

impl Link {
    pub(super) fn new(label: impl Into<String>, href: impl Into<String>) -> Self {
        Self { label: label.into(), href: href.into() }
    }
}

/// A name and its value in a list of facts.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) href: Option<String>,
    /// Whether it is for machines, and so set in the type of code.
    pub(super) is_code: bool,
}

impl Fact {
    pub(super) fn plain(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: value.into(), href: None, is_code: false }
    }

    pub(super) fn code(name: &'static str, value: impl Into<String>) -> Self {
        Self { is_code: true, ..Self::plain(name, value) }
    }

    pub(super) fn link(name: &'static str, link: Link) -> Self {
        Self { href: Some(link.href), ..Self::plain(name, link.label) }
    }
}

/// A text to copy, with its button.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "parts/code.html")]
pub(super) struct Code {
    /// Unique on its page.
    pub(super) id: String,
    pub(super) text: String,
}

impl HtmlSafe for Code {}

impl Code {
    pub(super) fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into() }
    }
}

/// One option of a select or one of several radio buttons.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) label: String,
    pub(super) hint: &'static str,
    pub(super) is_chosen: bool,
}

impl Choice {
    pub(super) fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), hint: "", is_chosen: false }
    }

    /// The options with the one of this value chosen.
    pub(super) fn choose(mut options: Vec<Self>, value: &str) -> Vec<Self> {
        for option in &mut options {
            option.is_chosen = option.value == value;
        }
        options
    }
}

/// One ticket in a list.
#[derive(Debug, Clone)]
pub(super) struct TicketRow {
    pub(super) reference: String,
    pub(super) href: String,
    pub(super) title: String,
    pub(super) mark: Mark,
    pub(super) pips: Pips,
    pub(super) kind: String,
    pub(super) project: String,
    pub(super) category: Option<String>,
    /// What matters about it now, such as why it failed, in a few words.
    pub(super) note: Option<String>,
    pub(super) requester: String,
    pub(super) changed: Moment,
}

/// Characters of a title in a list.
const TITLE_CHARS: usize = 200;

impl TicketRow {
    /// A ticket of a project of this name.
    pub(super) fn load(
        read: &Read<'_>,
        ticket: &Ticket,
        project: &str,
        now: Millis,
    ) -> Result<Self, Fault> {
        let nodes = node::outline(read, ticket.tenant, ticket.id)?;
        let reason = ticket.failure_reason.as_deref().map(text::first_line);
        let changed = ticket.completed_at.or(ticket.started_at).unwrap_or(ticket.created_at);
        Ok(Self {
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: text::cut(&ticket.title, TITLE_CHARS),
            mark: Mark::status(ticket.status.word()),
            pips: Pips::of_nodes(&nodes),
            kind: plain_word(ticket.kind.word()),
            project: project.to_owned(),
            category: ticket.category.as_ref().map(category_label),
            note: reason.map(|reason| text::cut(reason, NOTE_CHARS)),
            requester: asked_by(ticket),
            changed: Moment::at(changed, now),
        })
    }
}

/// Who asked for a ticket; where nobody is named, who filed it.
pub(super) fn asked_by(ticket: &Ticket) -> String {
    let named = ticket.requester.name.as_ref().or(ticket.requester.email.as_ref());
    named.unwrap_or(&ticket.filed_by).clone()
}

/// The page of a ticket.
pub(super) fn ticket_href(ticket: &Ticket) -> String {
    ticket.page()
}

/// A category's name, which may have been deleted since.
pub(super) fn category_label(category: &crate::tickets::ticket::Category) -> String {
    if category.deleted { format!("{} (deleted)", category.name) } else { category.name.clone() }
}

/// A table of tickets.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/ticket_rows.html")]
pub(super) struct TicketRows {
    /// What the table holds, for those who do not see it.
    pub(super) caption: &'static str,
    pub(super) rows: Vec<TicketRow>,
}

impl HtmlSafe for TicketRows {}

#[cfg(test)]
pub(super) mod samples {
    use super::*;

    /// The moment that sample pages are made at.
    pub(in crate::web::dashboard) const NOW: Millis = Millis(1_785_333_600_000);

    pub(in crate::web::dashboard) fn minutes_ago(minutes: i64) -> Moment {
        Moment::at(Millis(NOW.0 - minutes * 60_000), NOW)
    }

    pub(in crate::web::dashboard) fn row(
        number: u32,
        title: &str,
        status: &str,
        nodes: &[&str],
    ) -> TicketRow {
        TicketRow {
            reference: format!("ACME-{number}"),
            href: format!("/tickets/ACME-{number}"),
            title: title.to_owned(),
            mark: Mark::status(status),
            pips: Pips::of(nodes),
            kind: "Feature".to_owned(),
            project: "Acme Widgets".to_owned(),
            category: Some("UI Enhancements".to_owned()),
            note: None,
            requester: "Ada Builder".to_owned(),
            changed: minutes_ago(i64::from(number)),
        }
    }
}
