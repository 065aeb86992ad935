//! `/docs/tools`: the catalog of tools, made from their definitions.

use askama::Template;

use super::parts::Code;
use super::shell::Shell;

/// The catalog.
#[derive(Template)]
#[template(path = "docs_tools.html")]
pub(super) struct ToolsPage {
    shell: Shell,
    families: Vec<Family>,
}

/// Tools that belong together.
pub(super) struct Family {
    anchor: String,
    title: String,
    tools: Vec<ToolEntry>,
}

/// One tool.
pub(super) struct ToolEntry {
    name: String,
    about: String,
    /// Its scope and what it does: reads, writes, starts a job.
    tags: Vec<String>,
    arguments: Vec<Argument>,
    example: Code,
}

/// One argument.
pub(super) struct Argument {
    name: String,
    kind: String,
    is_required: bool,
    about: String,
}

#[cfg(test)]
impl ToolsPage {
    pub(super) fn sample() -> Self {
        let argument = |name: &str, kind: &str, is_required, about: &str| Argument {
            name: name.to_owned(),
            kind: kind.to_owned(),
            is_required,
            about: about.to_owned(),
        };
        let tool = |name: &str, about: &str, tags: &[&str], arguments| ToolEntry {
            name: name.to_owned(),
            about: about.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            arguments,
            example: Code::new(format!("call-{name}"), format!("assay call {name} '{{}}'")),
        };
        Self {
            shell: Shell { events: None, ..Shell::sample("/docs/tools") },
            families: vec![
                Family {
                    anchor: "tickets".to_owned(),
                    title: "Tickets".to_owned(),
                    tools: vec![
                        tool(
                            "dispatch_ticket",
                            "Files a ticket and starts it.",
                            &["mcp_full", "writes"],
                            vec![
                                argument(
                                    "title",
                                    "text, 1 to 500 characters",
                                    true,
                                    "What the ticket is about.",
                                ),
                                argument("project", "text", false, "The project by id or name."),
                                argument(
                                    "depends_on",
                                    "list of text",
                                    false,
                                    "Tickets that must succeed first.",
                                ),
                            ],
                        ),
                        tool(
                            "get_ticket",
                            "One ticket with its outcome.",
                            &["mcp_read", "reads"],
                            vec![argument(
                                "ticket",
                                "text",
                                true,
                                "Its ref, such as ACME-42, or its id.",
                            )],
                        ),
                    ],
                },
                Family {
                    anchor: "projects".to_owned(),
                    title: "Projects".to_owned(),
                    tools: vec![tool(
                        "list_projects",
                        "The projects of the team.",
                        &["mcp_read", "reads"],
                        Vec::new(),
                    )],
                },
            ],
        }
    }
}
