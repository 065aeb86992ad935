//! How a ticket is named by callers: a UUID, `KEY-N`, `#N` or `N`.

use super::ticket::{Ticket, find, not_found};
use crate::base::{Code, Fault, ProjectId, TenantId, TicketId};
use crate::store::Read;
use crate::{params, sql};

/// Candidates named in the answer to a number that several projects have.
const CANDIDATES_MAX: u32 = 6;

/// A ticket's name, read but not yet looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// The id itself.
    Id(TicketId),
    /// The project's key and the number.
    Keyed(String, u64),
    /// A number alone.
    Number(u64),
}

impl Reference {
    /// Reads `ACME-42`, a UUID, `#42` or `42`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(id) = TicketId::parse(text) {
            return Some(Self::Id(id));
        }
        if let Some(seq) = number(text.strip_prefix('#').unwrap_or(text)) {
            return Some(Self::Number(seq));
        }
        let (key, seq) = text.rsplit_once('-')?;
        let is_key = key.len() <= 12
            && key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric());
        is_key.then(|| number(seq)).flatten().map(|seq| Self::Keyed(key.to_ascii_uppercase(), seq))
    }
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= 15 && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|seq| *seq > 0)
}

/// The ticket that `text` names. A bare number means `project`'s where one is known, else the only
/// ticket of the tenant with that number.
pub fn resolve(
    read: &Read<'_>,
    tenant: TenantId,
    project: Option<ProjectId>,
    text: &str,
) -> Result<Ticket, Fault> {
    match Reference::parse(text) {
        Some(Reference::Id(id)) => find(read, tenant, id)?.ok_or_else(not_found),
        Some(Reference::Keyed(key, seq)) => read
            .find(
                sql!("tickets.sql", "find_by_key"),
                params! { ":tenant": tenant, ":key": key, ":seq": seq_column(seq) },
                Ticket::from_row,
            )?
            .ok_or_else(not_found),
        Some(Reference::Number(seq)) => by_number(read, tenant, project, seq),
        None => Err(Fault::argument("ticket", "expected a ref such as ACME-42, a UUID, #42 or 42")),
    }
}

fn by_number(
    read: &Read<'_>,
    tenant: TenantId,
    project: Option<ProjectId>,
    seq: u64,
) -> Result<Ticket, Fault> {
    let seq = seq_column(seq);
    if let Some(project) = project {
        let in_project = sql!("tickets.sql", "find_by_number");
        let own = params! { ":tenant": tenant, ":project": project, ":seq": seq };
        return read.find(in_project, own, Ticket::from_row)?.ok_or_else(not_found);
    }
    let mut found = read.list(
        sql!("tickets.sql", "list_by_number"),
        params! { ":tenant": tenant, ":seq": seq, ":limit": CANDIDATES_MAX },
        Ticket::from_row,
    )?;
    match found.len() {
        0 => Err(not_found()),
        1 => Ok(found.remove(0)),
        _ => Err(ambiguous(seq, &found)),
    }
}

fn ambiguous(seq: i64, found: &[Ticket]) -> Fault {
    let named: Vec<String> =
        found.iter().map(|t| format!("{} ({}, {:?})", t.id, t.reference(), t.title)).collect();
    let message = format!(
        "Several projects have a ticket {seq}: {}. Name one by its ref or UUID.",
        named.join("; ")
    );
    Fault::new(Code::AmbiguousTicketRef, message)
}

fn seq_column(seq: u64) -> i64 {
    crate::store::to_int(seq)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_spelling_of_a_ticket_is_read() {
        let id = "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b";

        assert_eq!(Reference::parse(id), TicketId::parse(id).map(Reference::Id));
        assert_eq!(Reference::parse("acme-42"), Some(Reference::Keyed("ACME".to_owned(), 42)));
        assert_eq!(Reference::parse("ALCHEM2-2"), Some(Reference::Keyed("ALCHEM2".to_owned(), 2)));
        assert_eq!(Reference::parse(" #42 "), Some(Reference::Number(42)));
        assert_eq!(Reference::parse("42"), Some(Reference::Number(42)));
    }

    #[test]
    fn what_is_no_spelling_is_refused() {
        for text in [
            "",
            "#",
            "0",
            "#0",
            "ACME-",
            "ACME-0",
            "-42",
            "4-2-x",
            "ACME-9999999999999999",
            "../42",
            "ACME 42",
            "A'--1",
        ] {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,60}") {
            let read = Reference::parse(&text);
            if let Some(Reference::Number(seq)) = read {
                prop_assert!(seq > 0);
            }
        }
    }
}
