//! Assay: tickets that prove themselves.

pub mod base;
pub mod events;
pub mod jobs;
pub mod store;
