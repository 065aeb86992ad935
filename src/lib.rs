//! Assay: tickets that prove themselves.

pub mod accounts;
pub mod base;
pub mod cli;
pub mod config;
pub mod contract;
pub mod events;
pub mod jobs;
pub mod projects;
pub mod proofs;
pub mod store;
pub mod tickets;
pub mod tools;
pub mod web;
pub mod work;
