//! Projects: a site and, if it has one, the git repository its tickets change.

pub mod git;
