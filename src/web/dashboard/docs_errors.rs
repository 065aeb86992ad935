//! `/docs/errors`: every failure, as each door says it, with an anchor a code.

use askama::Template;
use axum::extract::State;

use super::parts::Fact;
use super::shell::Shell;
use crate::contract::reference::{self, Entry};
use crate::web::auth::Anyone;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The error reference.
#[derive(Template)]
#[template(path = "docs_errors.html")]
pub(super) struct ErrorsPage {
    shell: Shell,
    entries: Vec<ErrorEntry>,
}

/// One code.
pub(super) struct ErrorEntry {
    anchor: &'static str,
    title: &'static str,
    meaning: &'static str,
    hint: &'static str,
    facts: Vec<Fact>,
}

/// `GET /docs/errors`. Everybody may read it: error answers lead here.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
) -> Result<Page<ErrorsPage>, Trouble> {
    let shell = Shell::of_anyone(&site, visitor, "/docs/errors").await?;
    Ok(Page(ErrorsPage::new(shell)))
}

impl ErrorsPage {
    fn new(shell: Shell) -> Self {
        Self { shell, entries: reference::entries().map(ErrorEntry::of).collect() }
    }
}

impl ErrorEntry {
    fn of(entry: Entry) -> Self {
        let wire = entry.wire;
        let status = if wire.http == wire.status {
            wire.http.to_string()
        } else {
            format!("{} (JSON-RPC {})", wire.http, wire.status)
        };
        Self {
            anchor: entry.anchor,
            title: wire.title,
            meaning: wire.meaning,
            hint: wire.hint,
            facts: vec![
                Fact::plain("HTTP status", status),
                Fact::plain(
                    "The same call may succeed",
                    if wire.recoverable { "yes" } else { "no" },
                ),
                Fact::code("Envelope", wire.envelope),
                Fact::code("JSON-RPC", wire.rpc),
                Fact::code("Error object", wire.object),
            ],
        }
    }
}

#[cfg(test)]
impl ErrorsPage {
    pub(super) fn sample() -> Self {
        Self::new(Shell::sample("/docs/errors").still())
    }
}
