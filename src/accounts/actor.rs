//! The caller, as every rule sees it: whose it is, who it is, and how far it reaches.

use sha2::{Digest as _, Sha256};

use super::plans::Plan;
use super::users::Role;
use crate::base::{KeyId, ProjectId, TenantId, TicketId, UserId};
use crate::words;

words! {
    /// What a key is for.
    pub enum KeyScope {
        /// Reading over MCP and invoke.
        McpRead = "mcp_read",
        /// Reading and writing over MCP and invoke.
        McpFull = "mcp_full",
        /// The CI endpoints, and nothing of MCP.
        Ci = "ci",
    }
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// A program with an API key.
    Key {
        /// The key.
        id: KeyId,
        /// What its maker called it.
        name: String,
    },
    /// A person with a login.
    User {
        /// The person.
        id: UserId,
        /// Their name.
        name: String,
        /// Their address, in lower case.
        email: String,
        /// What they may do in their tenant.
        role: Role,
    },
    /// An agent that Assay started for a ticket, with the key it was given for that.
    Agent {
        /// The key.
        key: KeyId,
        /// The ticket that it works on.
        ticket: TicketId,
    },
    /// Somebody with a link that is the permission for one thing.
    Holder,
    /// Somebody at the machine, through the command line or the server itself.
    Local,
}

/// The projects that a caller may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Every project of the tenant.
    All,
    /// These and no other.
    Only(Vec<ProjectId>),
}

impl Reach {
    /// Whether the project lies within.
    #[must_use]
    pub fn includes(&self, project: ProjectId) -> bool {
        match self {
            Self::All => true,
            Self::Only(projects) => projects.contains(&project),
        }
    }
}

/// A caller that has been recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Whose data it sees.
    pub tenant: TenantId,
    /// What that tenant has.
    pub plan: Plan,
    /// Who it is.
    pub who: Who,
    /// What it may do.
    pub scope: KeyScope,
    /// The projects it may touch.
    pub reach: Reach,
    /// The project that is meant where a call names none.
    pub default_project: Option<ProjectId>,
}

impl Actor {
    /// The person at the machine, acting for a tenant.
    #[must_use]
    pub const fn local(tenant: TenantId, plan: Plan) -> Self {
        Self {
            tenant,
            plan,
            who: Who::Local,
            scope: KeyScope::McpFull,
            reach: Reach::All,
            default_project: None,
        }
    }

    /// Somebody with a link of a tenant, who may do what the link is for and nothing else.
    #[must_use]
    pub fn holder(tenant: TenantId, plan: Plan) -> Self {
        let reach = Reach::Only(Vec::new());
        Self { who: Who::Holder, scope: KeyScope::Ci, reach, ..Self::local(tenant, plan) }
    }

    /// Whether it may call tools that only read.
    #[must_use]
    pub const fn can_read(&self) -> bool {
        matches!(self.scope, KeyScope::McpRead | KeyScope::McpFull)
    }

    /// Whether it may call tools that change something.
    #[must_use]
    pub const fn can_write(&self) -> bool {
        matches!(self.scope, KeyScope::McpFull)
    }

    /// What it sees, as a digest: two callers for whom it is the same get the same answer to
    /// `question`, as long as that depends on nothing else of them.
    #[must_use]
    pub fn sight(&self, question: &str) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.tenant.bytes());
        digest.update(self.default_project.as_ref().map_or(&[0; 16], ProjectId::bytes));
        match &self.reach {
            Reach::All => digest.update([0]),
            Reach::Only(projects) => {
                digest.update([1]);
                digest.update(projects.len().to_le_bytes());
                for project in projects {
                    digest.update(project.bytes());
                }
            }
        }
        digest.update(question);
        digest.finalize().into()
    }

    /// Whether it may touch the project.
    #[must_use]
    pub fn may_reach(&self, project: ProjectId) -> bool {
        self.reach.includes(project)
    }

    /// Whether it may manage the tenant's people, keys and projects.
    #[must_use]
    pub const fn is_admin(&self) -> bool {
        match &self.who {
            Who::User { role, .. } => role.is_admin(),
            Who::Local => true,
            Who::Key { .. } | Who::Agent { .. } | Who::Holder => false,
        }
    }

    /// Whether it may make and remove owners of the tenant.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        match &self.who {
            Who::User { role, .. } => *role == Role::Owner,
            Who::Local => true,
            Who::Key { .. } | Who::Agent { .. } | Who::Holder => false,
        }
    }

    /// Who it is, in the words of the audit log.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.who {
            Who::Key { name, .. } => format!("key {name}"),
            Who::User { email, .. } => format!("user {email}"),
            Who::Agent { ticket, .. } => format!("agent of ticket {ticket}"),
            Who::Holder => "holder of a link".to_owned(),
            Who::Local => "command line".to_owned(),
        }
    }

    /// The key that it came with, if it came with one: what a rate limit counts by.
    #[must_use]
    pub const fn key(&self) -> Option<KeyId> {
        match &self.who {
            Who::Key { id, .. } | Who::Agent { key: id, .. } => Some(*id),
            Who::User { .. } | Who::Holder | Who::Local => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Id;

    fn actor(scope: KeyScope, who: Who) -> Actor {
        let tenant = Id::from_uuid(uuid::Uuid::from_u128(1));
        Actor { who, scope, ..Actor::local(tenant, Plan::All) }
    }

    #[test]
    fn a_scope_says_what_may_be_called() {
        for (scope, reads, writes) in [
            (KeyScope::McpRead, true, false),
            (KeyScope::McpFull, true, true),
            (KeyScope::Ci, false, false),
        ] {
            let actor = actor(scope, Who::Local);

            assert_eq!((actor.can_read(), actor.can_write()), (reads, writes), "{scope}");
        }
    }

    #[test]
    fn only_people_manage_a_tenant() {
        let id = Id::from_uuid(uuid::Uuid::from_u128(2));
        let key = actor(KeyScope::McpFull, Who::Key { id, name: "ci-bot".to_owned() });

        assert!(!key.is_admin());
        assert_eq!(key.label(), "key ci-bot");
        assert!(actor(KeyScope::McpFull, Who::Local).is_admin());
    }

    #[test]
    fn a_limited_reach_holds_its_projects_and_no_other() {
        let project = |n| Id::from_uuid(uuid::Uuid::from_u128(n));
        let reach = Reach::Only(vec![project(1)]);

        assert!(reach.includes(project(1)));
        assert!(!reach.includes(project(2)));
        assert!(!Reach::Only(Vec::new()).includes(project(1)));
        assert!(Reach::All.includes(project(2)));
    }
}
