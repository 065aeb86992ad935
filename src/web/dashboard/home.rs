//! `/`: what waits for me, what runs now, what has landed.

use askama::Template;

use super::marks::{Mark, Pips};
use super::parts::{Code, Link, Moment};
use super::shell::Shell;

/// The home page; of a team without tickets, the way to the first one.
#[derive(Template)]
#[template(path = "home.html")]
pub(super) struct HomePage {
    shell: Shell,
    start: Option<Vec<Step>>,
    gauges: Vec<Gauge>,
    waits: Vec<Wait>,
    runs: Vec<Run>,
    /// Running tickets beyond those listed.
    runs_more: u64,
    landed: Vec<Landed>,
}

/// One of the three steps to a first ticket.
pub(super) struct Step {
    /// `done`, `next` or `later`.
    state: &'static str,
    title: &'static str,
    text: String,
    code: Code,
    link: Option<Link>,
}

/// A number and where it leads.
pub(super) struct Gauge {
    count: String,
    label: &'static str,
    href: &'static str,
    tone: &'static str,
}

/// A ticket that waits for a person.
pub(super) struct Wait {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    why: String,
    /// The place on its page, such as `#question`.
    anchor: &'static str,
    act: &'static str,
    since: Moment,
}

/// A ticket that is being done.
pub(super) struct Run {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    /// Which node runs, and in whose hands: `implement-1 · claude-code`.
    doing: String,
    pips: Pips,
    lasting: String,
}

/// A ticket that has landed.
pub(super) struct Landed {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    /// What was proved: `Fully verified: 4 of 4 assertions`.
    proved: String,
    commit: String,
    at: Moment,
}

#[cfg(test)]
impl HomePage {
    pub(super) fn sample() -> Self {
        use super::parts::samples::minutes_ago;
        let gauge =
            |count: &str, label, href, tone| Gauge { count: count.to_owned(), label, href, tone };
        let wait = |number: u32, status, title: &str, why: &str, anchor, act| Wait {
            mark: Mark::status(status),
            reference: format!("ACME-{number}"),
            href: format!("/tickets/ACME-{number}"),
            title: title.to_owned(),
            why: why.to_owned(),
            anchor,
            act,
            since: minutes_ago(i64::from(number)),
        };
        let landed = |number: u32, title: &str, commit: &str| Landed {
            mark: Mark::status("succeeded"),
            reference: format!("ACME-{number}"),
            href: format!("/tickets/ACME-{number}"),
            title: title.to_owned(),
            proved: "Fully verified: 4 of 4 assertions".to_owned(),
            commit: commit.to_owned(),
            at: minutes_ago(i64::from(number) * 9),
        };
        Self {
            shell: Shell::sample("/"),
            start: None,
            gauges: vec![
                gauge("2", "wait for you", "/tickets?status=awaiting_input", "wait"),
                gauge("1", "running", "/tickets?status=running", "run"),
                gauge("1", "queued", "/tickets?status=queued", ""),
                gauge("3", "blocked", "/tickets?status=blocked", "hold"),
                gauge("0", "failed today", "/tickets?status=failed", "bad"),
                gauge("12", "landed this week", "/tickets?status=succeeded", "ok"),
            ],
            waits: vec![
                wait(
                    44,
                    "awaiting_input",
                    "Integrate Stripe Checkout for the Pro plan upgrade",
                    "Which currency should the checkout show to visitors from Switzerland?",
                    "#question",
                    "Answer",
                ),
                wait(
                    43,
                    "failed",
                    "Migrate user preferences to new schema",
                    "3 rows would violate the NOT NULL constraint on preferences.theme.",
                    "#nodes",
                    "Look",
                ),
            ],
            runs: vec![Run {
                mark: Mark::status("running"),
                reference: "ACME-42".to_owned(),
                href: "/tickets/ACME-42".to_owned(),
                title: "Add dark-mode toggle to the dashboard header".to_owned(),
                doing: "verification-1 · npm test".to_owned(),
                pips: Pips::of(&[
                    "succeeded",
                    "succeeded",
                    "succeeded",
                    "succeeded",
                    "running",
                    "queued",
                ]),
                lasting: "6 min 12 s".to_owned(),
            }],
            runs_more: 0,
            landed: vec![
                landed(41, "Show the price with its currency", "abc123def4"),
                landed(
                    40,
                    "Fix the footer overlapping the cookie banner on small phones",
                    "99ab81c0f2",
                ),
            ],
        }
    }

    pub(super) fn sample_empty() -> Self {
        let step = |state, title, text: &str, code: Code, link| Step {
            state,
            title,
            text: text.to_owned(),
            code,
            link,
        };
        Self {
            start: Some(vec![
                step(
                    "done",
                    "Name a repository",
                    "Acme Widgets works on /home/ada/acme-widgets.",
                    Code::default(),
                    None,
                ),
                step(
                    "next",
                    "Connect a client",
                    "Make a key and give it to Claude Code, Cursor, VS Code, Codex or any MCP client.",
                    Code::default(),
                    Some(Link::new("Make a key", "/keys")),
                ),
                step(
                    "later",
                    "Ask for a ticket",
                    "Say it to your agent in its own words:",
                    Code::new(
                        "first-ask",
                        "Dispatch an Assay ticket for Acme Widgets: add a dark-mode toggle.",
                    ),
                    None,
                ),
            ]),
            gauges: Vec::new(),
            waits: Vec::new(),
            runs: Vec::new(),
            landed: Vec::new(),
            ..Self::sample()
        }
    }
}
