//! What surrounds every page of a person who is signed in.

use serde::Deserialize;

use super::parts::plain_word;
use crate::accounts::tenants;
use crate::base::Fault;
use crate::store::Read;
use crate::tickets::questions;
use crate::web::auth::Visitor;
use crate::web::site::Site;

/// Questions that are counted; more are `99`, which nobody answers in a day.
const WAITING_MAX: u32 = 99;

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
    /// Whether they manage people, keys and projects.
    pub(super) is_admin: bool,
}

/// One sentence about what was just done.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    pub(super) tone: &'static str,
    pub(super) text: String,
}

/// What a form that led here has done, as a word in the address.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Did {
    #[serde(default)]
    pub(super) did: String,
}

impl Notice {
    /// The sentence for a word of [`Did`]; `None` for others, so that no address can put words
    /// into our mouth.
    pub(super) fn of(did: &str) -> Option<Self> {
        let text = match did {
            "cancelled" => "The ticket is cancelled. Its branch stays.",
            "retried" => "The ticket is tried again, from where it stopped.",
            "decided" => "The decision is noted, and the ticket goes on from it.",
            "saved" => "The settings are saved. They hold for what starts from now on.",
            "created" => "The project is made. What is still missing stands below.",
            "removed" => "The category is removed. Its tickets keep it, marked as deleted.",
            "answered" => "The answer is on its way to the agent.",
            "webhook-removed" => "The webhook is removed. It is told nothing more.",
            "webhook-on" => "The webhook is on.",
            "webhook-off" => "The webhook is off. It is told nothing until it is on again.",
            "webhook-sent" => "It is on its way. Load the page again to see how it went.",
            "filed" => "The ticket is filed. It starts as soon as its turn comes.",
            "split" => "The brief was split: this is the first of a chain of tickets.",
            "view-saved" => "The view is saved. It stands above the list.",
            "view-renamed" => "The view has its new name.",
            "view-removed" => "The view is removed. The tickets are as they were.",
            "replaced" => {
                "This ticket stands for the cancelled one. What waited for that waits for it."
            }
            "duplicate" => "Nothing new was filed: this ticket already asks for the same.",
            "revoked" => "The key is revoked. Calls with it are refused from now on.",
            _ => super::house::said(did)?,
        };
        Some(Self { tone: "ok", text: text.to_owned() })
    }

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

const MAIN: [Item; 6] = [
    item("/", "Home", "home"),
    item("/tickets", "Tickets", "tickets"),
    item("/proofs", "Proofs", "proofs"),
    item("/projects", "Projects", "projects"),
    item("/jobs", "Jobs", "jobs"),
    item("/keys", "Keys", "keys"),
];

/// Keys, pressed together or one after another, and what they do.
pub(super) type Shortcut = (&'static [&'static str], &'static str);

/// What `assets/keys.js` and `assets/palette.js` listen to, as people read it.
pub(super) const SHORTCUTS: [Shortcut; 10] = [
    (&["Ctrl", "K"], "Go to a page or a ticket"),
    (&["/"], "Search"),
    (&["g", "h"], "Home"),
    (&["g", "t"], "Tickets"),
    (&["g", "p"], "Projects"),
    (&["g", "k"], "Keys"),
    (&["j"], "The next one in a list"),
    (&["k"], "The one before"),
    (&["Enter"], "Open it"),
    (&["?"], "These keys"),
];

const HOUSE: [Item; 3] = [
    item("/people", "People", "people"),
    item("/audit", "Audit log", "audit"),
    item("/system", "System", "system"),
];

const REFERENCE: [Item; 6] = [
    item("/docs/connect", "Connect", "connect"),
    item("/docs/tools", "Tools", "tools"),
    item("/docs/errors", "Errors", "errors"),
    item("/docs/schemas", "Schemas", "schemas"),
    item("/docs/security", "Security", "security"),
    item("/docs/design", "Design", "design"),
];

impl Shell {
    /// The frame of a page for a person, at an entry of the navigation.
    pub(super) fn load(
        read: &Read<'_>,
        visitor: &Visitor,
        at: &'static str,
    ) -> Result<Self, Fault> {
        let user = &visitor.login().user;
        let tenant = tenants::find(read, user.tenant)?;
        let person = Person {
            name: user.name.clone(),
            email: user.email.clone(),
            role: plain_word(user.role.word()),
            tenant: tenant.map(|tenant| tenant.name).unwrap_or_default(),
            is_admin: visitor.actor().is_admin(),
        };
        let waiting = questions::waiting(read, user.tenant, WAITING_MAX)?.len();
        Ok(Self {
            at,
            person: Some(person),
            csrf: visitor.session().csrf.clone(),
            waiting: waiting as u64,
            notice: None,
            events: Some("/events".to_owned()),
        })
    }

    /// The frame of a page that everybody may read, for somebody who is not signed in.
    pub(super) fn public(at: &'static str) -> Self {
        Self { at, ..Self::default() }
    }

    /// The frame of a page that everybody may read and that does not change.
    pub(super) async fn of_anyone(
        site: &Site,
        visitor: Option<Visitor>,
        at: &'static str,
    ) -> Result<Self, Fault> {
        let Some(visitor) = visitor else { return Ok(Self::public(at)) };
        Ok(visitor.read(site, move |read, visitor| Self::load(read, visitor, at)).await?.still())
    }

    /// The same frame with what a form that led here has done.
    pub(super) fn after(self, did: &str) -> Self {
        Self { notice: Notice::of(did), ..self }
    }

    /// The same frame of a page that does not change while it is looked at.
    pub(super) fn still(self) -> Self {
        Self { events: None, ..self }
    }

    /// The main entries: none where nobody is signed in.
    pub(super) fn main_items(&self) -> &'static [Item] {
        if self.person.is_some() { &MAIN } else { &[] }
    }

    /// The entries of those who manage the team.
    pub(super) fn house_items(&self) -> &'static [Item] {
        if self.person.as_ref().is_some_and(|person| person.is_admin) { &HOUSE } else { &[] }
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
                is_admin: true,
            }),
            csrf: "sample-token".to_owned(),
            waiting: 2,
            notice: None,
            events: Some("/events".to_owned()),
        }
    }
}
