//! Projects: a site and, if it has one, the git repository its tickets change.

pub mod git;
//! Projects: a site and, where it has one, a git repository with the agents that work on it.

pub mod agents;
