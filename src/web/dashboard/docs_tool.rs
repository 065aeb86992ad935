//! `/docs/tools/{tool}`: one tool with all that it takes and gives, and the same call at each door.

use askama::Template;
use axum::extract::{Path, State};
use serde_json::{Map, Value};

use super::docs_connect::KEY_PLACE;
use super::docs_tools::{self, Argument};
use super::parts::Code;
use super::shell::Shell;
use crate::base::{Code as FaultCode, Fault};
use crate::contract::wire;
use crate::tools::Entry;
use crate::web::auth::Anyone;
use crate::web::markdown::{self, Prose};
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// How deep an answer is told; what lies deeper is in its schema.
const DEPTH_MAX: usize = 3;

/// One tool.
#[derive(Template)]
#[template(path = "docs_tool.html")]
pub(super) struct ToolPage {
    shell: Shell,
    name: &'static str,
    title: &'static str,
    about: Prose,
    tags: Vec<&'static str>,
    arguments: Vec<Argument>,
    results: Vec<Member>,
    calls: Vec<Call>,
    /// Refusals of single arguments: the argument, and the code's anchor and name.
    refusals: Vec<(&'static str, &'static str, &'static str)>,
    schema: Code,
}

/// A member of the answer: `tickets[].title`.
pub(super) struct Member {
    path: String,
    kind: String,
    is_always: bool,
    about: Prose,
}

/// The example at one door.
pub(super) struct Call {
    door: &'static str,
    code: Code,
}

/// `GET /docs/tools/{tool}`. Everybody may read it.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
    Path(name): Path<String>,
) -> Result<Page<ToolPage>, Trouble> {
    let none = || Fault::new(FaultCode::NotFound, "There is no tool of that name.");
    let shell = Shell::of_anyone(&site, visitor, "/docs/tools").await?;
    let entry = site.gate().registry().find(&name).ok_or_else(none)?;
    Ok(Page(ToolPage::new(shell, site.origin(), entry)))
}

impl ToolPage {
    fn new(shell: Shell, origin: &str, entry: &Entry) -> Self {
        let refusal = |(argument, code): &(&'static str, FaultCode)| {
            let wire = wire(*code);
            (*argument, wire.object, wire.title)
        };
        let schema = Value::Object((*entry.output_schema).clone());
        Self {
            shell,
            name: entry.name,
            title: entry.title,
            about: markdown::render(entry.about),
            tags: docs_tools::tags(entry),
            arguments: docs_tools::arguments(&entry.input_schema),
            results: members(&entry.output_schema),
            calls: calls(origin, entry),
            refusals: entry.argument_codes.iter().map(refusal).collect(),
            schema: Code::new(
                "answer-schema",
                serde_json::to_string_pretty(&schema).unwrap_or_default(),
            ),
        }
    }
}

/// The example as a call at each door.
fn calls(origin: &str, entry: &Entry) -> Vec<Call> {
    let (name, example) = (entry.name, entry.example);
    let in_shell = |text: &str| text.replace('\'', "'\\''");
    let params = format!("{{ \"name\": \"{name}\", \"arguments\": {example} }}");
    let head = "{ \"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\",";
    let mcp = format!("{head}\n  \"params\": {params} }}");
    let body = format!("{{ \"tool\": \"{name}\", \"args\": {example} }}");
    let http = format!(
        "curl -s {origin}/api/mcp/v1/invoke -H 'X-API-Key: {KEY_PLACE}' \\\n  -H 'Content-Type: \
         application/json' \\\n  -d '{}'",
        in_shell(&body)
    );
    let shell = format!("assay call {name} '{}'", in_shell(example));
    [("MCP", "mcp", mcp), ("HTTP", "http", http), ("The command line", "shell", shell)]
        .into_iter()
        .map(|(door, id, text)| Call { door, code: Code::new(format!("call-{id}"), text) })
        .collect()
}

/// The members of an answer, each with its path, those within objects and lists too.
fn members(schema: &Map<String, Value>) -> Vec<Member> {
    let mut found = Vec::new();
    collect(&mut found, "", schema, DEPTH_MAX);
    found
}

fn collect(found: &mut Vec<Member>, path: &str, schema: &Map<String, Value>, depth: usize) {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let is_always = required.is_some_and(|names| names.iter().any(|one| one == name.as_str()));
        found.push(Member {
            kind: kind(property),
            is_always,
            about: markdown::render(docs_tools::text(property, "description")),
            path: path.clone(),
        });
        let value = choice(property);
        let (inner, path) = match value.get("items") {
            Some(items) => (choice(items), format!("{path}[]")),
            None => (value, path),
        };
        if let (Some(inner), 1..) = (inner.as_object(), depth.saturating_sub(1)) {
            collect(found, &path, inner, depth - 1);
        }
    }
}

/// What a value is where it is not null.
fn choice(property: &Value) -> &Value {
    let is_null = |one: &&Value| one["type"] != "null";
    let choices = property.get("anyOf").and_then(Value::as_array);
    choices.and_then(|all| all.iter().find(is_null)).unwrap_or(property)
}

fn kind(property: &Value) -> String {
    let can_be_null = property.get("anyOf").is_some();
    let kind = docs_tools::kind(choice(property));
    if can_be_null { format!("{kind}, or null") } else { kind }
}

#[cfg(test)]
impl ToolPage {
    pub(super) fn sample() -> Self {
        let registry = crate::tools::Registry::new();
        let entry = registry.find("get_ticket").expect("there is such a tool");
        Self::new(Shell::sample("/docs/tools").still(), "http://127.0.0.1:7171", entry)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::Registry;

    #[test]
    fn the_members_of_an_answer_are_told_by_their_paths() {
        let schema = json!({
            "type": "object",
            "required": ["tickets"],
            "properties": { "tickets": { "type": "array", "description": "All of **them**.",
                "items": { "type": "object", "properties": { "title": {
                    "anyOf": [{ "type": "string" }, { "type": "null" }] } } } } },
        });

        let found = members(schema.as_object().unwrap());

        let said: Vec<_> =
            found.iter().map(|one| (&*one.path, &*one.kind, one.is_always)).collect();
        assert_eq!(
            said,
            [("tickets", "list of object", true), ("tickets[].title", "text, or null", false)]
        );
        assert!(found[0].about.to_string().contains("<strong>them</strong>"));
    }

    #[test]
    fn every_tool_has_a_page_that_stays_light() {
        for entry in Registry::new().all() {
            let page = ToolPage::new(Shell::public("/docs/tools"), "https://assay.example", entry);
            let shown = page.render().unwrap();

            assert!(shown.contains("What it answers") && shown.len() < 100_000, "{}", entry.name);
        }
    }
}
