//! Saved views: a person's own filters under names of their own.

use axum::extract::{Form, State};
use axum::response::Response;
use serde::Deserialize;

use super::asked::{Asked, href_of};
use crate::accounts::audit;
use crate::accounts::saved_views::{self, SavedView};
use crate::base::{Code, Fault, SavedViewId};
use crate::store::Tx;
use crate::web::auth::Visitor;
use crate::web::page::go_to;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// A view as a tab above the list.
pub(super) struct Tab {
    pub(super) label: String,
    pub(super) href: String,
    pub(super) is_open: bool,
}

/// The saved view that is open, to be renamed or removed.
pub(super) struct Open {
    pub(super) id: String,
    pub(super) name: String,
}

/// The tabs above the list, and the view that is open if it is a saved one.
pub(super) fn tabs(asked: &Asked, saved: &[SavedView]) -> (Vec<Tab>, Option<Open>) {
    let query = asked.query();
    let open = saved.iter().find(|view| view.query == query);
    let all = Asked { is_board: asked.is_board, ..Asked::default() };
    let mut tabs = vec![Tab {
        label: "All tickets".to_owned(),
        href: all.href(),
        is_open: open.is_none() && query == all.query(),
    }];
    tabs.extend(saved.iter().map(|view| Tab {
        label: view.name.clone(),
        href: href_of(&view.query),
        is_open: open.is_some_and(|open| open.id == view.id),
    }));
    (tabs, open.map(|view| Open { id: view.id.to_string(), name: view.name.clone() }))
}

/// A filter and the name it gets.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Saved {
    csrf: String,
    name: String,
    #[serde(default)]
    query: String,
}

/// `POST /tickets/views`.
pub(in crate::web::dashboard) async fn save(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Saved>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    // What is kept is what a list would make of it, and nothing else that was sent.
    let query = Asked::parse(&sent.query).ok_or_else(no_filter)?.query();
    let (by, kept) = (visitor.clone(), query.clone());
    let saved = site.db().write(move |tx| {
        let user = &by.login().user;
        let view = saved_views::save(tx, user.tenant, user.id, &sent.name, &kept)?;
        note(tx, &by, "save_view", &view.name)
    });
    saved.await?;
    Ok(leads_to(&query, "view-saved"))
}

fn no_filter() -> Fault {
    Fault::argument("query", "is no filter of the list. Open the list and save it from there.")
}

/// A view that is renamed or removed.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Changed {
    csrf: String,
    view: String,
    act: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    query: String,
}

/// `POST /tickets/views/change`.
pub(in crate::web::dashboard) async fn change(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Changed>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    let Some(id) = SavedViewId::parse(&sent.view) else {
        return Err(Trouble(Fault::new(Code::NotFound, "There is no such view.")));
    };
    let query = Asked::parse(&sent.query).unwrap_or_default().query();
    let is_removal = sent.act == "remove";
    let by = visitor.clone();
    let changed = site.db().write(move |tx| {
        let user = &by.login().user;
        if is_removal {
            saved_views::remove(tx, user.tenant, user.id, id)?;
            return note(tx, &by, "remove_view", &id.to_string());
        }
        saved_views::rename(tx, user.tenant, user.id, id, &sent.name)?;
        note(tx, &by, "rename_view", &id.to_string())
    });
    changed.await?;
    Ok(leads_to(&query, if is_removal { "view-removed" } else { "view-renamed" }))
}

fn leads_to(query: &str, did: &str) -> Response {
    let and = if query.is_empty() { "" } else { "&" };
    go_to(&format!("/tickets?{query}{and}did={did}"))
}

fn note(tx: &mut Tx<'_>, by: &Visitor, action: &str, subject: &str) -> Result<(), Fault> {
    let request = by.request.to_string();
    let entry = audit::Entry { via: "browser", action, subject, outcome: "ok", request: &request };
    audit::record(tx, by.actor(), entry)
}
