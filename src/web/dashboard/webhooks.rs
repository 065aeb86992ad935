//! The webhooks on a project's page: who is told, how it went, and the forms that change it. For
//! owners and admins alone: some receivers take the address itself for a password.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use super::login::wrong_with;
use super::marks::Mark;
use super::parts::Moment;
use super::project;
use crate::accounts::{Role, audit};
use crate::base::{Code, Fault, MessageId, Millis, ProjectId, Secret, WebhookId};
use crate::notices::deliveries::{self, Attempt, Message};
use crate::notices::webhooks::{self, NewWebhook, Webhook};
use crate::notices::{Event, outbox};
use crate::projects;
use crate::store::{Read, Tx};
use crate::web::auth::Visitor;
use crate::web::fresh_keys::Made;
use crate::web::page::{PageWith, go_to, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Deliveries of a webhook that its project's page shows.
const SHOWN: u32 = 5;

/// The part of a project's page.
#[derive(Template)]
#[template(path = "parts/webhooks.html")]
pub(super) struct WebhooksPart {
    csrf: String,
    /// Where the forms go, such as `/projects/acme/webhooks`.
    action: String,
    /// The secret of the webhook that was just added; shown this once.
    fresh: Option<String>,
    rows: Vec<WebhookRow>,
    /// What may be chosen.
    events: Vec<&'static str>,
    /// Whether the person may let one lead to private addresses.
    is_owner: bool,
    form: WebhookForm,
}

impl HtmlSafe for WebhooksPart {}

/// The form, empty or as it was sent.
#[derive(Default)]
pub(super) struct WebhookForm {
    url: String,
    /// Why it was not taken; empty at first.
    wrong: String,
}

/// One webhook.
struct WebhookRow {
    id: String,
    url: String,
    mark: Mark,
    /// What is amiss, in a sentence; empty where nothing is.
    said: String,
    events: String,
    is_on: bool,
    deliveries: Vec<DeliveryRow>,
}

/// One thing that it was told.
struct DeliveryRow {
    message: String,
    event: &'static str,
    mark: Mark,
    said: String,
    at: Moment,
    can_send_again: bool,
}

/// The form as it is sent: of the events, each that is chosen has a field of its own name.
#[derive(Deserialize)]
pub(super) struct Sent {
    csrf: String,
    url: String,
    #[serde(default)]
    events: String,
    #[serde(default)]
    private: String,
}

/// What is to be done to a webhook.
#[derive(Deserialize)]
pub(super) struct Act {
    csrf: String,
    webhook: String,
    #[serde(rename = "act")]
    wanted: String,
    #[serde(default)]
    message: String,
}

/// Where the secret of a new webhook waits for its page.
fn shelf(visitor: &Visitor) -> String {
    format!("webhook {}", visitor.session().id)
}

/// The secret that was just made by this login, this once.
pub(super) fn take_fresh(site: &Site, visitor: &Visitor) -> Option<String> {
    let made = site.fresh_keys().take(&shelf(visitor), site.now())?;
    Some(made.secret.reveal().to_owned())
}

impl WebhooksPart {
    /// The part for somebody who may see it; `None` for others.
    pub(super) fn load(
        read: &Read<'_>,
        visitor: &Visitor,
        project: ProjectId,
        slug: &str,
    ) -> Result<Option<Self>, Fault> {
        let actor = visitor.actor();
        if !actor.is_admin() {
            return Ok(None);
        }
        let now = read.now();
        let row = |webhook: Webhook| {
            let log = deliveries::log(read, actor.tenant, webhook.id, SHOWN)?;
            Ok(WebhookRow::of(webhook, &log, now))
        };
        let all = webhooks::list(read, actor.tenant, project)?;
        Ok(Some(Self {
            csrf: visitor.session().csrf.clone(),
            action: format!("/projects/{}/webhooks", in_query(slug)),
            fresh: None,
            rows: all.into_iter().map(row).collect::<Result<_, Fault>>()?,
            events: Event::choosable().map(Event::word).collect(),
            is_owner: visitor.login().user.role == Role::Owner,
            form: WebhookForm::default(),
        }))
    }

    /// The same with the secret that was just made.
    pub(super) fn with_fresh(self, fresh: Option<String>) -> Self {
        Self { fresh, ..self }
    }

    fn with_wrong(self, url: String, wrong: String) -> Self {
        Self { form: WebhookForm { url, wrong }, ..self }
    }
}

impl WebhookRow {
    fn of(webhook: Webhook, log: &[(Message, Option<Attempt>)], now: Millis) -> Self {
        let is_on = webhook.off.is_none();
        let (mark, said) = match (webhook.off, webhook.failing_since) {
            (Some(why), _) => (Mark::webhook("off"), why),
            (None, Some(since)) => {
                let ago = crate::web::humane::ago(since, now);
                (Mark::webhook("failing"), format!("Every try has failed since {ago}."))
            }
            (None, None) => (Mark::webhook("on"), String::new()),
        };
        let words: Vec<&str> = webhook.events.iter().map(|event| event.word()).collect();
        let is_all = words.len() == Event::choosable().count();
        Self {
            id: webhook.id.to_string(),
            url: webhook.url,
            mark,
            said,
            events: if is_all { "All events".to_owned() } else { words.join(", ") },
            is_on,
            deliveries: log
                .iter()
                .map(|(message, last)| DeliveryRow::of(message, last.as_ref(), is_on, now))
                .collect(),
        }
    }
}

impl DeliveryRow {
    fn of(message: &Message, last: Option<&Attempt>, is_on: bool, now: Millis) -> Self {
        let tries = match message.attempts {
            0 | 1 => String::new(),
            tries => format!(" Try {tries}."),
        };
        let said = match last {
            Some(Attempt { error: Some(error), .. }) => format!("{error}{tries}"),
            Some(Attempt { status: Some(status), took, .. }) => {
                format!("{status} in {} ms.{tries}", took.as_millis())
            }
            Some(_) | None => tries,
        };
        Self {
            message: message.id.to_string(),
            event: message.event.word(),
            mark: Mark::delivery(message.state.word()),
            said,
            at: Moment::at(message.created_at, now),
            can_send_again: is_on,
        }
    }
}

/// `POST /projects/{project}/webhooks`: adds a webhook and leads to the page that shows its secret,
/// this once.
pub(super) async fn add(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    Form(sent): Form<Sent>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let (url, by, named) = (sent.url.clone(), visitor.clone(), slug.clone());
    match site.db().write(move |tx| make(tx, &by, &named, &sent)).await {
        Ok(secret) => {
            let made = Made { name: url, secret };
            site.fresh_keys().put(&shelf(&visitor), made, site.now());
            Ok(go_to(&page(&slug, "webhook-added")))
        }
        Err(fault) => {
            let fault = match fault.code {
                // Where a webhook may not lead is a matter of the form, too.
                Code::Forbidden => Fault::argument("url", fault.message.clone()),
                _ => fault,
            };
            let wrong = wrong_with(fault)?;
            let mut page = project::load(&site, visitor, slug).await?;
            page.webhooks = page.webhooks.map(|part| part.with_wrong(url, wrong));
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn make(tx: &mut Tx<'_>, by: &Visitor, slug: &str, sent: &Sent) -> Result<Secret, Fault> {
    let actor = by.actor();
    let project = projects::named(tx, actor, slug)?;
    let is_private = !sent.private.is_empty();
    if is_private && by.login().user.role != Role::Owner {
        let said = "Only an owner lets a webhook lead to private addresses.";
        return Err(Fault::new(Code::Forbidden, said));
    }
    let new = NewWebhook {
        project: project.id,
        url: sent.url.clone(),
        events: webhooks::parse_events(&sent.events)?,
        is_private,
        by: actor.label(),
    };
    let (webhook, secret) = webhooks::create(tx, actor.tenant, &new)?;
    note(tx, by, "create_webhook", &webhook.id.to_string())?;
    Ok(secret)
}

/// `POST /projects/{project}/webhooks/change`.
pub(super) async fn change(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    Form(act): Form<Act>,
) -> Result<Response, Trouble> {
    visitor.check(&act.csrf)?;
    visitor.demand_admin()?;
    let by = visitor.clone();
    let named = slug.clone();
    let did = site.db().write(move |tx| carry_out(tx, &by, &named, &act)).await?;
    Ok(go_to(&page(&slug, did)))
}

/// Does what a button says, and names it for the page that follows.
fn carry_out(tx: &mut Tx<'_>, by: &Visitor, slug: &str, act: &Act) -> Result<&'static str, Fault> {
    let tenant = by.actor().tenant;
    let absent = || Fault::new(Code::NotFound, "There is no such webhook.");
    let id = WebhookId::parse(&act.webhook).ok_or_else(absent)?;
    let webhook = webhooks::get(tx, tenant, id)?;
    if webhook.project != projects::named(tx, by.actor(), slug)?.id {
        return Err(absent());
    }
    let (action, did) = match act.wanted.as_str() {
        "remove" => {
            webhooks::remove(tx, tenant, id)?;
            ("remove_webhook", "webhook-removed")
        }
        "enable" => {
            webhooks::switch_on(tx, tenant, id)?;
            ("enable_webhook", "webhook-on")
        }
        "disable" => {
            webhooks::switch_off(tx, tenant, id, "Somebody switched it off.")?;
            ("disable_webhook", "webhook-off")
        }
        "test" => {
            outbox::test(tx, tenant, webhook.project, id)?;
            deliveries::wake_now(tx, tenant, id)?;
            ("test_webhook", "webhook-sent")
        }
        "replay" => {
            let message = MessageId::parse(&act.message).ok_or_else(absent)?;
            if deliveries::message(tx, tenant, message)?.webhook != id {
                return Err(absent());
            }
            deliveries::send_again(tx, tenant, message)?;
            ("replay_webhook", "webhook-sent")
        }
        _ => return Err(Fault::argument("act", "is none of the page's buttons.")),
    };
    note(tx, by, action, &id.to_string())?;
    Ok(did)
}

fn page(slug: &str, did: &str) -> String {
    format!("/projects/{}?did={did}#webhooks", in_query(slug))
}

fn note(tx: &mut Tx<'_>, by: &Visitor, action: &str, subject: &str) -> Result<(), Fault> {
    let request = by.request.to_string();
    let entry = audit::Entry { via: "browser", action, subject, outcome: "ok", request: &request };
    audit::record(tx, by.actor(), entry)
}

#[cfg(test)]
impl WebhooksPart {
    pub(super) fn sample() -> Self {
        use super::parts::samples::minutes_ago;
        let delivery = |event, state, said: &str| DeliveryRow {
            message: format!("message-{event}"),
            event,
            mark: Mark::delivery(state),
            said: said.to_owned(),
            at: minutes_ago(4),
            can_send_again: true,
        };
        let row = |id: &str, state: &'static str, said: &str, deliveries| WebhookRow {
            id: id.to_owned(),
            url: format!("https://chat.example.com/hooks/{id}"),
            mark: Mark::webhook(state),
            said: said.to_owned(),
            events: "ticket.awaiting_input, ticket.failed".to_owned(),
            is_on: state != "off",
            deliveries,
        };
        Self {
            csrf: "sample-token".to_owned(),
            action: "/projects/acme-widgets/webhooks".to_owned(),
            fresh: Some("whsec_c2FtcGxl".to_owned()),
            rows: vec![
                row(
                    "one",
                    "on",
                    "",
                    vec![
                        delivery("ticket.failed", "delivered", "204 in 31 ms."),
                        delivery("ticket.landed", "pending", "It answered 503. Try 2."),
                    ],
                ),
                row("two", "off", "It answered that it is gone for good (410).", Vec::new()),
            ],
            events: Event::choosable().map(Event::word).collect(),
            is_owner: true,
            form: WebhookForm { url: "http://x".to_owned(), wrong: "Url: no.".to_owned() },
        }
    }
}
