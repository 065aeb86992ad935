//! Projects: a site and, where it has one, a git repository with the agents that work on it.

pub mod agents;
pub mod categories;
pub mod change;
pub mod dispatching;
pub mod environments;
pub mod git;
pub mod health;
pub mod limits;
mod project;
mod resolve;
pub mod settings;
pub mod steps;
pub mod tries;

pub use categories::Category;
pub use change::change;
pub use environments::Environment;
pub use project::{LIST_MAX, NewProject, Project, create, find, list, next_number, save};
pub use resolve::{get, named, resolve};
pub use settings::Settings;
