//! `/login`: the door for people.

use askama::Template;

/// The form, empty or as it was sent.
#[derive(Template)]
#[template(path = "login.html")]
pub(super) struct LoginPage {
    csrf: String,
    /// Where to go on to; a path of ours.
    next: String,
    email: String,
    /// Why the last try was not taken; empty at first.
    wrong: String,
}

#[cfg(test)]
impl LoginPage {
    pub(super) fn sample() -> Self {
        Self {
            csrf: "sample-token".to_owned(),
            next: "/tickets".to_owned(),
            email: "ada@example.com".to_owned(),
            wrong: "E-mail and password do not belong together.".to_owned(),
        }
    }
}
