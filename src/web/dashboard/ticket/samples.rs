//! Sample tickets in the states that a page has to show.

use super::super::graph::GraphNode;
use super::super::marks::Pips;
use super::super::parts::samples::{NOW, minutes_ago};
use super::*;
use crate::base::Millis;
use crate::web::ansi::Reader;
use crate::web::markdown;

const DONE: [&str; 6] = ["succeeded"; 6];

pub(in crate::web::dashboard) fn log() -> Vec<Line> {
    let lines = [
        "\u{1b}[2m$ npm test\u{1b}[0m",
        "",
        "> acme-widgets@1.4.0 test",
        "> vitest run",
        "",
        " \u{1b}[32m✓\u{1b}[0m src/theme.test.ts (6 tests) \u{1b}[33m212 ms\u{1b}[0m",
        " \u{1b}[32m✓\u{1b}[0m src/header.test.ts \u{1b}[2m(3 tests)\u{1b}[0m 88 ms",
        " \u{1b}[31m✗\u{1b}[0m src/contrast.test.ts > \u{1b}[1mlink on dark ground\u{1b}[0m",
        "   \u{1b}[31mAssertionError: expected 4.31 to be at least 4.5\u{1b}[0m",
        "    \u{1b}[36mat src/contrast.test.ts:18:21\u{1b}[0m",
        "",
        " \u{1b}[1mTests\u{1b}[0m  1 failed, 9 passed",
    ];
    let mut reader = Reader::default();
    lines.iter().map(|line| reader.line(line)).collect()
}

fn node(name: &str, status: &str, headline: &str, took: &str) -> NodeCard {
    NodeCard {
        name: name.to_owned(),
        mark: Mark::status(status),
        headline: headline.to_owned(),
        took: took.to_owned(),
        nothing: "It has not started.",
        ..NodeCard::default()
    }
}

fn cards(statuses: [&str; 6]) -> Vec<NodeCard> {
    let meters = || {
        vec![
            Fact::plain("Agent", "claude-code"),
            Fact::plain("Model", "claude-sonnet-5"),
            Fact::plain("Turns", "24"),
            Fact::plain("Tokens in", "142,310"),
            Fact::plain("Tokens out", "18,904"),
        ]
    };
    let mut nodes = vec![
        node("plan-1", statuses[0], "claude-code · claude-sonnet-5", "48.2 s"),
        node("contract-1", statuses[1], "claude-code · claude-sonnet-5", "31.0 s"),
        node("implement-1", statuses[2], "claude-code · claude-sonnet-5", "4 min 12 s"),
        node("review-1", statuses[3], "claude-code · claude-opus-5", "1 min 3 s"),
        node("verification-1", statuses[4], "2 commands, 4 assertions", "22.8 s"),
        node("land-1", statuses[5], "onto main", ""),
    ];
    nodes[2].meters = meters();
    nodes[2].summary = markdown::render(
        "Added a sun/moon toggle to `Header.svelte`. The choice is kept in `localStorage` and \
         applied before the first paint.",
    );
    nodes[2].report = markdown::render(
        "# What changed\n\n- [x] Toggle in `web/src/routes/dashboard/Header.svelte`\n- [x] Store \
         `theme.ts`, with six tests\n- [ ] Follow the system's preference\n\n## Contrast\n\n| pair \
         | light | dark |\n|---|---|---|\n| link | 5.1 | 4.31 |\n| text | 15.2 | 13.8 |\n\n\
         ```ts\nexport const theme = persisted('theme', 'light');\n```\n",
    );
    nodes[4].log = Some(LogTail {
        href: "/tickets/ACME-42/nodes/verification-1/log".to_owned(),
        said: "All 12 lines".to_owned(),
        is_live: statuses[4] == "running",
        seq: 12,
        tail: log(),
    });
    for card in &mut nodes {
        let word = card.mark.tone;
        card.is_open = matches!(word, "run" | "bad" | "wait");
        if word == "run" {
            card.since = Some(Millis(NOW.0 - 22_800).iso());
        }
    }
    nodes
}

fn drawing(nodes: &[NodeCard]) -> Graph {
    let drawn = nodes
        .iter()
        .map(|node| GraphNode {
            name: node.name.clone(),
            mark: node.mark,
            note: node.took.replace(" min", "m").replace(" s", "s"),
        })
        .collect();
    Graph::draw(drawn, &[(0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5)])
}

fn assertion(state: &str, text: &str, evidence: &str) -> Assertion {
    Assertion {
        mark: Mark::assertion(state),
        text: text.to_owned(),
        check: vec![Fact::code("Checked by", "npm test")],
        proof: Some("#proof-1".to_owned()).filter(|_| state == "partial"),
        evidence: markdown::render(evidence),
    }
}

fn proof(passed: bool, command: &str, exit: &str) -> ProofLine {
    ProofLine {
        anchor: format!("proof-{exit}"),
        mark: Mark::verdict(if passed { "proven" } else { "failed" }),
        claim: command.to_owned(),
        command: String::new(),
        exit_code: exit.to_owned(),
        took: "18.3 s".to_owned(),
        at: minutes_ago(3),
        log: Some("/tickets/ACME-42/nodes/verification-1/log#L1".to_owned()),
    }
}

fn happening(minutes: i64, tone: &'static str, text: &str, who: &str) -> Happening {
    let (text, who) = (text.to_owned(), who.to_owned());
    Happening { tone, at: minutes_ago(minutes), text, who, node: None }
}

fn related(number: u32, status: &str, title: &str) -> RelatedTicket {
    RelatedTicket {
        mark: Mark::status(status),
        reference: format!("ACME-{number}"),
        href: format!("/tickets/ACME-{number}"),
        title: title.to_owned(),
    }
}

fn assertions() -> Vec<Assertion> {
    vec![
        assertion(
            "confirmed",
            "The toggle renders on all breakpoints",
            "header.test.ts: 3 passed at 360, 768 and 1280 px",
        ),
        assertion("confirmed", "The preference survives a reload", "theme.test.ts: 6 passed"),
        assertion(
            "partial",
            "Contrast meets WCAG AA in both themes",
            "Light passes; the link on dark ground has 4.31 of 4.5",
        ),
        assertion("", "npm test passes", ""),
    ]
}

fn facts() -> Vec<Fact> {
    vec![
        Fact::plain("Kind", "Feature"),
        Fact::link("Category", Link::new("UI Enhancements", "/tickets?category=UI+Enhancements")),
        Fact::plain("Requester", "Ada Builder, over MCP"),
        Fact::plain("Turns", "42"),
        Fact::plain("Tokens", "180,000 in, 24,000 out"),
        Fact::code("Branch", "agent/a1b2c3d4-e5f6-7890-abcd-ef1234567890"),
        Fact::code("Base commit", "99ab81c0f2"),
    ]
}

fn timeline() -> Vec<Happening> {
    vec![
        happening(0, "", "verification-1 started", ""),
        happening(1, "ok", "review-1 succeeded", "claude-code"),
        happening(2, "ok", "implement-1 succeeded with 3 commits", "claude-code"),
        happening(7, "", "The graph was planned: 6 nodes", ""),
        happening(7, "", "Started on agent/a1b2c3d4 from main at 99ab81c0f2", ""),
        happening(8, "", "Dispatched over MCP", "Ada Builder"),
    ]
}

fn relations() -> Vec<Relation> {
    vec![
        Relation {
            title: "Depends on",
            tickets: vec![related(41, "succeeded", "Show the price with its currency")],
            reason: "Uses the formatter that ACME-41 adds.".to_owned(),
        },
        Relation {
            title: "Waiting on this",
            tickets: vec![related(45, "blocked", "Sync the theme with the system's preference")],
            reason: String::new(),
        },
    ]
}

fn conversation() -> Conversation {
    let turn = |who, text| SaidTurn { who, text: markdown::render(text) };
    Conversation {
        said: "2 turns, drafted by rule".to_owned(),
        title: "Header work".to_owned(),
        turns: vec![
            turn("User", "The header needs a **toggle** for the dark theme."),
            turn("Assistant", "I will keep the choice in `localStorage`."),
        ],
    }
}

fn description() -> Prose {
    markdown::render(
        "The dashboard header (`web/src/routes/dashboard/Header.svelte`) should have a sun/moon \
         toggle that switches between light and dark themes.\n\n**Acceptance:** the toggle \
         renders on all breakpoints, the preference persists, contrast passes on both themes.",
    )
}

fn ticket(status: &str, nodes: [&str; 6]) -> TicketPage {
    let cards = cards(nodes);
    TicketPage {
        shell: Shell {
            events: Some("/events?ticket=ACME-42".to_owned()),
            ..Shell::sample("/tickets")
        },
        reference: "ACME-42".to_owned(),
        title: "Add dark-mode toggle to the dashboard header".to_owned(),
        href: "/tickets/ACME-42".to_owned(),
        project: Link::new("Acme Widgets", "/projects/acme-widgets"),
        mark: Mark::status(status),
        next: NextStep {
            tone: "run",
            title: "Nothing to do now".to_owned(),
            text: "verification-1 checks the branch with the project's commands.".to_owned(),
            link: None,
        },
        is_over: false,
        can_cancel: true,
        can_retry: false,
        refile: None,
        has_changes: true,
        can_answer: true,
        question: None,
        progress: Pips::of(&nodes).said().to_owned(),
        graph: drawing(&cards),
        summary: None,
        nodes: cards,
        proved: "2 of 4 assertions confirmed".to_owned(),
        assertions: assertions(),
        remarks: Vec::new(),
        proofs: vec![
            proof(false, "npm test", "1"),
            proof(true, "npm run lint -- --max-warnings 0", "0"),
        ],
        description: description(),
        conversation: Some(conversation()),
        attachments: vec![AttachmentLine {
            name: "brief.pdf".to_owned(),
            said: "application/pdf, 48.2 kB".to_owned(),
            hash: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262".to_owned(),
            href: "/tickets/ACME-42/attachments/0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b".to_owned(),
        }],
        timeline: timeline(),
        is_timeline_cut: false,
        facts: facts(),
        times: vec![
            TimeFact { name: "Created", at: minutes_ago(8) },
            TimeFact { name: "Started", at: minutes_ago(7) },
        ],
        relations: relations(),
    }
}

impl TicketPage {
    /// The samples by name.
    pub(in crate::web::dashboard) fn samples() -> Vec<(&'static str, Self)> {
        let running = ["succeeded", "succeeded", "succeeded", "succeeded", "running", "queued"];
        vec![
            ("ticket_running", ticket("running", running)),
            ("ticket_asking", asking()),
            ("ticket_asking_secret", asking_for_secret()),
            ("ticket_failed", failed()),
            ("ticket_landed", landed()),
            ("ticket_queued", queued()),
            ("ticket_cancelled", cancelled()),
        ]
    }
}

fn asking() -> TicketPage {
    let nodes = ["succeeded", "succeeded", "awaiting_input", "queued", "queued", "queued"];
    TicketPage {
        next: NextStep {
            tone: "wait",
            title: "implement-1 asks a question".to_owned(),
            text: "The ticket goes on as soon as it is answered.".to_owned(),
            link: Some(Link::new("Answer", "#question")),
        },
        question: Some(Question {
            step: "",
            secret: String::new(),
            title: "Question",
            asker: "implement-1".to_owned(),
            at: minutes_ago(4),
            text: markdown::render(
                "Where should the choice be kept? `localStorage` is per browser; the account \
                 follows the person.",
            ),
            choices: vec!["In localStorage".to_owned(), "In the account".to_owned()],
        }),
        ..ticket("awaiting_input", nodes)
    }
}

fn asking_for_secret() -> TicketPage {
    let asking = asking();
    let question = asking.question.map(|question| Question {
        secret: "STRIPE_WEBHOOK_SECRET".to_owned(),
        title: "A secret is needed",
        choices: Vec::new(),
        ..question
    });
    TicketPage { question, ..asking }
}

fn failed() -> TicketPage {
    let nodes = ["succeeded", "succeeded", "succeeded", "succeeded", "failed", "skipped"];
    let mut page = ticket("failed", nodes);
    page.nodes[4].failure = "npm test exited with 1: the link on dark ground has a contrast of \
        4.31, below the 4.5 that the contract demands."
        .to_owned();
    page.next = NextStep {
        tone: "bad",
        title: "Verification failed".to_owned(),
        text: "npm test exited with 1. The branch keeps its 3 commits; a retry goes on from them."
            .to_owned(),
        link: Some(Link::new("See why", "#node-verification-1")),
    };
    (page.can_cancel, page.can_retry) = (false, true);
    page.remarks = vec![Remark {
        label: "For you",
        text: "Decide whether the accent colour may change in the dark theme.".to_owned(),
        source: "verification-1".to_owned(),
    }];
    page
}

fn landed() -> TicketPage {
    let mut page = ticket("succeeded", DONE);
    page.next = NextStep {
        tone: "ok",
        title: "Landed on main as abc123def4".to_owned(),
        text: "Fully verified: 4 of 4 assertions hold.".to_owned(),
        link: None,
    };
    page.can_cancel = false;
    page.proved = "4 of 4 assertions confirmed".to_owned();
    page.summary = Some(Summary {
        title: "What was done",
        text: markdown::render(
            "Added a sun/moon toggle to `Header.svelte`. The preference is kept in \
             `localStorage`. Contrast verified in both themes.",
        ),
    });
    page.facts.push(Fact::code("Landed commit", "abc123def4567890"));
    page
}

fn cancelled() -> TicketPage {
    let nodes = ["succeeded", "succeeded", "cancelled", "cancelled", "cancelled", "cancelled"];
    let refile = Refile {
        title: "Add <dark-mode> toggle".to_owned(),
        description: "The header should have a toggle.".to_owned(),
        kept: "3 commits".to_owned(),
        waiting: "1 ticket waits".to_owned(),
    };
    let (can_cancel, can_retry) = (false, true);
    let page = ticket("cancelled", nodes);
    TicketPage { refile: Some(refile), can_cancel, can_retry, is_timeline_cut: true, ..page }
}

fn queued() -> TicketPage {
    let page = ticket("queued", DONE);
    TicketPage {
        next: NextStep {
            tone: "idle",
            title: "Nothing to do now".to_owned(),
            text: "It starts when a worker is free.".to_owned(),
            link: None,
        },
        progress: String::new(),
        graph: Graph::default(),
        nodes: Vec::new(),
        proved: String::new(),
        assertions: Vec::new(),
        proofs: Vec::new(),
        relations: Vec::new(),
        description: Prose::default(),
        conversation: None,
        attachments: Vec::new(),
        ..page
    }
}
