//! `/setup/{token}`: the first account of an empty server, through the link it printed.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;

use super::login::{begin, guest_headers, wrong_with};
use crate::accounts::passwords::{self, CHARACTERS_MIN};
use crate::accounts::setup::{self, FirstOwner};
use crate::accounts::{User, audit};
use crate::base::{Code, Fault, RequestId, Secret};
use crate::web::auth::Guest;
use crate::web::page::{Page, PageWith, go_to};
use crate::web::site::{Peer, Site};
use crate::web::trouble::Trouble;

/// The form, empty or as it was sent; or that the link is no longer good.
#[derive(Template, Default)]
#[template(path = "setup.html")]
pub(super) struct SetupPage {
    is_usable: bool,
    /// The address of the page itself.
    action: String,
    csrf: String,
    tenant: String,
    name: String,
    email: String,
    /// Why the last try was not taken; empty at first.
    wrong: String,
    password_min: usize,
}

/// The form as it is sent.
#[derive(Deserialize)]
pub(super) struct Sent {
    csrf: String,
    tenant: String,
    name: String,
    email: String,
    password: String,
}

/// `GET /setup/{token}`.
pub(super) async fn show(
    State(site): State<Site>,
    guest: Guest,
    Path(token): Path<String>,
) -> Result<Response, Trouble> {
    let asked = Secret::new(&*token);
    if !site.db().read(move |read| setup::is_open(read, &asked)).await? {
        return Ok(PageWith(StatusCode::NOT_FOUND, SetupPage::default()).into_response());
    }
    let page = SetupPage { is_usable: true, ..SetupPage::of(&token, &guest) };
    Ok((guest_headers(&guest), Page(page)).into_response())
}

/// `POST /setup/{token}`.
pub(super) async fn submit(
    State(site): State<Site>,
    guest: Guest,
    Peer(peer): Peer,
    Path(token): Path<String>,
    axum::Extension(request): axum::Extension<RequestId>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Response, Trouble> {
    guest.check(&sent.csrf)?;
    let page = SetupPage {
        is_usable: true,
        tenant: sent.tenant.clone(),
        name: sent.name.clone(),
        email: sent.email.clone(),
        ..SetupPage::of(&token, &guest)
    };
    match consume(&site, Secret::new(token), sent, request).await {
        Ok(user) => {
            let address = site.address_of(peer, &headers);
            let cookie = begin(&site, user, &headers, address).await?;
            Ok(([(header::SET_COOKIE, cookie)], go_to("/")).into_response())
        }
        Err(fault) if fault.code == Code::NotFound => {
            Ok(PageWith(StatusCode::NOT_FOUND, SetupPage::default()).into_response())
        }
        Err(fault) => {
            let page = SetupPage { wrong: wrong_with(fault)?, ..page };
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn consume(
    site: &Site,
    token: Secret,
    sent: Sent,
    request: RequestId,
) -> Result<User, Fault> {
    // Hashing a password costs time on purpose, and only the holder of the link may spend it.
    let asked = token.clone();
    if !site.db().read(move |read| setup::is_open(read, &asked)).await? {
        return Err(Fault::new(Code::NotFound, "The link is no longer good."));
    }
    let (password, entropy) = (Secret::new(sent.password), site.entropy().clone());
    let hashed = tokio::task::spawn_blocking(move || passwords::hash(&password, &entropy));
    let hash = hashed.await.map_err(Fault::internal)??;
    let made = site.db().write(move |tx| {
        let owner = FirstOwner {
            tenant: &sent.tenant,
            email: &sent.email,
            name: &sent.name,
            password: &hash,
        };
        let (tenant, user) = setup::consume(tx, &token, &owner)?;
        let entry = audit::Entry {
            via: "browser",
            action: "set_up",
            subject: &user.email,
            outcome: "ok",
            request: &request.to_string(),
        };
        audit::record(tx, &user.actor(tenant.plan), entry)?;
        Ok(user)
    });
    made.await
}

impl SetupPage {
    fn of(token: &str, guest: &Guest) -> Self {
        Self {
            action: format!("/setup/{token}"),
            csrf: guest.csrf.clone(),
            password_min: CHARACTERS_MIN,
            ..Self::default()
        }
    }
}

#[cfg(test)]
impl SetupPage {
    pub(super) fn sample() -> Self {
        Self {
            is_usable: true,
            action: "/setup/sample".to_owned(),
            csrf: "sample-token".to_owned(),
            tenant: "Acme".to_owned(),
            password_min: CHARACTERS_MIN,
            ..Self::default()
        }
    }

    pub(super) fn sample_used() -> Self {
        Self::default()
    }
}
