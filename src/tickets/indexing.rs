//! The two indexes of tickets by their words: of keys, by which briefs that ask for the same are
//! found, and of words, for searching; and the one of their days. A ticket touches many pages of
//! them, so they are filled for many tickets at once; until then a ticket's keys stand in a row of
//! its own.

use super::similarity::KEYS;
use crate::base::{Fault, TenantId};
use crate::store::{Read, Tx};
use crate::{params, sql};

/// Tickets that wait to be in the indexes, at most, before the call that files the next puts them
/// there.
pub const BEHIND_MAX: i64 = 128;

/// Tickets that one transaction puts into the indexes at most.
const FILLED_MAX: i64 = 2 * BEHIND_MAX;

/// How far the indexes reach.
pub(super) struct State {
    /// The newest ticket that is in them, by its number; 0 where none is.
    pub(super) upto: i64,
    /// The newest ticket there is, of any tenant; 0 where there is none.
    pub(super) newest: i64,
}

/// How far the indexes reach.
pub(super) fn state(read: &Read<'_>) -> Result<State, Fault> {
    let found = read.find(sql!("indexing.sql", "state"), params! {}, |row| {
        Ok(State { upto: row.get("upto")?, newest: row.get("newest")? })
    })?;
    found.ok_or_else(|| Fault::internal("the indexes of tickets have no state"))
}

/// How many tickets are in neither index yet.
pub fn behind(read: &Read<'_>) -> Result<i64, Fault> {
    let State { upto, newest } = state(read)?;
    Ok(newest - upto)
}

/// Keeps the keys of a ticket that was filed, and fills the indexes where many wait for that.
pub(super) fn note(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    n: i64,
    keys: [i64; KEYS],
) -> Result<(), Fault> {
    let [k0, k1, k2, k3, k4, k5] = keys;
    tx.run_one(
        sql!("indexing.sql", "note_print"),
        params! { ":tenant": tenant, ":n": n, ":k0": k0, ":k1": k1, ":k2": k2, ":k3": k3,
        ":k4": k4, ":k5": k5 },
    )?;
    if behind(tx)? >= BEHIND_MAX { fill(tx) } else { Ok(()) }
}

/// Puts tickets that wait into the indexes, the oldest first.
pub fn fill(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let State { upto: after, newest } = state(tx)?;
    let upto = newest.min(after + FILLED_MAX);
    if upto <= after {
        return Ok(());
    }
    let span = params! { ":after": after, ":upto": upto };
    tx.run(sql!("indexing.sql", "fill_keys"), span)?;
    tx.run(sql!("indexing.sql", "fill_search"), span)?;
    tx.run(sql!("indexing.sql", "fill_days"), span)?;
    tx.run_one(sql!("indexing.sql", "reach"), params! { ":upto": upto })
}
