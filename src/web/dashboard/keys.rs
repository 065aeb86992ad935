//! `/keys`: what agents and scripts call with.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::{Form, Query, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use super::docs_connect::{self, Client};
use super::login::wrong_with;
use super::parts::{Choice, Moment};
use super::sheets::Sheets;
use super::shell::Shell;
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

/// Keys that are listed at once.
const KEYS_SHOWN: usize = 25;

/// The keys, a form for another one, and the one that was just made.
#[derive(Template)]
#[template(path = "keys.html")]
pub(super) struct KeysPage {
    shell: Shell,
    fresh: Option<FreshKey>,
    /// Whether the person may make and revoke keys.
    can_manage: bool,
    keys: Vec<KeyRow>,
    sheets: Sheets,
    /// Which keys are listed, of those that there are.
    filters: Vec<Filter>,
    form: KeyForm,
    scopes: Vec<Choice>,
    /// The projects that a call without one may mean.
    projects: Vec<Choice>,
    /// The projects that a key may be limited to.
    reach: Vec<Choice>,
    lasts: Vec<Choice>,
}

/// A choice of keys to list.
pub(super) struct Filter {
    label: &'static str,
    href: &'static str,
    count: usize,
    is_chosen: bool,
}

/// What the page is asked for.
#[derive(Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    did: String,
    /// `ended` or `all`; those that work where absent.
    #[serde(default)]
    show: String,
    /// Which part of them, from 1.
    #[serde(default)]
    page: String,
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
    /// Who made it.
    by: String,
    used: Option<Moment>,
    /// When it ends by itself.
    ends: Option<Moment>,
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

/// How long a key can last.
fn lasts(chosen: &str) -> Vec<Choice> {
    let all = [
        ("", "Until it is revoked"),
        ("7", "7 days"),
        ("30", "30 days"),
        ("90", "90 days"),
        ("365", "A year"),
    ];
    Choice::choose(all.iter().map(|(days, said)| Choice::new(*days, *said)).collect(), chosen)
}

/// The form as it is sent. Several projects come as several values of one name.
struct Sent(Vec<(String, String)>);

impl Sent {
    fn of(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value.trim())
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }
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
    Query(asked): Query<Asked>,
) -> Result<Page<KeysPage>, Trouble> {
    let (now, did) = (site.now(), asked.did.clone());
    let page = visitor.read(&site, move |read, visitor| KeysPage::load(read, visitor, now, &asked));
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
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, Trouble> {
    let sent = Arc::new(Sent(sent));
    visitor.check(sent.of("csrf"))?;
    visitor.demand_admin()?;
    let (maker, asked) = (visitor.clone(), sent.clone());
    let made = site.db().write(move |tx| make(tx, &maker, &asked)).await;
    let now = site.now();
    match made {
        Ok((key, secret)) => {
            let made = Made { name: key.name, secret };
            site.fresh_keys().put(&visitor.session().id, made, now);
            Ok(go_to("/keys?did=made"))
        }
        Err(fault) => {
            let page = visitor.read(&site, move |read, visitor| {
                KeysPage::load(read, visitor, now, &Asked::default())
            });
            let mut page = page.await?;
            page.form = KeyForm { name: sent.of("name").to_owned(), wrong: wrong_with(fault)? };
            page.scopes = scopes(sent.of("scope"));
            page.projects = Choice::choose(page.projects, sent.of("project"));
            for choice in &mut page.reach {
                choice.is_chosen = sent.all("reach").any(|id| id == choice.value);
            }
            page.lasts = lasts(sent.of("lasts"));
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn make(tx: &mut Tx<'_>, maker: &Visitor, sent: &Sent) -> Result<(Key, Secret), Fault> {
    let actor = maker.actor();
    let Some(scope) = KeyScope::parse(sent.of("scope")) else {
        return Err(Fault::argument("scope", "choose one of those that are listed."));
    };
    let project = |text: &str| {
        ProjectId::parse(text).ok_or_else(|| Fault::argument("project", "is not known."))
    };
    let default = Some(sent.of("project")).filter(|text| !text.is_empty());
    let only = sent.all("reach").map(project).collect::<Result<Vec<_>, _>>()?;
    let days = match sent.of("lasts") {
        "" => None,
        days => {
            let days = days.parse::<u32>().ok().filter(|days| (1..=3_650).contains(days));
            Some(days.ok_or_else(|| Fault::argument("lasts", "choose one that is listed."))?)
        }
    };
    let new = NewKey {
        name: sent.of("name"),
        scope,
        prefix: Prefix::default(),
        default_project: default.map(project).transpose()?,
        reach: if only.is_empty() { Reach::All } else { Reach::Only(only) },
        ticket: None,
        expires_at: days.map(|days| tx.now().plus(Duration::from_hours(24 * u64::from(days)))),
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
    fn load(read: &Read<'_>, visitor: &Visitor, now: Millis, asked: &Asked) -> Result<Self, Fault> {
        let show = asked.show.as_str();
        let actor = visitor.actor();
        let projects = projects::list(read, actor, LIST_MAX, None)?;
        let named = |id: ProjectId| {
            let known = projects.iter().find(|project| project.id == id);
            known.map_or("one project", |project| project.name.as_str())
        };
        let all = keys::list(read, actor.tenant)?;
        let working = all.iter().filter(|key| key.works_at(now)).count();
        let is_listed = |key: &&Key| match show {
            "all" => true,
            "ended" => !key.works_at(now),
            _ => key.works_at(now),
        };
        let filters = filters(show, working, all.len());
        let address = filters.iter().find(|filter| filter.is_chosen).map_or("/keys", |it| it.href);
        let address = format!("{address}{}", if address.contains('?') { '&' } else { '?' });
        let listed = all.iter().filter(is_listed).collect();
        let page = asked.page.parse().unwrap_or(1);
        let (listed, sheets) = Sheets::of(listed, page, KEYS_SHOWN, &address);
        let rows = listed.into_iter().map(|key| KeyRow::of(key, named, now)).collect();
        let each: Vec<Choice> = projects
            .iter()
            .map(|project| Choice::new(project.id.to_string(), &*project.name))
            .collect();
        let mut choices = vec![Choice::new("", "None: each call names it")];
        choices.extend(each.iter().cloned());
        Ok(Self {
            shell: Shell::load(read, visitor, "/keys")?.still(),
            fresh: None,
            can_manage: actor.is_admin(),
            keys: rows,
            sheets,
            filters,
            form: KeyForm::default(),
            scopes: scopes(KeyScope::McpFull.word()),
            projects: Choice::choose(choices, ""),
            reach: each,
            lasts: lasts(""),
        })
    }
}

fn filters(show: &str, working: usize, all: usize) -> Vec<Filter> {
    let shown = if matches!(show, "ended" | "all") { show } else { "" };
    let filter =
        |label, href, word: &str, count| Filter { label, href, count, is_chosen: shown == word };
    vec![
        filter("Working", "/keys", "", working),
        filter("Ended", "/keys?show=ended", "ended", all - working),
        filter("All", "/keys?show=all", "all", all),
    ]
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
            by: key.created_by.strip_prefix("user ").unwrap_or(&key.created_by).to_owned(),
            ends: key.expires_at.map(|at| Moment::at(at, now)),
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
            by: "ada@example.com".to_owned(),
            ends: None,
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
            sheets: Sheets::default(),
            filters: filters("all", 2, 3),
            form: KeyForm::default(),
            scopes: scopes("mcp_full"),
            reach: vec![Choice::new("acme", "Acme Widgets")],
            lasts: lasts(""),
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
