//! Assay: tickets that prove themselves.

pub mod accounts;
pub mod base;
pub mod cli;
pub mod contract;
pub mod events;
pub mod projects;
pub mod store;
pub mod tickets;
