//! Whether the branch is there that a ticket is to start from.

use crate::base::{Code, Fault};
use crate::projects::Project;
use crate::projects::git::{BranchName, Repository};
use crate::tools::Cx;

/// The name in `said`, by git's own rules.
pub(super) fn name(said: &str) -> Result<BranchName, Fault> {
    BranchName::parse(said).map_err(|why| refused(&format!("is no branch name: {why}"), why))
}

/// Demands that the project's repository has the branch. A mirror is brought up to its remote
/// first; while that does not answer, what the mirror has counts.
pub(super) async fn check(cx: &Cx, project: &Project, branch: &BranchName) -> Result<(), Fault> {
    match is_there(cx, project, branch).await {
        Ok(true) => Ok(()),
        Ok(false) => {
            let why = "is no branch of the project's repository";
            let said = format!("names no branch of the project's repository: {branch}");
            Err(refused(&said, why))
        }
        Err(fault) => {
            let said = format!("seed_from_ref cannot be looked for. {}", fault.message);
            Err(Fault::new(fault.code, said).because(fault))
        }
    }
}

async fn is_there(cx: &Cx, project: &Project, branch: &BranchName) -> Result<bool, Fault> {
    // Without a repository the project is not ready, and the dispatch says so.
    let Some(location) = project.location() else { return Ok(true) };
    let (mirrors, id) = (&cx.premises().mirrors, project.id.to_string());
    let repository = Repository::open(cx.git(), &location, mirrors, &id).await?;
    let refreshed = repository.refresh().await;
    if repository.any_branch(branch).await?.is_some() {
        return Ok(true);
    }
    refreshed.map(|()| false)
}

fn refused(said: &str, why: &str) -> Fault {
    let message = format!("seed_from_ref {said}.");
    Fault::new(Code::InvalidSeedFromRef, message).issue("seed_from_ref", why)
}
