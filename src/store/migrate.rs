//! The schema and its history. A migration that has been released never changes: its text is hashed
//! into every database that ran it, and a database that ran another text is not touched.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, params};

use super::open::open_fault;
use crate::base::stops::{self, Stop};
use crate::base::{Code, Fault, Millis};

/// One step of the schema.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// What it brings, as in its file's name.
    pub name: &'static str,
    /// The statements.
    pub sql: &'static str,
}

/// Every step, oldest first. A database's `user_version` says how many it has run.
pub const MIGRATIONS: &[Migration] = &[Migration {
    name: "0001_foundation",
    sql: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/schema/0001_foundation.sql")),
}];

/// Where the steps are noted. Written here and not in `sql/schema`, since it comes before them.
const NOTES: &str = "CREATE TABLE IF NOT EXISTS migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT";

/// Brings the database to the last of the steps, a transaction a step. The program gives
/// [`MIGRATIONS`]; tests stop in the middle.
pub(super) fn migrate(
    path: &Path,
    conn: &mut Connection,
    now: Millis,
    steps: &[Migration],
) -> Result<(), Fault> {
    let done = version(conn).map_err(|e| open_fault(path, e))?;
    if done > MIGRATIONS.len() {
        return Err(too_new(path, done));
    }
    if done == 0 && !is_empty(conn).map_err(|e| open_fault(path, e))? {
        return Err(Fault::new(
            Code::Unavailable,
            format!("{} is a database of another program. Choose another --data.", path.display()),
        ));
    }
    check_history(path, conn, &steps[..done.min(steps.len())])?;
    for (index, step) in steps.iter().enumerate().skip(done) {
        tracing::info!(version = index + 1, name = step.name, "Migrating the database");
        apply(conn, index + 1, step, now).map_err(|e| open_fault(path, e))?;
    }
    Ok(())
}

fn version(conn: &Connection) -> rusqlite::Result<usize> {
    let version: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

fn is_empty(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

fn too_new(path: &Path, done: usize) -> Fault {
    Fault::new(
        Code::Unavailable,
        format!(
            "The database {} was written by a newer Assay (schema {done}; this one knows {}). \
             Start the newer program, or restore a backup from before the upgrade.",
            path.display(),
            MIGRATIONS.len()
        ),
    )
}

fn check_history(path: &Path, conn: &Connection, done: &[Migration]) -> Result<(), Fault> {
    for (index, step) in done.iter().enumerate() {
        let hash: String = conn
            .query_row(
                "SELECT hash FROM migrations WHERE version = ?1",
                [number(index + 1)],
                |row| row.get(0),
            )
            .map_err(|e| open_fault(path, e))?;
        if hash != hash_of(step) {
            return Err(Fault::new(
                Code::Unavailable,
                format!(
                    "The database {} ran another text of migration {}. It was left as it is.",
                    path.display(),
                    step.name
                ),
            ));
        }
    }
    Ok(())
}

fn apply(
    conn: &mut Connection,
    version: usize,
    step: &Migration,
    now: Millis,
) -> rusqlite::Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute_batch(NOTES)?;
    tx.execute_batch(step.sql)?;
    tx.execute(
        "INSERT INTO migrations (version, name, hash, applied_at) VALUES (?1, ?2, ?3, ?4)",
        params![number(version), step.name, hash_of(step), now],
    )?;
    tx.pragma_update(None, "user_version", number(version))?;
    stops::reach(Stop::MigrationOpen);
    tx.commit()?;
    stops::reach(Stop::MigrationDone);
    Ok(())
}

/// A version as a column holds it.
fn number(version: usize) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// The hash under which a step is noted.
#[must_use]
pub fn hash_of(step: &Migration) -> String {
    blake3::hash(step.sql.as_bytes()).to_hex().to_string()
}
