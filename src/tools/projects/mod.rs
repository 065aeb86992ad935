//! The projects family.

mod create_project;
mod get_project;
mod list_projects;
mod try_agent;
mod update_project;

pub use create_project::CreateProject;
pub use get_project::GetProject;
pub use list_projects::ListProjects;
pub use try_agent::TryAgent;
pub use update_project::UpdateProject;

use crate::accounts::{Actor, Reach, Who};
use crate::base::{Code, Fault};

/// Refuses who may not make or change projects: a key that is limited to some of them, a person
/// who does not manage the team, an agent.
fn check_may_manage(actor: &Actor) -> Result<(), Fault> {
    if matches!(actor.reach, Reach::Only(_)) {
        let said = "This key is limited to some projects and can neither make nor change one.";
        return Err(Fault::new(Code::ScopeDenied, said));
    }
    let may = match &actor.who {
        Who::User { role, .. } => role.is_admin(),
        Who::Key { .. } | Who::Local => true,
        Who::Agent { .. } | Who::Holder => false,
    };
    if may {
        return Ok(());
    }
    let said = "Only an owner or an admin of the team makes and changes projects.";
    Err(Fault::new(Code::Forbidden, said))
}
