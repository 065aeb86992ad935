//! The named statements of `sql/*.sql`: each is whole, used, sound, bounded, kept to one tenant,
//! and found by an index. What is not carries its reason as a comment under its name:
//!
//! - `-- one: reason` or `-- bounded: reason` on a `SELECT` without a `LIMIT`,
//! - `-- cross-tenant: reason` on a statement about a tenant's rows that names no `:tenant`,
//! - `-- scan: reason` on a statement that reads a whole table or index.

mod plan;
mod statement;

use std::collections::BTreeSet;

use assay::base::{Clock, Entropy, Millis};
use assay::events::Bus;
use assay::store::Db;
use regex::Regex;

use crate::tidy::source::Source;
use crate::tidy::tree::{self, File};
use crate::tidy::{Offence, demand_none};
use plan::Schema;
use statement::Statement;

/// Every statement of the repository.
fn statements() -> Vec<Statement> {
    let files = tree::files().iter().filter(|file| is_statement_file(file));
    files.flat_map(|file| statement::parse(file).0).collect()
}

fn is_statement_file(file: &File) -> bool {
    let inside = file.path.strip_prefix("sql/");
    file.extension() == "sql" && inside.is_some_and(|name| !name.starts_with("schema/"))
}

/// The statements that the program takes, as (file, name).
fn taken(files: &[File]) -> BTreeSet<(String, String)> {
    let call = Regex::new(r#"^sql!\s*\(\s*"([^"]+)"\s*,\s*"([^"]+)"\s*,?\s*\)"#).unwrap();
    let mut taken = BTreeSet::new();
    for file in files.iter().filter(|f| f.path.starts_with("src/") && f.extension() == "rs") {
        let source = Source::new(&file.path, &file.text);
        for (at, _) in source.production.match_indices("sql!") {
            if let Some(found) = call.captures(&file.text[at..]) {
                taken.insert((found[1].to_owned(), found[2].to_owned()));
            }
        }
    }
    taken
}

fn unused(statements: &[Statement], taken: &BTreeSet<(String, String)>) -> Vec<Offence> {
    let is_taken = |one: &&Statement| {
        let file = one.path.trim_start_matches("sql/").to_owned();
        taken.contains(&(file, one.name.clone()))
    };
    let lost = statements.iter().filter(|statement| !is_taken(statement));
    lost.map(|one| one.offence("no code takes it with `sql!`; use it, or delete it")).collect()
}

/// An empty database of the newest schema, and the folder that holds it.
fn fresh() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path(), Clock::fake(Millis(0)), Entropy::seeded(1), Bus::default());
    (dir, db.unwrap())
}

#[test]
fn every_file_is_a_list_of_named_statements() {
    let files = tree::files().iter().filter(|file| is_statement_file(file));
    demand_none("form of statements", files.flat_map(|file| statement::parse(file).1).collect());
}

#[test]
fn every_statement_is_taken_by_the_program() {
    demand_none("unused statements", unused(&statements(), &taken(tree::files())));
}

#[test]
fn parameters_have_names_and_joins_name_their_columns() {
    let all = statements();
    let nameless = all.iter().filter_map(statement::nameless_parameter);
    demand_none("parameters", nameless.collect());
    demand_none("columns", all.iter().filter_map(statement::star_over_join).collect());
}

#[test]
fn every_list_has_a_limit() {
    demand_none("limits", statements().iter().filter_map(statement::unbounded).collect());
}

#[test]
fn every_statement_about_a_tenant_s_rows_names_the_tenant() {
    let (_dir, db) = fresh();
    let tables = Schema::of(&db).tenant_tables;
    assert!(tables.contains("tickets"), "the schema of tenants was not read: {tables:?}");

    let offences = statements().into_iter().filter_map(|one| statement::tenantless(&one, &tables));

    demand_none("tenants", offences.collect());
}

#[test]
fn every_statement_prepares_and_reads_no_large_table_whole() {
    let (_dir, db) = fresh();
    let schema = Schema::of(&db);

    let offences = statements().into_iter().flat_map(|one| match db.explain(&one.text) {
        Ok(steps) => {
            let scans = plan::scans(&one, &steps, &schema);
            scans.into_iter().chain(plan::walks(&one, &steps, &schema)).collect()
        }
        Err(fault) => vec![one.offence(format!("it does not prepare: {fault:?}"))],
    });

    demand_none("plans", offences.collect());
}

#[test]
fn a_statement_is_used_only_if_production_code_takes_it() {
    let jobs = "-- name: claim\nSELECT 1;\n-- name: lost\nSELECT 1;\n-- name: tested\nSELECT 1;\n";
    let (all, _) = statement::parse(&File::new("sql/jobs.sql", jobs));
    let code = "const A: Sql = sql!(\n    \"jobs.sql\",\n    \"claim\"\n);\n\
                // sql!(\"jobs.sql\", \"lost\")\n\
                #[cfg(test)]\nmod tests { const B: Sql = sql!(\"jobs.sql\", \"tested\"); }\n";

    let found = unused(&all, &taken(&[File::new("src/jobs/mod.rs", code)]));

    let names: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].contains("`lost`") && names[1].contains("`tested`"), "{names:?}");
}
