//! `/account`: a person's own password, and the devices where they are signed in.

use askama::Template;
use axum::extract::{Form, Query, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::note;
use crate::accounts::passwords::{self, CHARACTERS_MIN};
use crate::accounts::{Session, sessions, users};
use crate::base::{Fault, Millis, Secret};
use crate::store::Read;
use crate::web::auth::Visitor;
use crate::web::dashboard::login::{recognise, wrong_with};
use crate::web::dashboard::parts::Moment;
use crate::web::dashboard::shell::{Did, Shell};
use crate::web::page::{Page, PageWith, go_to};
use crate::web::site::{Peer, Site};
use crate::web::trouble::Trouble;

/// The account.
#[derive(Template)]
#[template(path = "account.html")]
pub(super) struct AccountPage {
    shell: Shell,
    name: String,
    email: String,
    role: String,
    devices: Vec<Device>,
    /// Why the last try to change the password was not taken; empty at first.
    wrong: String,
    password_min: usize,
}

/// A device where the person is signed in.
struct Device {
    id: String,
    /// `Firefox on Linux`.
    name: String,
    user_agent: String,
    address: String,
    began: Moment,
    seen: Moment,
    is_this: bool,
}

/// The form for another password.
#[derive(Deserialize)]
pub(super) struct NewPassword {
    csrf: String,
    current: String,
    password: String,
}

/// A device to sign out.
#[derive(Deserialize)]
pub(super) struct Ended {
    csrf: String,
    session: String,
}

/// What a button alone sends.
#[derive(Deserialize)]
pub(super) struct Pressed {
    csrf: String,
}

/// `GET /account`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(Did { did }): Query<Did>,
) -> Result<Page<AccountPage>, Trouble> {
    let mut page = load(&site, &visitor).await?;
    page.shell = page.shell.after(&did);
    Ok(Page(page))
}

async fn load(site: &Site, visitor: &Visitor) -> Result<AccountPage, Fault> {
    let now = site.now();
    visitor.read(site, move |read, visitor| AccountPage::load(read, visitor, now)).await
}

/// `POST /account/password`.
pub(super) async fn change_password(
    State(site): State<Site>,
    visitor: Visitor,
    Peer(peer): Peer,
    headers: HeaderMap,
    Form(sent): Form<NewPassword>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    let email = visitor.login().user.email.clone();
    let address = site.address_of(peer, &headers);
    if let Err(fault) = site.throttle().admit(&email, &address, site.now()) {
        let page = AccountPage { wrong: fault.message.clone(), ..load(&site, &visitor).await? };
        return Ok(PageWith(StatusCode::TOO_MANY_REQUESTS, page).into_response());
    }
    let (current, password) = (Secret::new(sent.current), Secret::new(sent.password));
    if recognise(&site, &email, current).await?.is_none() {
        let wrong = "The current password is another one.".to_owned();
        let page = AccountPage { wrong, ..load(&site, &visitor).await? };
        return Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    site.throttle().succeeded(&email);
    let entropy = site.entropy().clone();
    let hashed = tokio::task::spawn_blocking(move || passwords::hash(&password, &entropy));
    let hash = match hashed.await.map_err(Fault::internal)? {
        Ok(hash) => hash,
        Err(fault) => {
            let page = AccountPage { wrong: wrong_with(fault)?, ..load(&site, &visitor).await? };
            return Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
    };
    let by = visitor.clone();
    let changed = site.db().write(move |tx| {
        let user = &by.login().user;
        users::change_password(tx, user, &hash, &by.session().id)?;
        note(tx, &by, "change_password", &user.email)
    });
    changed.await?;
    Ok(go_to("/account?did=password"))
}

/// `POST /account/sessions/end`.
pub(super) async fn end_session(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Ended>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    let by = visitor.clone();
    let ended = site.db().write(move |tx| {
        let user = &by.login().user;
        sessions::end(tx, user.tenant, user.id, &sent.session)?;
        note(tx, &by, "end_session", &user.email)
    });
    ended.await?;
    Ok(go_to("/account?did=signed-out"))
}

/// `POST /account/sessions/end-others`.
pub(super) async fn end_others(
    State(site): State<Site>,
    visitor: Visitor,
    Form(pressed): Form<Pressed>,
) -> Result<Response, Trouble> {
    visitor.check(&pressed.csrf)?;
    let by = visitor.clone();
    let ended = site.db().write(move |tx| {
        let user = &by.login().user;
        sessions::end_others(tx, user.tenant, user.id, &by.session().id)?;
        note(tx, &by, "end_other_sessions", &user.email)
    });
    ended.await?;
    Ok(go_to("/account?did=others-signed-out"))
}

impl AccountPage {
    fn load(read: &Read<'_>, visitor: &Visitor, now: Millis) -> Result<Self, Fault> {
        let user = &visitor.login().user;
        let own = &visitor.session().id;
        let mut all = sessions::list(read, user.tenant, user.id)?;
        // The one that the person looks from stands first, then those used last.
        all.sort_by_key(|one| (one.id != *own, std::cmp::Reverse(one.last_seen_at)));
        Ok(Self {
            shell: Shell::load(read, visitor, "/account")?.still(),
            name: user.name.clone(),
            email: user.email.clone(),
            role: crate::web::dashboard::parts::plain_word(user.role.word()),
            devices: all.iter().map(|one| Device::of(one, own, now)).collect(),
            wrong: String::new(),
            password_min: CHARACTERS_MIN,
        })
    }
}

impl Device {
    fn of(session: &Session, own: &str, now: Millis) -> Self {
        Self {
            id: session.id.clone(),
            name: called(&session.user_agent),
            user_agent: session.user_agent.clone(),
            address: session.address.clone(),
            began: Moment::at(session.created_at, now),
            seen: Moment::at(session.last_seen_at, now),
            is_this: session.id == own,
        }
    }
}

/// A browser by the name that people have for it. Each says the names of those it wants to be
/// taken for too, so the rarer ones are looked for first.
fn called(user_agent: &str) -> String {
    let first = |names: &[(&str, &'static str)], other| {
        let found = names.iter().find(|(mark, _)| user_agent.contains(mark));
        found.map_or(other, |(_, name)| *name)
    };
    let browsers = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("HeadlessChrome/", "Chromium"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ];
    let systems = [
        ("Android", " on Android"),
        ("iPhone", " on an iPhone"),
        ("iPad", " on an iPad"),
        ("Windows", " on Windows"),
        ("Mac OS", " on a Mac"),
        ("CrOS", " on ChromeOS"),
        ("Linux", " on Linux"),
    ];
    format!("{}{}", first(&browsers, "A browser"), first(&systems, ""))
}

#[cfg(test)]
impl AccountPage {
    pub(super) fn sample() -> Self {
        use crate::web::dashboard::parts::samples::minutes_ago;
        let device = |id: &str, is_this| Device {
            id: id.to_owned(),
            name: "Firefox on Linux".to_owned(),
            user_agent: "Mozilla/5.0 (X11; Linux) Firefox/140.0".to_owned(),
            address: "127.0.0.1".to_owned(),
            began: minutes_ago(4_000),
            seen: minutes_ago(3),
            is_this,
        };
        Self {
            shell: Shell::sample("/account"),
            name: "Ada Builder".to_owned(),
            email: "ada@example.com".to_owned(),
            role: "Owner".to_owned(),
            devices: vec![device("aa", true), device("bb", false)],
            wrong: "The current password is another one.".to_owned(),
            password_min: CHARACTERS_MIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_called_what_people_call_it() {
        let edge = "Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0";
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1";

        assert_eq!(called(edge), "Edge on Windows");
        assert_eq!(called(phone), "Safari on an iPhone");
        assert_eq!(called("<script>"), "A browser");
    }
}
