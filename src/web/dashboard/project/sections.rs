//! The sections of a project's settings, and the fields of each.

use super::agent_form;
use super::form::{Field, Group, Reads, Sent};
use crate::projects::environments::Environment;
use crate::projects::limits::{Bounds, Usd};
use crate::projects::settings::LandingStrategy;
use crate::projects::steps::Pipeline;
use crate::projects::{Category, Project};
use crate::web::dashboard::parts::Choice;

/// A section of the settings, with an address of its own.
pub(super) struct Section {
    /// The last part of its address.
    pub(super) slug: &'static str,
    pub(super) label: &'static str,
    /// What it is for, in a sentence.
    pub(super) about: &'static str,
    /// Its list, where it is one: the name of the list and what a row must hold to count.
    pub(super) list: Option<(&'static str, &'static [&'static str])>,
    pub(super) groups: fn(&Known, usize) -> Vec<Group>,
}

/// What the fields of a section are made from.
pub(super) struct Known {
    pub(super) project: Project,
    pub(super) environments: Vec<Environment>,
    pub(super) categories: Vec<(Category, u64)>,
}

/// Every section, in the order of the navigation.
pub(super) const SECTIONS: [Section; 10] = [
    Section {
        slug: "repository",
        label: "Repository",
        about: "What the project is, where its code lives, and how finished work reaches it.",
        list: None,
        groups: repository,
    },
    Section {
        slug: "agents",
        label: "Agents",
        about: "Who does the work: the programs that can be started, and which does what.",
        list: None,
        groups: agent_form::groups,
    },
    Section {
        slug: "verify",
        label: "Verify commands",
        about: "What must succeed on a ticket's branch before it lands. They run in this order.",
        list: Some(("settings.verify", &["name", "command"])),
        groups: verify,
    },
    Section {
        slug: "limits",
        label: "Limits",
        about: "How much may be tried, run at once and spent. An empty field sets no limit.",
        list: None,
        groups: limits,
    },
    Section {
        slug: "approvals",
        label: "Approvals",
        about: "What goes on only after a person's word. A change of live data waits in any case.",
        list: None,
        groups: approvals,
    },
    Section {
        slug: "environments",
        label: "Environments",
        about: "Where the project's site is served. The default one is meant where a call names \
                none.",
        list: Some(("environments", &["name", "baseUrl"])),
        groups: environments,
    },
    Section {
        slug: "categories",
        label: "Categories",
        about: "The names that tickets are sorted under. A ticket that names a new one makes it.",
        list: None,
        groups: |_, _| Vec::new(),
    },
    Section {
        slug: "dispatch",
        label: "Dispatch",
        about: "How a brief is judged before it becomes a ticket.",
        list: None,
        groups: dispatch,
    },
    Section {
        slug: "pipeline",
        label: "Pipeline",
        about: "Which steps a ticket takes from its brief to the base branch.",
        list: None,
        groups: pipeline,
    },
    Section {
        slug: "document",
        label: "Document",
        about: "The whole settings document, as the tool update_project and the command line take \
                it. What is left out goes back to its default.",
        list: None,
        groups: document,
    },
];

impl Section {
    pub(super) fn find(slug: &str) -> Option<&'static Self> {
        SECTIONS.iter().find(|section| section.slug == slug)
    }

    /// The fields as they stand.
    pub(super) fn present(&self, known: &Known) -> Vec<Group> {
        let rows = match self.slug {
            "verify" => known.project.settings.verify.len(),
            "environments" => known.environments.len(),
            _ => 0,
        };
        (self.groups)(known, rows)
    }

    /// The fields for what was sent, whose list is numbered anew.
    pub(super) fn for_sent(&self, known: &Known, sent: &mut Sent) -> Vec<Group> {
        let rows = self.list.map_or(0, |(list, of)| sent.compact(list, of));
        (self.groups)(known, rows)
    }
}

fn repository(known: &Known, _: usize) -> Vec<Group> {
    let project = &known.project;
    let place = project.location().map(|place| place.to_string());
    let landing = &project.settings.landing;
    let ways = vec![
        Choice::new(LandingStrategy::Merge.word(), "Merge: the commits and a merge commit"),
        Choice::new(LandingStrategy::Squash.word(), "Squash: one commit for a ticket"),
    ];
    vec![
        Group::new(
            "The project",
            "",
            vec![
                Field::new(&["name"], "Name", Reads::Text).value(&project.name),
                Field::new(&["description"], "Description", Reads::Text)
                    .hint("What it is about. Agents and people read it.")
                    .value(&project.description)
                    .kind("text"),
            ],
        ),
        Group::new(
            "Repository",
            "",
            vec![
            Field::new(&["repository"], "Address", Reads::Text)
                .hint("An absolute path on the server's machine, or an address that git can clone.")
                .given(place),
            Field::new(&["baseBranch"], "Base branch", Reads::Text)
                .hint("Tickets start from it and land on it. Empty means the repository's own.")
                .given(project.base_branch.as_ref()),
        ],
        ),
        Group::new(
            "Landing",
            "",
            vec![
                Field::new(
                    &["settings", "landing", "strategy"],
                    "What a landing leaves",
                    Reads::Text,
                )
                .value(landing.strategy.word())
                .choices(ways),
                flag(
                    &["settings", "landing", "requireFullyVerified"],
                    "Demand every assertion",
                    landing.require_fully_verified,
                )
                .hint("A ticket lands only once each assertion of its contract is confirmed."),
                Field::new(
                    &["settings", "cleanUp", "keepFailedHours"],
                    "Keep the work trees of failed tickets, in hours",
                    Reads::Whole,
                )
                .hint("Their branches stay for ever; only the checked-out files go.")
                .value(project.settings.clean_up.keep_failed_hours),
            ],
        ),
    ]
}

fn flag(steps: &[&str], label: &str, is_set: bool) -> Field {
    Field::new(steps, label, Reads::Flag).value(is_set)
}

fn verify(known: &Known, rows: usize) -> Vec<Group> {
    let settings = &known.project.settings;
    let row = |at: usize| {
        let place = format!("[{at}]");
        let command = settings.verify.get(at);
        let path = |of| ["settings", "verify", place.as_str(), of];
        let timeout = command.map_or(900, |command| command.timeout_secs);
        let is_spare = at >= rows;
        let mut fields = vec![
            Field::new(&path("name"), "Name", Reads::Text)
                .given(command.map(|command| &command.name)),
            Field::new(&path("command"), "Shell line", Reads::Text)
                .given(command.map(|command| &command.command)),
            Field::new(&path("timeoutSecs"), "Seconds at most", Reads::Whole).value(timeout),
        ];
        if !is_spare {
            fields.push(Field::new(&path("remove"), "Remove", Reads::Apart).kind("check"));
        }
        let title = if is_spare { "One more".to_owned() } else { format!("Command {}", at + 1) };
        Group { is_spare, ..Group::new(title, "", fields).look("row") }
    };
    let mut groups: Vec<Group> = (0..=rows).map(row).collect();
    let deploy = settings.landing.deploy_verify.as_ref();
    let path = |of| ["settings", "landing", "deployVerify", of];
    groups.push(Group::new(
        "After a landing",
        "Looks at what was deployed. What it finds undoes no landing; a person is asked to look.",
        vec![
            Field::new(&path("command"), "Shell line after a landing", Reads::Given)
                .hint("Runs in a work tree of the landed commit. Empty for none.")
                .given(deploy.map(|deploy| &deploy.command)),
            Field::new(&path("timeoutSecs"), "Seconds at most after a landing", Reads::Whole)
                .value(deploy.map_or(900, |deploy| deploy.timeout_secs)),
        ],
    ));
    groups
}

fn limits(known: &Known, _: usize) -> Vec<Group> {
    let limits = &known.project.settings.limits;
    let whole = |name: &'static str, label, value: u32| {
        Field::new(&["settings", "limits", name], label, Reads::Whole).value(value)
    };
    let month = &limits.project_month;
    let of_month = |name| ["settings", "limits", "projectMonth", name];
    vec![
        Group::new(
            "Work",
            "",
            vec![
                whole("implementRounds", "Implement rounds", limits.implement_rounds)
                    .hint("How often an agent may implement a ticket before it fails: 1 to 20."),
                whole("concurrency", "Nodes at once", limits.concurrency)
                    .hint("How many nodes of the project run at the same time: 1 to 64."),
            ],
        ),
        Group::new(
            "A month of the project",
            "Once it is used up no further ticket starts until the month turns or this is raised.",
            vec![
                Field::new(&of_month("tokens"), "Tokens a month", Reads::GivenWhole)
                    .given(month.tokens),
                Field::new(&of_month("costUsd"), "US dollars a month", Reads::Number)
                    .given(month.cost_usd.map(f64::from)),
            ],
        )
        .look("grid"),
        bounds(
            "ticket",
            "A ticket",
            "For each try of a person's. Crossing it ends the ticket.",
            &limits.ticket,
        ),
        bounds(
            "node",
            "A node",
            "For each of its starts. Crossing it ends the ticket.",
            &limits.node,
        ),
    ]
}

fn bounds(of: &str, title: &str, about: &'static str, bounds: &Bounds) -> Group {
    let field = |name: &str, label: &str, reads| {
        Field::new(&["settings", "limits", of, name], format!("{label} of {of}s"), reads)
    };
    let whole =
        |name, label, value: Option<u64>| field(name, label, Reads::GivenWhole).given(value);
    let cost: Option<Usd> = bounds.cost_usd;
    Group::new(
        title,
        about,
        vec![
            whole("wallMinutes", "Minutes", bounds.wall_minutes),
            whole("turns", "Agent turns", bounds.turns),
            whole("tokens", "Tokens", bounds.tokens),
            field("costUsd", "US dollars", Reads::Number).given(cost.map(f64::from)),
        ],
    )
    .look("grid")
}

fn approvals(known: &Known, _: usize) -> Vec<Group> {
    let approvals = &known.project.settings.approvals;
    vec![Group::new(
        "Wait for a person",
        "",
        vec![
            flag(
                &["settings", "approvals", "plan"],
                "Before a plan is carried out",
                approvals.plan,
            ),
            flag(&["settings", "approvals", "land"], "Before verified work lands", approvals.land),
        ],
    )]
}

fn environments(known: &Known, rows: usize) -> Vec<Group> {
    let row = |at: usize| {
        let place = format!("[{at}]");
        let present = known.environments.get(at);
        let path = |of| ["environments", place.as_str(), of];
        let is_spare = at >= rows;
        let mut fields = vec![
            Field::new(&path("id"), "Id", Reads::Given)
                .given(present.map(|present| present.id.to_string()))
                .kind("hidden"),
            Field::new(&path("name"), "Name", Reads::Text).given(present.map(|one| &one.name)),
            Field::new(&path("baseUrl"), "Base URL", Reads::Text)
                .given(present.map(|one| &one.base_url)),
            flag(&path("isDefault"), "Default", present.is_some_and(|one| one.is_default)),
        ];
        if !is_spare {
            fields.push(Field::new(&path("remove"), "Remove", Reads::Apart).kind("check"));
        }
        let title =
            if is_spare { "One more".to_owned() } else { format!("Environment {}", at + 1) };
        Group { is_spare, ..Group::new(title, "", fields).look("row") }
    };
    (0..=rows).map(row).collect()
}

fn dispatch(known: &Known, _: usize) -> Vec<Group> {
    let dispatch = &known.project.settings.dispatch;
    let path = |of| ["settings", "dispatch", of];
    vec![Group::new(
        "Thresholds",
        "",
        vec![
            Field::new(&path("duplicateThreshold"), "Likeness of duplicates", Reads::Number)
                .hint(
                    "From 0 to 1: from here on a brief counts as a ticket that is there. 0 never.",
                )
                .value(dispatch.duplicate_threshold.value()),
            Field::new(&path("splitAbove"), "Split above, in nodes", Reads::Whole)
                .hint("A brief in parts that would take more nodes becomes a chain of tickets.")
                .value(dispatch.split_above),
        ],
    )]
}

fn pipeline(known: &Known, _: usize) -> Vec<Group> {
    let choices = vec![
        Choice::new(Pipeline::Dynamic.word(), "By what the ticket asks for"),
        Choice::new(
            Pipeline::FivePassV1.word(),
            "Five passes: plan, implement, review, security, docs",
        ),
    ];
    vec![Group::new(
        "Plan",
        "",
        vec![
            Field::new(&["settings", "pipeline"], "How a ticket's graph is planned", Reads::Text)
                .hint("Tickets that are there keep their graph.")
                .value(known.project.settings.pipeline.word())
                .choices(choices),
        ],
    )]
}

fn document(known: &Known, _: usize) -> Vec<Group> {
    let text = serde_json::to_string_pretty(&known.project.settings).unwrap_or_default();
    vec![Group::new(
        "Settings",
        "",
        vec![
            Field::new(&["settings"], "JSON", Reads::Apart)
                .hint("Every problem is named with its path.")
                .value(text)
                .kind("text"),
        ],
    )]
}
