//! `/docs/security`: what Assay does to stay safe, and what is left to who runs it.

use askama::Template;
use axum::extract::State;

use super::shell::Shell;
use crate::web::auth::Anyone;
use crate::web::page::{POLICY, Page};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The notes on security.
#[derive(Template)]
#[template(path = "docs_security.html")]
pub(super) struct SecurityPage {
    shell: Shell,
    /// The policy that every page comes with.
    policy: &'static str,
}

/// `GET /docs/security`. Everybody may read it.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
) -> Result<Page<SecurityPage>, Trouble> {
    let shell = Shell::of_anyone(&site, visitor, "/docs/security").await?;
    Ok(Page(SecurityPage { shell, policy: POLICY }))
}

#[cfg(test)]
impl SecurityPage {
    pub(super) fn sample() -> Self {
        Self { shell: Shell::sample("/docs/security").still(), policy: POLICY }
    }
}
