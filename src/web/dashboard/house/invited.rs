//! `/join/{token}`: the one-time link by which somebody joins a team.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;

use crate::accounts::invitations;
use crate::accounts::passwords::{self, CHARACTERS_MIN};
use crate::accounts::{Actor, Plan, User, audit, tenants};
use crate::base::{Code, Fault, RequestId, Secret};
use crate::web::auth::Guest;
use crate::web::dashboard::login::{begin, guest_headers, wrong_with};
use crate::web::dashboard::parts::plain_word;
use crate::web::page::{Page, PageWith, go_to};
use crate::web::site::{Peer, Site};
use crate::web::trouble::Trouble;

/// The form, empty or as it was sent; or that the link is no longer good.
#[derive(Template, Default)]
#[template(path = "invited.html")]
pub(super) struct InvitedPage {
    is_usable: bool,
    /// The address of the page itself.
    action: String,
    csrf: String,
    team: String,
    email: String,
    role: String,
    name: String,
    /// Why the last try was not taken; empty at first.
    wrong: String,
    password_min: usize,
}

/// The form as it is sent.
#[derive(Deserialize)]
pub(super) struct Sent {
    csrf: String,
    name: String,
    password: String,
}

/// `GET /join/{token}`.
pub(super) async fn show(
    State(site): State<Site>,
    guest: Guest,
    Path(token): Path<String>,
) -> Result<Response, Trouble> {
    match open(&site, &token, &guest).await? {
        Some(page) => Ok((guest_headers(&guest), Page(page)).into_response()),
        None => Ok(gone()),
    }
}

/// `POST /join/{token}`.
pub(super) async fn submit(
    State(site): State<Site>,
    guest: Guest,
    Peer(peer): Peer,
    Path(token): Path<String>,
    headers: HeaderMap,
    axum::Extension(request): axum::Extension<RequestId>,
    Form(sent): Form<Sent>,
) -> Result<Response, Trouble> {
    guest.check(&sent.csrf)?;
    // Hashing a password costs time on purpose, and only the holder of the link may spend it.
    let Some(page) = open(&site, &token, &guest).await? else { return Ok(gone()) };
    let name = sent.name.clone();
    match accept(&site, Secret::new(token), sent, request).await {
        Ok(user) => {
            let address = site.address_of(peer, &headers);
            let cookie = begin(&site, user, &headers, address).await?;
            Ok(([(header::SET_COOKIE, cookie)], go_to("/")).into_response())
        }
        Err(fault) if fault.code == Code::NotFound => Ok(gone()),
        Err(fault) => {
            let page = InvitedPage { name, wrong: wrong_with(fault)?, ..page };
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn gone() -> Response {
    PageWith(StatusCode::NOT_FOUND, InvitedPage::default()).into_response()
}

/// The form of a link; `None` where it is no longer good.
async fn open(site: &Site, token: &str, guest: &Guest) -> Result<Option<InvitedPage>, Fault> {
    let asked = Secret::new(token);
    let found = site.db().read(move |read| {
        let Some(invitation) = invitations::open(read, &asked)? else { return Ok(None) };
        let tenant = tenants::find(read, invitation.tenant)?;
        Ok(tenant.map(|tenant| (tenant.name, invitation)))
    });
    Ok(found.await?.map(|(team, invitation)| InvitedPage {
        is_usable: true,
        action: format!("/join/{token}"),
        csrf: guest.csrf.clone(),
        team,
        email: invitation.email,
        role: plain_word(invitation.role.word()),
        password_min: CHARACTERS_MIN,
        ..InvitedPage::default()
    }))
}

async fn accept(site: &Site, token: Secret, sent: Sent, request: RequestId) -> Result<User, Fault> {
    let (password, entropy) = (Secret::new(sent.password), site.entropy().clone());
    let hashed = tokio::task::spawn_blocking(move || passwords::hash(&password, &entropy));
    let hash = hashed.await.map_err(Fault::internal)??;
    let joined = site.db().write(move |tx| {
        let user = invitations::accept(tx, &token, &sent.name, &hash)?;
        let plan = tenants::find(tx, user.tenant)?.map_or_else(Plan::default, |one| one.plan);
        note(tx, &user.actor(plan), &user.email, request)?;
        Ok(user)
    });
    joined.await
}

fn note(
    tx: &mut crate::store::Tx<'_>,
    actor: &Actor,
    email: &str,
    request: RequestId,
) -> Result<(), Fault> {
    let request = request.to_string();
    let entry = audit::Entry {
        via: "browser",
        action: "accept_invitation",
        subject: email,
        outcome: "ok",
        request: &request,
    };
    audit::record(tx, actor, entry)
}

#[cfg(test)]
impl InvitedPage {
    pub(super) fn sample() -> Self {
        Self {
            is_usable: true,
            action: "/join/sample".to_owned(),
            csrf: "sample-token".to_owned(),
            team: "Acme".to_owned(),
            email: "ben@example.com".to_owned(),
            role: "Member".to_owned(),
            name: String::new(),
            wrong: "Password: it is too short.".to_owned(),
            password_min: CHARACTERS_MIN,
        }
    }
}
