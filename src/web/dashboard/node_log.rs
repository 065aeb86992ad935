//! `/tickets/{ref}/nodes/{node}/log`: everything a node's agent or check has written.

use askama::Template;

use super::marks::Mark;
use super::shell::Shell;
use crate::web::ansi::Line;

/// One part of a log, with the way to the parts before and after it.
#[derive(Template)]
#[template(path = "node_log.html")]
pub(super) struct NodeLogPage {
    shell: Shell,
    reference: String,
    title: String,
    /// The ticket's page.
    href: String,
    node: String,
    mark: Mark,
    /// How much there is: `1,204 lines, 84.2 kB`.
    said: String,
    raw_href: String,
    is_live: bool,
    earlier: Option<String>,
    later: Option<String>,
    lines: Vec<NumberedLine>,
}

/// A line and its number, from 1.
pub(super) struct NumberedLine {
    number: u64,
    line: Line,
}

#[cfg(test)]
impl NodeLogPage {
    pub(super) fn sample() -> Self {
        let lines = super::ticket::samples::log();
        Self {
            shell: Shell::sample("/tickets"),
            reference: "ACME-42".to_owned(),
            title: "Add dark-mode toggle to the dashboard header".to_owned(),
            href: "/tickets/ACME-42".to_owned(),
            node: "verification-1".to_owned(),
            mark: Mark::status("running"),
            said: "12 lines, 1.1 kB".to_owned(),
            raw_href: "/tickets/ACME-42/nodes/verification-1/log?raw=1".to_owned(),
            is_live: true,
            earlier: None,
            later: Some("/tickets/ACME-42/nodes/verification-1/log?from=2001".to_owned()),
            lines: (1..).zip(lines).map(|(number, line)| NumberedLine { number, line }).collect(),
        }
    }
}
