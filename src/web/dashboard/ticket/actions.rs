//! The buttons of a ticket. Each is a call of a tool through the gate, like any other caller's.

use axum::extract::{Form, Path, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::Fault;
use crate::web::auth::Visitor;
use crate::web::page::{go_to, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// What a button alone sends.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Pressed {
    csrf: String,
}

/// An answer to a question: one of its choices, words of one's own, or both.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Answer {
    csrf: String,
    #[serde(default)]
    choice: String,
    #[serde(default)]
    text: String,
}

/// `POST /tickets/{ref}/cancel`.
pub(in crate::web::dashboard) async fn cancel(
    State(site): State<Site>,
    visitor: Visitor,
    Path(ticket): Path<String>,
    Form(pressed): Form<Pressed>,
) -> Result<Response, Trouble> {
    press(&site, &visitor, &pressed, "cancel_ticket", &ticket, "cancelled").await
}

/// `POST /tickets/{ref}/retry`.
pub(in crate::web::dashboard) async fn retry(
    State(site): State<Site>,
    visitor: Visitor,
    Path(ticket): Path<String>,
    Form(pressed): Form<Pressed>,
) -> Result<Response, Trouble> {
    press(&site, &visitor, &pressed, "retry_ticket", &ticket, "retried").await
}

/// `POST /tickets/{ref}/answer`.
pub(in crate::web::dashboard) async fn answer(
    State(site): State<Site>,
    visitor: Visitor,
    Path(ticket): Path<String>,
    Form(sent): Form<Answer>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    let message = joined(&sent.choice, &sent.text);
    if message.is_empty() {
        let said = "Choose an answer or write one. Go back to the ticket to do so.";
        return Err(Trouble(Fault::argument("message", said)));
    }
    visitor.call(&site, "reply_ticket", json!({ "ticket": ticket, "message": message })).await?;
    Ok(back_to(&ticket, "answered"))
}

/// A decision on a step: which step, what is said, and why.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Decided {
    csrf: String,
    step: String,
    decision: String,
    #[serde(default)]
    reason: String,
}

/// `POST /tickets/{ref}/decide`.
pub(in crate::web::dashboard) async fn decide(
    State(site): State<Site>,
    visitor: Visitor,
    Path(ticket): Path<String>,
    Form(sent): Form<Decided>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    let mut arguments = json!({ "ticket": ticket, "step": sent.step, "decision": sent.decision });
    let reason = joined("", &sent.reason);
    if !reason.is_empty() {
        arguments["reason"] = Value::String(reason);
    }
    visitor.call(&site, "approve_ticket", arguments).await?;
    Ok(back_to(&ticket, "decided"))
}

/// `POST /tickets/{ref}/secret-link`: makes a link for the secret that is wanted, and leads there.
pub(in crate::web::dashboard) async fn secret_link(
    State(site): State<Site>,
    visitor: Visitor,
    Path(ticket): Path<String>,
    Form(pressed): Form<Pressed>,
) -> Result<Response, Trouble> {
    visitor.check(&pressed.csrf)?;
    let made =
        visitor.call(&site, "create_secret_link", json!({ "ticket": ticket })).await?.value();
    let url = made["url"].as_str().unwrap_or_default();
    Ok(go_to(url.strip_prefix(site.origin()).unwrap_or_default()))
}

/// A button that calls a tool which needs nothing but the ticket.
async fn press(
    site: &Site,
    visitor: &Visitor,
    pressed: &Pressed,
    tool: &str,
    ticket: &str,
    did: &str,
) -> Result<Response, Trouble> {
    visitor.check(&pressed.csrf)?;
    visitor.call(site, tool, json!({ "ticket": ticket })).await?;
    Ok(back_to(ticket, did))
}

/// A choice and what was added to it, as one text.
pub(super) fn joined(choice: &str, text: &str) -> String {
    let said = [choice.trim(), text.trim()];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
    // Browsers send line ends as two characters.
    said.join("\n\n").replace("\r\n", "\n")
}

pub(super) fn back_to(ticket: &str, did: &str) -> Response {
    go_to(&format!("/tickets/{}?did={did}", in_query(ticket)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_choice_words_or_both() {
        assert_eq!(joined("In the account", ""), "In the account");
        assert_eq!(joined("", " both\r\nplease "), "both\nplease");
        assert_eq!(joined("In the account", "but cached"), "In the account\n\nbut cached");
        assert_eq!(joined(" ", "\n"), "");
    }
}
