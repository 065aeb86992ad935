//! The names of projects, for rows of tickets.

use crate::base::ProjectId;
use crate::projects::Project;

/// The projects that a person sees.
pub(super) struct Names(pub(super) Vec<Project>);

impl Names {
    /// A project's name; empty where it is not among those that are shown.
    pub(super) fn of(&self, id: ProjectId) -> &str {
        let known = self.0.iter().find(|project| project.id == id);
        known.map_or("", |project| project.name.as_str())
    }
}
