//! `/setup/{token}`: the first account of an empty server, through the link it printed.

use askama::Template;

/// Characters that a password has at least.
const PASSWORD_MIN: usize = 10;

/// The form, empty or as it was sent; or that the link is no longer good.
#[derive(Template)]
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

#[cfg(test)]
impl SetupPage {
    pub(super) fn sample() -> Self {
        Self {
            is_usable: true,
            action: "/setup/sample".to_owned(),
            csrf: "sample-token".to_owned(),
            tenant: "Acme".to_owned(),
            name: String::new(),
            email: String::new(),
            wrong: String::new(),
            password_min: PASSWORD_MIN,
        }
    }

    pub(super) fn sample_used() -> Self {
        Self { is_usable: false, ..Self::sample() }
    }
}
