//! Opening connections: the pragmas, and what each way of failing means to a person.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use crate::base::{Code, Fault};

/// How long a connection waits for another process that writes, such as a command beside a server.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Prepared statements kept by each connection: more than there are in `sql/`.
const STATEMENTS_KEPT: usize = 256;

/// A database file as it was opened: the writer keeps it open wherever it is moved to, and what is
/// written there then is lost to whoever looks at the old place.
pub(super) struct Home {
    path: PathBuf,
    /// Its device and number.
    was: Option<(u64, u64)>,
}

impl Home {
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), was: whereabouts(path) }
    }

    /// Nothing may be written once the file is no longer where it was.
    pub(super) fn check(&self) -> rusqlite::Result<()> {
        if whereabouts(&self.path) == self.was {
            return Ok(());
        }
        let moved = ffi::Error::new(ffi::SQLITE_READONLY_DBMOVED);
        Err(rusqlite::Error::SqliteFailure(moved, None))
    }
}

fn whereabouts(path: &Path) -> Option<(u64, u64)> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.dev(), about.ino()))
}

/// The one connection that writes.
pub(super) fn writer(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = connect(path, flags)?;
    // SQLite opens what it may not write for reading alone, and says nothing.
    if conn.is_readonly("main").map_err(|e| open_fault(path, e))? {
        let refused = ffi::Error::new(ffi::SQLITE_READONLY);
        return Err(open_fault(path, rusqlite::Error::SqliteFailure(refused, None)));
    }
    let mode: String = conn
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(|e| open_fault(path, e))?;
    if mode != "wal" {
        return Err(no_wal(path, &mode));
    }
    settle(path, &conn, WRITER_SETTINGS)?;
    Ok(conn)
}

/// What is on disk is flushed at every commit. The log is folded into the database every 16 MiB and
/// not every 4, as `SQLite` would: pages that many tickets change are then copied once for all.
const WRITER_SETTINGS: &str = "PRAGMA synchronous = FULL; PRAGMA cache_size = -16000;
     PRAGMA wal_autocheckpoint = 4000;";

/// One more connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = connect(path, flags)?;
    settle(path, &conn, "PRAGMA query_only = ON; PRAGMA cache_size = -8000;")?;
    Ok(conn)
}

/// A database that a copy is written into. Its file must not be there yet.
pub(super) fn copy(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    connect(path, flags)
}

#[expect(clippy::disallowed_methods, reason = "the one place that opens the database")]
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Fault> {
    let conn = Connection::open_with_flags(path, flags).map_err(|e| open_fault(path, e))?;
    conn.busy_timeout(BUSY_WAIT).map_err(|e| open_fault(path, e))?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // The plan of a statement never depends on what is bound to it, so that it is made once:
    // otherwise a statement on a table with a partial index is compiled anew for each run.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|e| open_fault(path, e))?;
    settle(path, &conn, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
    settle(path, &conn, "PRAGMA temp_store = MEMORY;")?;
    Ok(conn)
}

/// Refuses a database that is not sound, after a look at all of it.
pub(super) fn sound(path: &Path) -> Result<(), Fault> {
    let conn = reader(path)?;
    check(path, &conn)
}

/// The whole file read through and checked.
pub(super) fn check(path: &Path, conn: &Connection) -> Result<(), Fault> {
    let found: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|e| open_fault(path, e))?;
    if found == "ok" {
        return Ok(());
    }
    let message = format!(
        "The database {} is damaged and was not opened: {found}. Nothing was changed. Move it \
         aside and restore a backup, or keep it for repair with the sqlite3 program's .recover.",
        path.display()
    );
    Err(Fault::new(Code::Unavailable, message))
}

fn settle(path: &Path, conn: &Connection, pragmas: &str) -> Result<(), Fault> {
    conn.execute_batch(pragmas).map_err(|e| open_fault(path, e))
}

fn no_wal(path: &Path, mode: &str) -> Fault {
    let message = format!(
        "The database {} cannot use write-ahead logging (its journal mode stays {mode:?}). \
         This happens on network file systems. Put the data directory on a local disk.",
        path.display()
    );
    Fault::new(Code::Unavailable, message)
}

/// What failing to open says to the person at the terminal.
pub(super) fn open_fault(path: &Path, error: rusqlite::Error) -> Fault {
    let shown = path.display();
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => format!(
            "The database {shown} is damaged and was not opened. Nothing was changed. Move it \
             aside and restore a backup, or keep it for repair with the sqlite3 program's .recover."
        ),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            format!(
                "The database {shown} cannot be opened for writing. Check that the directory \
                 exists and that this user may write to it."
            )
        }
        Some(ErrorCode::FileLockingProtocolFailed) => return no_wal(path, "locked"),
        _ => match storage_fault(error) {
            Ok(fault) => return fault,
            Err(error) => {
                return Fault::new(Code::Unavailable, format!("{shown} cannot be opened."))
                    .because(error);
            }
        },
    };
    Fault::new(Code::Unavailable, message).because(error)
}

/// The fault of a failure that lies in the disk or the database file; the error back otherwise.
pub(super) fn storage_fault(error: rusqlite::Error) -> Result<Fault, rusqlite::Error> {
    let moved = |e: &ffi::Error| e.extended_code == ffi::SQLITE_READONLY_DBMOVED;
    if error.sqlite_error().is_some_and(moved) {
        let message = "The data directory was moved or removed while the server runs. Nothing of \
                       this call was kept. Move it back, or stop the server and start it with \
                       --data at the new place.";
        return Ok(Fault::new(Code::Unavailable, message).because(error));
    }
    let (code, message) = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => (
            Code::StorageFull,
            "The disk that holds the data directory is full. Nothing of this call was kept. \
             Free some space and call again.",
        ),
        Some(ErrorCode::SystemIoFailure | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => (
            Code::Unavailable,
            "The data directory cannot be written to at the moment. Nothing of this call was kept.",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Code::Unavailable,
            "Another program holds the database. Nothing of this call was kept; call again.",
        ),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            (Code::Unavailable, "The database is damaged. Stop the server and restore a backup.")
        }
        _ => return Err(error),
    };
    Ok(Fault::new(code, message).because(error))
}
