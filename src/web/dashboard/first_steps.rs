//! The way of a new team to its first ticket, on the home page.

use super::parts::{Code, Link};
use super::projects::create_command;
use crate::accounts::{Actor, keys};
use crate::base::Fault;
use crate::projects::{self, Project, health};
use crate::store::Read;

/// One of the three steps to a first ticket.
pub(super) struct Step {
    /// `done`, `next` or `later`.
    pub(super) state: &'static str,
    pub(super) title: &'static str,
    pub(super) text: String,
    pub(super) code: Code,
    pub(super) link: Option<Link>,
}

/// The way to a first ticket, as far as the team has come.
pub(super) fn steps(read: &Read<'_>, actor: &Actor) -> Result<Vec<Step>, Fault> {
    let projects = projects::list(read, actor, 20, None)?;
    let is_ready = |project: &&Project| health::judge(project, None).is_ready();
    let project = projects.iter().find(is_ready).or(projects.first());
    let has_ready = projects.iter().any(|project| is_ready(&project));
    let has_key = !keys::list(read, actor.tenant)?.is_empty();
    let state = |is_done: bool, is_due: bool| match (is_done, is_due) {
        (true, _) => "done",
        (false, true) => "next",
        (false, false) => "later",
    };
    let name = project.map_or("my project", |project| &*project.name);
    let ask = format!("Dispatch an Assay ticket for {name}: add a dark-mode toggle to the header.");
    Ok(vec![
        repository_step(project, state(has_ready, true)),
        Step {
            state: state(has_key, has_ready),
            title: "Connect a client",
            text:
                "Make a key and give it to Claude Code, Cursor, VS Code, Codex or any MCP client."
                    .to_owned(),
            code: Code::default(),
            link: Some(Link::new("Make a key", "/keys")),
        },
        Step {
            state: state(false, has_ready && has_key),
            title: "Ask for a ticket",
            text: "Say it to your agent in your own words, such as:".to_owned(),
            code: Code::new("first-ask", ask),
            link: None,
        },
    ])
}

fn repository_step(project: Option<&Project>, state: &'static str) -> Step {
    let place = project.and_then(|project| Some((project, project.location()?)));
    let (text, code, link) = match (state, project, place) {
        ("done", _, Some((project, place))) => {
            (format!("{} works on {place}.", project.name), Code::default(), None)
        }
        (_, Some(project), _) => {
            let text = format!("{} is there; its set-up is not complete yet.", project.name);
            let link = Link::new("See what is missing", format!("/projects/{}", project.slug));
            (text, Code::default(), Some(link))
        }
        _ => {
            let text = "A project names the repository that agents work on, and who does the work.";
            (text.to_owned(), create_command(), None)
        }
    };
    Step { state, title: "Name a repository", text, code, link }
}
