//! `/audit`: who did what, through which door, and how it went. For those who manage the team.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::address;
use crate::accounts::audit::{self, Record, Wanted};
use crate::base::{Fault, Millis};
use crate::store::Read;
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::Moment;
use crate::web::dashboard::shell::Shell;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Rows on one page.
const PAGE_SIZE: usize = 100;
/// A day: the last one that is named belongs to what is wanted.
const DAY: std::time::Duration = std::time::Duration::from_hours(24);

/// The log, filtered by what stands in the address.
#[derive(Template)]
#[template(path = "audit.html")]
pub(super) struct AuditPage {
    shell: Shell,
    asked: Asked,
    /// Why a date could not be taken; empty where both could.
    wrong: &'static str,
    is_set: bool,
    rows: Vec<Row>,
    older: Option<String>,
}

/// Something that was done.
struct Row {
    at: Moment,
    actor: String,
    via: &'static str,
    action: String,
    subject: String,
    mark: Mark,
    /// The code of a refusal.
    code: String,
}

/// What stands in the address.
#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    who: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    before: Option<i64>,
}

/// `GET /audit`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Page<AuditPage>, Trouble> {
    visitor.demand_admin()?;
    let now = site.now();
    let page = visitor.read(&site, move |read, visitor| AuditPage::load(read, visitor, asked, now));
    Ok(Page(page.await?))
}

/// A day of the address: none where it is empty, and `Err` where it is no day.
fn day(text: &str) -> Result<Option<Millis>, ()> {
    match text.trim() {
        "" => Ok(None),
        text => Millis::parse(text).map(Some).ok_or(()),
    }
}

impl AuditPage {
    fn load(read: &Read<'_>, visitor: &Visitor, asked: Asked, now: Millis) -> Result<Self, Fault> {
        let (from, to) = (day(&asked.from), day(&asked.to));
        let wrong = if from.is_err() || to.is_err() {
            "A day is written as 2026-07-29. What cannot be read is left out."
        } else {
            ""
        };
        let wanted = Wanted {
            who: asked.who.clone(),
            action: asked.action.clone(),
            from: from.unwrap_or(None),
            until: to.unwrap_or(None).map(|last| last.plus(DAY)),
        };
        let found = audit::page(read, visitor.actor(), &wanted, asked.before, PAGE_SIZE)?;
        let older = found.next.map(|before| {
            let before = before.to_string();
            let query = [
                ("who", asked.who.trim()),
                ("action", asked.action.trim()),
                ("from", asked.from.trim()),
                ("to", asked.to.trim()),
                ("before", &*before),
            ];
            address("/audit", &query)
        });
        let given = [&asked.who, &asked.action, &asked.from, &asked.to];
        Ok(Self {
            shell: Shell::load(read, visitor, "/audit")?.still(),
            is_set: given.iter().any(|text| !text.trim().is_empty()),
            rows: found.records.into_iter().map(|record| Row::of(record, now)).collect(),
            asked,
            wrong,
            older,
        })
    }
}

impl Row {
    fn of(record: Record, now: Millis) -> Self {
        let via = match &*record.via {
            "browser" => "Browser",
            "mcp" => "MCP",
            "invoke" => "HTTP",
            "cli" => "Command line",
            _ => "Server",
        };
        let is_ok = record.outcome == "ok";
        Self {
            at: Moment::at(record.at, now),
            actor: record.actor,
            via,
            action: record.action,
            subject: record.subject,
            mark: Mark::outcome(is_ok),
            code: if is_ok { String::new() } else { record.outcome },
        }
    }
}

#[cfg(test)]
impl AuditPage {
    pub(super) fn sample() -> Self {
        use crate::web::dashboard::parts::samples::minutes_ago;
        let row = |actor: &str, action: &str, is_ok, code: &str| Row {
            at: minutes_ago(3),
            actor: actor.to_owned(),
            via: "MCP",
            action: action.to_owned(),
            subject: "ACME-42".to_owned(),
            mark: Mark::outcome(is_ok),
            code: code.to_owned(),
        };
        Self {
            shell: Shell::sample("/audit"),
            asked: Asked { who: "ada".to_owned(), from: "x".to_owned(), ..Asked::default() },
            wrong: "A day is written as 2026-07-29.",
            is_set: true,
            rows: vec![
                row("user ada@example.com", "cancel_ticket", true, ""),
                row("key ci", "dispatch_ticket", false, "InvalidArgument"),
            ],
            older: Some("/audit?before=7".to_owned()),
        }
    }
}
