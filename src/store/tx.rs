//! Reading and writing inside one transaction. `Read` is what a reading function takes; `Tx` also
//! writes, and stands in wherever a `Read` is wanted.

use std::ops::Deref;

use rusqlite::{Connection, ErrorCode, ffi};

use super::memory::{Digest, Memory};
use super::row::{Layouts, Row};
use super::sql::Sql;
use super::vault::Vault;
use crate::base::{Code, Entropy, Fault, Id, Millis};
use crate::events::Event;

/// A value that can be bound to a parameter.
pub use rusqlite::types::ToSql as Value;

/// Named parameters, as the `params!` macro builds them.
pub type Params<'p> = &'p [(&'p str, &'p dyn Value)];

/// A consistent view of the database.
pub struct Read<'c> {
    conn: &'c Connection,
    layouts: &'c Layouts,
    memory: Option<&'c Memory>,
    vault: &'c Vault,
    now: Millis,
}

impl<'c> Read<'c> {
    pub(super) const fn new(
        conn: &'c Connection,
        layouts: &'c Layouts,
        vault: &'c Vault,
        now: Millis,
    ) -> Self {
        Self { conn, layouts, memory: None, vault, now }
    }

    /// The same view, of a connection that never writes and so may remember.
    pub(super) const fn with_memory(mut self, memory: &'c Memory) -> Self {
        self.memory = Some(memory);
        self
    }

    /// The time at which this transaction began: one moment for all that it writes.
    pub const fn now(&self) -> Millis {
        self.now
    }

    /// What secrets of rows are sealed and opened with.
    pub const fn vault(&self) -> &Vault {
        self.vault
    }

    /// The one row of a statement, if there is one.
    pub fn find<T>(
        &self,
        sql: Sql,
        params: Params<'_>,
        map: impl FnOnce(&Row<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let mut statement = self.conn.prepare_cached(sql.text).map_err(|e| fault(sql, e))?;
        let mut rows = statement.query(params).map_err(|e| fault(sql, e))?;
        match rows.next().map_err(|e| fault(sql, e))? {
            Some(row) => self.layouts.with(sql, |layout| map(&Row::new(row, layout))).map(Some),
            None => Ok(None),
        }
    }

    /// What a reading answered before, as long as nobody has written since; else it is done, and
    /// remembered. For what is asked again and again. `what` is the question, `asked` a digest of
    /// everything that the answer depends on beside the database: no time may go into it. That
    /// there is no answer is not remembered.
    pub fn again<T: Clone + Send + 'static>(
        &self,
        what: &'static str,
        asked: Digest,
        read: impl FnOnce() -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, Fault> {
        match self.memory {
            Some(memory) => memory.recall(self.conn, (what, asked), read),
            None => read(),
        }
    }

    /// Every row of a statement, in its order.
    pub fn list<T>(
        &self,
        sql: Sql,
        params: Params<'_>,
        map: impl Fn(&Row<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut statement = self.conn.prepare_cached(sql.text).map_err(|e| fault(sql, e))?;
        let mut rows = statement.query(params).map_err(|e| fault(sql, e))?;
        self.layouts.with(sql, |layout| {
            let mut out = Vec::new();
            while let Some(row) = rows.next().map_err(|e| fault(sql, e))? {
                out.push(map(&Row::new(row, layout))?);
            }
            Ok(out)
        })
    }
}

/// A transaction that writes. It is committed together with its neighbours, durably, before its
/// caller hears that it succeeded.
pub struct Tx<'c> {
    read: Read<'c>,
    entropy: &'c Entropy,
    events: Vec<Event>,
}

impl<'c> Deref for Tx<'c> {
    type Target = Read<'c>;

    fn deref(&self) -> &Read<'c> {
        &self.read
    }
}

impl<'c> Tx<'c> {
    pub(super) const fn new(read: Read<'c>, entropy: &'c Entropy) -> Self {
        Self { read, entropy, events: Vec::new() }
    }

    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// A fresh id, made at this transaction's time.
    pub fn new_id<K>(&self) -> Id<K> {
        self.entropy.id(self.now())
    }

    /// The source of randomness, for keys and jitter.
    pub const fn entropy(&self) -> &Entropy {
        self.entropy
    }

    /// Says what happened. Published once this transaction is on disk, and not otherwise.
    pub fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Runs a statement that changes rows, and says how many.
    pub fn run(&mut self, sql: Sql, params: Params<'_>) -> Result<usize, Fault> {
        self.change(sql, params).map_err(|e| fault(sql, e))
    }

    /// Runs a statement that must change exactly one row.
    pub fn run_one(&mut self, sql: Sql, params: Params<'_>) -> Result<(), Fault> {
        match self.run(sql, params)? {
            1 => Ok(()),
            n => Err(Fault::internal(format!("{} changed {n} rows instead of one", sql.name))),
        }
    }

    /// Runs a statement that inserts; `false` where a row with the same unique key is there.
    pub fn insert_new(&mut self, sql: Sql, params: Params<'_>) -> Result<bool, Fault> {
        match self.change(sql, params) {
            Ok(_) => Ok(true),
            Err(e) if is_unique_clash(&e) => Ok(false),
            Err(e) => Err(fault(sql, e)),
        }
    }

    /// Runs a pragma of the writing connection. For tests that make the disk small.
    #[doc(hidden)]
    pub fn pragma(&mut self, text: &str) -> Result<(), Fault> {
        let sql = Sql { name: "pragma", text: "" };
        self.read.conn.execute_batch(text).map_err(|e| fault(sql, e))
    }

    fn change(&mut self, sql: Sql, params: Params<'_>) -> Result<usize, rusqlite::Error> {
        self.read.conn.prepare_cached(sql.text)?.execute(params)
    }
}

fn is_unique_clash(error: &rusqlite::Error) -> bool {
    let clash = [ffi::SQLITE_CONSTRAINT_UNIQUE, ffi::SQLITE_CONSTRAINT_PRIMARYKEY];
    error.sqlite_error().is_some_and(|e| clash.contains(&e.extended_code))
}

/// What a failed statement means to the caller. The message is ours; the driver's is for the log.
fn fault(sql: Sql, error: rusqlite::Error) -> Fault {
    let cause = format!("statement {}: {error}", sql.name);
    super::open::storage_fault(error).unwrap_or_else(|error| {
        if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
            return Fault::new(Code::Unavailable, "The server is stopping.").because(cause);
        }
        Fault::internal(cause)
    })
}
