//! What people look at beside their tickets: proofs and jobs, and the house itself: its audit log,
//! its people, the server, and each person's own account.

mod account;
mod audit;
mod export;
mod invited;
mod job;
mod jobs;
mod people;
mod proof;
mod proofs;
mod system;

use axum::Router;
use axum::routing::{get, post};

use super::parts::Choice;
use crate::base::Fault;
use crate::store::Tx;
use crate::web::auth::Visitor;
use crate::web::page::in_query;
use crate::web::site::Site;

/// Their addresses.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/proofs", get(proofs::show))
        .route("/proofs/{proof}", get(proof::show))
        .route("/proofs/{proof}/export", get(export::bundle))
        .route("/proofs/{proof}/evidence/{position}", get(export::evidence))
        .route("/jobs", get(jobs::show))
        .route("/jobs/{job}", get(job::show))
        .route("/jobs/{job}/cancel", post(job::cancel))
        .route("/jobs/{job}/retry", post(job::retry))
        .route("/audit", get(audit::show))
        .route("/system", get(system::show))
        .route("/account", get(account::show))
        .route("/account/password", post(account::change_password))
        .route("/account/sessions/end", post(account::end_session))
        .route("/account/sessions/end-others", post(account::end_others))
        .route("/people", get(people::show))
        .route("/people/invite", post(people::invite))
        .route("/people/invite/withdraw", post(people::withdraw))
        .route("/people/role", post(people::set_role))
        .route("/people/disabled", post(people::set_disabled))
        .route("/join/{token}", get(invited::show).post(invited::submit))
}

/// The sentence for what a form has done.
pub(super) fn said(did: &str) -> Option<&'static str> {
    Some(match did {
        "job-cancelled" => "The ticket of the job is cancelled, and its work is stopped.",
        "job-retried" => "The ticket of the job is tried again, from where it stopped.",
        "password" => "Your password is changed. Your other devices are signed out.",
        "signed-out" => "The device is signed out.",
        "others-signed-out" => "All your other devices are signed out.",
        "role" => "The role is changed. It holds from this moment.",
        "disabled" => "The person is signed out everywhere and cannot sign in any more.",
        "enabled" => "The person can sign in again.",
        "withdrawn" => "The invitation is withdrawn. Its link opens nothing any more.",
        _ => return None,
    })
}

/// One filter of a list: its options, of which the first is "all" and has the empty value.
struct Select {
    name: &'static str,
    label: &'static str,
    options: Vec<Choice>,
}

impl Select {
    fn new(name: &'static str, label: &'static str, options: Vec<Choice>, chosen: &str) -> Self {
        Self { name, label, options: Choice::choose(options, chosen) }
    }
}

/// An address with what is given of its query.
fn address(path: &str, query: &[(&str, &str)]) -> String {
    let given = query.iter().filter(|(_, value)| !value.is_empty());
    let parts: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", in_query(value))).collect();
    if parts.is_empty() { path.to_owned() } else { format!("{path}?{}", parts.join("&")) }
}

/// A row of the audit log about what a person did in the browser.
fn note(tx: &mut Tx<'_>, by: &Visitor, action: &str, subject: &str) -> Result<(), Fault> {
    let request = by.request.to_string();
    let entry = crate::accounts::audit::Entry {
        via: "browser",
        action,
        subject,
        outcome: "ok",
        request: &request,
    };
    crate::accounts::audit::record(tx, by.actor(), entry)
}

#[cfg(test)]
pub(super) fn samples() -> Vec<(&'static str, String)> {
    let render = |page: &dyn askama::DynTemplate| page.dyn_render().unwrap();
    vec![
        ("proofs", render(&proofs::ProofsPage::sample())),
        ("proofs_empty", render(&proofs::ProofsPage::sample_empty())),
        ("proof", render(&proof::ProofPage::sample())),
        ("jobs", render(&jobs::JobsPage::sample())),
        ("job", render(&job::JobPage::sample())),
        ("audit", render(&audit::AuditPage::sample())),
        ("system", render(&system::SystemPage::sample())),
        ("system_other", render(&system::SystemPage::sample_of_another_team())),
        ("account", render(&account::AccountPage::sample())),
        ("people", render(&people::PeoplePage::sample())),
        ("invited", render(&invited::InvitedPage::sample())),
        ("invited_used", render(&invited::InvitedPage::default())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_what_is_given_and_escapes_it() {
        assert_eq!(address("/proofs", &[("kind", ""), ("project", "")]), "/proofs");
        assert_eq!(address("/proofs", &[("kind", "a&b"), ("x", "1")]), "/proofs?kind=a%26b&x=1");
    }
}
