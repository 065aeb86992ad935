//! `/projects/{slug}/settings/{section}`: the settings of a project, section by section. Each form
//! is a call of `update_project`, like any other caller's.

use askama::Template;
use axum::extract::{Form, Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::form::{Group, Sent, blame, fill, write};
use super::sections::{Known, SECTIONS, Section};
use super::{agent_form, tries};
use crate::base::{Code, Fault};
use crate::projects::{self, categories, environments};
use crate::web::auth::Visitor;
use crate::web::dashboard::shell::{Did, Notice, Shell};
use crate::web::page::{Page, PageWith, go_to, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// One section of a project's settings.
#[derive(Template)]
#[template(path = "project_settings.html")]
pub(in crate::web::dashboard) struct SettingsPage {
    shell: Shell,
    key: String,
    name: String,
    /// The address of the project.
    href: String,
    sections: Vec<SectionLink>,
    title: &'static str,
    about: &'static str,
    groups: Vec<Group>,
    categories: Option<Vec<CategoryRow>>,
    tries: Option<Vec<String>>,
    /// The version that the form was made from.
    seen: String,
    /// Problems that have no field here.
    wrong: Vec<String>,
}

/// An entry of the navigation of a project.
pub(in crate::web::dashboard) struct SectionLink {
    pub(super) href: String,
    pub(super) label: &'static str,
    pub(super) is_here: bool,
}

/// One category.
struct CategoryRow {
    id: String,
    name: String,
    open: u64,
}

/// The navigation of a project, at one of its pages. Only who manages the team has one.
pub(super) fn links(visitor: &Visitor, slug: &str, here: &str) -> Vec<SectionLink> {
    if !visitor.actor().is_admin() {
        return Vec::new();
    }
    let link = |label, href: String, at: &str| SectionLink { href, label, is_here: at == here };
    let mut all = vec![link("Overview", format!("/projects/{slug}"), "")];
    let section = |one: &Section| {
        link(one.label, format!("/projects/{slug}/settings/{}", one.slug), one.slug)
    };
    all.extend(SECTIONS.iter().map(section));
    all
}

/// `GET /projects/{slug}/settings/{section}`.
pub(in crate::web::dashboard) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path((slug, section)): Path<(String, String)>,
    Query(Did { did }): Query<Did>,
) -> Result<Page<SettingsPage>, Trouble> {
    visitor.demand_admin()?;
    let section = found(&section)?;
    let (known, shell) = load(&site, &visitor, slug).await?;
    let groups = section.present(&known);
    Ok(Page(SettingsPage::of(shell.after(&did), &visitor, section, &known, groups)))
}

/// `POST /projects/{slug}/settings/{section}`.
pub(in crate::web::dashboard) async fn save(
    State(site): State<Site>,
    visitor: Visitor,
    Path((slug, section)): Path<(String, String)>,
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, Trouble> {
    let mut sent = Sent(sent);
    visitor.check(sent.first("csrf").unwrap_or_default())?;
    visitor.demand_admin()?;
    let section = found(&section)?;
    let (known, shell) = load(&site, &visitor, slug).await?;
    let mut groups = section.for_sent(&known, &mut sent);
    fill(&mut groups, &sent);
    let fault = match arguments(section, &known, &mut groups, &sent) {
        Ok(Some(arguments)) => match visitor.call(&site, "update_project", arguments).await {
            Ok(_) => {
                let at = format!("/projects/{}/settings/{}", known.project.slug, section.slug);
                return Ok(go_to(&format!("{at}?did=saved")));
            }
            Err(fault) => Some(fault),
        },
        Ok(None) => None,
        Err(fault) => Some(fault),
    };
    refuse(shell, &visitor, section, &known, groups, fault)
}

/// The same form with what was typed, and what is wrong with it.
fn refuse(
    mut shell: Shell,
    visitor: &Visitor,
    section: &'static Section,
    known: &Known,
    mut groups: Vec<Group>,
    fault: Option<Fault>,
) -> Result<Response, Trouble> {
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    let mut said = "Nothing was saved. What is to be set right is marked below.";
    let mut wrong = Vec::new();
    match fault {
        None => {}
        Some(fault) if fault.code == Code::Conflict => {
            status = StatusCode::CONFLICT;
            said = "Nothing was saved: somebody else changed this project while the form was open. \
                    Below is what you typed. Open the section anew to see theirs; saving now puts \
                    yours in its place.";
        }
        Some(fault) if fault.code == Code::InvalidArgument => {
            wrong = blame(&mut groups, &fault.issues);
            if fault.issues.is_empty() {
                wrong.push(fault.message);
            }
        }
        Some(fault) => return Err(Trouble(fault)),
    }
    shell.notice = Some(Notice { tone: "bad", text: said.to_owned() });
    let page = SettingsPage { wrong, ..SettingsPage::of(shell, visitor, section, known, groups) };
    Ok(PageWith(status, page).into_response())
}

/// What `update_project` is called with; `None` where a field cannot be read.
fn arguments(
    section: &Section,
    known: &Known,
    groups: &mut [Group],
    sent: &Sent,
) -> Result<Option<Value>, Fault> {
    let project = &known.project;
    let mut arguments = Map::new();
    if section.slug == "document" {
        let text = sent.first("settings").unwrap_or_default();
        let document: Value = serde_json::from_str(text)
            .map_err(|error| Fault::argument("settings", format!("is not JSON: {error}.")))?;
        if !document.is_object() {
            return Err(Fault::argument("settings", "must be an object."));
        }
        arguments.insert("settings".to_owned(), document);
        arguments.insert("replaceSettings".to_owned(), true.into());
    } else {
        let settings = serde_json::to_value(&project.settings).map_err(Fault::internal)?;
        let mut document = json!({ "settings": settings });
        match section.slug {
            "verify" => document["settings"]["verify"] = json!([]),
            "environments" => document["environments"] = json!([]),
            _ => {}
        }
        if !write(groups, &mut document) {
            return Ok(None);
        }
        tidy(section, known, &mut document, sent)?;
        let touched = touched(groups);
        if let Value::Object(all) = document {
            arguments = all;
        }
        if let Some(Value::Object(parts)) = arguments.get_mut("settings") {
            parts.retain(|part, _| touched.contains(part));
        }
    }
    arguments.insert("projectId".to_owned(), project.id.to_string().into());
    arguments.insert("confirm".to_owned(), true.into());
    let seen = sent.first("seen").unwrap_or_default();
    arguments.insert("seenUpdatedAt".to_owned(), seen.into());
    Ok(Some(Value::Object(arguments)))
}

/// The parts of the settings that a form has fields for.
fn touched(groups: &[Group]) -> Vec<String> {
    let fields = groups.iter().flat_map(|group| &group.fields);
    let part = |path: &str| {
        let rest = path.strip_prefix("settings.")?;
        rest.split(['.', '[']).next().map(str::to_owned)
    };
    fields.filter_map(|field| part(&field.path)).collect()
}

/// What the fields of a section mean together.
fn tidy(section: &Section, known: &Known, document: &mut Value, sent: &Sent) -> Result<(), Fault> {
    match section.slug {
        "repository" => {
            // It is shown without credentials; sent back unchanged it keeps them.
            let shown = known.project.location().map(|place| place.to_string());
            if document["repository"].as_str() == shown.as_deref()
                && let Value::Object(all) = document
            {
                all.remove("repository");
            }
        }
        "verify" => {
            let landing = &mut document["settings"]["landing"];
            if landing["deployVerify"].get("command").is_none()
                && let Value::Object(landing) = landing
            {
                landing.remove("deployVerify");
            }
        }
        "agents" => agent_form::finish(document, sent)?,
        _ => {}
    }
    Ok(())
}

fn found(section: &str) -> Result<&'static Section, Fault> {
    let none = || Fault::new(Code::NotFound, "There is no such section of the settings.");
    Section::find(section).ok_or_else(none)
}

async fn load(site: &Site, visitor: &Visitor, slug: String) -> Result<(Known, Shell), Fault> {
    visitor
        .read(site, move |read, visitor| {
            let actor = visitor.actor();
            let project = projects::named(read, actor, &slug)?;
            let environments = environments::list(read, actor.tenant, project.id)?;
            let counted = categories::counted(read, actor.tenant, project.id, false)?;
            let categories =
                counted.into_iter().map(|one| (one.category, one.open_tickets)).collect();
            let shell = Shell::load(read, visitor, "/projects")?.still();
            Ok((Known { project, environments, categories }, shell))
        })
        .await
}

/// `POST /projects/{slug}/categories`: renames or removes one.
pub(in crate::web::dashboard) async fn change_category(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, Trouble> {
    let sent = Sent(sent);
    visitor.check(sent.first("csrf").unwrap_or_default())?;
    visitor.demand_admin()?;
    let id = sent.first("category").unwrap_or_default();
    let (tool, arguments, did) = if sent.first("do") == Some("remove") {
        ("delete_category", json!({ "category_id": id }), "removed")
    } else {
        let name = sent.first("name").unwrap_or_default();
        ("rename_category", json!({ "category_id": id, "name": name }), "saved")
    };
    let section = found("categories")?;
    match visitor.call(&site, tool, arguments).await {
        Ok(_) => {
            let slug = in_query(&slug);
            Ok(go_to(&format!("/projects/{slug}/settings/categories?did={did}")))
        }
        Err(fault) if matches!(fault.code, Code::InvalidArgument | Code::Conflict) => {
            let (known, shell) = load(&site, &visitor, slug).await?;
            let page = SettingsPage {
                wrong: vec![fault.message],
                ..SettingsPage::of(shell, &visitor, section, &known, Vec::new())
            };
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
        Err(fault) => Err(Trouble(fault)),
    }
}

impl SettingsPage {
    fn of(
        shell: Shell,
        visitor: &Visitor,
        section: &'static Section,
        known: &Known,
        groups: Vec<Group>,
    ) -> Self {
        let project = &known.project;
        let categories = known.categories.iter().map(|(category, open)| CategoryRow {
            id: category.id.to_string(),
            name: category.name.clone(),
            open: *open,
        });
        let is_at = |slug: &str| section.slug == slug;
        Self {
            shell,
            key: project.short_name().to_owned(),
            name: project.name.clone(),
            href: format!("/projects/{}", project.slug),
            sections: links(visitor, &project.slug, section.slug),
            title: section.label,
            about: section.about,
            groups,
            categories: is_at("categories").then(|| categories.collect()),
            tries: is_at("agents").then(|| tries::runnable(project)),
            seen: project.updated_at.iso(),
            wrong: Vec::new(),
        }
    }
}
