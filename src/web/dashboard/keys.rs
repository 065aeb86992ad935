//! `/keys`: what agents and scripts call with.

use askama::Template;
use axum::extract::{Form, Query, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use super::docs_connect::{self, Client};
use super::login::wrong_with;
use super::parts::{Choice, Moment};
use super::shell::{Did, Shell};
use crate::accounts::audit;
use crate::accounts::keys::{self, NewKey, Prefix};
use crate::accounts::{Key, KeyScope, Reach};
use crate::base::{Code, Fault, KeyId, Millis, ProjectId, Secret};
use crate::projects::{self, LIST_MAX};
use crate::store::{Read, Tx};
use crate::web::auth::Visitor;
use crate::web::fresh_keys::Made;
use crate::web::page::{Page, PageWith, go_to};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The keys, a form for another one, and the one that was just made.
#[derive(Template)]
#[template(path = "keys.html")]
pub(super) struct KeysPage {
    shell: Shell,
    fresh: Option<FreshKey>,
    /// Whether the person may make and revoke keys.
    can_manage: bool,
    keys: Vec<KeyRow>,
    form: KeyForm,
    scopes: Vec<Choice>,
    projects: Vec<Choice>,
}

/// A key that was just made. It is shown on this one page and never again.
pub(super) struct FreshKey {
    name: String,
    key: String,
    clients: Vec<Client>,
}

/// One key, without its secret.
pub(super) struct KeyRow {
    id: String,
    name: String,
    /// Its beginning and its end, by which a person knows it again.
    shown: String,
    scope: String,
    projects: String,
    made: Moment,
    used: Option<Moment>,
    revoked: Option<Moment>,
}

/// The form, empty or as it was sent.
#[derive(Default)]
pub(super) struct KeyForm {
    name: String,
    /// Why it was not taken; empty at first.
    wrong: String,
}

/// The scopes a key can have, in plain words.
pub(super) fn scopes(chosen: &str) -> Vec<Choice> {
    let scope = |value: &str, label: &str, hint| Choice { hint, ..Choice::new(value, label) };
    let all = vec![
        scope("mcp_full", "Read and write", "Dispatch, cancel, retry and answer tickets."),
        scope("mcp_read", "Read only", "Follow tickets, proofs and projects."),
        scope("ci", "Build server", "Start checks and report their results."),
    ];
    Choice::choose(all, chosen)
}

/// The form as it is sent.
#[derive(Deserialize)]
pub(super) struct Sent {
    csrf: String,
    name: String,
    scope: String,
    #[serde(default)]
    project: String,
}

/// A key to revoke.
#[derive(Deserialize)]
pub(super) struct Revoked {
    csrf: String,
    key: String,
}

/// `GET /keys`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(Did { did }): Query<Did>,
) -> Result<Page<KeysPage>, Trouble> {
    let now = site.now();
    let page = visitor.read(&site, move |read, visitor| KeysPage::load(read, visitor, now));
    let mut page = page.await?;
    if did == "made" {
        page.fresh = site.fresh_keys().take(&visitor.session().id, now).map(|made| FreshKey {
            clients: docs_connect::clients(site.origin(), made.secret.reveal()),
            key: made.secret.reveal().to_owned(),
            name: made.name,
        });
    }
    page.shell = page.shell.after(&did);
    Ok(Page(page))
}

/// `POST /keys`: makes a key and leads to the page that shows it, this once. Loading that page
/// again makes no other key.
pub(super) async fn create(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Sent>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let (name, scope, project) = (sent.name.clone(), sent.scope.clone(), sent.project.clone());
    let maker = visitor.clone();
    let made = site.db().write(move |tx| make(tx, &maker, &sent)).await;
    let now = site.now();
    match made {
        Ok((key, secret)) => {
            let made = Made { name: key.name, secret };
            site.fresh_keys().put(&visitor.session().id, made, now);
            Ok(go_to("/keys?did=made"))
        }
        Err(fault) => {
            let page = visitor.read(&site, move |read, visitor| KeysPage::load(read, visitor, now));
            let mut page = page.await?;
            page.form = KeyForm { name, wrong: wrong_with(fault)? };
            page.scopes = scopes(&scope);
            page.projects = Choice::choose(page.projects, &project);
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn make(tx: &mut Tx<'_>, maker: &Visitor, sent: &Sent) -> Result<(Key, Secret), Fault> {
    let actor = maker.actor();
    let Some(scope) = KeyScope::parse(&sent.scope) else {
        return Err(Fault::argument("scope", "choose one of those that are listed."));
    };
    let project = sent.project.trim();
    let default_project = match ProjectId::parse(project) {
        None if !project.is_empty() => return Err(Fault::argument("project", "is not known.")),
        id => id,
    };
    let new = NewKey {
        name: &sent.name,
        scope,
        prefix: Prefix::default(),
        default_project,
        reach: Reach::All,
        ticket: None,
        expires_at: None,
        created_by: &actor.label(),
    };
    let made = keys::create(tx, actor.tenant, &new)?;
    note(tx, maker, "create_key", &made.0.id.to_string())?;
    Ok(made)
}

/// `POST /keys/revoke`.
pub(super) async fn revoke(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Revoked>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let Some(id) = KeyId::parse(&sent.key) else {
        return Err(Trouble(Fault::new(Code::NotFound, "There is no such key.")));
    };
    let by = visitor.clone();
    let revoked = site.db().write(move |tx| {
        keys::revoke(tx, by.actor().tenant, id)?;
        note(tx, &by, "revoke_key", &id.to_string())
    });
    revoked.await?;
    Ok(go_to("/keys?did=revoked"))
}

fn note(tx: &mut Tx<'_>, by: &Visitor, action: &str, subject: &str) -> Result<(), Fault> {
    let request = by.request.to_string();
    let entry = audit::Entry { via: "browser", action, subject, outcome: "ok", request: &request };
    audit::record(tx, by.actor(), entry)
}

impl KeysPage {
    fn load(read: &Read<'_>, visitor: &Visitor, now: Millis) -> Result<Self, Fault> {
        let actor = visitor.actor();
        let projects = projects::list(read, actor, LIST_MAX, None)?;
        let named = |id: ProjectId| {
            let known = projects.iter().find(|project| project.id == id);
            known.map_or("one project", |project| project.name.as_str())
        };
        let rows = keys::list(read, actor.tenant)?;
        let rows = rows.iter().map(|key| KeyRow::of(key, named, now)).collect();
        let mut choices = vec![Choice::new("", "None: each call names it")];
        choices.extend(
            projects.iter().map(|project| Choice::new(project.id.to_string(), &*project.name)),
        );
        Ok(Self {
            shell: Shell::load(read, visitor, "/keys")?.still(),
            fresh: None,
            can_manage: actor.is_admin(),
            keys: rows,
            form: KeyForm::default(),
            scopes: scopes(KeyScope::McpFull.word()),
            projects: Choice::choose(choices, ""),
        })
    }
}

impl KeyRow {
    fn of<'a>(key: &Key, named: impl Fn(ProjectId) -> &'a str, now: Millis) -> Self {
        let projects = match &key.reach {
            Reach::All => "All projects".to_owned(),
            Reach::Only(ids) => ids.iter().map(|id| named(*id)).collect::<Vec<_>>().join(", "),
        };
        let ended = key.revoked_at.or(key.expires_at.filter(|at| *at <= now));
        Self {
            id: key.id.to_string(),
            name: key.name.clone(),
            shown: key.shown.clone(),
            scope: key.scope.to_string(),
            projects,
            made: Moment::at(key.created_at, now),
            used: key.last_used_at.map(|at| Moment::at(at, now)),
            revoked: ended.map(|at| Moment::at(at, now)),
        }
    }
}

#[cfg(test)]
impl KeysPage {
    pub(super) fn sample() -> Self {
        use super::parts::samples::minutes_ago;
        let key = |id: &str, name: &str, scope: &str, used| KeyRow {
            id: id.to_owned(),
            name: name.to_owned(),
            shown: "alch_…La5e".to_owned(),
            scope: scope.to_owned(),
            projects: "All projects".to_owned(),
            made: minutes_ago(9_000),
            used,
            revoked: None,
        };
        let mut old = key("k3", "Old laptop", "mcp_read", None);
        old.revoked = Some(minutes_ago(2_000));
        Self {
            shell: Shell::sample("/keys"),
            fresh: None,
            can_manage: true,
            keys: vec![
                key("k1", "Ada's laptop", "mcp_full", Some(minutes_ago(2))),
                key("k2", "GitHub Actions", "ci", None),
                old,
            ],
            form: KeyForm::default(),
            scopes: scopes("mcp_full"),
            projects: Choice::choose(
                vec![
                    Choice::new("", "None: each call names it"),
                    Choice::new("acme", "Acme Widgets"),
                ],
                "",
            ),
        }
    }

    pub(super) fn sample_fresh() -> Self {
        let key = "alch_7Kq2vXn4Rt8bWc1mYp6sJd3gHf9zLa5e";
        Self {
            fresh: Some(FreshKey {
                name: "Ada's laptop".to_owned(),
                key: key.to_owned(),
                clients: super::docs_connect::clients("http://127.0.0.1:7171", key),
            }),
            form: KeyForm { name: String::new(), wrong: "A key needs a name.".to_owned() },
            ..Self::sample()
        }
    }
}
