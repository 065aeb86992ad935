//! From what a caller sent to arguments that fit a tool's schema. Forgiving where the meaning is
//! certain, strict elsewhere, and all problems are told at once.

use serde_json::{Map, Value};

use super::tool::Entry;
use crate::base::text::cut;
use crate::base::{Code, Fault, Issue};

/// Problems that one answer tells at most.
const ISSUES_MAX: usize = 50;

/// Characters of a value that an answer repeats at most.
const SHOWN_MAX: usize = 80;

/// The arguments of a call, coerced and checked.
pub(super) fn read(entry: &Entry, sent: Value) -> Result<Map<String, Value>, Fault> {
    let mut arguments = match sent {
        Value::Null => Map::new(),
        Value::Object(arguments) => arguments,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => arguments,
            _ => return Err(not_an_object()),
        },
        _ => return Err(not_an_object()),
    };
    arguments.retain(|_, value| !value.is_null());
    let confirmed = take_confirm(entry, &mut arguments);
    let mut issues = Vec::new();
    let mut code = None;
    drop_or_refuse_unknown(entry, &mut arguments, &mut issues, &mut code);
    coerce(&mut arguments, &entry.input_schema);
    let whole = Value::Object(arguments);
    for issue in entry.check.problems(&whole) {
        code = code.or_else(|| own_code(entry, &issue.path));
        issues.push(issue);
    }
    if !issues.is_empty() {
        return Err(refuse(entry, code.unwrap_or(Code::InvalidArgument), issues));
    }
    if entry.confirm && !confirmed {
        let message = format!("confirm must be true to execute write tool {}", entry.name);
        return Err(Fault::new(Code::ConfirmRequired, message));
    }
    match whole {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(not_an_object()),
    }
}

fn not_an_object() -> Fault {
    Fault::new(Code::InvalidArgument, "The arguments must be a JSON object.")
        .issue("", "expected an object")
}

/// Takes `confirm` out: it belongs to the gate, on every tool. Any door's caller may send it.
fn take_confirm(entry: &Entry, arguments: &mut Map<String, Value>) -> bool {
    if !entry.confirm && has_property(entry, "confirm") {
        return true;
    }
    match arguments.remove("confirm") {
        Some(Value::Bool(confirmed)) => confirmed,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

fn has_property(entry: &Entry, name: &str) -> bool {
    properties(&entry.input_schema).is_some_and(|known| known.contains_key(name))
}

fn properties(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn drop_or_refuse_unknown(
    entry: &Entry,
    arguments: &mut Map<String, Value>,
    issues: &mut Vec<Issue>,
    code: &mut Option<Code>,
) {
    let known = properties(&entry.input_schema);
    arguments.retain(|name, value| {
        if known.is_some_and(|known| known.contains_key(name)) {
            return true;
        }
        if let Some((_, instead)) = entry.unserved.iter().find(|(unserved, _)| unserved == name) {
            if !is_void(value) {
                *code = code.or(Some(Code::UnsupportedArgument));
                issues.push(Issue { path: name.clone(), message: (*instead).to_owned() });
            }
        } else if name != "project" {
            // A client with a default project adds `project` to every call, asked for or not.
            let names = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
            let near = nearest(name, names);
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            let message = format!("is no argument of {}{hint}", entry.name);
            issues.push(Issue { path: cut(name, SHOWN_MAX), message });
        }
        false
    });
}

/// A value that asks for nothing: `false`, an empty list, an empty text.
fn is_void(value: &Value) -> bool {
    match value {
        Value::Bool(asked) => !asked,
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Null => true,
        Value::Object(_) | Value::Number(_) => false,
    }
}

/// Takes a text that is the JSON of what the schema declares for the value itself, and leaves out
/// nulls, however deep they stand.
fn coerce(arguments: &mut Map<String, Value>, schema: &Map<String, Value>) {
    let Some(known) = properties(schema) else { return };
    for (name, value) in arguments.iter_mut() {
        if let Some(schema) = known.get(name).and_then(Value::as_object) {
            coerce_value(value, schema);
        }
    }
    arguments.retain(|_, value| !value.is_null());
}

fn coerce_value(value: &mut Value, schema: &Map<String, Value>) {
    let declared = schema.get("type").and_then(Value::as_str).unwrap_or("");
    if let Value::String(text) = &*value
        && declared != "string"
        && let Ok(meant) = serde_json::from_str::<Value>(text.trim())
        && is_a(&meant, declared)
    {
        *value = meant;
    }
    match value {
        Value::Object(object) => coerce(object, schema),
        Value::Array(list) => {
            let Some(items) = schema.get("items").and_then(Value::as_object) else { return };
            for item in list {
                coerce_value(item, items);
            }
        }
        // 5.0 is the integer 5 to every reader but a strict one.
        Value::Number(number) if declared == "integer" => {
            if let Some(whole) = number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15) {
                #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
                let whole = whole as i64;
                *value = whole.into();
            }
        }
        _ => {}
    }
}

fn is_a(value: &Value, declared: &str) -> bool {
    match declared {
        "array" => value.is_array(),
        "object" => value.is_object(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        _ => false,
    }
}

/// The code that the contract has for the refusal of this argument.
fn own_code(entry: &Entry, path: &str) -> Option<Code> {
    entry.argument_codes.iter().find(|(name, _)| *name == path).map(|(_, code)| *code)
}

fn refuse(entry: &Entry, code: Code, mut issues: Vec<Issue>) -> Fault {
    issues.truncate(ISSUES_MAX);
    let listed: Vec<String> = issues
        .iter()
        .map(
            |Issue { path, message }| {
                if path.is_empty() { message.clone() } else { format!("{path}: {message}") }
            },
        )
        .collect();
    let message = match listed.as_slice() {
        [one] => format!("An argument of {} is not usable. {one}", entry.name),
        _ => format!(
            "{} arguments of {} are not usable.\n{}",
            listed.len(),
            entry.name,
            listed.join("\n")
        ),
    };
    issues
        .into_iter()
        .fold(Fault::new(code, message), |fault, issue| fault.issue(issue.path, issue.message))
}

/// The nearest of some names, if one is near at all.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = cut(&name.to_lowercase().replace('-', "_"), SHOWN_MAX);
    known
        .map(|known| (distance(&name, &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= 2.max(known.len() / 4))
        .min()
        .map(|(_, known)| known)
}

/// How many letters must be added, dropped or changed to make one name of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_found_and_a_far_one_is_not() {
        let known = ["dispatch_ticket", "get_ticket", "list_tickets"];

        assert_eq!(nearest("dispatch-ticket", known.into_iter()), Some("dispatch_ticket"));
        assert_eq!(nearest("get_tickets", known.into_iter()), Some("get_ticket"));
        assert_eq!(nearest("drop_database", known.into_iter()), None);
    }
}
