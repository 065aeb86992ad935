//! `/docs/schemas`: the published JSON Schemas, and what each of them describes.

use askama::Template;
use axum::extract::State;
use serde_json::Value;

use super::parts::Code;
use super::shell::Shell;
use crate::contract::schema;
use crate::web::auth::Anyone;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// The index of the schemas.
#[derive(Template)]
#[template(path = "docs_schemas.html")]
pub(super) struct SchemasPage {
    shell: Shell,
    schemas: Vec<SchemaEntry>,
}

/// One published schema.
pub(super) struct SchemaEntry {
    anchor: String,
    title: String,
    about: String,
    /// Where the schema itself is.
    address: String,
    fields: Vec<Field>,
    text: Code,
}

/// A member of what a schema describes.
pub(super) struct Field {
    name: String,
    is_required: bool,
    about: String,
}

/// `GET /docs/schemas`. Everybody may read it.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
) -> Result<Page<SchemasPage>, Trouble> {
    Ok(Page(SchemasPage::new(Shell::of_anyone(&site, visitor, "/docs/schemas").await?)))
}

impl SchemasPage {
    fn new(shell: Shell) -> Self {
        let entry = |(format, version): &(&str, u32)| {
            schema::find(format, *version).map(|found| SchemaEntry::of(format, *version, found))
        };
        Self { shell, schemas: schema::FORMATS.iter().filter_map(entry).collect() }
    }
}

impl SchemaEntry {
    fn of(format: &str, version: u32, schema: &Value) -> Self {
        let text = |key: &str| schema[key].as_str().unwrap_or_default().to_owned();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let field = |(name, about): (&String, &Value)| Field {
            name: name.clone(),
            is_required: required.iter().any(|other| other == name.as_str()),
            about: about["description"].as_str().unwrap_or_default().to_owned(),
        };
        Self {
            anchor: format.to_owned(),
            title: text("title"),
            about: text("description"),
            address: format!("/schemas/{format}/v{version}.json"),
            fields: schema["properties"].as_object().into_iter().flatten().map(field).collect(),
            text: Code::new(
                format!("schema-{format}"),
                serde_json::to_string_pretty(schema).unwrap_or_default(),
            ),
        }
    }
}

#[cfg(test)]
impl SchemasPage {
    pub(super) fn sample() -> Self {
        Self::new(Shell::sample("/docs/schemas").still())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_schema_is_on_the_page() {
        let page = SchemasPage::sample().render().unwrap();

        for (format, version) in schema::FORMATS {
            assert!(
                page.contains(&format!("href=\"/schemas/{format}/v{version}.json\"")),
                "{page}"
            );
        }
        assert!(page.contains("<code>retryAfterMs</code>"), "{page}");
    }
}
