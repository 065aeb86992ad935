//! A tenant with its keys, projects and repositories.

use std::path::PathBuf;

use assay::accounts::keys::{self, NewKey};
use assay::accounts::{KeyScope, Reach};
use assay::base::{ProjectId, TenantId, TicketId};
use assay::projects::agents::Profile;
use assay::projects::settings::{Settings, VerifyCommand};
use assay::projects::{self, NewProject};

use super::{Caller, TestApp};

/// The page that agents work on.
const PAGE: &str = "<html>\n<head><title>Acme</title></head>\n<body>\n</body>\n</html>\n";

/// A tenant.
pub(crate) struct Tenant<'a> {
    pub(super) app: &'a TestApp,
    pub(crate) id: TenantId,
}

impl Tenant<'_> {
    /// A caller with a new key for all projects.
    pub(crate) async fn key(&self, scope: KeyScope) -> Caller {
        self.make_key(scope, Reach::All).await
    }

    /// A caller with a new key for some projects.
    pub(crate) async fn limited_key(&self, scope: KeyScope, to: &[ProjectId]) -> Caller {
        self.make_key(scope, Reach::Only(to.to_vec())).await
    }

    /// A caller with the key of a ticket's agent.
    pub(crate) async fn agent_key(&self, project: ProjectId, ticket: &str) -> Caller {
        let (tenant, ticket) = (self.id, TicketId::parse(ticket).unwrap());
        let made = self.app.app.env().db.write(move |tx| {
            let new = NewKey {
                reach: Reach::Only(vec![project]),
                default_project: Some(project),
                ticket: Some(ticket),
                ..NewKey::plain("agent", KeyScope::McpRead, "test")
            };
            keys::create(tx, tenant, &new)
        });
        let (_, key) = made.await.unwrap();
        self.app.caller(key.reveal())
    }

    async fn make_key(&self, scope: KeyScope, reach: Reach) -> Caller {
        let tenant = self.id;
        let made = self.app.app.env().db.write(move |tx| {
            let new = NewKey { reach, ..NewKey::plain("test", scope, "test") };
            keys::create(tx, tenant, &new)
        });
        let (_, key) = made.await.unwrap();
        self.app.caller(key.reveal())
    }

    /// Revokes every key of the tenant.
    pub(crate) async fn revoke_keys(&self) {
        let tenant = self.id;
        let revoked = self.app.app.env().db.write(move |tx| {
            for key in keys::list(tx, tenant)? {
                keys::revoke(tx, tenant, key.id)?;
            }
            Ok(())
        });
        revoked.await.unwrap();
    }

    /// A project that takes tickets, for tests in which no agent starts.
    pub(crate) async fn project(&self, name: &'static str, key: &'static str) -> ProjectId {
        let mut settings = Settings::default();
        settings.agents.profiles.insert("none".to_owned(), script("exit 1"));
        let nowhere = self.app.dir().join("nowhere");
        self.make_project(name, key, nowhere, settings).await
    }

    /// A project with a git repository of one commit, whose tickets `agent` does; gives the
    /// repository.
    pub(crate) async fn project_with_repo(
        &self,
        name: &'static str,
        key: &'static str,
        agent: Profile,
    ) -> PathBuf {
        let path = self.app.dir().join(format!("{}-{key}", self.id));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("index.html"), PAGE).unwrap();
        let git = &self.app.app.env().git;
        for args in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message=First"],
        ] {
            let mut call = git.tree(&path).args(args);
            for who in ["GIT_AUTHOR", "GIT_COMMITTER"] {
                call = call.env(&format!("{who}_NAME"), "Ada Builder");
                call = call.env(&format!("{who}_EMAIL"), "ada@example.com");
            }
            call.succeed().await.unwrap();
        }
        let mut settings = Settings::default();
        settings.agents.profiles.insert("agent".to_owned(), agent);
        settings.verify.push(VerifyCommand::new("page", "grep -q Acme index.html"));
        self.make_project(name, key, path.clone(), settings).await;
        path
    }

    async fn make_project(
        &self,
        name: &'static str,
        key: &'static str,
        repository: PathBuf,
        settings: Settings,
    ) -> ProjectId {
        let tenant = self.id;
        let made = self.app.app.env().db.write(move |tx| {
            let new = NewProject {
                name,
                key: Some(key),
                repository: repository.to_str(),
                base_branch: Some("main"),
                settings,
                ..NewProject::default()
            };
            projects::create(tx, tenant, new)
        });
        made.await.unwrap().id
    }
}

/// An agent that is a line of shell.
pub(crate) fn script(line: &str) -> Profile {
    Profile::script(["sh", "-c", line].map(str::to_owned).to_vec())
}
