//! `/projects/new`: makes a project, as `create_project` does.

use askama::Template;
use axum::extract::{Form, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use super::form::{Field, Group, Reads, Sent, blame, fill, write};
use crate::base::{Code, Fault};
use crate::web::auth::Visitor;
use crate::web::dashboard::parts::Choice;
use crate::web::dashboard::shell::Shell;
use crate::web::page::{Page, PageWith, go_to};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The form of a new project.
#[derive(Template)]
#[template(path = "project_new.html")]
pub(in crate::web::dashboard) struct NewProjectPage {
    shell: Shell,
    groups: Vec<Group>,
    /// Problems that have no field here.
    wrong: Vec<String>,
}

fn groups() -> Vec<Group> {
    let field = |name: &str, label: &str| Field::new(&[name], label, Reads::Given);
    let agents = vec![
        Choice::new("claude", "Claude Code"),
        Choice::new("codex", "Codex"),
        Choice::new("", "None yet"),
    ];
    vec![
        Group::new(
            "The project",
            "",
            vec![
                field("name", "Name").hint("As people call it."),
                field("key", "Key").hint(
                    "What tickets begin with: ACME gives ACME-1. Made from the \
                name where it is empty.",
                ),
                field("description", "Description").kind("text"),
            ],
        ),
        Group::new(
            "Its code",
            "",
            vec![
                field("repository", "Repository").hint(
                    "An absolute path on the server's machine, or an address that git can clone.",
                ),
                field("baseBranch", "Base branch").hint("Empty means the repository's own."),
            ],
        ),
        Group::new(
            "Its work",
            "All of it can be changed later.",
            vec![
                field("agent", "Agent").value("claude").choices(agents),
                field("verify", "Verify command").hint(
                    "A shell line that must succeed before a ticket \
                lands, such as make test.",
                ),
                field("baseUrl", "Base URL").hint("Where its site is served, if it has one."),
            ],
        ),
    ]
}

async fn frame(site: &Site, visitor: &Visitor) -> Result<Shell, Fault> {
    let read = visitor.read(site, |read, visitor| Shell::load(read, visitor, "/projects"));
    Ok(read.await?.still())
}

/// `GET /projects/new`.
pub(in crate::web::dashboard) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
) -> Result<Page<NewProjectPage>, Trouble> {
    visitor.demand_admin()?;
    let shell = frame(&site, &visitor).await?;
    Ok(Page(NewProjectPage { shell, groups: groups(), wrong: Vec::new() }))
}

/// `POST /projects/new`.
pub(in crate::web::dashboard) async fn make(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, Trouble> {
    let sent = Sent(sent);
    visitor.check(sent.first("csrf").unwrap_or_default())?;
    visitor.demand_admin()?;
    let mut groups = groups();
    fill(&mut groups, &sent);
    let mut arguments = json!({ "confirm": true });
    write(&mut groups, &mut arguments);
    match visitor.call(&site, "create_project", arguments).await {
        Ok(made) => {
            let slug = made.value()["slug"].as_str().unwrap_or_default().to_owned();
            Ok(go_to(&format!("/projects/{slug}?did=created")))
        }
        Err(fault) if matches!(fault.code, Code::InvalidArgument | Code::Conflict) => {
            let mut wrong = blame(&mut groups, &fault.issues);
            if fault.issues.is_empty() {
                wrong.push(fault.message);
            }
            let shell = frame(&site, &visitor).await?;
            let page = NewProjectPage { shell, groups, wrong };
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
        Err(fault) => Err(Trouble(fault)),
    }
}

#[cfg(test)]
impl NewProjectPage {
    pub(in crate::web::dashboard) fn sample() -> Self {
        let mut groups = groups();
        let name = "name".to_owned();
        blame(&mut groups, &[crate::base::Issue { path: name, message: "is missing".to_owned() }]);
        Self { shell: Shell::sample("/projects"), groups, wrong: vec!["x: is odd".to_owned()] }
    }
}
