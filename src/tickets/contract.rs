//! The assertions a ticket must meet, and what is left of it for people or for later.

use super::states::{AssertionState, CheckKind, ItemKind};
use crate::base::{AssertionId, Fault, ProofId, TenantId, TicketId};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// Assertions of a ticket at most.
pub const ASSERTIONS_MAX: u32 = 100;

/// Items of a ticket at most that are shown.
const ITEMS_MAX: u32 = 200;

/// How an assertion is to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// A shell line, run in the work tree, that must exit with 0.
    Command(String),
    /// A file of the repository that must be there.
    File {
        /// Its path from the root of the repository.
        path: String,
        /// A text that it must contain.
        contains: Option<String>,
    },
    /// A person has to look; the text says at what.
    Person(String),
    /// Nobody said how.
    None,
}

impl Check {
    const fn kind(&self) -> CheckKind {
        match self {
            Self::Command(_) => CheckKind::Command,
            Self::File { .. } => CheckKind::File,
            Self::Person(_) => CheckKind::Person,
            Self::None => CheckKind::None,
        }
    }

    /// As one text column: a file and its text are two lines.
    fn column(&self) -> String {
        match self {
            Self::Command(text) | Self::Person(text) => text.clone(),
            Self::File { path, contains: None } => path.clone(),
            Self::File { path, contains: Some(text) } => format!("{path}\n{text}"),
            Self::None => String::new(),
        }
    }

    fn from_columns(kind: CheckKind, text: String) -> Self {
        match kind {
            CheckKind::Command => Self::Command(text),
            CheckKind::Person => Self::Person(text),
            CheckKind::None => Self::None,
            CheckKind::File => match text.split_once('\n') {
                Some((path, wanted)) => {
                    Self::File { path: path.to_owned(), contains: Some(wanted.to_owned()) }
                }
                None => Self::File { path: text, contains: None },
            },
        }
    }
}

/// One assertion of a ticket's contract.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// The assertion.
    pub id: AssertionId,
    /// What must hold.
    pub text: String,
    /// How it is checked.
    pub check: Check,
    /// What verification found.
    pub state: AssertionState,
    /// What was looked at, and what was seen.
    pub evidence: Option<String>,
    /// The node that wrote it.
    pub source: String,
    /// The record of the check.
    pub proof: Option<ProofId>,
}

impl Assertion {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            text: row.get("text")?,
            check: Check::from_columns(
                row.word("check_kind", CheckKind::parse)?,
                row.get("check_text")?,
            ),
            state: row.word("state", AssertionState::parse)?,
            evidence: row.get("evidence")?,
            source: row.get("source")?,
            proof: row.get("proof_id")?,
        })
    }
}

/// A ticket's assertions, in the order they were written.
pub fn assertions(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Vec<Assertion>, Fault> {
    read.list(
        sql!("contract.sql", "assertions"),
        params! { ":tenant": tenant, ":ticket": ticket, ":limit": ASSERTIONS_MAX },
        Assertion::from_row,
    )
}

/// Writes a contract in place of the one before it.
pub fn write(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    source: &str,
    assertions: &[(String, Check)],
) -> Result<(), Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    tx.run(sql!("contract.sql", "clear"), of)?;
    for (position, (text, check)) in (0_i64..).zip(assertions.iter().take(ASSERTIONS_MAX as usize))
    {
        let id: AssertionId = tx.new_id();
        tx.run_one(
            sql!("contract.sql", "insert"),
            params! { ":id": id, ":tenant": tenant, ":ticket": ticket, ":position": position,
            ":text": text, ":check_kind": check.kind().word(), ":check_text": check.column(),
            ":source": source },
        )?;
    }
    Ok(())
}

/// Notes what verification found of an assertion.
pub fn settle(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: AssertionId,
    state: AssertionState,
    evidence: &str,
    proof: Option<ProofId>,
) -> Result<(), Fault> {
    tx.run_one(
        sql!("contract.sql", "settle"),
        params! { ":tenant": tenant, ":id": id, ":state": state.word(), ":evidence": evidence,
        ":proof": proof },
    )
}

/// Something left for people or for later.
#[derive(Debug, Clone)]
pub struct Item {
    /// What sort of thing.
    pub kind: ItemKind,
    /// In words.
    pub text: String,
    /// The node that said it.
    pub source: String,
    /// Whether a person still has to act.
    pub is_open: bool,
}

/// A ticket's items, in the order they came.
pub fn items(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Item>, Fault> {
    read.list(
        sql!("contract.sql", "items"),
        params! { ":tenant": tenant, ":ticket": ticket, ":limit": ITEMS_MAX },
        |row| {
            let resolved: Option<i64> = row.get("resolved_at")?;
            Ok(Item {
                kind: row.word("kind", ItemKind::parse)?,
                text: row.get("text")?,
                source: row.get("source")?,
                is_open: resolved.is_none(),
            })
        },
    )
}

/// Notes an item, once for each text.
pub fn add_item(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    kind: ItemKind,
    text: &str,
    source: &str,
) -> Result<(), Fault> {
    tx.run(
        sql!("contract.sql", "add_item"),
        params! { ":tenant": tenant, ":ticket": ticket, ":kind": kind.word(), ":text": text,
        ":source": source },
    )?;
    Ok(())
}

/// Marks what people had to do for a landing as done: the ticket was tried again, or has landed.
/// What other nodes asked of people stays: landing does not do it.
pub fn resolve_landing_actions(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<(), Fault> {
    let now = tx.now();
    tx.run(
        sql!("contract.sql", "resolve_landing_actions"),
        params! { ":tenant": tenant, ":ticket": ticket, ":now": now },
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_reads_back_from_its_columns() {
        for check in [
            Check::Command("grep -q x index.html".to_owned()),
            Check::File { path: "a.css".to_owned(), contains: None },
            Check::File { path: "a.css".to_owned(), contains: Some("two\nlines".to_owned()) },
            Check::Person("the colours".to_owned()),
            Check::None,
        ] {
            assert_eq!(Check::from_columns(check.kind(), check.column()), check);
        }
    }
}
