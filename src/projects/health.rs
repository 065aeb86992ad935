//! Whether a project is set up for tickets: what stops them, and what would make them better.

use super::agents::NotFound;
use super::git::Location;
use super::git::inspect::State;
use super::project::Project;
use crate::words;

words! {
    /// What may be amiss with a project's set-up.
    pub enum Amiss {
        /// The project names no repository.
        NoRepository = "no_repository",
        /// The repository cannot be used as it is.
        RepositoryUnusable = "repository_unusable",
        /// No agent profile is there, or none is meant.
        NoAgent = "no_agent",
        /// The program of an agent profile is not found.
        AgentNotFound = "agent_not_found",
        /// Nothing checks what an agent did.
        NoVerifyCommand = "no_verify_command",
        /// A person's checkout of the base branch has changes, and will not follow a landing.
        CheckoutDirty = "checkout_dirty",
    }
}

impl Amiss {
    /// The section of the project's settings in which it is set right, if it is one of settings.
    #[must_use]
    pub const fn section(self) -> Option<&'static str> {
        match self {
            Self::NoRepository | Self::RepositoryUnusable => Some("repository"),
            Self::NoAgent | Self::AgentNotFound => Some("agents"),
            Self::NoVerifyCommand => Some("verify"),
            Self::CheckoutDirty => None,
        }
    }
}

/// One thing that is amiss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub code: Amiss,
    /// What it means.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

/// The state of a project's set-up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// What stops tickets from being done.
    pub blockers: Vec<Finding>,
    /// What does not.
    pub warnings: Vec<Finding>,
}

impl Health {
    /// Whether tickets can be done.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.blockers.is_empty()
    }

    /// The same with the agent profiles of the project whose program was not found; see
    /// [`super::agents::not_found`]. Only the default one is in the way.
    #[must_use]
    pub fn with_missing(mut self, project: &Project, missing: &[NotFound]) -> Self {
        let agents = &project.settings.agents;
        let default = agents.choose("implement", "auto").map(|(name, _)| name);
        for NotFound { profile, program } in missing {
            let found = Finding {
                code: Amiss::AgentNotFound,
                message: format!(
                    "The program {program} of the agent profile {profile} is not found on PATH."
                ),
                fix: format!(
                    "Install {program} where the server finds it, or choose another agent: assay \
                     project set {} agent=NAME",
                    project.short_name()
                ),
            };
            let list =
                if default == Some(profile) { &mut self.blockers } else { &mut self.warnings };
            list.push(found);
        }
        self
    }
}

/// Judges a project by its settings and by what was found at its repository, if it was looked at.
#[must_use]
pub fn judge(project: &Project, repository: Option<&State>) -> Health {
    let mut health = Health::default();
    let name = project.short_name();
    match (project.location(), repository) {
        (None, _) => health.blockers.push(Finding {
            code: Amiss::NoRepository,
            message: "The project names no repository, so no ticket can be done.".to_owned(),
            fix: format!("assay project set {name} repository=/path/to/repository"),
        }),
        (Some(location), Some(state)) => look_at_repository(name, &location, state, &mut health),
        (Some(_), None) => {}
    }
    let agents = &project.settings.agents;
    let is_meant = agents.choose("implement", "auto").is_some();
    if !is_meant && !agents.is_for_editor("implement", "auto") {
        let message = if project.settings.agents.profiles.is_empty() {
            "The project has no agent profile, so nobody works on its tickets."
        } else {
            "The project has several agent profiles and says of none that it is the default."
        };
        health.blockers.push(Finding {
            code: Amiss::NoAgent,
            message: message.to_owned(),
            fix: format!("assay project set {name} agent=claude"),
        });
    }
    if project.settings.verify.is_empty() {
        health.warnings.push(Finding {
            code: Amiss::NoVerifyCommand,
            message: "The project has no verify command, so nothing proves what an agent did."
                .to_owned(),
            fix: format!("assay project set {name} verify='make test'"),
        });
    }
    health
}

fn look_at_repository(name: &str, location: &Location, state: &State, health: &mut Health) {
    match state.clone().ready(location) {
        Err(fault) => health.blockers.push(Finding {
            code: Amiss::RepositoryUnusable,
            message: fault.message,
            fix: match state {
                State::BaseMissing { .. } => format!("assay project set {name} base-branch=NAME"),
                _ => format!("assay project set {name} repository=/path/to/repository"),
            },
        }),
        Ok(ready) if ready.is_dirty && ready.checked_out.as_ref() == Some(&ready.base) => {
            health.warnings.push(Finding {
                code: Amiss::CheckoutDirty,
                message: format!(
                    "{location} has uncommitted changes on {}. Tickets land on the branch all the \
                     same, but these files will not follow.",
                    ready.base.as_str()
                ),
                fix: "Commit or stash them.".to_owned(),
            });
        }
        Ok(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Id, Millis};
    use crate::projects::agents::Profile;
    use crate::projects::git::inspect::Ready;
    use crate::projects::git::{BranchName, CommitId};
    use crate::projects::settings::{Settings, VerifyCommand};

    fn project() -> Project {
        let id = uuid::Uuid::from_u128(1);
        Project {
            id: Id::from_uuid(id),
            tenant: Id::from_uuid(id),
            name: "Acme".to_owned(),
            slug: "acme".to_owned(),
            key: Some("ACME".to_owned()),
            description: String::new(),
            base_url: None,
            repository: None,
            base_branch: None,
            settings: Settings::default(),
            created_at: Millis(0),
            updated_at: Millis(0),
        }
    }

    fn set_up() -> Project {
        let mut project = project();
        project.repository = Some("/srv/acme".to_owned());
        let agent = Profile::script(vec!["agent".to_owned()]);
        project.settings.agents.profiles.insert("agent".to_owned(), agent);
        project.settings.verify.push(VerifyCommand::new("tests", "make test"));
        project
    }

    fn codes(findings: &[Finding]) -> Vec<Amiss> {
        findings.iter().map(|finding| finding.code).collect()
    }

    fn ready(is_dirty: bool) -> State {
        let base = BranchName::parse("main").expect("a branch name");
        let tip = CommitId::parse(&"a".repeat(40)).expect("a commit id");
        let checked_out = Some(base.clone());
        State::Ready(Ready { base, tip, is_bare: false, checked_out, is_dirty })
    }

    #[test]
    fn an_empty_project_lacks_a_repository_and_an_agent() {
        let health = judge(&project(), None);

        assert_eq!(codes(&health.blockers), [Amiss::NoRepository, Amiss::NoAgent]);
        assert_eq!(codes(&health.warnings), [Amiss::NoVerifyCommand]);
        assert!(health.blockers[0].fix.contains("ACME"), "{health:?}");
    }

    #[test]
    fn a_project_that_is_set_up_has_nothing_amiss() {
        assert_eq!(judge(&set_up(), Some(&ready(false))), Health::default());
        assert!(judge(&set_up(), None).is_ready());
    }

    #[test]
    fn a_default_agent_that_is_not_found_is_in_the_way_and_another_is_not() {
        let mut project = set_up();
        let other = Profile::script(vec!["other".to_owned()]);
        project.settings.agents.profiles.insert("other".to_owned(), other);
        project.settings.agents.default = Some("agent".to_owned());
        let missing = |name: &str| NotFound { profile: name.to_owned(), program: name.to_owned() };

        let health = judge(&project, None).with_missing(&project, &["agent", "other"].map(missing));

        assert_eq!(codes(&health.blockers), [Amiss::AgentNotFound]);
        assert_eq!(codes(&health.warnings), [Amiss::AgentNotFound]);
        assert!(health.blockers[0].fix.contains("project set ACME agent="), "{health:?}");
    }

    #[test]
    fn what_is_found_at_the_repository_counts() {
        let missing = judge(&set_up(), Some(&State::Missing));
        let dirty = judge(&set_up(), Some(&ready(true)));

        assert_eq!(codes(&missing.blockers), [Amiss::RepositoryUnusable]);
        assert!(missing.blockers[0].message.contains("/srv/acme"), "{missing:?}");
        assert_eq!(codes(&dirty.warnings), [Amiss::CheckoutDirty]);
        assert!(dirty.is_ready());
    }
}
