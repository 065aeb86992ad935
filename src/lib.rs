//! Assay: tickets that prove themselves.

pub mod accounts;
pub mod base;
pub mod events;
pub mod store;
