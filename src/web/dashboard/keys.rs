//! `/keys`: what agents and scripts call with.

use askama::Template;

use super::docs_connect::Client;
use super::parts::{Choice, Moment};
use super::shell::Shell;

/// The keys, a form for another one, and the one that was just made.
#[derive(Template)]
#[template(path = "keys.html")]
pub(super) struct KeysPage {
    shell: Shell,
    fresh: Option<FreshKey>,
    keys: Vec<KeyRow>,
    form: KeyForm,
    scopes: Vec<Choice>,
    projects: Vec<Choice>,
}

/// A key that was just made. It is shown on this one page and never again.
pub(super) struct FreshKey {
    name: String,
    key: String,
    clients: Vec<Client>,
}

/// One key, without its secret.
pub(super) struct KeyRow {
    id: String,
    name: String,
    /// Its first characters, by which a person knows it again.
    start: String,
    scope: String,
    projects: String,
    made: Moment,
    used: Option<Moment>,
    revoked: Option<Moment>,
}

/// The form as it was sent.
#[derive(Default)]
pub(super) struct KeyForm {
    name: String,
    /// Why it was not taken; empty at first.
    wrong: String,
}

/// The scopes a key can have, in plain words.
pub(super) fn scopes(chosen: &str) -> Vec<Choice> {
    let scope = |value: &str, label: &str, hint| Choice { hint, ..Choice::new(value, label) };
    let all = vec![
        scope("mcp_full", "Read and write", "Dispatch, cancel, retry and answer tickets."),
        scope("mcp_read", "Read only", "Follow tickets, proofs and projects."),
        scope("ci", "Build server", "Start checks and report their results."),
    ];
    Choice::choose(all, chosen)
}

#[cfg(test)]
impl KeysPage {
    pub(super) fn sample() -> Self {
        use super::parts::samples::minutes_ago;
        let key = |id: &str, name: &str, scope: &str, used| KeyRow {
            id: id.to_owned(),
            name: name.to_owned(),
            start: "alch_7Kq2".to_owned(),
            scope: scope.to_owned(),
            projects: "All projects".to_owned(),
            made: minutes_ago(9_000),
            used,
            revoked: None,
        };
        let mut old = key("k3", "Old laptop", "mcp_read", None);
        old.revoked = Some(minutes_ago(2_000));
        Self {
            shell: Shell::sample("/keys"),
            fresh: None,
            keys: vec![
                key("k1", "Ada's laptop", "mcp_full", Some(minutes_ago(2))),
                key("k2", "GitHub Actions", "ci", None),
                old,
            ],
            form: KeyForm::default(),
            scopes: scopes("mcp_full"),
            projects: Choice::choose(
                vec![
                    Choice::new("", "None: each call names it"),
                    Choice::new("acme", "Acme Widgets"),
                ],
                "",
            ),
        }
    }

    pub(super) fn sample_fresh() -> Self {
        let key = "alch_7Kq2vXn4Rt8bWc1mYp6sJd3gHf9zLa5e";
        Self {
            fresh: Some(FreshKey {
                name: "Ada's laptop".to_owned(),
                key: key.to_owned(),
                clients: super::docs_connect::clients("http://127.0.0.1:7171", key),
            }),
            form: KeyForm { name: String::new(), wrong: "A key needs a name.".to_owned() },
            ..Self::sample()
        }
    }
}
