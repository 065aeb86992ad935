//! What a client can read without calling a tool: a ticket, the list of tools, and the errors.

use std::fmt::Write as _;

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::base::text::{cut, printable};
use crate::contract::reference;
use crate::tools::{Effect, Registry};

const TICKET: &str = "assay://tickets/";
const TOOLS: &str = "assay://docs/tools";
const ERRORS: &str = "assay://docs/errors";

/// A resource that exists.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Every tool in Markdown.
    Tools,
    /// Every failure code in Markdown.
    Errors,
    /// The ticket of that reference, as `get_ticket` shows it.
    Ticket(String),
}

/// The resources that are listed.
pub(super) fn list() -> Vec<Resource> {
    let tools = Resource::new(TOOLS, "tools")
        .with_title("The tools")
        .with_description("Every tool with its arguments.")
        .with_mime_type("text/markdown");
    let errors = Resource::new(ERRORS, "errors")
        .with_title("The errors")
        .with_description("Every failure code, what it means and what to do about it.")
        .with_mime_type("text/markdown");
    vec![tools, errors]
}

/// The templates of those that are not listed one by one.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let ticket = ResourceTemplate::new(format!("{TICKET}{{ref}}"), "ticket")
        .with_title("A ticket")
        .with_description(
            "A ticket by its reference (ACME-42), number or id, as get_ticket shows it.",
        )
        .with_mime_type("application/json");
    vec![ticket]
}

/// The resource of an address.
pub(super) fn find(uri: &str) -> Option<Known> {
    if let Some(reference) = uri.strip_prefix(TICKET) {
        // `#42` cannot stand in an address as it is; its other spelling is `%2342`.
        let reference = reference.replace("%23", "#");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#');
        let fits = !reference.is_empty() && reference.len() <= 80 && reference.chars().all(plain);
        return fits.then_some(Known::Ticket(reference));
    }
    match uri {
        TOOLS => Some(Known::Tools),
        ERRORS => Some(Known::Errors),
        _ => None,
    }
}

/// The answer with the text of a resource.
pub(super) fn contents(uri: &str, text: String) -> ReadResourceResult {
    let kind = if uri.starts_with(TICKET) { "application/json" } else { "text/markdown" };
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)])
}

/// The error for an address that names nothing.
pub(super) fn unknown(uri: &str) -> ErrorData {
    let uri = cut(&printable(uri), 200);
    let said = "There is no such resource. resources/list and resources/templates/list show what \
                there is.";
    ErrorData::invalid_params(said, Some(json!({ "uri": uri })))
}

/// The list of tools in Markdown.
pub(super) fn tools_page(registry: &Registry) -> String {
    let mut page = String::from("# Tools\n");
    for tool in registry.all() {
        let effect = match tool.effect {
            Effect::Reads => "reads",
            Effect::Writes => "writes",
            Effect::Destroys => "writes, and undoes something",
        };
        write!(page, "\n## {}\n\n{} ({effect})\n\n{}\n", tool.name, tool.title, tool.about)
            .expect("a String takes any text");
        let required: Vec<&str> = tool
            .input_schema
            .get("required")
            .and_then(Value::as_array)
            .map_or(vec![], |names| names.iter().filter_map(Value::as_str).collect());
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let kind = property.get("type").and_then(Value::as_str).unwrap_or("any");
            let need = if required.contains(&name.as_str()) { ", required" } else { "" };
            let about = property.get("description").and_then(Value::as_str).unwrap_or("");
            write!(page, "\n- `{name}` ({kind}{need}) {about}").expect("a String takes any text");
        }
        page.push('\n');
    }
    page
}

/// The failure codes in Markdown, by the three names they go by.
pub(super) fn errors_page() -> String {
    let mut page = String::from("# Errors\n");
    for reference::Entry { anchor, wire } in reference::entries() {
        write!(
            page,
            "\n## {}\n\n`{anchor}`, `{}` ({}), `{}`\n\n{} {}\n",
            wire.title, wire.rpc, wire.status, wire.envelope, wire.meaning, wire.hint
        )
        .expect("a String takes any text");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_what_is_listed_and_tickets() {
        for resource in list() {
            assert!(find(&resource.uri).is_some(), "{}", resource.uri);
        }
        let ticket = |reference: &str| Some(Known::Ticket(reference.to_owned()));
        assert_eq!(find("assay://tickets/ACME-42"), ticket("ACME-42"));
        assert_eq!(find("assay://tickets/%2342"), ticket("#42"));
        for wrong in [
            "",
            "assay://tickets/",
            "assay://tickets/a/b",
            "assay://tickets/..",
            "assay://docs",
            "file:///etc/passwd",
            "assay://docs/tools?x",
        ] {
            assert_eq!(find(wrong), None, "{wrong}");
        }
    }
}
