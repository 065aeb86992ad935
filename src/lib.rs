//! Assay: tickets that prove themselves.

pub mod base;
pub mod contract;
pub mod events;
pub mod store;
