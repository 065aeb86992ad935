//! `/secrets/{token}`: the form that takes the secret a ticket waits for. The link is the
//! permission, so it needs no login; it works once.

use askama::Template;
use axum::Extension;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;

use super::login::{guest_headers, wrong_with};
use crate::accounts::{Actor, Plan, audit};
use crate::base::{RequestId, Secret};
use crate::tickets::pipeline::people;
use crate::tickets::secrets::links::{self, Found, Link};
use crate::tickets::secrets::{self, VALUE_MIN};
use crate::web::auth::{Anyone, Guest, Visitor};
use crate::web::markdown::{self, Prose};
use crate::web::page::PageWith;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The form, or that it was taken, or that the link is good for nothing.
#[derive(Template)]
#[template(path = "secret.html")]
pub(super) struct SecretPage {
    /// Empty where the link is good for nothing.
    name: String,
    /// Whether the value was taken just now.
    is_taken: bool,
    reference: String,
    title: String,
    project: String,
    asked: Prose,
    /// Until when the link can be used: `2026-07-29 14:00 UTC`.
    until: String,
    /// The address of the page itself, without the server.
    action: String,
    csrf: String,
    /// Why the last try was not taken; empty at first.
    wrong: String,
    value_min: usize,
}

/// The form as it is sent.
#[derive(Deserialize)]
pub(super) struct Sent {
    csrf: String,
    value: String,
}

/// `GET /secrets/{token}`.
pub(super) async fn show(
    State(site): State<Site>,
    guest: Guest,
    Path(token): Path<String>,
) -> Result<Response, Trouble> {
    let asked = Secret::new(&*token);
    let found = site.db().read(move |read| links::find(read, &asked)).await?;
    Ok(match found {
        Found::Open(link) => {
            let page = SecretPage::of(&link, &token, &guest);
            private(StatusCode::OK, &guest, page)
        }
        Found::Over => private(StatusCode::GONE, &guest, SecretPage::default()),
        Found::Unknown => private(StatusCode::NOT_FOUND, &guest, SecretPage::default()),
    })
}

/// `POST /secrets/{token}`.
pub(super) async fn submit(
    State(site): State<Site>,
    guest: Guest,
    Anyone(visitor): Anyone,
    Extension(request): Extension<RequestId>,
    Path(token): Path<String>,
    Form(sent): Form<Sent>,
) -> Result<Response, Trouble> {
    guest.check(&sent.csrf)?;
    let (asked, value) = (Secret::new(&*token), Secret::new(sent.value));
    let given = site.db().read(move |read| {
        let Found::Open(link) = links::find(read, &asked)? else { return Ok(None) };
        let (tenant, ticket) = (link.ticket.tenant, link.ticket.id);
        let value = secrets::value(value.reveal());
        let sealed = value.map(|value| secrets::seal(read, tenant, ticket, &link.name, &value));
        Ok(Some((link, sealed)))
    });
    let Some((link, sealed)) = given.await? else {
        return Ok(private(StatusCode::GONE, &guest, SecretPage::default()));
    };
    let page = SecretPage::of(&link, &token, &guest);
    let sealed = match sealed {
        Ok(sealed) => sealed?,
        Err(fault) => {
            let page = SecretPage { wrong: wrong_with(fault)?, ..page };
            return Ok(private(StatusCode::UNPROCESSABLE_ENTITY, &guest, page));
        }
    };
    let actor = actor(&link, visitor.as_ref().map(Visitor::actor));
    let token = Secret::new(token);
    let written = site.db().write(move |tx| {
        let label = actor.label();
        let Some(ticket) = people::give_secret(tx, &token, &sealed, &label)? else {
            return Ok(false);
        };
        let subject = format!("{} {}", ticket.reference(), link.name);
        let request = request.to_string();
        let entry = audit::Entry {
            via: "browser",
            action: "give_secret",
            subject: &subject,
            outcome: "ok",
            request: &request,
        };
        audit::record(tx, &actor, entry)?;
        Ok(true)
    });
    Ok(if written.await? {
        private(StatusCode::OK, &guest, SecretPage { is_taken: true, ..page })
    } else {
        private(StatusCode::GONE, &guest, SecretPage::default())
    })
}

/// Who gives it: a member of the team, or whoever was sent the link.
fn actor(link: &Link, visitor: Option<&Actor>) -> Actor {
    let tenant = link.ticket.tenant;
    let member = visitor.filter(|actor| actor.tenant == tenant);
    member.cloned().unwrap_or_else(|| Actor::holder(tenant, Plan::default()))
}

/// A page whose address nobody may learn: not even our own files are told which page asks for them.
fn private(status: StatusCode, guest: &Guest, page: SecretPage) -> Response {
    let quiet = HeaderValue::from_static("no-referrer");
    let mut headers: HeaderMap = guest_headers(guest);
    headers.insert(header::REFERRER_POLICY, quiet);
    (headers, PageWith(status, page)).into_response()
}

impl Default for SecretPage {
    fn default() -> Self {
        Self {
            name: String::new(),
            is_taken: false,
            reference: String::new(),
            title: String::new(),
            project: String::new(),
            asked: Prose::default(),
            until: String::new(),
            action: String::new(),
            csrf: String::new(),
            wrong: String::new(),
            value_min: VALUE_MIN,
        }
    }
}

impl SecretPage {
    fn of(link: &Link, token: &str, guest: &Guest) -> Self {
        Self {
            name: link.name.clone(),
            reference: link.ticket.reference(),
            title: link.ticket.title.clone(),
            project: link.project.clone(),
            asked: markdown::render(&link.asked),
            until: format!("{} UTC", link.expires_at.iso()[..16].replace('T', " ")),
            action: format!("/secrets/{token}"),
            csrf: guest.csrf.clone(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
impl SecretPage {
    pub(super) fn sample() -> Self {
        Self {
            name: "STRIPE_WEBHOOK_SECRET".to_owned(),
            reference: "ACME-44".to_owned(),
            title: "Integrate <Stripe> Checkout".to_owned(),
            project: "Acme Widgets".to_owned(),
            asked: markdown::render("The **signing secret** of the webhook."),
            until: "2026-07-30 16:00 UTC".to_owned(),
            action: "/secrets/sample".to_owned(),
            csrf: "sample-token".to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn sample_wrong() -> Self {
        Self { wrong: "Value: it is empty.".to_owned(), ..Self::sample() }
    }

    pub(super) fn sample_taken() -> Self {
        Self { is_taken: true, ..Self::sample() }
    }

    pub(super) fn sample_over() -> Self {
        Self::default()
    }
}
