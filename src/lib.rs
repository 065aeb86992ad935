//! Assay: tickets that prove themselves.

pub mod base;
