//! What surrounds every page of a person who is signed in.

/// The frame of a page: who reads it, where they are, what waits for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Shell {
    /// The path of the entry of the main navigation that the page belongs to.
    pub(super) at: &'static str,
    pub(super) person: Option<Person>,
    /// The token that every form of the page carries.
    pub(super) csrf: String,
    /// Tickets that wait for a person.
    pub(super) waiting: u64,
    pub(super) notice: Option<Notice>,
    /// The address of the stream that says when the page has changed, where it can change.
    pub(super) events: Option<String>,
}

/// Who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) email: String,
    pub(super) role: String,
    pub(super) tenant: String,
}

/// One sentence about what was just done.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    pub(super) tone: &'static str,
    pub(super) text: String,
}

impl Notice {
    pub(super) fn icon(&self) -> &'static str {
        match self.tone {
            "ok" => "succeeded",
            "bad" => "failed",
            _ => "info",
        }
    }
}

/// An entry of the navigation.
pub(super) struct Item {
    pub(super) href: &'static str,
    pub(super) label: &'static str,
    pub(super) icon: &'static str,
}

const fn item(href: &'static str, label: &'static str, icon: &'static str) -> Item {
    Item { href, label, icon }
}

const MAIN: [Item; 4] = [
    item("/", "Home", "home"),
    item("/tickets", "Tickets", "tickets"),
    item("/projects", "Projects", "projects"),
    item("/keys", "Keys", "keys"),
];

const REFERENCE: [Item; 3] = [
    item("/docs/connect", "Connect", "connect"),
    item("/docs/tools", "Tools", "tools"),
    item("/docs/errors", "Errors", "errors"),
];

impl Shell {
    /// The main entries: none where nobody is signed in.
    pub(super) fn main_items(&self) -> &'static [Item] {
        if self.person.is_some() { &MAIN } else { &[] }
    }

    #[expect(clippy::unused_self, reason = "templates ask the shell for what it shows")]
    pub(super) fn reference_items(&self) -> &'static [Item] {
        &REFERENCE
    }

    pub(super) fn is_at(&self, href: &str) -> bool {
        self.at == href
    }
}

#[cfg(test)]
impl Shell {
    pub(super) fn sample(at: &'static str) -> Self {
        Self {
            at,
            person: Some(Person {
                name: "Ada Builder".to_owned(),
                email: "ada@example.com".to_owned(),
                role: "Owner".to_owned(),
                tenant: "Acme".to_owned(),
            }),
            csrf: "sample-token".to_owned(),
            waiting: 2,
            notice: None,
            events: Some("/events".to_owned()),
        }
    }
}
