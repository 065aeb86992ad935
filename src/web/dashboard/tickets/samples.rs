//! Sample pages of the list and the board.

use super::super::parts::Choice;
use super::super::parts::samples::row;
use super::*;

impl TicketsPage {
    pub(in crate::web::dashboard) fn sample() -> Self {
        let asked = Asked::parse("status=running&q=theme").unwrap();
        let counts = [
            (Status::Running, 1),
            (Status::AwaitingInput, 1),
            (Status::Queued, 1),
            (Status::Blocked, 3),
            (Status::Failed, 2),
            (Status::Timeout, 1),
            (Status::Succeeded, 115),
            (Status::Cancelled, 5),
        ];
        let projects = ["acme-widgets", "billing"].map(|slug| Choice::new(slug, slug));
        let categories = vec!["Auth & Billing".to_owned()];
        let tab = |label: &str, is_open| Tab {
            label: label.to_owned(),
            href: "/tickets?status=running".to_owned(),
            is_open,
        };
        Self {
            shell: Shell::sample("/tickets"),
            can_write: true,
            tabs: vec![tab("All tickets", false), tab("Mine", true)],
            open: Some(Open { id: "0190a5b2".to_owned(), name: "Mine".to_owned() }),
            can_save: true,
            query: asked.query(),
            is_board: false,
            as_list: "/tickets".to_owned(),
            as_board: "/tickets?view=board".to_owned(),
            chips: filters::chips(&asked, &counts),
            filters: Filters::of(&asked, projects.to_vec(), None, &categories),
            new_href: new_href(""),
            blocked: Blocked {
                rows: vec![BlockedLine {
                    mark: Mark::status("blocked"),
                    reference: "ACME-45".to_owned(),
                    href: "/tickets/ACME-45".to_owned(),
                    title: "Sync the theme with the system's preference".to_owned(),
                    why: "Waits for ACME-42. Uses the theme store that it adds.".to_owned(),
                }],
                more: 2,
            },
            columns: Vec::new(),
            list: List {
                caption: "Tickets, newest first",
                said: "8 of 129 tickets".to_owned(),
                rows: rows(),
                next: Some("/tickets?from=0.37".to_owned()),
                next_said: "Older tickets",
                first: None,
                is_cut: false,
            },
        }
    }

    pub(in crate::web::dashboard) fn sample_empty() -> Self {
        Self { blocked: Blocked::default(), list: List::default(), ..Self::sample() }
    }

    pub(in crate::web::dashboard) fn sample_board() -> Self {
        let sample = Self::sample_empty();
        Self { is_board: true, columns: board::samples(), ..sample }
    }
}

fn rows() -> Vec<TicketRow> {
    let (done, gone) = ("succeeded", "skipped");
    let mut failed = row(
        43,
        "Migrate user preferences to new schema",
        "failed",
        &[done, done, "failed", gone, gone, gone],
    );
    failed.note = Some("3 rows violate the NOT NULL constraint".to_owned());
    failed.kind = "Data operation".to_owned();
    vec![
        row(
            44,
            "Integrate Stripe Checkout for the Pro plan upgrade",
            "awaiting_input",
            &[done, done, "awaiting_input", "queued", "queued", "queued"],
        ),
        failed,
        row(
            42,
            "Add dark-mode toggle to the dashboard header",
            "running",
            &[done, done, done, done, "running", "queued"],
        ),
        row(41, "Show the price with its currency", done, &[done; 6]),
        row(40, "Fix the footer overlapping the cookie banner on phones", done, &[done; 6]),
        row(39, "Rename the widget store", "cancelled", &[done, "cancelled"]),
        row(38, "Load test the checkout", "timeout", &[done, "failed"]),
        row(37, "Draft the pricing page", "queued", &[]),
    ]
}
