//! Calls of every tool, for tests that go through all of them. A new tool must be added here, or
//! those tests fail.

use serde_json::{Value, json};

/// The id of no claim.
const NO_CLAIM: &str = "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7c";

/// What a call can name: somebody's, or nobody's.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) project: String,
    pub(super) project_key: String,
    pub(super) project_slug: String,
    pub(super) project_name: String,
    pub(super) ticket: String,
    pub(super) ticket_ref: String,
    pub(super) category: String,
    pub(super) job: String,
    pub(super) claim: String,
    pub(super) operation_key: String,
}

impl Named {
    /// The text with each of the names replaced by what it names.
    pub(super) fn hide(&self, text: &str) -> String {
        let names = [
            (&self.ticket_ref, "<ref>"),
            (&self.project_slug, "<slug>"),
            (&self.project_name, "<name>"),
            (&self.project_key, "<key>"),
            (&self.project, "<project>"),
            (&self.ticket, "<ticket>"),
            (&self.category, "<category>"),
            (&self.job, "<job>"),
            (&self.claim, "<claim>"),
            (&self.operation_key, "<operation>"),
        ];
        names.iter().fold(text.to_owned(), |text, (name, place)| text.replace(*name, place))
    }
}

/// Every way in which a tool can name something. The project `MINE` is the caller's own.
pub(super) fn naming(tool: &str, named: &Named) -> Vec<Value> {
    let Named { project, project_key, project_slug, project_name, ticket, ticket_ref, .. } = named;
    let tickets = |more: &[(&str, &str)]| {
        let one = |named: &String| {
            let mut args = json!({ "ticket": named });
            for (name, value) in more {
                args[*name] = json!(value);
            }
            args
        };
        vec![one(ticket), one(ticket_ref)]
    };
    let mine = |name: &str, value: Value| {
        let mut args = json!({ "title": "T", "project": "MINE", "override_duplicate": true });
        args["depends_on_reason"] = json!("It builds on that one.");
        args[name] = value;
        args
    };
    match tool {
        "dispatch_ticket" => vec![
            json!({ "title": "T", "project_id": project }),
            json!({ "title": "T", "project": project }),
            json!({ "title": "T", "project": project_key }),
            json!({ "title": "T", "project": project_slug }),
            json!({ "title": "T", "project": project_name }),
            mine("depends_on", json!([ticket])),
            mine("depends_on", json!([ticket_ref])),
            mine("replaces", json!(ticket)),
            mine("operation_key", json!(named.operation_key)),
            mine("category", json!("Shared name")),
        ],
        "dispatch_ticket_graph"
        | "mint_attachment_upload_url"
        | "list_categories"
        | "rename_category"
        | "delete_category"
        | "search_tickets" => naming_more(tool, named),
        "list_tickets" => vec![
            json!({ "project_id": project }),
            json!({ "project_id": project, "category": "Shared name" }),
            json!({ "category_id": named.category }),
        ],
        "get_ticket" | "get_ticket_graph" | "cancel_ticket" | "retry_ticket"
        | "create_secret_link" => tickets(&[]),
        "get_ticket_reports" => tickets(&[("node", "plan-1")]),
        "reply_ticket" => tickets(&[("message", "Yes.")]),
        "claim_ticket_node"
        | "report_node_progress"
        | "submit_node_report"
        | "release_node"
        | "file_child_ticket"
        | "ask_person"
        | "attach_evidence" => naming_work(tool, named),
        "approve_ticket" => tickets(&[("step", "plan"), ("decision", "approve")]),
        "get_job_status" => vec![json!({ "jobId": ticket }), json!({ "jobId": named.job })],
        "list_projects" | "get_project" | "create_project" | "update_project" | "try_agent" => {
            naming_projects(tool, named)
        }
        unknown => panic!("add calls of {unknown} here"),
    }
}

/// The same for the tools of projects.
fn naming_projects(tool: &str, named: &Named) -> Vec<Value> {
    let Named { project, project_key, project_slug, project_name, .. } = named;
    match tool {
        "list_projects" => vec![json!({ "after": project })],
        "update_project" => vec![
            json!({ "projectId": project, "name": "Mine now", "confirm": true }),
            json!({ "project": project_slug, "name": "Mine now", "confirm": true }),
            json!({ "project": project_key, "settings": {}, "confirm": true }),
        ],
        "try_agent" => vec![
            json!({ "projectId": project, "confirm": true }),
            json!({ "project": project_slug, "confirm": true }),
        ],
        "get_project" => vec![
            json!({ "projectId": project }),
            json!({ "project": project }),
            json!({ "project": project_key }),
            json!({ "project": project_slug }),
            json!({ "project": project_name }),
        ],
        "create_project" => {
            vec![json!({ "name": project_name, "key": project_key, "confirm": true })]
        }
        unknown => panic!("add calls of {unknown} here"),
    }
}

/// The same for the tools of agents.
fn naming_work(tool: &str, named: &Named) -> Vec<Value> {
    let Named { project, project_slug, ticket, ticket_ref, .. } = named;
    if tool == "claim_ticket_node" {
        return vec![
            json!({ "project": project }),
            json!({ "project": project_slug }),
            json!({ "ticket": ticket }),
            json!({ "ticket": ticket_ref }),
        ];
    }
    let mut args = usual(tool);
    args["claim_id"] = json!(named.claim);
    vec![args]
}

/// The same for tools that file, sort and find tickets.
fn naming_more(tool: &str, named: &Named) -> Vec<Value> {
    let Named { project, project_name, ticket, ticket_ref, .. } = named;
    match tool {
        "dispatch_ticket_graph" => {
            let one = json!([{ "name": "a", "title": "T", "depends_on": [ticket],
                "depends_on_reason": "It builds on that one." }]);
            vec![
                json!({ "project": project, "tickets": [{ "name": "a", "title": "T" }] }),
                json!({ "project_id": project, "tickets": [{ "name": "a", "title": "T" }] }),
                json!({ "project": "MINE", "tickets": one }),
                json!({ "project": "MINE", "operation_key": named.operation_key,
                    "tickets": [{ "name": "a", "title": "T" }] }),
            ]
        }
        "mint_attachment_upload_url" => {
            let file = |name: &str, value: &str| {
                let mut args = json!({ "project": "MINE", "original_name": "a.pdf",
                    "content_type": "application/pdf", "size_bytes": 3 });
                args[name] = json!(value);
                args
            };
            vec![file("project", project), file("project_id", project), file("job_id", ticket)]
        }
        "list_categories" => vec![
            json!({ "project": project }),
            json!({ "project_id": project }),
            json!({ "project": project_name }),
        ],
        "rename_category" | "delete_category" => {
            let rename = |mut args: Value| {
                if tool == "rename_category" {
                    args["name"] = json!("New");
                }
                args
            };
            vec![
                rename(json!({ "category_id": named.category })),
                rename(json!({ "project": project, "category": "Shared name" })),
                rename(json!({ "project": "MINE", "category": "Shared name" })),
            ]
        }
        "search_tickets" => vec![
            json!({ "query": "secret plan" }),
            json!({ "query": ticket_ref }),
            json!({ "project_id": project }),
            json!({ "project_id": project, "category": "Shared name" }),
            json!({ "category_id": named.category }),
        ],
        unknown => panic!("add calls of {unknown} here"),
    }
}

/// A call that the tool takes, on the project `MINE` and its ticket `MINE-1`.
pub(super) fn usual(tool: &str) -> Value {
    let ticket = json!({ "ticket": "MINE-1" });
    match tool {
        "dispatch_ticket" => json!({ "title": "T", "project": "MINE" }),
        "dispatch_ticket_graph" => {
            json!({ "project": "MINE", "tickets": [{ "name": "a", "title": "T" }] })
        }
        "mint_attachment_upload_url" => json!({ "project": "MINE", "original_name": "a.pdf",
            "content_type": "application/pdf", "size_bytes": 3 }),
        "rename_category" => json!({ "project": "MINE", "category": "Old", "name": "New" }),
        "delete_category" => json!({ "project": "MINE", "category": "Old" }),
        "list_tickets" | "list_projects" | "search_tickets" => json!({}),
        "get_ticket" | "get_ticket_graph" | "get_ticket_reports" | "cancel_ticket"
        | "retry_ticket" | "create_secret_link" => ticket,
        "reply_ticket" => json!({ "ticket": "MINE-1", "message": "Yes." }),
        "report_node_progress" => json!({ "claim_id": NO_CLAIM, "message": "At it." }),
        "submit_node_report" => {
            json!({ "claim_id": NO_CLAIM, "outcome": "succeeded", "summary": "Done." })
        }
        "release_node" => json!({ "claim_id": NO_CLAIM, "reason": "No time." }),
        "file_child_ticket" => json!({ "title": "T", "description": "More." }),
        "ask_person" => json!({ "question": "Which?" }),
        "attach_evidence" => json!({ "claim": "It holds.", "label": "log", "text": "ok" }),
        "approve_ticket" => {
            json!({ "ticket": "MINE-1", "step": "plan", "decision": "approve" })
        }
        "get_job_status" => json!({ "jobId": "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b" }),
        "claim_ticket_node" | "get_project" | "list_categories" => json!({ "project": "MINE" }),
        "create_project" => json!({ "name": "New", "confirm": true }),
        "try_agent" => json!({ "project": "MINE", "confirm": true }),
        "update_project" => json!({ "project": "MINE", "name": "New", "confirm": true }),
        unknown => panic!("add a call of {unknown} here"),
    }
}
