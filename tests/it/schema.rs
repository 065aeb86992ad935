//! The schema and its history: migrations only ever grow in number, each carries rows through
//! those that follow, and the newest schema is the published one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use assay::base::{Clock, Entropy, Millis};
use assay::events::Bus;
use assay::store::{Db, MIGRATIONS, Migration, hash_of};

use crate::golden;
use crate::tidy::tree;

/// The version whose schema may still change. From the next on, a migration that was released
/// keeps its text for ever, and a change is a new migration.
const UNRELEASED: &str = "0.1.0";

const HASHES: &str = "schema/hashes.json";

type Hashes = BTreeMap<String, String>;

fn open(dir: &Path, steps: &[Migration]) -> Db {
    let clock = Clock::fake(Millis(1_000));
    Db::open_with(dir, clock, Entropy::seeded(1), Bus::default(), steps).unwrap()
}

/// The schema as text, a statement an entry.
fn dump(db: &Db) -> String {
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name";
    db.raw_column(sql).unwrap().join(";\n\n") + ";\n"
}

fn tables(db: &Db) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    db.raw_column(sql).unwrap()
}

/// What changed in the past: steps of `before` that `now` lacks or has with another text.
fn rewritten(before: &Hashes, now: &Hashes) -> Vec<String> {
    let changed = before.iter().filter(|(name, hash)| now.get(*name) != Some(hash));
    changed.map(|(name, _)| name.clone()).collect()
}

#[test]
fn a_migration_keeps_its_text() {
    let now: Hashes = MIGRATIONS.iter().map(|m| (m.name.to_owned(), hash_of(m))).collect();
    let kept = fs::read_to_string(golden::path(HASHES)).unwrap_or_else(|_| "{}".to_owned());
    let before: Hashes = serde_json::from_str(&kept).unwrap();

    let may_change = env!("CARGO_PKG_VERSION") == UNRELEASED && golden::writing();

    let changed = rewritten(&before, &now);
    assert!(
        changed.is_empty() || may_change,
        "the text of {} changed. A released migration is for ever: undo that, and write what is \
         new as the next file of sql/schema. (Before the first release: ASSAY_GOLDEN=write.)",
        changed.join(", ")
    );
    golden::matches(HASHES, &(serde_json::to_string_pretty(&now).unwrap() + "\n"));
}

#[test]
fn a_changed_and_a_removed_migration_are_noticed() {
    let hashes = |pairs: &[(&str, &str)]| -> Hashes {
        pairs.iter().map(|(name, hash)| ((*name).to_owned(), (*hash).to_owned())).collect()
    };
    let before = hashes(&[("0001_a", "x"), ("0002_b", "y")]);

    assert!(
        rewritten(&before, &hashes(&[("0001_a", "x"), ("0002_b", "y"), ("0003_c", "z")]))
            .is_empty()
    );
    assert_eq!(
        rewritten(&before, &hashes(&[("0001_a", "w"), ("0003_c", "z")])),
        ["0001_a", "0002_b"]
    );
}

#[test]
fn the_files_of_the_schema_are_its_migrations_in_their_order() {
    let paths = tree::paths();
    let files: Vec<&str> =
        paths.iter().filter_map(|p| p.strip_prefix("sql/schema/")?.strip_suffix(".sql")).collect();

    let names: Vec<&str> = MIGRATIONS.iter().map(|migration| migration.name).collect();

    assert_eq!(files, names);
    for (index, name) in names.iter().enumerate() {
        let number = format!("{:04}_", index + 1);
        assert!(name.starts_with(&number), "{name} should begin with {number}");
    }
}

#[test]
fn rows_of_every_version_live_through_the_migrations_that_follow() {
    let dir = tempfile::tempdir().unwrap();
    for count in 1..=MIGRATIONS.len() {
        let db = open(dir.path(), &MIGRATIONS[..count]);
        let sample = golden::path(&format!("schema/{}.sql", &MIGRATIONS[count - 1].name[..4]));
        let rows = fs::read_to_string(&sample)
            .unwrap_or_else(|e| panic!("{}: {e}; write rows for its tables", sample.display()));

        db.raw(&rows).unwrap_or_else(|e| panic!("{}: {e:?}", sample.display()));
    }

    let db = open(dir.path(), MIGRATIONS);

    let broken = "SELECT \"table\" FROM pragma_foreign_key_check";
    assert_eq!(db.raw_column(broken).unwrap(), Vec::<String>::new(), "rows without their parents");
    assert_eq!(db.raw_column("PRAGMA integrity_check").unwrap(), ["ok"]);
    let empty = |table: &String| {
        db.raw_column(&format!("SELECT '' FROM {table} LIMIT 1")).unwrap().is_empty()
    };
    let bare: BTreeSet<String> = tables(&db).into_iter().filter(empty).collect();
    assert!(bare.is_empty(), "no sample rows in tests/golden/schema for {bare:?}");
}

#[test]
fn a_fresh_database_has_the_published_schema() {
    let dir = tempfile::tempdir().unwrap();

    golden::matches("schema/fresh.sql", &dump(&open(dir.path(), MIGRATIONS)));
}

#[test]
fn every_table_is_strict() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path(), MIGRATIONS);
    let loose = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
                 AND strict = 0 AND name NOT LIKE 'sqlite_%'";

    assert_eq!(db.raw_column(loose).unwrap(), Vec::<String>::new());

    db.raw("CREATE TABLE loose (a)").unwrap();
    assert_eq!(db.raw_column(loose).unwrap(), ["loose"], "the question itself finds nothing");
}
