//! What the database would do for a statement.

use std::collections::BTreeSet;

use assay::store::Db;
use regex::Regex;

use super::statement::Statement;
use crate::tidy::Offence;

/// Tables that stay small whatever happens, and may be read whole. Every other table grows.
const SMALL: &[&str] = &[
    "tenants",
    "setup_links",
    "job_schedules",
    "migrations",
    "processes",
    "ticket_counts",
    "backups",
];

/// What the rules need to know of a schema.
pub(super) struct Schema {
    /// Tables and views with a `tenant_id`.
    pub(super) tenant_tables: BTreeSet<String>,
    tables: BTreeSet<String>,
    partial_indexes: BTreeSet<String>,
    views: String,
}

impl Schema {
    /// The schema of a database.
    pub(super) fn of(db: &Db) -> Self {
        let set = |sql: &str| db.raw_column(sql).unwrap().into_iter().collect();
        Self {
            tenant_tables: set(
                "SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
                 WHERE t.type IN ('table', 'view') AND c.name = 'tenant_id'",
            ),
            tables: set("SELECT name FROM sqlite_schema WHERE type = 'table'"),
            partial_indexes: set(
                "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'",
            ),
            views: db
                .raw_column("SELECT sql FROM sqlite_schema WHERE type = 'view'")
                .unwrap()
                .join(";"),
        }
    }
}

/// The steps of a plan that read a large table or a whole index of one. A partial index may be
/// read whole: it is there to be short.
pub(super) fn scans(statement: &Statement, steps: &[String], schema: &Schema) -> Vec<Offence> {
    if statement.has_reason("scan") {
        return Vec::new();
    }
    let scan = Regex::new(r"^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?").unwrap();
    let mut offences = Vec::new();
    // An index of words that is asked for words is no more read whole than any other.
    let by_words = Regex::new(r" VIRTUAL TABLE INDEX \d+:\S*M").unwrap();
    for step in steps.iter().filter(|step| !by_words.is_match(step)) {
        let Some(found) = scan.captures(step) else { continue };
        let partial = found.get(2).is_some_and(|i| schema.partial_indexes.contains(i.as_str()));
        let table = table_of(statement, &found[1], schema).filter(|t| !SMALL.contains(&t.as_str()));
        if let Some(table) = table.filter(|_| !partial) {
            offences.push(statement.offence(format!(
                "it reads all of `{table}` ({step}); ask by an index, or say under the name why \
                 not: `-- scan: reason`"
            )));
        }
    }
    offences
}

/// The steps of a plan that walk through all rows of a tenant although the statement asks for those
/// of one ticket, project or the like: the planner, which knows no counts, takes either index.
/// `+tenant_id = :tenant` leaves it the right one.
pub(super) fn walks(statement: &Statement, steps: &[String], schema: &Schema) -> Vec<Offence> {
    let walk = Regex::new(r"^SEARCH (\w+) USING (?:COVERING )?INDEX \w+ \(tenant_id=\?\)").unwrap();
    let narrower = Regex::new(r"\b(?:\w+_id|hash) = :").unwrap();
    let code = statement.code.replace("tenant_id = :", "");
    if statement.has_reason("scan") || !narrower.is_match(&code) {
        return Vec::new();
    }
    let walks = steps.iter().filter_map(|step| {
        let found = walk.captures(step)?;
        let table = table_of(statement, &found[1], schema)?;
        (!SMALL.contains(&table.as_str())).then(|| {
            statement.offence(format!(
                "it walks through all of a tenant's `{table}` ({step}); write `+tenant_id`"
            ))
        })
    });
    walks.collect()
}

/// The table that a plan calls by its name, or by the word that the statement or a view has for it.
fn table_of(statement: &Statement, called: &str, schema: &Schema) -> Option<String> {
    if schema.tables.contains(called) {
        return Some(called.to_owned());
    }
    let alias = Regex::new(&format!(r"(?i)\b(\w+)\s+(?:AS\s+)?{called}\b")).unwrap();
    let mut named = [&statement.code, &schema.views]
        .into_iter()
        .flat_map(|text| alias.captures_iter(text))
        .map(|found| found[1].to_lowercase());
    named.find(|name| schema.tables.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{fresh, statement};
    use crate::tidy::tree::File;

    fn found(text: &str) -> Vec<String> {
        let (_dir, db) = fresh();
        let file = File::new("sql/x.sql", &format!("-- name: x\n{text}"));
        let one = statement::parse(&file).0.remove(0);
        let steps = db.explain(&one.text).unwrap();
        scans(&one, &steps, &Schema::of(&db)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_scan_of_a_large_table_offends_under_any_name() {
        for text in [
            "SELECT title FROM tickets LIMIT 1;",
            "SELECT t.title FROM tickets AS t WHERE t.title = :title LIMIT 1;",
            "SELECT title FROM (SELECT title FROM tickets x ORDER BY title) LIMIT 1;",
            "SELECT title FROM ticket_rows WHERE title = :title LIMIT 1;",
            "SELECT tenant_id FROM tickets ORDER BY tenant_id LIMIT 1;",
            "DELETE FROM jobs WHERE payload = :text;",
            "SELECT title FROM ticket_search WHERE title = :text LIMIT 1;",
        ] {
            let offences = found(text);

            assert_eq!(offences.len(), 1, "{text}: {offences:?}");
            assert!(offences[0].contains("reads all of `"), "{text}: {offences:?}");
        }
    }

    #[test]
    fn a_delete_that_must_search_for_children_without_an_index_offends() {
        let offences = found("DELETE FROM nodes WHERE id = :id;");

        assert!(offences.iter().any(|o| o.contains("all of `questions`")), "{offences:?}");
    }

    #[test]
    fn a_walk_through_a_tenant_offends_where_less_is_asked_for() {
        let asked = |tenant: &str| {
            let text = format!(
                "-- name: x\nSELECT claim FROM proofs WHERE ticket_id = :ticket AND {tenant} \
                 ORDER BY n LIMIT 1;"
            );
            let (_dir, db) = fresh();
            let one = statement::parse(&File::new("sql/x.sql", &text)).0.remove(0);
            let steps = db.explain(&one.text).unwrap();
            walks(&one, &steps, &Schema::of(&db)).len()
        };

        assert_eq!(asked("tenant_id = +:tenant"), 1);
        assert_eq!(asked("+tenant_id = :tenant"), 0);
    }

    #[test]
    fn searches_small_tables_partial_indexes_and_reasons_are_free() {
        for text in [
            "SELECT title FROM tickets WHERE id = :id LIMIT 1;",
            "SELECT slug FROM tenants ORDER BY slug LIMIT 1;",
            "SELECT rowid FROM ticket_search WHERE ticket_search MATCH :words LIMIT 1;",
            "SELECT run_at FROM jobs WHERE state = 'ready' ORDER BY run_at LIMIT 1;",
            "-- scan: counts all there is, once a day\nSELECT count(*) FROM tickets LIMIT 1;",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
