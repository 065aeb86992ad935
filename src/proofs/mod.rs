//! Proofs: what was claimed, what a check found, and the evidence, as records that never change.
//! Each record's digest covers the record, its evidence and the digest of the record before it, so
//! that a change to any of them shows in all that follow.

mod list;
mod proof;

pub use list::{Page, Wanted, after, before, find, kinds, list_of_ticket, list_recent, page};
pub use proof::{Evidence, NewProof, Proof, Verdict, record};
