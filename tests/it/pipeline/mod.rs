//! The pipeline under bad input, interruption and everything that agents do wrong: each case ends
//! in a clear error or a terminal state with its reason, with nothing lost and nothing left behind.

mod agent_keys;
mod agents;
mod approvals;
mod clearing;
mod data_operations;
mod editors;
mod examples;
mod kinds;
mod landing;
mod leftovers;
mod names;
mod people;
mod places;
mod repositories;
mod rounds;
pub(crate) mod secrets;
mod stage;
mod talking;
mod tries;
mod walkthrough;

pub(crate) use leftovers::left_in;
pub(crate) use stage::{furnish, landings, make_repository, settings};
