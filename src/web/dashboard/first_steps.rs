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
    /// The page on which it is done, which comes first.
    pub(super) link: Option<Link>,
    /// What leads to the other way, and that way.
    pub(super) other: &'static str,
    pub(super) code: Code,
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
        repository_step(project, state(has_ready, true), actor.is_admin()),
        Step {
            state: state(has_key, has_ready),
            title: "Connect a client",
            text:
                "Make a key and give it to Claude Code, Cursor, VS Code, Codex or any MCP client."
                    .to_owned(),
            link: Some(Link::new("Make a key", "/keys")),
            other: "",
            code: Code::default(),
        },
        Step {
            state: state(false, has_ready && has_key),
            title: "Ask for a ticket",
            text: "Write down what is to be done, or let an agent do that.".to_owned(),
            link: Some(Link::new("New ticket", "/tickets/new")),
            other: "Or say it to your agent in your own words, such as:",
            code: Code::new("first-ask", ask),
        },
    ])
}

fn repository_step(project: Option<&Project>, state: &'static str, can_make: bool) -> Step {
    let place = project.and_then(|project| Some((project, project.location()?)));
    let step = |text: String, link| Step {
        state,
        title: "Name a repository",
        text,
        link,
        other: "",
        code: Code::default(),
    };
    match (state, project, place) {
        ("done", _, Some((project, place))) => {
            step(format!("{} works on {place}.", project.name), None)
        }
        (_, Some(project), _) => {
            let text = format!("{} is there; its set-up is not complete yet.", project.name);
            let link = Link::new("See what is missing", format!("/projects/{}", project.slug));
            step(text, Some(link))
        }
        _ => {
            let text = "A project names the repository that agents work on, and who does the work.";
            let link = can_make.then(|| Link::new("New project", "/projects/new"));
            let other = if can_make { "Or on the server:" } else { "On the server:" };
            Step { other, code: create_command(), ..step(text.to_owned(), link) }
        }
    }
}
