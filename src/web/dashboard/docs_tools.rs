//! `/docs/tools`: the catalog of tools, made from their definitions.

use askama::Template;
use axum::extract::State;
use serde_json::{Map, Value};

use super::parts::{Code, plain_word};
use super::shell::Shell;
use crate::base::text::or_list;
use crate::tools::{Effect, Entry, Family, Registry};
use crate::web::auth::Anyone;
use crate::web::markdown::{self, Prose};
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The catalog.
#[derive(Template)]
#[template(path = "docs_tools.html")]
pub(super) struct ToolsPage {
    shell: Shell,
    families: Vec<Group>,
}

/// Tools that belong together.
pub(super) struct Group {
    anchor: &'static str,
    title: String,
    tools: Vec<ToolEntry>,
}

/// One tool.
pub(super) struct ToolEntry {
    name: &'static str,
    about: Prose,
    /// Its scope and what it does: reads, writes, starts a job.
    tags: Vec<&'static str>,
    arguments: Vec<Argument>,
    example: Code,
}

/// One argument.
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) is_required: bool,
    pub(super) about: Prose,
}

/// `GET /docs/tools`. Everybody may read it.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
) -> Result<Page<ToolsPage>, Trouble> {
    let shell = Shell::of_anyone(&site, visitor, "/docs/tools").await?;
    Ok(Page(ToolsPage::new(shell, site.gate().registry())))
}

impl ToolsPage {
    fn new(shell: Shell, registry: &Registry) -> Self {
        let group = |family: Family| Group {
            anchor: family.word(),
            title: plain_word(family.word()),
            tools: registry.of(family).map(ToolEntry::of).collect(),
        };
        let families = Family::ALL.iter().map(|family| group(*family));
        Self { shell, families: families.filter(|group| !group.tools.is_empty()).collect() }
    }
}

impl ToolEntry {
    fn of(entry: &Entry) -> Self {
        let call = format!("assay call {} '{}'", entry.name, entry.example.replace('\'', "'\\''"));
        Self {
            name: entry.name,
            about: markdown::render(entry.about),
            tags: tags(entry),
            arguments: arguments(&entry.input_schema),
            example: Code::new(format!("call-{}", entry.name), call),
        }
    }
}

pub(super) fn arguments(schema: &Map<String, Value>) -> Vec<Argument> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut found: Vec<Argument> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| Argument {
            name: name.clone(),
            kind: kind(property),
            is_required: is_required(name),
            about: markdown::render(text(property, "description")),
        })
        .collect();
    found.sort_by_key(|argument| !argument.is_required);
    found
}

/// A tool's scope and what it does.
pub(super) fn tags(entry: &Entry) -> Vec<&'static str> {
    let does = match entry.effect {
        Effect::Reads => "reads",
        Effect::Writes => "writes",
        Effect::Destroys => "ends or removes",
    };
    let scope = if entry.effect == Effect::Reads { "mcp_read" } else { "mcp_full" };
    vec![scope, does]
}

pub(super) fn text<'a>(property: &'a Value, key: &str) -> &'a str {
    property.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The kind of a value in words: `text, 1 to 500 characters`.
pub(super) fn kind(property: &Value) -> String {
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return or_list(&words);
    }
    let number = |key: &str| property.get(key).and_then(Value::as_u64);
    match text(property, "type") {
        "string" if text(property, "format") == "uuid" => "UUID".to_owned(),
        "string" => {
            let limits = range(number("minLength"), number("maxLength"));
            limits.map_or_else(|| "text".to_owned(), |limits| format!("text, {limits} characters"))
        }
        "integer" | "number" => {
            let limits = range(number("minimum"), number("maximum"));
            limits.map_or_else(|| "number".to_owned(), |limits| format!("number, {limits}"))
        }
        "boolean" => "true or false".to_owned(),
        "array" => {
            let items = property.get("items").map(kind).filter(|kind| !kind.is_empty());
            items.map_or_else(|| "list".to_owned(), |items| format!("list of {items}"))
        }
        "object" => "object".to_owned(),
        _ => "any value".to_owned(),
    }
}

fn range(min: Option<u64>, max: Option<u64>) -> Option<String> {
    match (min.filter(|min| *min > 0), max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (Some(min), None) => Some(format!("at least {min}")),
        (None, None) => None,
    }
}

#[cfg(test)]
impl ToolsPage {
    pub(super) fn sample() -> Self {
        Self::new(Shell::sample("/docs/tools").still(), &Registry::new())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_kind_of_an_argument_is_said_in_words() {
        for (schema, said) in [
            (json!({ "type": "string" }), "text"),
            (
                json!({ "type": "string", "minLength": 1, "maxLength": 5 }),
                "text, 1 to 5 characters",
            ),
            (json!({ "type": "integer", "maximum": 9 }), "number, at most 9"),
            (json!({ "type": "string", "enum": ["a", "b", "c"] }), "a, b or c"),
            (
                json!({ "type": "array", "items": { "type": "string", "format": "uuid" } }),
                "list of UUID",
            ),
            (json!({}), "any value"),
        ] {
            assert_eq!(kind(&schema), said, "{schema}");
        }
    }

    #[test]
    fn every_tool_is_in_the_catalog_with_its_arguments() {
        let page = ToolsPage::sample().render().unwrap();

        for entry in Registry::new().all() {
            assert!(page.contains(&format!("id=\"{}\"", entry.name)), "{}", entry.name);
        }
    }
}
