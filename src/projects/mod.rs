//! Projects: a site and, where it has one, a git repository with the agents that work on it.

pub mod agents;
