//! From rows to values and back: the only place that knows how a type is stored.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use uuid::Uuid;

use super::blob::Hash;
use super::sql::Sql;
use crate::base::{Fault, Id, Millis};

/// Where the columns of each statement of a connection were found: a reading function asks for
/// them in the same order for every row, so that names are compared once and not each time.
#[derive(Default)]
pub(super) struct Layouts(RefCell<HashMap<usize, Layout>>);

/// The columns of one statement, in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Layout {
    /// How many columns the statement had then: another version of the program may add some.
    count: Cell<usize>,
    asked: RefCell<Vec<(&'static str, usize)>>,
}

impl Layouts {
    /// Reads with the layout of a statement, whose text stands at one place as long as the program
    /// runs.
    pub(super) fn with<T>(&self, sql: Sql, read: impl FnOnce(&Layout) -> T) -> T {
        let place = sql.text.as_ptr().addr();
        // Taken out, for a reading function may itself read.
        let layout = self.0.borrow_mut().remove(&place).unwrap_or_default();
        let answer = read(&layout);
        self.0.borrow_mut().insert(place, layout);
        answer
    }
}

/// One row of a result, read by column name.
pub struct Row<'a> {
    found: &'a rusqlite::Row<'a>,
    layout: &'a Layout,
    /// How many columns were asked for.
    turn: Cell<usize>,
}

impl<'a> Row<'a> {
    pub(super) fn new(found: &'a rusqlite::Row<'a>, layout: &'a Layout) -> Self {
        let count = found.as_ref().column_count();
        if layout.count.replace(count) != count {
            layout.asked.borrow_mut().clear();
        }
        Self { found, layout, turn: Cell::new(0) }
    }

    /// The value of a column. A value of another type is damage, and is reported as ours.
    pub fn get<T: FromSql>(&self, column: &'static str) -> Result<T, Fault> {
        let value = self.value(column)?;
        T::column_result(value).map_err(|e| Fault::internal(format!("column {column}: {e}")))
    }

    fn value(&self, column: &'static str) -> Result<ValueRef<'_>, Fault> {
        let at = self.place(column)?;
        self.found.get_ref(at).map_err(|e| Fault::internal(format!("column {column}: {e}")))
    }

    fn place(&self, column: &'static str) -> Result<usize, Fault> {
        let turn = self.turn.replace(self.turn.get() + 1);
        let mut asked = self.layout.asked.borrow_mut();
        match asked.get(turn) {
            Some(&(name, at)) if std::ptr::eq(name, column) => return Ok(at),
            _ => asked.truncate(turn),
        }
        let at = self.search(column, asked.last().map_or(0, |(_, before)| before + 1))?;
        asked.push((column, at));
        Ok(at)
    }

    /// Looks from `start` on, and then before it: columns are mostly read in their order.
    fn search(&self, column: &str, start: usize) -> Result<usize, Fault> {
        let statement = self.found.as_ref();
        let count = statement.column_count();
        (start..count)
            .chain(0..start)
            .find(|at| statement.column_name(*at).is_ok_and(|name| name == column))
            .ok_or_else(|| Fault::internal(format!("there is no column {column}")))
    }

    /// The closed word of a text column.
    pub fn word<T>(&self, column: &'static str, parse: fn(&str) -> Option<T>) -> Result<T, Fault> {
        self.word_or_null(column, parse)?
            .ok_or_else(|| Fault::internal(format!("column {column} is null")))
    }

    /// The closed word of a text column that may be null.
    pub fn word_or_null<T>(
        &self,
        column: &'static str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let text = self.value(column)?.as_str_or_null();
        let text = text.map_err(|e| Fault::internal(format!("column {column}: {e}")))?;
        let parsed = text.map(|text| {
            let unknown = || Fault::internal(format!("column {column} holds {text:?}"));
            parse(text).ok_or_else(unknown)
        });
        parsed.transpose()
    }

    /// A JSON document that one of our own types wrote.
    pub fn json<T: serde::de::DeserializeOwned>(&self, column: &'static str) -> Result<T, Fault> {
        let text: String = self.get(column)?;
        serde_json::from_str(&text).map_err(|e| Fault::internal(format!("column {column}: {e}")))
    }

    /// A count or size that is never negative.
    pub fn unsigned(&self, column: &'static str) -> Result<u64, Fault> {
        let number: i64 = self.get(column)?;
        u64::try_from(number)
            .map_err(|_| Fault::internal(format!("column {column} holds {number}")))
    }
}

/// A document as a column holds it. Our own types always serialise.
pub fn to_json<T: serde::Serialize>(value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(Fault::internal)
}

/// A count as a column holds it; the largest one where it does not fit.
pub fn to_int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl<K> ToSql for Id<K> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.bytes())))
    }
}

impl<K> FromSql for Id<K> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        Uuid::from_slice(bytes).map(Self::from_uuid).map_err(|_| FromSqlError::InvalidBlobSize {
            expected_size: 16,
            blob_size: bytes.len(),
        })
    }
}

impl ToSql for Millis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for Millis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

impl ToSql for Hash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.bytes())))
    }
}

impl FromSql for Hash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        let size = bytes.len();
        <[u8; 32]>::try_from(bytes)
            .map(Self::from_bytes)
            .map_err(|_| FromSqlError::InvalidBlobSize { expected_size: 32, blob_size: size })
    }
}
