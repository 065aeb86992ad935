//! `/projects/{slug}`: what a project works on, with whom, and whether it is ready.

use askama::Template;

use super::marks::Mark;
use super::parts::{Code, Fact};
use super::shell::Shell;

/// A project's page.
#[derive(Template)]
#[template(path = "project.html")]
pub(super) struct ProjectPage {
    shell: Shell,
    key: String,
    name: String,
    tickets_href: String,
    /// `Ready for tickets`, or how many things are in the way.
    health_said: String,
    checks: Vec<Check>,
    repository: Vec<Fact>,
    verify: Vec<String>,
    agents: Vec<AgentRow>,
    /// The command that changes the settings.
    change: Code,
}

/// One check of the set-up.
pub(super) struct Check {
    mark: Mark,
    name: &'static str,
    said: String,
    /// What to do about it; empty where nothing is to be done.
    fix: String,
}

/// One agent profile.
pub(super) struct AgentRow {
    name: String,
    command: String,
    used_for: String,
    limit: String,
}

#[cfg(test)]
impl ProjectPage {
    pub(super) fn sample() -> Self {
        let check = |state, name, said: &str, fix: &str| Check {
            mark: Mark::health(state),
            name,
            said: said.to_owned(),
            fix: fix.to_owned(),
        };
        Self {
            shell: Shell::sample("/projects"),
            key: "ACME".to_owned(),
            name: "Acme Widgets".to_owned(),
            tickets_href: "/tickets?project=acme-widgets".to_owned(),
            health_said: "One thing is in the way".to_owned(),
            checks: vec![
                check("ok", "Repository", "main is at 99ab81c0f2.", ""),
                check(
                    "blocked",
                    "Agent",
                    "The program claude is not on the server's path.",
                    "Install Claude Code for the user that runs Assay, or choose another agent.",
                ),
                check("ok", "Verify commands", "2 commands.", ""),
            ],
            repository: vec![
                Fact::code("Repository", "/home/ada/acme-widgets"),
                Fact::code("Base branch", "main"),
                Fact::plain("Key", "ACME"),
            ],
            verify: vec!["npm ci".to_owned(), "npm test".to_owned()],
            agents: vec![AgentRow {
                name: "claude-code".to_owned(),
                command: "claude -p --output-format json".to_owned(),
                used_for: "plan, contract, implement, review".to_owned(),
                limit: "30 min".to_owned(),
            }],
            change: Code::new("change", "assay project set acme-widgets --verify \"npm test\""),
        }
    }
}
