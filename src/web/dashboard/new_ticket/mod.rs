//! `/tickets/new`: asks for a ticket, with everything that the call of an agent may say. It is the
//! same call through the same gate.

mod files;
mod form;
mod preview;
mod suggest;
mod wrongs;

use askama::Template;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde_json::Value;

pub(super) use self::files::announce as announce_file;
use self::form::Typed;
use self::preview::{Preview, Same};
pub(super) use self::suggest::show as suggest;
use self::wrongs::Wrongs;
use super::parts::{Choice, plain_word};
use super::shell::Shell;
use crate::base::{Code, Fault, TicketId};
use crate::projects::{self, LIST_MAX, Project, categories};
use crate::store::Read;
use crate::tickets::states::{Kind, PassProfile, Preset};
use crate::tickets::ticket;
use crate::web::auth::{self, Visitor};
use crate::web::humane;
use crate::web::multipart;
use crate::web::page::{Page, PageWith, go_to, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The largest form with files that is read, in bytes. Larger files take a browser with scripts,
/// which uploads them one by one.
pub(in crate::web) const FORM_MAX: usize = 8 << 20;

/// The path of the form.
const PATH: &str = "/tickets/new";

/// Categories that are suggested at most.
const SUGGESTED_MAX: usize = 100;

/// The form, with what was typed and what became of it.
#[derive(Template)]
#[template(path = "new_ticket.html")]
pub(super) struct NewTicketPage {
    shell: Shell,
    typed: Typed,
    wrongs: Wrongs,
    projects: Vec<Choice>,
    kinds: Vec<Choice>,
    presets: Vec<Choice>,
    passes: Vec<Choice>,
    categories: Vec<String>,
    suggested: Vec<suggest::Suggested>,
    files: Vec<FileLine>,
    /// Who asks where nobody is named.
    me: String,
    preview: Option<Preview>,
    same: Option<Same>,
}

/// A file that is there already.
struct FileLine {
    key: String,
    name: String,
    size: String,
    /// What the form carries along.
    said: String,
}

/// What the address may say before anything is typed.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Before {
    #[serde(default)]
    project: String,
    #[serde(default)]
    title: String,
}

/// Whether the request is a form with files of somebody who is signed in: only theirs may be large.
pub(in crate::web) async fn takes_files(parts: &Parts, site: &Site) -> bool {
    let is_ours = parts.uri.path() == PATH && multipart::is_form(&parts.headers);
    is_ours && auth::is_signed_in(parts, site).await
}

/// `GET /tickets/new`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(before): Query<Before>,
) -> Result<Page<NewTicketPage>, Trouble> {
    demand_writer(&visitor)?;
    let typed = Typed { project: before.project, title: before.title, ..Typed::default() };
    let page = visitor.read(&site, move |read, visitor| NewTicketPage::load(read, visitor, typed));
    Ok(Page(page.await?))
}

/// `POST /tickets/new`: shows what it would come to, or files it.
pub(super) async fn submit(
    State(site): State<Site>,
    visitor: Visitor,
    request: Request,
) -> Result<Response, Trouble> {
    let (mut typed, files) = Typed::read(request).await?;
    visitor.check(&typed.csrf)?;
    demand_writer(&visitor)?;
    if let Err(fault) = files::take(&site, &visitor, &mut typed, files).await {
        return again(&site, &visitor, typed, fault).await;
    }
    if typed.act == "preview" {
        return look(&site, &visitor, typed).await;
    }
    let asked = typed.arguments(visitor.login());
    match visitor.call(&site, "dispatch_ticket", asked).await {
        Ok(answer) => filed(&site, &visitor, typed, &answer.value()).await,
        Err(fault) => again(&site, &visitor, typed, fault).await,
    }
}

fn demand_writer(visitor: &Visitor) -> Result<(), Fault> {
    if visitor.actor().can_write() {
        return Ok(());
    }
    let said = "Your role is to look on: viewers do not ask for tickets. An owner or an admin of \
                the team can change that.";
    Err(Fault::new(Code::Forbidden, said))
}

/// Shows what it would come to.
async fn look(site: &Site, visitor: &Visitor, typed: Typed) -> Result<Response, Trouble> {
    if typed.title.trim().is_empty() {
        let fault = Fault::argument("title", "is needed to say what it would come to");
        return again(site, visitor, typed, fault).await;
    }
    let seen = typed.clone();
    let page = visitor.read(site, move |read, visitor| {
        let mut page = NewTicketPage::load(read, visitor, seen.clone())?;
        let (preview, same) = preview::load(read, visitor, &seen)?;
        page.preview = Some(preview);
        page.same = same;
        Ok(page)
    });
    match page.await {
        Ok(page) => Ok(Page(page).into_response()),
        Err(fault) => again(site, visitor, typed, fault).await,
    }
}

/// Leads to the ticket that was filed, or shows the one that asks for the same.
async fn filed(
    site: &Site,
    visitor: &Visitor,
    typed: Typed,
    answer: &Value,
) -> Result<Response, Trouble> {
    let named = answer["ticket"]["id"].as_str().unwrap_or_default().to_owned();
    let duplicate = &answer["duplicate"];
    if duplicate["source"] == "near_duplicate" {
        let why = duplicate["match_reason"].as_str().unwrap_or_default().to_owned();
        let page = visitor.read(site, move |read, visitor| {
            let mut page = NewTicketPage::load(read, visitor, typed)?;
            if let Some(id) = TicketId::parse(&named) {
                let ticket = ticket::get(read, visitor.actor().tenant, id)?;
                page.same = Some(Same::of(&ticket, why));
            }
            Ok(page)
        });
        return Ok(Page(page.await?).into_response());
    }
    let did = if answer["chain"].as_array().is_some_and(|chain| !chain.is_empty()) {
        "split"
    } else {
        "filed"
    };
    let shown = answer["ticket"]["ticketRef"].as_str().filter(|named| !named.starts_with('#'));
    Ok(go_to(&format!("/tickets/{}?did={did}", in_query(shown.unwrap_or(&named)))))
}

/// The form again, with what was typed and what is wrong with it.
async fn again(
    site: &Site,
    visitor: &Visitor,
    typed: Typed,
    fault: Fault,
) -> Result<Response, Trouble> {
    let wrongs = Wrongs::from(fault, &typed)?;
    let page = visitor.read(site, move |read, visitor| NewTicketPage::load(read, visitor, typed));
    let page = NewTicketPage { wrongs, ..page.await? };
    Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

impl NewTicketPage {
    fn load(read: &Read<'_>, visitor: &Visitor, typed: Typed) -> Result<Self, Fault> {
        let projects = projects::list(read, visitor.actor(), LIST_MAX, None)?;
        let chosen = chosen(&projects, &typed.project);
        let categories = known(read, visitor, &projects, chosen)?;
        let suggested = suggest::newest(read, visitor, chosen)?;
        // A form that is being typed must not change under the hand.
        let shell = Shell::load(read, visitor, "/tickets")?.still();
        let user = &visitor.login().user;
        let me = format!("{} <{}>", user.name, user.email);
        let options = projects.iter().map(|one| Choice::new(&*one.slug, &*one.name)).collect();
        let at = chosen.map_or("", |project| &*project.slug).to_owned();
        let page = Self::of(shell, Typed { project: at.clone(), ..typed }, options);
        Ok(Self { categories, suggested, me, ..page })
    }

    fn of(shell: Shell, typed: Typed, projects: Vec<Choice>) -> Self {
        let mut options = projects;
        if options.len() != 1 {
            options.insert(0, Choice::new("", "Choose one"));
        }
        let file = |file: &form::File| FileLine {
            key: file.key.clone(),
            name: file.original_name.clone(),
            size: humane::size(file.size_bytes),
            said: file.said(),
        };
        Self {
            projects: Choice::choose(options, &typed.project),
            kinds: words(
                "Told from the words",
                Kind::ALL.iter().map(|one| one.word()),
                &typed.kind,
            ),
            presets: presets(&typed.preset),
            passes: passes(&typed.pass_profile),
            categories: Vec::new(),
            suggested: Vec::new(),
            files: typed.files.iter().map(file).collect(),
            me: String::new(),
            preview: None,
            same: None,
            wrongs: Wrongs::default(),
            shell,
            typed,
        }
    }

    /// Whether what most tickets do not need is shown unfolded.
    fn is_more_open(&self) -> bool {
        let typed = &self.typed;
        let is_used = !typed.seed_from_ref.is_empty()
            || !typed.replaces.is_empty()
            || typed.no_split
            || typed.predrafted
            || typed.confirm_no_attachments;
        is_used || self.wrongs.is_in_more()
    }
}

/// The project that is meant: by any of its names, or the only one there is.
fn chosen<'p>(projects: &'p [Project], named: &str) -> Option<&'p Project> {
    if named.is_empty() && projects.len() == 1 {
        return projects.first();
    }
    let is_it = |project: &&Project| {
        project.slug == named || project.key.as_deref() == Some(named) || project.name == named
    };
    projects.iter().find(is_it)
}

/// The categories of the project; of all projects where none is chosen.
fn known(
    read: &Read<'_>,
    visitor: &Visitor,
    projects: &[Project],
    chosen: Option<&Project>,
) -> Result<Vec<String>, Fault> {
    let all: Vec<&Project> = chosen.map_or_else(|| projects.iter().collect(), |one| vec![one]);
    let mut names = Vec::new();
    for project in all.into_iter().take(20) {
        let some = categories::list(read, visitor.actor().tenant, project.id)?;
        names.extend(some.into_iter().map(|category| category.name));
    }
    names.sort();
    names.dedup();
    names.truncate(SUGGESTED_MAX);
    Ok(names)
}

fn words<'w>(none: &str, words: impl Iterator<Item = &'w str>, chosen: &str) -> Vec<Choice> {
    let mut options = vec![Choice::new("", none)];
    options.extend(words.map(|word| Choice::new(word, plain_word(word))));
    Choice::choose(options, chosen)
}

fn presets(chosen: &str) -> Vec<Choice> {
    let said = |preset| match preset {
        Preset::Auto => "Auto: the project's default",
        Preset::Max => "Max: the strongest",
        Preset::High => "High: stronger than the default",
        Preset::Fast => "Fast: the quickest",
        Preset::Economy => "Economy: cheaper than the default",
        Preset::Trivial => "Trivial: a line or two, without a plan",
        Preset::Cheap => "Cheap: the cheapest",
    };
    let options = Preset::ALL.iter().map(|one| Choice::new(one.word(), said(*one))).collect();
    Choice::choose(options, if chosen.is_empty() { Preset::Auto.word() } else { chosen })
}

fn passes(chosen: &str) -> Vec<Choice> {
    let said = |passes| match passes {
        PassProfile::Auto => "Auto: where the words call for them",
        PassProfile::Full => "Full: security and docs",
        PassProfile::Minimal => "Minimal: neither",
    };
    let options = PassProfile::ALL.iter().map(|one| Choice::new(one.word(), said(*one))).collect();
    Choice::choose(options, if chosen.is_empty() { PassProfile::Auto.word() } else { chosen })
}

#[cfg(test)]
impl NewTicketPage {
    pub(super) fn sample() -> Self {
        let shell = Shell::sample("/tickets").still();
        let file = form::File {
            key: "attachments/1/2".to_owned(),
            original_name: "brief.pdf".to_owned(),
            content_type: "application/pdf".to_owned(),
            size_bytes: 48_213,
        };
        let typed =
            Typed { title: "Add a toggle".to_owned(), files: vec![file], ..Typed::default() };
        let projects = vec![Choice::new("acme-widgets", "Acme Widgets")];
        let page = Self::of(shell, typed, projects);
        Self {
            categories: vec!["Auth & Billing".to_owned()],
            me: "Ada Builder <ada@example.com>".to_owned(),
            suggested: suggest::samples(),
            preview: Some(Preview::sample()),
            same: Some(Same::sample()),
            wrongs: Wrongs::at("title", "Must not be empty."),
            ..page
        }
    }
}
