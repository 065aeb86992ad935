//! `/projects/{slug}`: what a project works on, with whom, and whether it is ready. Its settings,
//! section by section, have addresses of their own below it.

mod agent_form;
mod form;
pub(super) mod new;
mod sections;
pub(super) mod settings;
pub(super) mod tries;

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, Query, State};

use self::settings::SectionLink;
use super::marks::Mark;
use super::parts::{Fact, TicketRow, TicketRows, plain_word};
use super::shell::{Did, Shell};
use super::webhooks::{WebhooksPart, take_fresh};
use crate::base::{Fault, Millis};
use crate::projects::agents;
use crate::projects::git::inspect::State as Repository;
use crate::projects::git::{CommitId, inspect};
use crate::projects::health::{self, Amiss, Finding};
use crate::projects::settings::{Agents, EDITOR};
use crate::projects::{self, Project};
use crate::store::Read;
use crate::tickets::limits;
use crate::tickets::states::Status;
use crate::tickets::ticket::{self, Of};
use crate::web::auth::Visitor;
use crate::web::humane;
use crate::web::page::{Page, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Tickets that each list shows.
const SHOWN: u32 = 8;

/// How long a repository is waited for; a page that tells of the rest is better than none.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// A project's page.
#[derive(Template)]
#[template(path = "project.html")]
pub(super) struct ProjectPage {
    shell: Shell,
    key: String,
    name: String,
    tickets_href: String,
    /// Where a ticket of it is asked for, for those who may.
    new_ticket_href: Option<String>,
    /// `Ready for tickets`, or how many things are in the way.
    health_said: String,
    checks: Vec<Check>,
    repository: Vec<Fact>,
    verify: Vec<VerifyRow>,
    agents: Vec<AgentRow>,
    /// Who is told of its events, for who may see that.
    pub(super) webhooks: Option<WebhooksPart>,
    description: String,
    sections: Vec<SectionLink>,
    lists: Vec<TicketList>,
    usage: Vec<Fact>,
}

/// Tickets of the project in one state.
pub(super) struct TicketList {
    id: &'static str,
    title: &'static str,
    href: String,
    rows: TicketRows,
}

/// What the tickets of a project are at.
struct Work {
    lists: Vec<TicketList>,
    usage: Vec<Fact>,
}

/// One check of the set-up.
pub(super) struct Check {
    mark: Mark,
    name: &'static str,
    said: String,
    /// What to do about it; empty where nothing is to be done.
    fix: String,
    /// The section of the settings where it is done.
    section: &'static str,
}

/// One command that proves.
pub(super) struct VerifyRow {
    name: String,
    command: String,
}

impl VerifyRow {
    fn of(command: &crate::projects::settings::VerifyCommand) -> Self {
        Self { name: command.name.clone(), command: command.command.clone() }
    }
}

/// One agent profile.
pub(super) struct AgentRow {
    name: String,
    command: String,
    used_for: String,
    limit: String,
}

/// `GET /projects/{slug}`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    Query(Did { did }): Query<Did>,
) -> Result<Page<ProjectPage>, Trouble> {
    let fresh = if did == "webhook-added" { take_fresh(&site, &visitor) } else { None };
    let mut page = load(&site, visitor, slug).await?;
    page.webhooks = page.webhooks.map(|part| part.with_fresh(fresh));
    page.shell = page.shell.after(&did);
    Ok(Page(page))
}

/// The page as it is now.
pub(super) async fn load(
    site: &Site,
    visitor: Visitor,
    slug: String,
) -> Result<ProjectPage, Fault> {
    let now = site.now();
    let here = visitor.clone();
    let can_ask = visitor.actor().can_write();
    let (project, webhooks, shell, work) = visitor
        .read(site, move |read, visitor| {
            let project = projects::named(read, visitor.actor(), &slug)?;
            let webhooks = WebhooksPart::load(read, visitor, project.id, &project.slug)?;
            let work = Work::load(read, &project, now)?;
            Ok((project, webhooks, Shell::load(read, visitor, "/projects")?, work))
        })
        .await?;
    let repository = look(site, &project).await?;
    let health = health::judge(&project, repository.as_ref());
    let missing = agents::not_found(&project.settings.agents.profiles);
    let health = health.with_missing(&project, &missing);
    let page = ProjectPage::of(shell, &project, repository.as_ref(), &health);
    let sections = settings::links(&here, &project.slug, "");
    let ask = || format!("/tickets/new?project={}", in_query(&project.slug));
    let new_ticket_href = can_ask.then(ask);
    let (lists, usage) = (work.lists, work.usage);
    Ok(ProjectPage { new_ticket_href, webhooks, sections, lists, usage, ..page })
}

impl Work {
    fn load(read: &Read<'_>, project: &Project, now: Millis) -> Result<Self, Fault> {
        let list = |id, title, caption, status: Status| {
            let of = Of::Project(project.id);
            let found = ticket::list(read, project.tenant, of, Some(status), SHOWN, None)?;
            let row = |one| TicketRow::load(read, one, &project.name, now);
            let rows = found.iter().map(row).collect::<Result<Vec<_>, Fault>>()?;
            let slug = in_query(&project.slug);
            let href = format!("/tickets?project={slug}&status={}", status.word());
            let rows = TicketRows { caption, rows };
            Ok::<_, Fault>(TicketList { id, title, href, rows })
        };
        let lists: Vec<TicketList> = [
            list("waiting", "Wait for you", "Tickets that wait for you", Status::AwaitingInput)?,
            list("running", "Running", "Running tickets", Status::Running)?,
            list("queued", "Queued", "Queued tickets", Status::Queued)?,
            list("blocked", "Blocked", "Blocked tickets", Status::Blocked)?,
            list("landed", "Landed last", "Landed tickets", Status::Succeeded)?,
        ]
        .into();
        let lists = lists.into_iter().filter(|list| !list.rows.rows.is_empty()).collect();
        Ok(Self { lists, usage: usage(read, project)? })
    }
}

/// What the project has used in this month, and of how much.
fn usage(read: &Read<'_>, project: &Project) -> Result<Vec<Fact>, Fault> {
    let (tokens, cost) = limits::spent(read, project)?;
    let most = &project.settings.limits.project_month;
    let of = |used: String, most: Option<String>| match most {
        Some(most) => format!("{used} of {most}"),
        None => used,
    };
    let cost_most = most.cost_usd.map(|most| humane::dollars(most.micros()));
    Ok(vec![
        Fact::plain("Tokens", of(humane::count(tokens), most.tokens.map(humane::count))),
        Fact::plain("Cost", of(humane::dollars(cost), cost_most)),
    ])
}

/// What is found at the repository; `None` where there is none, or where it does not answer.
async fn look(site: &Site, project: &Project) -> Result<Option<Repository>, Fault> {
    let Some(location) = project.location() else { return Ok(None) };
    let base = project.base();
    let looked = inspect(site.git(), &location, base.as_ref());
    tokio::time::timeout(LOOK_MAX, looked).await.map_or(Ok(None), |found| found.map(Some))
}

impl ProjectPage {
    fn of(
        shell: Shell,
        project: &Project,
        repository: Option<&Repository>,
        health: &health::Health,
    ) -> Self {
        let name = project.short_name();
        Self {
            shell,
            key: name.to_owned(),
            name: project.name.clone(),
            tickets_href: format!("/tickets?project={}", in_query(&project.slug)),
            new_ticket_href: None,
            health_said: match health.blockers.len() {
                0 => "Ready for tickets.".to_owned(),
                1 => "One thing is in the way of tickets.".to_owned(),
                several => format!("{several} things are in the way of tickets."),
            },
            checks: checks(health, project, repository),
            repository: repository_facts(project, repository),
            verify: project.settings.verify.iter().map(VerifyRow::of).collect(),
            agents: agent_rows(&project.settings.agents),
            webhooks: None,
            description: project.description.clone(),
            sections: Vec::new(),
            lists: Vec::new(),
            usage: Vec::new(),
        }
    }
}

fn checks(
    health: &health::Health,
    project: &Project,
    repository: Option<&Repository>,
) -> Vec<Check> {
    let amiss = |state| move |found: &Finding| Check::of(state, found);
    let mut checks: Vec<Check> = health.blockers.iter().map(amiss("blocked")).collect();
    checks.extend(health.warnings.iter().map(amiss("warning")));
    let agent = project.settings.agents.choose("implement", "auto");
    if let Some(Repository::Ready(ready)) = repository {
        let said = format!("{} is at {}.", ready.base.as_str(), short(&ready.tip));
        checks.push(Check::fine("Repository", said));
    } else if project.location().is_some() && repository.is_none() {
        checks.push(Check {
            mark: Mark::health("warning"),
            name: "Repository",
            said: "It has not answered within 5 seconds.".to_owned(),
            fix: "Load the page again; if it stays so, look at the repository's address."
                .to_owned(),
            section: "repository",
        });
    }
    let runs = health.blockers.iter().all(|found| found.code != Amiss::AgentNotFound);
    if let Some((name, _)) = agent.filter(|_| runs) {
        checks.push(Check::fine("Agent", format!("{name} does the work.")));
    } else if project.settings.agents.is_for_editor("implement", "auto") {
        let said = "Agents in editors do the work: they claim it with claim_ticket_node.";
        checks.push(Check::fine("Agent", said.to_owned()));
    }
    match project.settings.verify.len() as u64 {
        0 => {}
        n => {
            let said = humane::counted(n, "command proves", "commands prove");
            checks.push(Check::fine("Verify commands", format!("{said} what an agent did.")));
        }
    }
    checks
}

fn short(commit: &CommitId) -> String {
    commit.to_string().chars().take(10).collect()
}

impl Check {
    fn of(state: &'static str, found: &Finding) -> Self {
        let name = match found.code {
            Amiss::NoRepository | Amiss::RepositoryUnusable => "Repository",
            Amiss::CheckoutDirty => "Checkout",
            Amiss::NoAgent | Amiss::AgentNotFound => "Agent",
            Amiss::NoVerifyCommand => "Verify commands",
        };
        let (said, fix) = (found.message.clone(), found.fix.clone());
        let section = found.code.section().unwrap_or_default();
        Self { mark: Mark::health(state), name, said, fix, section }
    }

    /// Whether the fix is a command, as the other way beside a page.
    fn is_command(&self) -> bool {
        self.fix.starts_with("assay ")
    }

    fn fine(name: &'static str, said: String) -> Self {
        Self { mark: Mark::health("ok"), name, said, fix: String::new(), section: "" }
    }
}

fn repository_facts(project: &Project, repository: Option<&Repository>) -> Vec<Fact> {
    let found = match repository {
        Some(Repository::Ready(ready)) => Some(ready),
        _ => None,
    };
    let base = project.base().or_else(|| found.map(|ready| ready.base.clone()));
    let mut facts = Vec::new();
    if let Some(place) = project.location() {
        facts.push(Fact::code("Where", place.to_string()));
    }
    if let Some(base) = base {
        facts.push(Fact::code("Base branch", base.as_str()));
    }
    if let Some(ready) = found {
        facts.push(Fact::code("Tip", short(&ready.tip)));
    }
    let landing = &project.settings.landing;
    facts.push(Fact::plain("Landing", plain_word(landing.strategy.word())));
    facts.push(Fact::plain(
        "Demands",
        if landing.require_fully_verified { "Every assertion confirmed" } else { "Nothing failed" },
    ));
    facts
}

fn agent_rows(agents: &Agents) -> Vec<AgentRow> {
    let used_for = |name: &str| {
        let is_default = match agents.choose("", "") {
            Some((chosen, _)) => chosen == name,
            None => name == EDITOR && agents.is_for_editor("", ""),
        };
        let named = agents.nodes.iter().chain(&agents.presets);
        let special = named.filter(|(_, agent)| *agent == name).map(|(what, _)| what.as_str());
        let mut uses: Vec<&str> = special.collect();
        if is_default {
            uses.push(if uses.is_empty() { "everything" } else { "everything else" });
        }
        uses.join(", ")
    };
    let row = |(name, profile): (&String, &crate::projects::agents::Profile)| AgentRow {
        name: name.clone(),
        command: profile.command.join(" "),
        used_for: used_for(name),
        limit: humane::duration(Duration::from_secs(profile.timeout_secs)),
    };
    let editor = AgentRow {
        name: EDITOR.to_owned(),
        command: "claimed with claim_ticket_node".to_owned(),
        used_for: used_for(EDITOR),
        limit: "its lease".to_owned(),
    };
    let is_used = !editor.used_for.is_empty();
    agents.profiles.iter().map(row).chain(is_used.then_some(editor)).collect()
}

#[cfg(test)]
impl ProjectPage {
    pub(super) fn sample() -> Self {
        let check = |state, name, said: &str, fix: &str| Check {
            mark: Mark::health(state),
            name,
            said: said.to_owned(),
            fix: fix.to_owned(),
            section: if fix.is_empty() { "" } else { "agents" },
        };
        Self {
            shell: Shell::sample("/projects"),
            key: "ACME".to_owned(),
            name: "Acme Widgets".to_owned(),
            tickets_href: "/tickets?project=acme-widgets".to_owned(),
            new_ticket_href: Some("/tickets/new?project=acme-widgets".to_owned()),
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
                Fact::code("Repository", "/srv/git/acme-widgets"),
                Fact::code("Base branch", "main"),
                Fact::plain("Key", "ACME"),
            ],
            verify: vec![
                VerifyRow { name: "install".to_owned(), command: "npm ci".to_owned() },
                VerifyRow { name: "tests".to_owned(), command: "npm test".to_owned() },
            ],
            agents: vec![AgentRow {
                name: "claude-code".to_owned(),
                command: "claude -p --output-format json".to_owned(),
                used_for: "plan, contract, implement, review".to_owned(),
                limit: "30 min".to_owned(),
            }],
            webhooks: Some(WebhooksPart::sample()),
            description: "Everything that sells widgets.".to_owned(),
            sections: vec![
                SectionLink { href: "/projects/acme".to_owned(), label: "Overview", is_here: true },
                SectionLink {
                    href: "/projects/acme/settings/agents".to_owned(),
                    label: "Agents",
                    is_here: false,
                },
            ],
            lists: vec![TicketList {
                id: "running",
                title: "Running",
                href: "/tickets?project=acme&status=running".to_owned(),
                rows: TicketRows {
                    caption: "Running tickets",
                    rows: vec![super::parts::samples::row(42, "Add a toggle", "running", &[])],
                },
            }],
            usage: vec![Fact::plain("Tokens", "1,204,000 of 5,000,000")],
        }
    }
}
