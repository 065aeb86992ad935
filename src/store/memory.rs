//! What a connection that only reads has read before, and need not read again as long as `SQLite`
//! says that nobody has written: neither this process nor another one.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use rusqlite::Connection;

use crate::base::Fault;

/// Answers kept at once; beyond them all are dropped, which a busy database does sooner anyway.
const KEPT_MAX: usize = 2_500;

/// A digest of what was asked: as good as unique.
pub type Digest = [u8; 32];

/// A question, and a digest of what it was asked of.
type Asked = (&'static str, Digest);

/// What was answered.
#[derive(Default)]
pub(super) struct Memory {
    /// The database's version that the answers are of.
    version: Cell<Option<i64>>,
    /// Whether the version was looked at in this transaction, throughout which it stays.
    is_sure: Cell<bool>,
    known: RefCell<HashMap<Asked, Box<dyn Any + Send>>>,
}

impl Memory {
    /// A transaction begins.
    pub(super) fn begin(&self) {
        self.is_sure.set(false);
    }

    /// The answer to a question, from memory or by reading. That there is none is not kept, so that
    /// nobody fills the memory by guessing.
    pub(super) fn recall<T: Clone + Send + 'static>(
        &self,
        conn: &Connection,
        asked: Asked,
        read: impl FnOnce() -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.make_sure(conn)?;
        if let Some(known) = self.known.borrow().get(&asked).and_then(|known| known.downcast_ref())
        {
            return Ok(Some(T::clone(known)));
        }
        let Some(answer) = read()? else { return Ok(None) };
        let mut known = self.known.borrow_mut();
        if known.len() >= KEPT_MAX {
            known.clear();
        }
        known.insert(asked, Box::new(answer.clone()));
        Ok(Some(answer))
    }

    fn make_sure(&self, conn: &Connection) -> Result<(), Fault> {
        if self.is_sure.replace(true) {
            return Ok(());
        }
        let version = conn
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut pragma| pragma.query_row([], |row| row.get(0)))
            .map_err(Fault::internal)?;
        if self.version.replace(Some(version)) != Some(version) {
            self.known.borrow_mut().clear();
        }
        Ok(())
    }
}
