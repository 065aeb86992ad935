//! The form of a file of statements, and the rules that its text alone can show.

use std::collections::BTreeSet;

use regex::Regex;

use crate::tidy::Offence;
use crate::tidy::tree::File;

const HEAD: &str = "-- name: ";

/// A named statement.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    /// The file, from the root of the repository.
    pub(super) path: String,
    /// The line of its name.
    pub(super) line: usize,
    /// What the file calls it.
    pub(super) name: String,
    /// All that stands under the name, comments included.
    pub(super) text: String,
    /// The text with comments and the contents of string literals blanked.
    pub(super) code: String,
}

impl Statement {
    /// Something wrong with it.
    pub(super) fn offence(&self, text: impl std::fmt::Display) -> Offence {
        Offence::new(&self.path, self.line, format!("`{}`: {text}", self.name))
    }

    /// Whether it carries a comment such as `-- one: reason`, with a reason.
    pub(super) fn has_reason(&self, word: &str) -> bool {
        let start = format!("-- {word}:");
        let mut comments = self.text.lines().filter_map(|line| line.trim().strip_prefix(&start));
        comments.any(|reason| reason.trim().len() > 3)
    }
}

/// The statements of a file, and what is wrong with its form.
pub(super) fn parse(file: &File) -> (Vec<Statement>, Vec<Offence>) {
    let mut statements: Vec<Statement> = Vec::new();
    let mut offences = Vec::new();
    for (line, text) in file.lines() {
        if let Some(name) = text.strip_prefix(HEAD) {
            let (path, name) = (file.path.clone(), name.to_owned());
            statements.push(Statement {
                path,
                line,
                name,
                text: String::new(),
                code: String::new(),
            });
        } else if let Some(statement) = statements.last_mut() {
            statement.text.push_str(text);
            statement.text.push('\n');
        } else if !text.trim().is_empty() && !text.starts_with("--") {
            let text = "SQL before the first `-- name:`; give it a name";
            offences.push(Offence::new(&file.path, line, text));
        }
    }
    let mut names = BTreeSet::new();
    for statement in &mut statements {
        statement.code = code_of(&statement.text);
        offences.extend(form(statement).map(|text| statement.offence(text)));
        if !names.insert(statement.name.clone()) {
            offences.push(statement.offence("the file has another of that name; rename one"));
        }
    }
    (statements, offences)
}

fn form(statement: &Statement) -> Option<&'static str> {
    let name = Regex::new(r"^[a-z][a-z0-9_]*$").unwrap();
    let code = statement.code.trim();
    if !name.is_match(&statement.name) {
        Some("a name is words of small letters joined by `_`")
    } else if code.is_empty() {
        Some("there is no statement under the name")
    } else if !code.ends_with(';') {
        Some("a statement ends with `;`")
    } else if code.matches(';').count() > 1 {
        Some("there are several statements under one name; name each")
    } else {
        None
    }
}

/// The text with comments and the contents of quotes blanked.
fn code_of(text: &str) -> String {
    let quiet = Regex::new(r#"--[^\n]*|/\*(?s:.*?)\*/|'(?:[^']|'')*'|"[^"]*""#).unwrap();
    let blank = |found: &regex::Captures<'_>| {
        let whole = &found[0];
        let quote = whole.chars().next().filter(|c| matches!(c, '\'' | '"'));
        quote.map_or_else(|| " ".to_owned(), |quote| format!("{quote}{quote}"))
    };
    quiet.replace_all(text, blank).into_owned()
}

/// A parameter that goes by its place, or by a sign other than a colon.
pub(super) fn nameless_parameter(statement: &Statement) -> Option<Offence> {
    let nameless = Regex::new(r"\?\d*|[@$]\w+|:\d+|:[A-Z]\w*").unwrap();
    let found = nameless.find(&statement.code)?;
    Some(statement.offence(format!("`{}` is no name for a parameter; use `:word`", found.as_str())))
}

/// Every column of a join: two may have one name, and a row is read by name.
pub(super) fn star_over_join(statement: &Statement) -> Option<Offence> {
    let star = Regex::new(r"(?is)\bSELECT\s+(?:DISTINCT\s+)?\*\s.*\bJOIN\b").unwrap();
    let found = star.is_match(&statement.code);
    found.then(|| statement.offence("it takes every column of a join; name those that it needs"))
}

/// A list that may grow without end.
pub(super) fn unbounded(statement: &Statement) -> Option<Offence> {
    let top = top_level(&statement.code).to_uppercase();
    let word = |word: &str| Regex::new(&format!(r"\b{word}\b")).unwrap().is_match(&top);
    let writes = ["INSERT", "UPDATE", "DELETE"].into_iter().any(word);
    let excused = statement.has_reason("one") || statement.has_reason("bounded");
    let one_row = !word("FROM");
    let text = "a SELECT without LIMIT; add one, or say under the name why it cannot grow: \
                `-- one: reason` or `-- bounded: reason`";
    (word("SELECT") && !writes && !word("LIMIT") && !one_row && !excused)
        .then(|| statement.offence(text))
}

/// The text outside parentheses.
fn top_level(code: &str) -> String {
    let mut depth = 0_i32;
    let mut top = String::new();
    for c in code.chars() {
        depth -= i32::from(c == ')');
        top.push(if depth == 0 { c } else { ' ' });
        depth += i32::from(c == '(');
    }
    top
}

/// A statement about a tenant's rows that does not say whose.
pub(super) fn tenantless(statement: &Statement, tables: &BTreeSet<String>) -> Option<Offence> {
    let named = Regex::new(r":tenant\b").unwrap().is_match(&statement.code);
    if named || statement.has_reason("cross-tenant") {
        return None;
    }
    let mut words = statement.code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let table = words.find(|word| tables.contains(&word.to_lowercase()))?;
    Some(statement.offence(format!(
        "`{table}` holds the rows of tenants; name `:tenant`, or say under the name why not: \
         `-- cross-tenant: reason`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Statement {
        let (mut all, offences) = parse(&File::new("sql/x.sql", &format!("-- name: x\n{text}")));
        assert!(offences.is_empty(), "{text}: {offences:?}");
        all.remove(0)
    }

    fn check(rule: fn(&Statement) -> Option<Offence>, good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(rule(&one(text)), None, "{text}");
        }
        for text in bad {
            assert!(rule(&one(text)).is_some(), "{text}");
        }
    }

    #[test]
    fn a_file_is_read_into_its_statements() {
        let text =
            "-- About jobs.\n\n-- name: a\n-- Why.\nSELECT ';' LIMIT 1;\n\n-- name: b\nSELECT 2;\n";

        let (all, offences) = parse(&File::new("sql/jobs.sql", text));

        assert!(offences.is_empty(), "{offences:?}");
        let names: Vec<(&str, usize)> = all.iter().map(|s| (s.name.as_str(), s.line)).collect();
        assert_eq!(names, [("a", 3), ("b", 7)]);
        assert!(all[0].text.contains("-- Why.") && !all[0].code.contains("Why"));
    }

    #[test]
    fn a_file_of_the_wrong_form_offends() {
        for (text, expected) in [
            ("SELECT 1;\n", "before the first"),
            ("-- name: Big\nSELECT 1;\n", "small letters"),
            ("-- name: a\n-- Nothing.\n", "no statement"),
            ("-- name: a\nSELECT 1\n", "ends with"),
            ("-- name: a\nSELECT 1; SELECT 2;\n", "several"),
            ("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n", "another of that name"),
        ] {
            let (_, offences) = parse(&File::new("sql/x.sql", text));

            assert_eq!(offences.len(), 1, "{text}: {offences:?}");
            assert!(offences[0].to_string().contains(expected), "{text}: {offences:?}");
        }
    }

    #[test]
    fn parameters_have_names() {
        check(
            nameless_parameter,
            &["SELECT :a, :b_c, '? $1', d -> '$.x';", "SELECT strftime('%H:%M', :now);"],
            &["SELECT ?;", "SELECT ?1;", "SELECT @a;", "SELECT $a;", "SELECT :1;"],
        );
    }

    #[test]
    fn a_join_names_its_columns() {
        check(
            star_over_join,
            &[
                "SELECT * FROM t WHERE a = :a LIMIT 1;",
                "SELECT t.* FROM t JOIN u ON t.a = u.a LIMIT 1;",
                "SELECT a * b FROM t JOIN u LIMIT 1;",
            ],
            &["SELECT * FROM t\nJOIN u ON t.a = u.a;", "select distinct * from t left join u;"],
        );
    }

    #[test]
    fn lists_have_a_limit() {
        check(
            unbounded,
            &[
                "SELECT a FROM t LIMIT :limit;",
                "SELECT EXISTS (SELECT 1 FROM t) AS found;",
                "-- one: by primary key\nSELECT a FROM t WHERE id = :id;",
                "-- bounded: a plan has at most forty nodes\nSELECT a FROM t;",
                "UPDATE t SET a = (SELECT b FROM u) WHERE id = :id RETURNING a;",
                "INSERT INTO t SELECT a FROM u;",
                "WITH c AS (SELECT a FROM t) SELECT a FROM c LIMIT 5;",
            ],
            &[
                "SELECT a FROM t;",
                "SELECT a FROM t WHERE b IN (SELECT b FROM u LIMIT 1);",
                "WITH c AS (SELECT a FROM t LIMIT 1) SELECT a FROM c;",
                "-- one:\nSELECT a FROM t;",
                "-- LIMIT is not needed.\nSELECT a FROM t;",
            ],
        );
    }

    #[test]
    fn a_tenant_s_rows_are_asked_for_by_tenant() {
        let tables: BTreeSet<String> = ["tickets".to_owned()].into();
        for (text, expected) in [
            ("SELECT a FROM tickets WHERE tenant_id = :tenant LIMIT 1;", false),
            ("SELECT a FROM plans LIMIT 1;", false),
            ("-- cross-tenant: the sweep serves every tenant\nDELETE FROM tickets;", false),
            ("DELETE FROM tickets WHERE id = :id;", true),
            ("SELECT a FROM plans JOIN Tickets ON x = y LIMIT 1;", true),
            ("SELECT a FROM tickets WHERE t = ':tenant' LIMIT 1;", true),
            ("-- cross-tenant:\nDELETE FROM tickets;", true),
        ] {
            assert_eq!(tenantless(&one(text), &tables).is_some(), expected, "{text}");
        }
    }
}
