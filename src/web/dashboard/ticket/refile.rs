//! Filing a cancelled ticket anew: the form of its page, through the tool that agents file with.

use axum::extract::{Form, Path, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::actions::{back_to, joined};
use crate::tools::tickets;
use crate::web::auth::Visitor;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// What the new ticket is to say.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Refiled {
    csrf: String,
    title: String,
    #[serde(default)]
    description: String,
    /// Whether it goes on from the branch of the cancelled one.
    salvage: Option<String>,
}

/// `POST /tickets/{ref}/replace`.
pub(in crate::web::dashboard) async fn replace(
    State(site): State<Site>,
    visitor: Visitor,
    Path(named): Path<String>,
    Form(sent): Form<Refiled>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    let asked = named.clone();
    let ticket = visitor
        .read(&site, move |read, visitor| tickets::find(read, visitor.actor(), &asked))
        .await?;
    let mut arguments = json!({
        "title": joined("", &sent.title),
        "description": joined("", &sent.description),
        "project_id": ticket.project,
        "kind": ticket.kind,
        "preset": ticket.preset,
        "replaces": ticket.id,
        // The words are a person's who has just read them over.
        "predrafted": true,
        "no_split": true,
        "confirm_no_attachments": true,
    });
    if let Some(branch) = ticket.branch.filter(|_| sent.salvage.is_some()) {
        arguments["seed_from_ref"] = Value::String(branch);
    }
    let filed = visitor.call(&site, "dispatch_ticket", arguments).await?.value();
    let is_old = filed.get("duplicate").is_some();
    let id = filed["ticket"]["id"].as_str().unwrap_or(&named).to_owned();
    let by_ref = filed["ticket"]["ticketRef"].as_str().filter(|by_ref| !by_ref.starts_with('#'));
    Ok(back_to(by_ref.unwrap_or(&id), if is_old { "duplicate" } else { "replaced" }))
}
