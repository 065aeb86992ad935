//! Forms made of settings. Each field is named by the path of what it sets, so that a problem
//! which names a path is shown at its field.

use askama::Template;
use askama::filters::HtmlSafe;
use serde_json::{Map, Value, json};

use crate::base::Issue;
use crate::web::dashboard::parts::Choice;

/// What a form sent, pair by pair.
pub(super) struct Sent(pub(super) Vec<(String, String)>);

/// Fields that belong together.
#[derive(Template)]
#[template(path = "parts/fields.html")]
pub(in crate::web::dashboard) struct Group {
    pub(super) title: String,
    /// A sentence about it; may be empty.
    pub(super) about: &'static str,
    pub(super) fields: Vec<Field>,
    /// `plain`, `grid` for many short fields, or `fold` for one of several things.
    pub(super) look: &'static str,
    /// Whether it is an empty row for one thing more, which is left out unless filled.
    pub(super) is_spare: bool,
}

impl HtmlSafe for Group {}

impl Group {
    pub(super) fn new(title: impl Into<String>, about: &'static str, fields: Vec<Field>) -> Self {
        Self { title: title.into(), about, fields, look: "plain", is_spare: false }
    }

    pub(super) fn look(self, look: &'static str) -> Self {
        Self { look, ..self }
    }

    /// Whether something in it is to be set right, or it is for something new.
    fn is_open(&self) -> bool {
        self.is_spare || self.fields.iter().any(|field| !field.wrong.is_empty())
    }
}

/// One field.
#[derive(Template)]
#[template(path = "parts/field.html")]
pub(in crate::web::dashboard) struct Field {
    id: String,
    pub(super) path: String,
    at: Vec<String>,
    label: String,
    hint: &'static str,
    /// `line`, `number`, `text`, `check`, `select` or `hidden`.
    kind: &'static str,
    pub(super) value: String,
    choices: Vec<Choice>,
    pub(super) wrong: String,
    reads: Reads,
}

impl HtmlSafe for Field {}

/// What the text of a field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// The text itself.
    Text,
    /// The text, or nothing where it is blank.
    Given,
    /// A whole number.
    Whole,
    /// A whole number, or nothing where it is blank.
    GivenWhole,
    /// A number, or nothing where it is blank.
    Number,
    /// Yes or no.
    Flag,
    /// A list, one entry a line.
    Lines,
    /// Names with values, `NAME=VALUE` a line.
    Pairs,
    /// Nothing of the document: whoever reads the form asks for it.
    Apart,
}

impl Field {
    /// A field for the value at a path, whose steps are names and places in lists (`[0]`).
    pub(super) fn new(steps: &[&str], label: impl Into<String>, reads: Reads) -> Self {
        let mut path = String::new();
        for step in steps {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(step);
        }
        let at = steps.iter().map(|step| step.trim_matches(['[', ']']).to_owned()).collect();
        let kind = match reads {
            Reads::Flag => "check",
            Reads::Lines | Reads::Pairs => "text",
            Reads::Whole | Reads::GivenWhole | Reads::Number => "number",
            Reads::Text | Reads::Given | Reads::Apart => "line",
        };
        Self {
            id: id_of(&path),
            path,
            at,
            label: label.into(),
            hint: "",
            kind,
            value: String::new(),
            choices: Vec::new(),
            wrong: String::new(),
            reads,
        }
    }

    pub(super) fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
    pub(super) fn value(self, value: impl ToString) -> Self {
        Self { value: value.to_string(), ..self }
    }

    pub(super) fn given(self, value: Option<impl ToString>) -> Self {
        let value = value.map(|value| value.to_string()).unwrap_or_default();
        Self { value, ..self }
    }

    /// The same as a text of several lines, a tick, or something that is not shown.
    pub(super) fn kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    /// The same as a choice.
    pub(super) fn choices(self, choices: Vec<Choice>) -> Self {
        let choices = Choice::choose(choices, &self.value);
        Self { kind: "select", choices, ..self }
    }

    /// How many lines a text is shown with.
    fn rows(&self) -> usize {
        self.value.lines().count().clamp(3, 30)
    }

    fn take(&mut self, sent: &Sent) {
        self.value = match (self.kind, sent.first(&self.path)) {
            ("check", sent) => (sent == Some("true")).to_string(),
            (_, sent) => sent.unwrap_or_default().replace("\r\n", "\n"),
        };
        self.choices = Choice::choose(std::mem::take(&mut self.choices), &self.value);
    }

    /// What the document holds; `None` takes the member away.
    fn read(&self) -> Result<Option<Value>, &'static str> {
        let text = self.value.trim();
        let is_blank = text.is_empty();
        Ok(Some(match self.reads {
            Reads::Apart => return Ok(None),
            Reads::Given | Reads::GivenWhole | Reads::Number if is_blank => return Ok(None),
            Reads::Text | Reads::Given => Value::from(self.value.clone()),
            Reads::Whole | Reads::GivenWhole => {
                Value::from(text.parse::<u64>().map_err(|_| "must be a whole number.")?)
            }
            Reads::Number => json!(text.parse::<f64>().map_err(|_| "must be a number.")?),
            Reads::Flag => Value::from(text == "true"),
            Reads::Lines => self.value.lines().filter(|line| !line.trim().is_empty()).collect(),
            Reads::Pairs => Value::Object(pairs(&self.value)?),
        }))
    }
}

fn pairs(text: &str) -> Result<Map<String, Value>, &'static str> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').ok_or("must be NAME=VALUE, one a line.")?;
        Ok((name.trim().to_owned(), Value::from(value)))
    };
    lines.map(pair).collect()
}

/// An id that no other path has.
fn id_of(path: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_string(),
        c => format!("-{:x}", u32::from(c)),
    };
    format!("f-{}", path.chars().map(letter).collect::<String>())
}

impl Sent {
    /// The first value of a name.
    pub(super) fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.first(name).is_some_and(|value| value == "true")
    }

    /// Numbers the rows of a list anew, without those that are to go or hold nothing in the
    /// members `of`, and says how many are left.
    pub(super) fn compact(&mut self, list: &str, of: &[&str]) -> usize {
        let index = |name: &str| {
            let rest = name.strip_prefix(list)?.strip_prefix('[')?;
            rest.split_once(']').and_then(|(index, _)| index.parse::<usize>().ok())
        };
        let mut rows: Vec<usize> = self.0.iter().filter_map(|(name, _)| index(name)).collect();
        rows.sort_unstable();
        rows.dedup();
        let member = |row: usize, of: &str| self.first(&format!("{list}[{row}].{of}"));
        let is_kept = |row: &usize| {
            let holds = |of: &&str| member(*row, of).is_some_and(|value| !value.trim().is_empty());
            member(*row, "remove") != Some("true") && of.iter().any(holds)
        };
        let kept: Vec<usize> = rows.into_iter().filter(is_kept).collect();
        self.0.retain(|(name, _)| index(name).is_none_or(|row| kept.contains(&row)));
        for (name, _) in &mut self.0 {
            let Some(row) = index(name) else { continue };
            let place = kept.iter().position(|other| *other == row).unwrap_or_default();
            let old = format!("{list}[{row}]");
            *name = format!("{list}[{place}]{}", &name[old.len()..]);
        }
        kept.len()
    }
}

/// Puts what was sent into the fields.
pub(super) fn fill(groups: &mut [Group], sent: &Sent) {
    for field in groups.iter_mut().flat_map(|group| &mut group.fields) {
        field.take(sent);
    }
}

/// Puts the fields into a document. `false` where a field cannot be read, which then says so.
pub(super) fn write(groups: &mut [Group], document: &mut Value) -> bool {
    let mut reads = true;
    let filled = groups.iter_mut().filter(|group| !group.is_spare);
    for field in filled.flat_map(|group| &mut group.fields) {
        if field.reads == Reads::Apart {
            continue;
        }
        match field.read() {
            Ok(value) => put(document, &field.at, value),
            Err(why) => {
                why.clone_into(&mut field.wrong);
                reads = false;
            }
        }
    }
    reads
}

fn put(at: &mut Value, steps: &[String], value: Option<Value>) {
    let Some((first, rest)) = steps.split_first() else {
        *at = value.unwrap_or_default();
        return;
    };
    if let Value::Array(list) = at {
        let index = first.parse::<usize>().unwrap_or_default();
        while list.len() <= index {
            list.push(json!({}));
        }
        return put(&mut list[index], rest, value);
    }
    if !at.is_object() {
        *at = json!({});
    }
    let Value::Object(members) = at else { return };
    if rest.is_empty() && value.is_none() {
        members.remove(first);
    } else {
        put(members.entry(first.clone()).or_insert(Value::Null), rest, value);
    }
}

/// Shows problems at their fields, and gives back those that have none here.
pub(super) fn blame(groups: &mut [Group], issues: &[Issue]) -> Vec<String> {
    let mut homeless = Vec::new();
    for issue in issues {
        let fields = groups.iter_mut().flat_map(|group| &mut group.fields);
        let covers = |path: &str| {
            let rest = issue.path.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        match fields.filter(|field| covers(&field.path)).max_by_key(|field| field.path.len()) {
            Some(field) => {
                // What lies within the value of the field is named.
                let within = issue.path.strip_prefix(&field.path).unwrap_or_default();
                let joint = if field.wrong.is_empty() { "" } else { "\n" };
                let colon = if within.is_empty() { "" } else { ": " };
                let said = format!("{joint}{within}{colon}{}", issue.message);
                field.wrong.push_str(&said);
            }
            None => homeless.push(format!("{}: {}", issue.path, issue.message)),
        }
    }
    homeless
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> Sent {
        Sent(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }

    fn group(fields: Vec<Field>) -> Group {
        Group::new("", "", fields)
    }

    #[test]
    fn rows_that_are_empty_or_to_go_are_left_out_and_the_rest_moves_up() {
        let mut sent = sent(&[
            ("v[0].name", " "),
            ("v[1].name", "a"),
            ("v[1].remove", "true"),
            ("v[3].name", "b"),
            ("v[3].more", "c"),
            ("csrf", "t"),
        ]);

        assert_eq!(sent.compact("v", &["name"]), 1);
        assert_eq!((sent.first("v[0].name"), sent.first("v[0].more")), (Some("b"), Some("c")));
        assert_eq!((sent.0.len(), sent.first("csrf")), (3, Some("t")));
    }

    #[test]
    fn fields_become_the_document_and_what_cannot_be_read_says_so() {
        let mut groups = [group(vec![
            Field::new(&["s", "list", "[0]", "name"], "Name", Reads::Text).value("a\"b"),
            Field::new(&["s", "none"], "None", Reads::GivenWhole).value(" "),
            Field::new(&["s", "set"], "Set", Reads::Pairs).value("A=1=2\n\nB="),
        ])];
        let mut document = json!({ "s": { "list": [], "none": 1, "kept": true } });

        assert!(write(&mut groups, &mut document));
        let expected = json!({ "s": { "list": [{ "name": "a\"b" }], "kept": true,
            "set": { "A": "1=2", "B": "" } } });
        assert_eq!(document, expected);

        let mut groups = [group(vec![Field::new(&["n"], "N", Reads::Whole).value("ten")])];
        assert!(!write(&mut groups, &mut document));
        assert_eq!(groups[0].fields[0].wrong, "must be a whole number.");
    }

    #[test]
    fn a_problem_stands_at_the_nearest_field_that_it_concerns() {
        let field = |steps: &[&str]| Field::new(steps, "", Reads::Text);
        let mut groups = [group(vec![field(&["s", "a"]), field(&["s", "a", "[1]"])])];
        let issue = |path: &str| Issue { path: path.to_owned(), message: "no".to_owned() };

        let rest = blame(&mut groups, &[issue("s.a[1].x"), issue("s.ab"), issue("s")]);

        let wrong: Vec<&str> = groups[0].fields.iter().map(|field| field.wrong.as_str()).collect();
        assert_eq!(wrong, ["", ".x: no"]);
        assert_eq!(rest, ["s.ab: no", "s: no"]);
    }
}
