//! `/projects`: the repositories that tickets work on.

use askama::Template;

use super::marks::Mark;
use super::parts::{Code, Moment};
use super::shell::Shell;

/// The projects of the team.
#[derive(Template)]
#[template(path = "projects.html")]
pub(super) struct ProjectsPage {
    shell: Shell,
    projects: Vec<ProjectRow>,
    /// The command that makes one.
    create: Code,
}

/// One project.
pub(super) struct ProjectRow {
    key: String,
    name: String,
    href: String,
    repository: String,
    health: Mark,
    open: String,
    landed: String,
    changed: Option<Moment>,
}

#[cfg(test)]
impl ProjectsPage {
    pub(super) fn sample() -> Self {
        use super::parts::samples::minutes_ago;
        let row = |key: &str, name: &str, health, open: &str| ProjectRow {
            key: key.to_owned(),
            name: name.to_owned(),
            href: format!("/projects/{}", crate::base::text::slug(name)),
            repository: format!("/home/ada/{}", crate::base::text::slug(name)),
            health: Mark::health(health),
            open: open.to_owned(),
            landed: "115".to_owned(),
            changed: Some(minutes_ago(3)),
        };
        Self {
            shell: Shell::sample("/projects"),
            projects: vec![
                row("ACME", "Acme Widgets", "ok", "8"),
                row("BILL", "Billing", "warning", "0"),
            ],
            create: Code::new("create", "assay project create --name \"Acme Widgets\" --repo ."),
        }
    }
}
