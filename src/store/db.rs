//! The database: one writer thread, a pool of readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::backup::Backup;
use tokio::sync::Semaphore;

use super::memory::Memory;
use super::migrate::{MIGRATIONS, Migration, migrate};
use super::open::{self, Home};
use super::row::Layouts;
use super::tx::{Read, Tx};
use super::vault::Vault;
use super::writer::{Writer, Written};
use crate::base::{Clock, Code, Entropy, Fault};
use crate::events::Bus;

/// The file in the data directory.
pub(super) const FILE: &str = "assay.db";

/// The file beside it with the key that secrets are sealed with.
pub(super) const KEY_FILE: &str = "secrets.key";

/// Databases up to this size are checked whole before they serve; larger ones while they do.
const CHECK_AT_START_BYTES_MAX: u64 = 32 << 20;

/// What is said where a copy of the database could not be written.
const COPY_FAILED: &str = "The database could not be copied; nothing of the copy is kept.";

/// Reads that run at once; more wait their turn.
const READERS_MAX: usize = 8;

/// The database. Cheap to clone; the writer stops when the last clone is gone.
#[derive(Clone)]
pub struct Db(Arc<Inner>);

struct Inner {
    path: PathBuf,
    home: Home,
    vault: Vault,
    clock: Clock,
    writer: Writer,
    idle: Mutex<Vec<Reader>>,
    turns: Semaphore,
}

/// A connection that is lent to one reading function at a time.
struct Reader {
    conn: Connection,
    layouts: Layouts,
    memory: Memory,
}

impl Reader {
    fn of(conn: Connection) -> Self {
        Self { conn, layouts: Layouts::default(), memory: Memory::default() }
    }
}

impl Db {
    /// Whether a folder holds a database.
    #[must_use]
    pub fn is_in(dir: &Path) -> bool {
        dir.join(FILE).exists()
    }

    /// Opens the database of a data directory, makes it where there is none, and migrates it.
    /// Every failure is a sentence for the person at the terminal.
    pub fn open(dir: &Path, clock: Clock, entropy: Entropy, bus: Bus) -> Result<Self, Fault> {
        Self::open_with(dir, clock, entropy, bus, MIGRATIONS)
    }

    /// As [`Db::open`], with the steps of the schema given. For tests that stop in the middle.
    #[doc(hidden)]
    pub fn open_with(
        dir: &Path,
        clock: Clock,
        entropy: Entropy,
        bus: Bus,
        steps: &[Migration],
    ) -> Result<Self, Fault> {
        let path = dir.join(FILE);
        let mut conn = open::writer(&path)?;
        if file_size(&path) <= CHECK_AT_START_BYTES_MAX {
            open::check(&path, &conn)?;
        }
        migrate(&path, &mut conn, clock.now(), steps)?;
        let vault = Vault::new(dir.join(KEY_FILE), entropy.clone());
        let (home, sealing) = (Home::of(&path), vault.clone());
        let writer = Writer::start(conn, home, sealing, clock.clone(), entropy, bus)?;
        let first = open::reader(&path)?;
        Ok(Self(Arc::new(Inner {
            home: Home::of(&path),
            path,
            vault,
            clock,
            writer,
            idle: Mutex::new(vec![Reader::of(first)]),
            turns: Semaphore::new(READERS_MAX),
        })))
    }

    /// Runs a change and answers once it is on disk. A fault undoes all of it.
    pub async fn write<T, F>(&self, change: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.0.writer.send(change)?.await.unwrap_or_else(|_| Err(stopping()))
    }

    /// As [`Db::write`], for a thread that may block: the command line.
    pub fn write_blocking<T, F>(&self, change: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.0.writer.send(change)?.blocking_recv().unwrap_or_else(|_| Err(stopping()))
    }

    /// Runs a reading function on one consistent view. Never waits for the writer.
    pub async fn read<T, F>(&self, view: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&Read<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let turn = self.0.turns.acquire().await.map_err(Fault::internal)?;
        let db = self.clone();
        let read = tokio::task::spawn_blocking(move || db.read_blocking(view)).await;
        drop(turn);
        read.unwrap_or_else(|e| Err(Fault::internal(e)))
    }

    /// As [`Db::read`], on the thread of the caller and at once: for the few rows, found by their
    /// keys, that every request begins with, where the way to another thread costs more than the
    /// reading.
    pub fn glance<T, F>(&self, view: F) -> Result<T, Fault>
    where
        F: FnOnce(&Read<'_>) -> Result<T, Fault>,
    {
        self.read_blocking(view)
    }

    /// As [`Db::read`], for a thread that may block.
    pub fn read_blocking<T, F>(&self, view: F) -> Result<T, Fault>
    where
        F: FnOnce(&Read<'_>) -> Result<T, Fault>,
    {
        let idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::of(open::reader(&self.0.path)?),
        };
        let run = |sql| reader.conn.prepare_cached(sql)?.execute([]);
        run("BEGIN DEFERRED").map_err(Fault::internal)?;
        reader.memory.begin();
        let now = self.0.clock.now();
        let read = Read::new(&reader.conn, &reader.layouts, &self.0.vault, now);
        let answer = view(&read.with_memory(&reader.memory));
        // A connection that cannot end its read is dropped instead of being lent again.
        if run("COMMIT").is_ok() {
            let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < READERS_MAX {
                idle.push(reader);
            }
        }
        answer
    }

    /// What was written since the start.
    #[must_use]
    pub fn written(&self) -> Written {
        self.0.writer.written()
    }

    /// Whether the database file is still where it was when it was opened. Where it is not, writes
    /// are refused.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.0.home.check().is_ok()
    }

    /// As [`Db::check`], for a database that was too large to be checked before it serves.
    pub async fn check_if_large(&self) -> Result<(), Fault> {
        if file_size(&self.0.path) <= CHECK_AT_START_BYTES_MAX {
            Ok(())
        } else {
            self.check().await
        }
    }

    /// The whole file read through and checked, as a fault that says what to do if it is damaged.
    pub async fn check(&self) -> Result<(), Fault> {
        let db = self.clone();
        let checked = tokio::task::spawn_blocking(move || {
            let conn = open::reader(&db.0.path)?;
            open::check(&db.0.path, &conn)
        });
        checked.await.unwrap_or_else(|e| Err(Fault::internal(e)))
    }

    /// Writes the database as it is at this moment to a new file, page by page, while others read
    /// and write. What comes out is checked before this returns.
    pub fn copy_to(&self, target: &Path) -> Result<(), Fault> {
        let failed = |error| {
            let other = |error| Fault::new(Code::Unavailable, COPY_FAILED).because(error);
            open::storage_fault(error).unwrap_or_else(other)
        };
        let from = open::reader(&self.0.path)?;
        let mut to = open::copy(target)?;
        // All pages in one step see one moment: a reader of the log holds up no writer.
        let copied = Backup::new(&from, &mut to).and_then(|backup| backup.step(-1));
        copied.map_err(failed)?;
        open::check(target, &to)
    }

    /// How a statement would be run, a line a step. For tests that look for scans.
    #[doc(hidden)]
    pub fn explain(&self, sql: &str) -> Result<Vec<String>, Fault> {
        let conn = open::reader(&self.0.path)?;
        let mut statement =
            conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).map_err(Fault::internal)?;
        let rows = statement
            .raw_query()
            .mapped(|row| row.get::<_, String>("detail"))
            .collect::<Result<_, _>>();
        rows.map_err(Fault::internal)
    }

    /// Runs statements as they are. For tests that load sample rows.
    #[doc(hidden)]
    pub fn raw(&self, sql: &str) -> Result<(), Fault> {
        open::writer(&self.0.path)?.execute_batch(sql).map_err(Fault::internal)
    }

    /// The first column of a query's rows, as text. For tests that look at the schema.
    #[doc(hidden)]
    pub fn raw_column(&self, sql: &str) -> Result<Vec<String>, Fault> {
        let conn = open::reader(&self.0.path)?;
        let mut statement = conn.prepare(sql).map_err(Fault::internal)?;
        let rows = statement.query_map([], |row| {
            let value: Option<String> = row.get(0)?;
            Ok(value.unwrap_or_default())
        });
        rows.and_then(Iterator::collect).map_err(Fault::internal)
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

fn stopping() -> Fault {
    Fault::new(Code::Unavailable, "The server is stopping; nothing of this call was kept.")
}

fn file_size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}
