//! The house rules, held by tests. Each rule is a function over files and their texts, which
//! its own file tries on small examples; the tests here run it over the repository and report
//! every offence at once, with its place and what to do.

mod arrows;
mod census;
mod places;
mod reach;
mod size;
pub(crate) mod source;
pub(crate) mod tree;
mod words;

use std::fmt;

use source::Source;
use tree::File;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offence {
    path: String,
    line: usize,
    text: String,
}

impl Offence {
    /// An offence in `path` at `line` (the first is 1), saying what is wrong and what to do.
    pub(crate) fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Fails with all the offences, or passes where there is none.
pub(crate) fn demand_none(rule: &str, mut offences: Vec<Offence>) {
    offences.sort();
    offences.dedup();
    let list: Vec<String> = offences.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{rule}: {} offences\n{}", list.len(), list.join("\n"));
}

fn each_rust_file(rule: &str, check: impl Fn(&Source) -> Vec<Offence>) {
    let sources = tree::rust_sources();
    assert!(sources.len() > 5, "the walk over the repository found only {} files", sources.len());
    demand_none(rule, sources.iter().flat_map(check).collect());
}

fn each_file(rule: &str, check: impl Fn(&File) -> Vec<Offence>) {
    demand_none(rule, tree::files().iter().flat_map(check).collect());
}

#[test]
fn a_folder_imports_only_what_stands_left_of_it() {
    each_rust_file("arrows", arrows::check);
}

#[test]
fn lines_are_at_most_100_columns() {
    each_file("columns", size::columns);
}

#[test]
fn functions_are_at_most_70_lines() {
    each_rust_file("functions", size::functions);
}

#[test]
fn files_are_at_most_400_lines_without_their_tests() {
    each_rust_file("file length", size::file_length);
}

#[test]
fn blocks_nest_at_most_4_deep() {
    each_rust_file("nesting", size::nesting);
}

#[test]
fn no_file_or_module_has_an_empty_name() {
    each_file("names of files", |file| words::path_names(&file.path));
    each_rust_file("names of modules", words::module_names);
}

#[test]
fn nothing_is_left_for_later() {
    each_rust_file("unfinished code", words::unfinished);
    each_file("unfinished text", words::unfinished_text);
}

#[test]
fn no_code_is_commented_out() {
    each_rust_file("commented-out code", words::dead_code);
}

#[test]
fn no_comment_is_a_banner() {
    each_rust_file("banners", words::banners);
    each_file("banners", words::text_banners);
}

#[test]
fn loose_json_appears_only_where_the_contract_says_any_object() {
    each_rust_file("census of loose JSON", census::check);
}

#[test]
fn only_the_store_names_the_database_driver() {
    each_rust_file("database driver", places::driver);
}

#[test]
fn statements_live_in_sql_files() {
    each_rust_file("SQL in code", places::statements);
}

#[test]
fn processes_start_in_few_places() {
    each_rust_file("processes", places::processes);
}

#[test]
fn every_rust_file_is_reached_by_a_mod_line() {
    demand_none("unreached files", reach::modules(tree::files()));
}

#[test]
fn every_template_is_used() {
    demand_none("unused templates", reach::templates(tree::files()));
}

#[test]
fn every_asset_is_used() {
    demand_none("unused assets", reach::assets(tree::files()));
}

#[test]
fn every_sql_file_is_used() {
    demand_none("unused SQL files", reach::sql_files(tree::files()));
}

#[test]
fn the_root_holds_only_what_the_design_names() {
    let paths: Vec<String> = tree::paths();
    demand_none("entries of the root", places::root_entries(&paths));
}

#[test]
fn no_file_names_a_path_of_somebody_s_machine() {
    each_file("machine paths", places::machine_paths);
}
