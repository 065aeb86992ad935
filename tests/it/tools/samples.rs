//! Calls of every tool, for tests that go through all of them. A new tool must be added here, or
//! those tests fail.

use serde_json::{Value, json};

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
        let mut args = json!({ "title": "T", "project": "MINE" });
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
        "list_tickets" => vec![
            json!({ "project_id": project }),
            json!({ "project_id": project, "category": "Shared name" }),
            json!({ "category_id": named.category }),
        ],
        "get_ticket" | "get_ticket_graph" | "cancel_ticket" | "retry_ticket" => tickets(&[]),
        "get_ticket_reports" => tickets(&[("node", "plan-1")]),
        "reply_ticket" => tickets(&[("message", "Yes.")]),
        "approve_ticket" => tickets(&[("step", "plan"), ("decision", "approve")]),
        "get_job_status" => vec![json!({ "jobId": ticket }), json!({ "jobId": named.job })],
        "list_projects" => vec![json!({ "after": project })],
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

/// A call that the tool takes, on the project `MINE` and its ticket `MINE-1`.
pub(super) fn usual(tool: &str) -> Value {
    let ticket = json!({ "ticket": "MINE-1" });
    match tool {
        "dispatch_ticket" => json!({ "title": "T", "project": "MINE" }),
        "list_tickets" | "list_projects" => json!({}),
        "get_ticket" | "get_ticket_graph" | "get_ticket_reports" | "cancel_ticket"
        | "retry_ticket" => ticket,
        "reply_ticket" => json!({ "ticket": "MINE-1", "message": "Yes." }),
        "approve_ticket" => {
            json!({ "ticket": "MINE-1", "step": "plan", "decision": "approve" })
        }
        "get_job_status" => json!({ "jobId": "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b" }),
        "get_project" => json!({ "project": "MINE" }),
        "create_project" => json!({ "name": "New", "confirm": true }),
        unknown => panic!("add a call of {unknown} here"),
    }
}
