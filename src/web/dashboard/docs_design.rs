//! `/docs/design`: every component of the dashboard in each of its states.

use askama::Template;
use axum::extract::State;

use super::graph::{Graph, GraphNode};
use super::marks::{Mark, Pips};
use super::parts::{Code, Moment, TicketRow};
use super::shell::{SHORTCUTS, Shell, Shortcut};
use crate::base::Millis;
use crate::web::auth::Anyone;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Each part of the page by its anchor, and how it is called.
const PARTS: [(&str, &str); 16] = [
    ("type", "Type"),
    ("space", "Space"),
    ("colour", "Colour"),
    ("states", "States"),
    ("buttons", "Buttons and links"),
    ("forms", "Forms"),
    ("toolbars", "Tabs, chips, toolbar, filters"),
    ("notices", "Notices and toasts"),
    ("dialogs", "Dialog"),
    ("tables", "Cards, tables, lists"),
    ("facts", "Names and values"),
    ("timelines", "Timeline and steps"),
    ("graphs", "Graph"),
    ("codes", "Code, log, changes, prose"),
    ("empties", "Empty states"),
    ("keyboard", "Keyboard"),
];

/// The steps of the scale of space and their pixels.
const SIZES: [(u8, u8); 8] = [(1, 2), (2, 4), (3, 8), (4, 12), (5, 16), (6, 24), (7, 36), (8, 56)];

const TONES: [(&str, &str); 6] = [
    ("ok", "It is done, and it holds."),
    ("run", "It is at work. This is the accent."),
    ("wait", "It waits for a person."),
    ("bad", "It failed."),
    ("hold", "It is held by something else."),
    ("idle", "It has not begun, or it does not matter."),
];

const STATUSES: [&str; 9] = [
    "queued",
    "blocked",
    "running",
    "awaiting_input",
    "succeeded",
    "failed",
    "timeout",
    "cancelled",
    "skipped",
];

/// A notice: its tone, its shape, its title and what it says.
type SampleNotice = (&'static str, &'static str, &'static str, &'static str);

const NOTICES: [SampleNotice; 5] = [
    ("ok", "succeeded", "It has landed.", "All four assertions are confirmed."),
    ("run", "running", "It is at work.", "Nothing is to be done now."),
    ("wait", "awaiting", "It needs an answer.", "The agent waits for it."),
    ("bad", "failed", "It failed.", "What was wrong, where, and what to do next."),
    ("hold", "blocked", "It waits for ACME-41.", "It starts by itself as soon as that has landed."),
];

/// A text without a place to break.
const LONG: &str = "a-very-long-name-without-any-place-where-a-line-could-break";

/// The design system.
#[derive(Template)]
#[template(path = "docs_design.html")]
pub(super) struct DesignPage {
    shell: Shell,
    parts: &'static [(&'static str, &'static str)],
    sizes: &'static [(u8, u8)],
    tones: &'static [(&'static str, &'static str)],
    marks: Vec<Mark>,
    pips: Pips,
    pips_mark: Mark,
    wait_mark: Mark,
    notices: &'static [SampleNotice],
    rows: Vec<TicketRow>,
    long: &'static str,
    moment: Moment,
    graph: Graph,
    code: Code,
    shortcuts: &'static [Shortcut],
}

/// `GET /docs/design`. Everybody may read it.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
) -> Result<Page<DesignPage>, Trouble> {
    let shell = Shell::of_anyone(&site, visitor, "/docs/design").await?;
    Ok(Page(DesignPage::new(shell, site.now())))
}

impl DesignPage {
    fn new(shell: Shell, now: Millis) -> Self {
        Self {
            shell,
            parts: &PARTS,
            sizes: &SIZES,
            tones: &TONES,
            marks: STATUSES.map(Mark::status).to_vec(),
            pips: Pips::of(&STATUSES),
            pips_mark: Mark::status("running"),
            wait_mark: Mark::status("awaiting_input"),
            notices: &NOTICES,
            rows: rows(now),
            long: LONG,
            moment: Moment::at(Millis(now.0 - 4 * 60_000), now),
            graph: graph(),
            code: Code::new("demo-code", "assay serve --demo"),
            shortcuts: &SHORTCUTS,
        }
    }
}

fn rows(now: Millis) -> Vec<TicketRow> {
    let row = |reference: &str, title: &str, status: &str, nodes: &[&str]| TicketRow {
        reference: reference.to_owned(),
        href: "#tables".to_owned(),
        title: title.to_owned(),
        mark: Mark::status(status),
        pips: Pips::of(nodes),
        kind: "Feature".to_owned(),
        project: "Acme Widgets".to_owned(),
        category: None,
        note: None,
        requester: "Ada Builder".to_owned(),
        changed: Moment::at(Millis(now.0 - 60_000), now),
    };
    let done = "succeeded";
    vec![
        row("ACME-42", "A row of a table", "running", &[done, done, "running", "queued"]),
        row("ACME-41", LONG, done, &[done; 4]),
    ]
}

/// A box of each state, one after another in two rows.
fn graph() -> Graph {
    let node = |status: &&str| {
        let mark = Mark::status(status);
        GraphNode { name: format!("{}-1", mark.icon), mark, note: String::new() }
    };
    let edges = [(4, 2), (4, 3), (4, 0), (2, 1), (3, 5), (0, 6), (5, 7), (6, 8)];
    Graph::draw(STATUSES.iter().map(node).collect(), &edges)
}

#[cfg(test)]
impl DesignPage {
    pub(super) fn sample() -> Self {
        Self::new(Shell::sample("/docs/design").still(), super::parts::samples::NOW)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const TOKENS: &str = include_str!("../../../assets/css/tokens.css");
    /// The style sheets of components.
    const SHEETS: [&str; 3] = [
        include_str!("../../../assets/css/parts.css"),
        include_str!("../../../assets/css/kit.css"),
        include_str!("../../../assets/css/changes.css"),
    ];
    /// Classes that only a script or another page's layout can show.
    const ELSEWHERE: [&str; 8] =
        ["palette", "toasts", "none", "at-keys", "files", "spare", "wide", "roomy"];

    /// The classes that a style sheet speaks of.
    fn classes(sheet: &str) -> Vec<String> {
        let selectors = sheet.split('{').filter_map(|part| part.rsplit(['}', '/']).next());
        let starts = selectors.flat_map(|selector| selector.split('.').skip(1));
        let name = |start: &str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
            start.chars().take_while(|c| is_part(*c)).collect::<String>()
        };
        starts.map(name).filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).collect()
    }

    #[test]
    fn every_component_of_the_style_sheets_is_on_the_page() {
        let page = DesignPage::sample().render().unwrap();
        let shown: Vec<&str> = page
            .split("class=\"")
            .skip(1)
            .flat_map(|part| part.split('"').next().unwrap_or_default().split(' '))
            .collect();

        for class in SHEETS.iter().flat_map(|sheet| classes(sheet)) {
            let is_known = shown.contains(&&*class) || ELSEWHERE.contains(&&*class);
            assert!(is_known, "{class} is a component that /docs/design does not show");
        }
    }

    /// The light and the dark value of each colour.
    fn colours() -> BTreeMap<&'static str, [&'static str; 2]> {
        let lines = TOKENS.lines().filter_map(|line| line.trim().split_once(": light-dark("));
        let pair = |(name, values): (&'static str, &'static str)| {
            let (light, dark) = values.strip_suffix(");")?.split_once(", ")?;
            let is_plain = light.starts_with('#') && dark.starts_with('#');
            is_plain.then_some((name.strip_prefix("--")?, [light, dark]))
        };
        lines.filter_map(pair).collect()
    }

    fn luminance(colour: &str) -> f64 {
        let linear = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_can_be_read_on_every_ground_in_both_themes() {
        let colours = colours();
        let texts = ["ink", "ink-2", "ink-3", "accent", "ok", "bad", "wait", "hold", "idle"];
        let grounds = ["paper", "sheet", "well", "idle-wash", "accent-wash"];
        let own = ["ok", "bad", "wait", "hold"].map(|tone| (tone, format!("{tone}-wash")));
        let mut pairs: Vec<(&str, &str)> =
            texts.iter().flat_map(|text| grounds.map(|ground| (*text, ground))).collect();
        pairs.extend(own.iter().map(|(tone, wash)| (*tone, &**wash)));
        pairs.push(("on-accent", "accent"));

        for (text, ground) in pairs {
            for (theme, (text_in, ground_in)) in
                colours[text].iter().zip(&colours[ground]).enumerate()
            {
                let found = contrast(text_in, ground_in);
                assert!(found >= 4.49, "{text} on {ground} has {found:.2} in theme {theme}");
            }
        }
        for ground in ["paper", "sheet", "well"] {
            for (line, ground_in) in colours["line-strong"].iter().zip(&colours[ground]) {
                let found = contrast(line, ground_in);
                assert!(found >= 3.0, "the edge of a field on {ground}: {found:.2}");
            }
        }
    }

    #[test]
    fn every_part_that_the_index_names_is_there() {
        let page = DesignPage::sample().render().unwrap();

        for (anchor, title) in PARTS {
            assert!(page.contains(&format!("<section id=\"{anchor}\"")), "{title}");
        }
    }
}
