//! Somebody who is signed in, as handlers ask for them.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::Method;
use http::request::Parts;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::accounts::sessions::{self, LoggedIn};
use crate::accounts::{Actor, Session};
use crate::base::{Code, Fault, RequestId, Secret};
use crate::store::Read;
use crate::tools::{CallContext, Caller, Reply};
use crate::web::page::{go_to, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// A person who is signed in.
#[derive(Clone)]
pub struct Visitor {
    logged: Arc<LoggedIn>,
    /// The request, as the logs name it.
    pub request: RequestId,
}

/// A person who is signed in, or anybody else.
pub struct Anyone(pub Option<Visitor>);

impl Visitor {
    /// The person as a caller.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.logged.actor
    }

    /// The person.
    #[must_use]
    pub fn login(&self) -> &LoggedIn {
        &self.logged
    }

    /// The login.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.logged.session
    }

    /// Refuses a form that did not come from a page of this login.
    pub fn check(&self, token: &str) -> Result<(), Fault> {
        if self.session().csrf_matches(token) {
            return Ok(());
        }
        let said = "The form belongs to another login, or was open for too long. Go back, load the \
                    page again and send it once more.";
        Err(Fault::new(Code::Forbidden, said))
    }

    /// Refuses who may not manage people, keys and projects.
    pub fn demand_admin(&self) -> Result<(), Fault> {
        if self.actor().is_admin() {
            return Ok(());
        }
        Err(Fault::new(Code::Forbidden, "Only an owner or an admin of the team may do this."))
    }

    /// Reads as this person.
    pub async fn read<T, F>(&self, site: &Site, view: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&Read<'_>, &Self) -> Result<T, Fault> + Send + 'static,
    {
        let visitor = self.clone();
        site.db().read(move |read| view(read, &visitor)).await
    }

    /// Calls a tool as this person, through the gate that agents call.
    pub async fn call(&self, site: &Site, tool: &str, arguments: Value) -> Result<Reply, Fault> {
        let context = CallContext {
            via: "browser",
            progress: None,
            cancel: CancellationToken::new(),
            request: self.request,
        };
        site.gate().call(&Caller::of(self.actor().clone()), tool, arguments, context).await
    }
}

/// The login that a request comes with, if it comes with one.
async fn recognise(parts: &Parts, site: &Site) -> Result<Option<Visitor>, Fault> {
    let Some(token) = site.cookies().login(&parts.headers) else { return Ok(None) };
    let token = Secret::new(token);
    let found = site.db().glance(|read| sessions::authenticate(read, &token))?;
    let Some(logged) = found else { return Ok(None) };
    if logged.use_due {
        let session = logged.session.clone();
        let noted = site.db().write(move |tx| sessions::note_use(tx, &session, &token)).await;
        if let Err(fault) = noted {
            // Reading goes on where nothing can be written, such as on a full disk.
            tracing::warn!(?fault, "The use of a login was not noted");
        }
    }
    Ok(Some(Visitor { logged: Arc::new(logged), request: site.request_id(parts) }))
}

/// Whether a request comes with a login that holds.
pub(in crate::web) async fn is_signed_in(parts: &Parts, site: &Site) -> bool {
    matches!(recognise(parts, site).await, Ok(Some(_)))
}

impl FromRequestParts<Site> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Response> {
        match recognise(parts, site).await {
            Ok(Some(visitor)) => Ok(visitor),
            Ok(None) if parts.method == Method::GET => {
                let asked = parts.uri.path_and_query().map_or("/", |asked| asked.as_str());
                Err(go_to(&format!("/login?next={}", in_query(asked))))
            }
            Ok(None) => {
                let said = "You are not signed in any more. Sign in, then do it again.";
                Err(Trouble(Fault::new(Code::Unauthenticated, said)).into_response())
            }
            Err(fault) => Err(Trouble(fault).into_response()),
        }
    }
}

impl FromRequestParts<Site> for Anyone {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Infallible> {
        // Who cannot be recognised now reads what everybody may read.
        Ok(Self(recognise(parts, site).await.unwrap_or(None)))
    }
}
