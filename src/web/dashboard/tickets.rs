//! `/tickets`: the tickets of the team, filtered by what stands in the address.

use askama::Template;

use super::marks::Mark;
use super::parts::{Choice, TicketRows};
use super::shell::Shell;

/// The list, its filters, and what is blocked beside it.
#[derive(Template)]
#[template(path = "tickets.html")]
pub(super) struct TicketsPage {
    shell: Shell,
    chips: Vec<Chip>,
    filter: Filter,
    blocked: Blocked,
    list: TicketRows,
    /// The address of the next page, where there is one.
    older: Option<String>,
}

/// One status with how many tickets have it.
pub(super) struct Chip {
    label: &'static str,
    icon: &'static str,
    tone: &'static str,
    count: String,
    href: String,
    is_chosen: bool,
}

/// The filters as they are set.
pub(super) struct Filter {
    /// The status by its word; empty for all.
    status: String,
    selects: Vec<Select>,
    is_set: bool,
}

/// One filter with its options; the first is "all" and has the empty value.
pub(super) struct Select {
    name: &'static str,
    label: &'static str,
    options: Vec<Choice>,
}

/// What waits for other tickets. It informs: nobody has to act.
#[derive(Default)]
pub(super) struct Blocked {
    rows: Vec<BlockedLine>,
    /// Blocked tickets beyond those listed.
    more: u64,
}

/// A blocked ticket and what it waits for.
pub(super) struct BlockedLine {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    why: String,
}

#[cfg(test)]
impl TicketsPage {
    pub(super) fn sample() -> Self {
        use super::parts::samples::row;
        let chip = |label, status: &str, count: &str| {
            let mark = Mark::status(status);
            let known = !status.is_empty();
            Chip {
                label,
                icon: if known { mark.icon } else { "" },
                tone: if known { mark.tone } else { "" },
                count: count.to_owned(),
                href: format!("/tickets?status={status}"),
                is_chosen: !known,
            }
        };
        let options = |all: &str, others: &[&str]| {
            let mut options = vec![Choice::new("", all)];
            options.extend(others.iter().map(|label| Choice::new(*label, *label)));
            Choice::choose(options, "")
        };
        let done = ["succeeded"; 6];
        let mut failed = row(
            43,
            "Migrate user preferences to new schema",
            "failed",
            &["succeeded", "succeeded", "failed", "skipped", "skipped", "skipped"],
        );
        failed.note = Some("3 rows violate the NOT NULL constraint".to_owned());
        failed.kind = "Data operation".to_owned();
        Self {
            shell: Shell::sample("/tickets"),
            chips: vec![
                chip("All", "", "128"),
                chip("Running", "running", "1"),
                chip("Needs answer", "awaiting_input", "1"),
                chip("Queued", "queued", "1"),
                chip("Blocked", "blocked", "3"),
                chip("Failed", "failed", "2"),
                chip("Timed out", "timeout", "1"),
                chip("Succeeded", "succeeded", "115"),
                chip("Cancelled", "cancelled", "5"),
            ],
            filter: Filter {
                status: String::new(),
                selects: vec![
                    Select {
                        name: "project",
                        label: "Project",
                        options: options("All projects", &["Acme Widgets", "Billing"]),
                    },
                    Select {
                        name: "kind",
                        label: "Kind",
                        options: options("All kinds", &["Feature", "Fix", "Refactor"]),
                    },
                    Select {
                        name: "category",
                        label: "Category",
                        options: options("All categories", &["Auth & Billing", "UI Enhancements"]),
                    },
                ],
                is_set: false,
            },
            blocked: Blocked {
                rows: vec![BlockedLine {
                    mark: Mark::status("blocked"),
                    reference: "ACME-45".to_owned(),
                    href: "/tickets/ACME-45".to_owned(),
                    title: "Sync the theme with the system's preference".to_owned(),
                    why: "Waits for ACME-42: uses the theme store that it adds.".to_owned(),
                }],
                more: 2,
            },
            list: TicketRows {
                caption: "Tickets, newest first",
                rows: vec![
                    row(
                        44,
                        "Integrate Stripe Checkout for the Pro plan upgrade",
                        "awaiting_input",
                        &["succeeded", "succeeded", "awaiting_input", "queued", "queued", "queued"],
                    ),
                    failed,
                    row(
                        42,
                        "Add dark-mode toggle to the dashboard header",
                        "running",
                        &["succeeded", "succeeded", "succeeded", "succeeded", "running", "queued"],
                    ),
                    row(41, "Show the price with its currency", "succeeded", &done),
                    row(
                        40,
                        "Fix the footer overlapping the cookie banner on small phones",
                        "succeeded",
                        &done,
                    ),
                    row(39, "Rename the widget store", "cancelled", &["succeeded", "cancelled"]),
                    row(38, "Load test the checkout", "timeout", &["succeeded", "failed"]),
                    row(37, "Draft the pricing page", "queued", &[]),
                ],
            },
            older: Some("/tickets?before=ACME-37".to_owned()),
        }
    }

    pub(super) fn sample_empty() -> Self {
        let sample = Self::sample();
        Self {
            blocked: Blocked::default(),
            list: TicketRows { rows: Vec::new(), ..sample.list },
            older: None,
            ..sample
        }
    }
}
