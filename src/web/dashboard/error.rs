//! What a person reads when a page cannot be shown.

use askama::Template;

use super::parts::Link;

/// An error as a page, with the id under which the log has its cause.
#[derive(Template)]
#[template(path = "error.html")]
pub(in crate::web) struct ErrorPage {
    status: u16,
    title: &'static str,
    text: String,
    link: Option<Link>,
    request_id: String,
}

impl ErrorPage {
    /// The page of a status. `text` says what went wrong; empty for the usual words.
    pub(in crate::web) fn new(status: u16, text: &str, request_id: &str) -> Self {
        let (title, usual) = match status {
            400 | 422 => {
                ("That cannot be taken", "Something in the request is not as it should be.")
            }
            401 => ("Please sign in", "The page is for people who are signed in."),
            403 => (
                "That is not yours to do",
                "Your role does not include it, or the form was open for too long. Go back, load \
                 the page again and try once more.",
            ),
            405 => ("That is not how it works here", "The address takes another kind of request."),
            413 => ("That is too much at once", "The form is larger than the server takes."),
            415 => ("That cannot be read", "The form came in a shape that is not known here."),
            404 => (
                "There is nothing here",
                "The page does not exist, or it belongs to somebody else.",
            ),
            409 => ("Somebody was quicker", "It has changed since the page was loaded."),
            429 => ("A little slower, please", "Too many tries. Wait a minute, then try again."),
            503 => ("Back in a moment", "The server is starting or stopping. Try again shortly."),
            _ => (
                "That went wrong on our side",
                "Nothing of what you entered was taken. Try again; if it stays, look in the log.",
            ),
        };
        let text = if text.is_empty() { usual } else { text };
        let link = (status == 401).then(|| Link::new("Sign in", "/login"));
        Self { status, title, text: text.to_owned(), link, request_id: request_id.to_owned() }
    }
}

#[cfg(test)]
impl ErrorPage {
    pub(super) fn sample() -> Self {
        Self::new(404, "", "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b")
    }
}
