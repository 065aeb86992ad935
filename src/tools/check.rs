//! Holds arguments against the schema of a tool and tells every problem in words that say what to
//! send. It knows the part of JSON Schema that [`super::schema`] writes, and refuses to be built
//! from anything else, so that no rule of a schema is passed over in silence.

use serde_json::{Map, Number, Value};
use uuid::Uuid;

use crate::base::Issue;
use crate::base::text::cut;

/// Characters of a value that an answer repeats at most.
const SHOWN_MAX: usize = 80;

/// A schema, made ready.
#[derive(Debug, Default)]
pub(super) struct Check {
    kind: Option<Kind>,
    words: Option<Vec<Value>>,
    /// Characters of a text, entries of a list.
    least: Option<u64>,
    most: Option<u64>,
    minimum: Option<Number>,
    maximum: Option<Number>,
    is_uuid: bool,
    required: Vec<String>,
    properties: Vec<(String, Check)>,
    /// What members without a schema of their own must be; `None` where anything will do.
    others: Option<Others>,
    items: Option<Box<Check>>,
}

#[derive(Debug)]
enum Others {
    Refused,
    Held(Box<Check>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Array,
    Text,
    Integer,
    Number,
    Boolean,
}

impl Check {
    /// Makes a schema ready; what it has that is not known here comes back as the error.
    pub(super) fn of(schema: &Map<String, Value>) -> Result<Self, String> {
        let mut check = Self::default();
        for (word, value) in schema {
            check.take(word, value).ok_or_else(|| format!("{word}: {value}"))?;
        }
        Ok(check)
    }

    /// Takes one word of a schema.
    fn take(&mut self, word: &str, value: &Value) -> Option<()> {
        let nested = |value: &Value| Self::of(value.as_object()?).ok();
        match word {
            "description" | "default" => {}
            "type" => self.kind = Some(Kind::of(value.as_str()?)?),
            "enum" => self.words = Some(value.as_array()?.clone()),
            "minLength" | "minItems" => self.least = Some(value.as_u64()?),
            "maxLength" | "maxItems" => self.most = Some(value.as_u64()?),
            "minimum" => self.minimum = Some(value.as_number()?.clone()),
            "maximum" => self.maximum = Some(value.as_number()?.clone()),
            "format" if value == "uuid" => self.is_uuid = true,
            "required" => {
                let names = value.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
                self.required = names.collect::<Option<_>>()?;
            }
            "properties" => {
                let all = value.as_object()?.iter();
                let all = all.map(|(name, schema)| Some((name.clone(), nested(schema)?)));
                self.properties = all.collect::<Option<_>>()?;
            }
            "additionalProperties" => match value {
                Value::Bool(true) => {}
                Value::Bool(false) => self.others = Some(Others::Refused),
                schema => self.others = Some(Others::Held(Box::new(nested(schema)?))),
            },
            "items" => self.items = Some(Box::new(nested(value)?)),
            _ => return None,
        }
        Some(())
    }

    /// Everything that is wrong with a value, with where it stands.
    pub(super) fn problems(&self, value: &Value) -> Vec<Issue> {
        let mut found = Vec::new();
        self.look(value, &Path::Root, &mut found);
        found
    }

    fn look(&self, value: &Value, at: &Path<'_>, found: &mut Vec<Issue>) {
        if let Some(kind) = self.kind.filter(|kind| !kind.has(value)) {
            // What else the schema says follows from the type.
            let message = format!("expected {}, got {}", kind.shown(), kind_of(value));
            found.push(at.issue(message));
            return;
        }
        if let Some(words) = &self.words
            && !words.contains(value)
        {
            let known: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            let sent = cut(&value.to_string(), SHOWN_MAX);
            found.push(at.issue(format!("{sent} is none of {}", known.join(", "))));
        }
        match value {
            Value::String(text) => self.look_at_text(text, at, found),
            Value::Number(number) => self.look_at_number(number, at, found),
            Value::Array(list) => {
                let counted = u64::try_from(list.len()).unwrap_or(u64::MAX);
                self.look_at_size(counted, "entries", at, found);
                for (index, item) in list.iter().enumerate() {
                    if let Some(items) = &self.items {
                        items.look(item, &Path::Entry(at, index), found);
                    }
                }
            }
            Value::Object(object) => self.look_at_members(object, at, found),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn look_at_text(&self, text: &str, at: &Path<'_>, found: &mut Vec<Issue>) {
        if self.least.is_some() || self.most.is_some() {
            let counted = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            self.look_at_size(counted, "characters", at, found);
        }
        // A UUID has other ways to be written, which no other field of ours takes.
        if self.is_uuid && (text.len() != 36 || Uuid::try_parse(text).is_err()) {
            found.push(at.issue("expected a uuid".to_owned()));
        }
    }

    fn look_at_size(&self, counted: u64, of: &str, at: &Path<'_>, found: &mut Vec<Issue>) {
        if self.least.is_some_and(|least| counted < least) {
            found.push(at.issue(match self.least {
                Some(1) => "must not be empty".to_owned(),
                least => format!("needs at least {} {of}", least.unwrap_or_default()),
            }));
        }
        if let Some(most) = self.most.filter(|most| counted > *most) {
            found.push(at.issue(format!("may have at most {most} {of}")));
        }
    }

    fn look_at_number(&self, number: &Number, at: &Path<'_>, found: &mut Vec<Issue>) {
        if let Some(limit) = self.minimum.as_ref().filter(|limit| is_below(number, limit)) {
            found.push(at.issue(format!("must be at least {limit}")));
        }
        if let Some(limit) = self.maximum.as_ref().filter(|limit| is_below(limit, number)) {
            found.push(at.issue(format!("may be at most {limit}")));
        }
    }

    fn look_at_members(&self, object: &Map<String, Value>, at: &Path<'_>, found: &mut Vec<Issue>) {
        for name in self.required.iter().filter(|name| !object.contains_key(name.as_str())) {
            found.push(Path::Member(at, name).issue("is missing".to_owned()));
        }
        let mut unknown = Vec::new();
        for (name, member) in object {
            let own = self.properties.iter().find(|(known, _)| known == name);
            match (own, &self.others) {
                (Some((_, check)), _) => check.look(member, &Path::Member(at, name), found),
                (None, Some(Others::Held(check))) => {
                    check.look(member, &Path::Member(at, name), found);
                }
                (None, Some(Others::Refused)) => unknown.push(name.as_str()),
                (None, None) => {}
            }
        }
        if !unknown.is_empty() {
            let names = cut(&unknown.join(", "), SHOWN_MAX);
            let known: Vec<&str> = self.properties.iter().map(|(name, _)| name.as_str()).collect();
            let known = cut(&known.join(", "), SHOWN_MAX);
            found.push(at.issue(format!("has unknown members: {names}; it takes {known}")));
        }
    }
}

impl Kind {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }

    fn has(self, value: &Value) -> bool {
        match self {
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        }
    }

    const fn shown(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Text => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => Kind::Boolean.shown(),
        Value::Number(_) => Kind::Number.shown(),
        Value::String(_) => Kind::Text.shown(),
        Value::Array(_) => Kind::Array.shown(),
        Value::Object(_) => Kind::Object.shown(),
    }
}

/// Whole numbers are compared as such, for a large one is not what its nearest fraction is.
fn is_below(one: &Number, other: &Number) -> bool {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

/// Where a value stands; put into words only where something is wrong.
enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Entry(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn issue(&self, message: String) -> Issue {
        let mut path = String::new();
        self.write(&mut path);
        Issue { path, message }
    }

    /// As people write paths: `attachments[1].key`.
    fn write(&self, out: &mut String) {
        match self {
            Self::Root => {}
            Self::Member(of, name) => {
                of.write(out);
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&cut(name, SHOWN_MAX));
            }
            Self::Entry(of, index) => {
                of.write(out);
                out.push('[');
                out.push_str(&index.to_string());
                out.push(']');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(schema: &Value) -> Check {
        Check::of(schema.as_object().unwrap()).unwrap()
    }

    fn said(schema: &Value, value: &Value) -> Vec<(String, String)> {
        check(schema).problems(value).into_iter().map(|i| (i.path, i.message)).collect()
    }

    #[test]
    fn every_problem_is_told_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "title": { "type": "string", "minLength": 1 },
                "kind": { "type": "string", "enum": ["bug", "feature"] },
                "files": { "type": "array", "maxItems": 1, "items": {
                    "type": "object",
                    "properties": { "key": { "type": "string", "maxLength": 2 } },
                    "required": ["key"],
                    "additionalProperties": false,
                } },
                "count": { "type": "integer", "minimum": 1, "maximum": 100 },
                "id": { "type": "string", "format": "uuid" },
            },
            "required": ["title", "ticket"],
        });
        let sent = json!({
            "title": "", "kind": "x", "files": [{ "key": "abc" }, { "size": 1 }], "count": 0,
            "id": "67e5504410b1426f9247bb680e5fe0c8",
        });

        let told = said(&schema, &sent);

        let told: Vec<_> = told.iter().map(|(p, m)| (p.as_str(), m.as_str())).collect();
        assert_eq!(
            told,
            [
                ("ticket", "is missing"),
                ("title", "must not be empty"),
                ("kind", "\"x\" is none of bug, feature"),
                ("files", "may have at most 1 entries"),
                ("files[0].key", "may have at most 2 characters"),
                ("files[1].key", "is missing"),
                ("files[1]", "has unknown members: size; it takes key"),
                ("count", "must be at least 1"),
                ("id", "expected a uuid"),
            ]
        );
    }

    #[test]
    fn a_wrong_type_is_one_problem() {
        let schema = json!({ "type": "string", "enum": ["a"], "minLength": 1 });

        assert_eq!(said(&schema, &json!(1))[0].1, "expected a string, got a number");
        assert_eq!(said(&schema, &json!(1)).len(), 1);
    }

    #[test]
    fn a_rule_that_is_not_known_stops_the_program_from_being_built() {
        for schema in [
            json!({ "pattern": "a" }),
            json!({ "type": "null" }),
            json!({ "properties": { "a": { "format": "date-time" } } }),
        ] {
            assert!(Check::of(schema.as_object().unwrap()).is_err(), "{schema}");
        }
    }

    fn any_schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({})),
            (0..3_u64, 1..4_u64)
                .prop_map(|(a, b)| json!({ "type": "string", "minLength": a, "maxLength": b })),
            Just(json!({ "type": "string", "enum": ["a", "ab"] })),
            Just(json!({ "type": "string", "format": "uuid" })),
            Just(json!({ "type": "boolean" })),
            (-3..3_i64, 0..3_i64)
                .prop_map(|(a, b)| json!({ "type": "integer", "minimum": a, "maximum": b })),
            Just(json!({ "type": "number", "minimum": 0.5 })),
        ];
        leaf.prop_recursive(3, 20, 3, |inner| {
            let members = prop::collection::btree_map("[a-c]", inner.clone(), 0..3);
            let more = prop_oneof![
                Just(json!(true)),
                Just(json!(false)),
                inner.clone().prop_map(|schema| schema),
            ];
            prop_oneof![
                (inner, 0..2_u64, 1..4_u64).prop_map(|(items, a, b)| {
                    json!({ "type": "array", "items": items, "minItems": a, "maxItems": b })
                }),
                (members, more, prop::collection::btree_set("[a-c]", 0..2)).prop_map(
                    |(members, more, required)| {
                        json!({ "type": "object", "properties": members, "required": required,
                            "additionalProperties": more })
                    }
                ),
            ]
        })
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-5..5_i64).prop_map(Value::from),
            prop_oneof![Just(json!(0.25)), Just(json!(1.0)), Just(json!(u64::MAX))],
            "[ab\u{e9}\u{1f600}]{0,4}".prop_map(Value::from),
            Just(json!("67e55044-10b1-426f-9247-bb680e5fe0c8")),
            Just(json!("67E55044-10b1-426f-9247-bb680e5fe0cg")),
        ];
        leaf.prop_recursive(3, 20, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Another hand's validator of the whole of JSON Schema says yes and no to the same.
        #[test]
        fn it_agrees_with_a_full_validator(schema in any_schema(), value in any_value()) {
            let full = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();

            let found = check(&schema).problems(&value);

            prop_assert_eq!(found.is_empty(), full.is_valid(&value), "{:?}", found);
        }
    }
}
