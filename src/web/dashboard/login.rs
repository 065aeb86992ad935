//! `/login` and `/logout`: the door for people.

use askama::Template;
use axum::extract::{Form, Query, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::parts::plain_word;
use crate::accounts::{User, passwords, sessions, users};
use crate::base::{Code, Fault, Issue, Secret};
use crate::web::auth::{Anyone, Guest, Visitor};
use crate::web::page::{Page, PageWith, go_to};
use crate::web::site::{Peer, Site};
use crate::web::trouble::Trouble;

/// Passwords that are looked at at once: each costs a processor and 19 MiB on purpose.
static HASHING: Semaphore = Semaphore::const_new(4);

/// The form, empty or as it was sent.
#[derive(Template)]
#[template(path = "login.html")]
pub(super) struct LoginPage {
    csrf: String,
    /// Where to go on to; a path of ours.
    next: String,
    email: String,
    /// Why the last try was not taken; empty at first.
    wrong: String,
    /// Whether nobody has an account yet.
    is_new: bool,
}

/// Where somebody wanted to go.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    next: String,
}

/// The form as it is sent.
#[derive(Deserialize)]
pub(super) struct Sent {
    csrf: String,
    #[serde(default)]
    next: String,
    email: String,
    password: String,
}

/// `GET /login`.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
    guest: Guest,
    Query(asked): Query<Asked>,
) -> Result<Response, Trouble> {
    if visitor.is_some() {
        return Ok(go_to(&asked.next));
    }
    let page = LoginPage {
        csrf: guest.csrf.clone(),
        next: asked.next,
        email: String::new(),
        wrong: String::new(),
        is_new: is_new(&site).await?,
    };
    Ok((guest_headers(&guest), Page(page)).into_response())
}

/// `POST /login`.
pub(super) async fn submit(
    State(site): State<Site>,
    guest: Guest,
    Peer(peer): Peer,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Response, Trouble> {
    guest.check(&sent.csrf)?;
    let address = site.address_of(peer, &headers);
    let password = Secret::new(sent.password);
    let again = |wrong: String| LoginPage {
        csrf: guest.csrf.clone(),
        next: sent.next.clone(),
        email: sent.email.clone(),
        wrong,
        is_new: false,
    };
    if let Err(fault) = site.throttle().admit(&sent.email, &address, site.now()) {
        let page = again(fault.message.clone());
        return Ok(PageWith(StatusCode::TOO_MANY_REQUESTS, page).into_response());
    }
    let Some(user) = recognise(&site, &sent.email, password).await? else {
        let page = again("E-mail and password do not belong together.".to_owned());
        let page = LoginPage { is_new: is_new(&site).await?, ..page };
        return Ok(PageWith(StatusCode::UNAUTHORIZED, page).into_response());
    };
    site.throttle().succeeded(&sent.email);
    let cookie = begin(&site, user, &headers, address).await?;
    Ok(([(header::SET_COOKIE, cookie)], go_to(&sent.next)).into_response())
}

/// Whether nobody has an account yet.
async fn is_new(site: &Site) -> Result<bool, Fault> {
    Ok(!site.db().read(users::any).await?)
}

/// The person of an address and a password. Takes the same time whether the address is known.
pub(super) async fn recognise(
    site: &Site,
    email: &str,
    password: Secret,
) -> Result<Option<User>, Fault> {
    let email = email.to_owned();
    let known = site.db().read(move |read| users::login(read, &email)).await?;
    let (user, hash) = known.unzip();
    let _turn = HASHING.acquire().await.map_err(Fault::internal)?;
    let checked = tokio::task::spawn_blocking(move || passwords::verify(&password, hash.as_ref()));
    let is_right = checked.await.map_err(Fault::internal)?;
    Ok(user.filter(|_| is_right))
}

/// Starts a login; the cookie that holds it.
pub(super) async fn begin(
    site: &Site,
    user: User,
    headers: &HeaderMap,
    address: String,
) -> Result<http::HeaderValue, Fault> {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let agent = agent.unwrap_or_default().to_owned();
    let started = site.db().write(move |tx| sessions::start(tx, &user, &agent, &address));
    let (_, token) = started.await?;
    Ok(site.cookies().set_login(token.reveal()))
}

/// What a button alone sends.
#[derive(Deserialize)]
pub(super) struct Pressed {
    csrf: String,
}

/// `POST /logout`.
pub(super) async fn leave(
    State(site): State<Site>,
    visitor: Visitor,
    Form(pressed): Form<Pressed>,
) -> Result<Response, Trouble> {
    visitor.check(&pressed.csrf)?;
    let session = visitor.session().clone();
    let ended =
        site.db().write(move |tx| sessions::end(tx, session.tenant, session.user, &session.id));
    ended.await?;
    Ok(([(header::SET_COOKIE, site.cookies().clear_login())], go_to("/login")).into_response())
}

/// The headers that a page with a guest's form needs.
pub(super) fn guest_headers(guest: &Guest) -> HeaderMap {
    guest.headers().into_iter().collect()
}

/// The fault of a form, as the sentence that stands above it: what is wrong, without the paths.
pub(super) fn wrong_with(fault: Fault) -> Result<String, Fault> {
    match fault.code {
        Code::InvalidArgument | Code::Conflict => {
            let said = |issue: &Issue| format!("{}: {}", plain_word(&issue.path), issue.message);
            Ok(fault.issues.first().map_or_else(|| fault.message.clone(), said))
        }
        _ => Err(fault),
    }
}

#[cfg(test)]
impl LoginPage {
    pub(super) fn sample() -> Self {
        Self {
            csrf: "sample-token".to_owned(),
            next: "/tickets".to_owned(),
            email: "ada@example.com".to_owned(),
            wrong: "E-mail and password do not belong together.".to_owned(),
            is_new: true,
        }
    }
}
