//! The projects family.

mod create_project;
mod get_project;
mod list_projects;

pub use create_project::CreateProject;
pub use get_project::GetProject;
pub use list_projects::ListProjects;
