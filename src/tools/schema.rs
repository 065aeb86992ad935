//! JSON Schemas in the form that every client takes. What is derived from our types uses the whole
//! of JSON Schema 2020-12; MCP clients and the model services behind them take much less: one bad
//! schema and the whole tool list is gone. So each is rewritten here, once, when the registry is
//! built: the root is an object without composition, references are inlined, arrays have `items`,
//! a type is one word, and number formats are dropped.

use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// What a schema describes; it decides what becomes of `null` and of alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Null means absent, so it is left out; alternatives that cannot be joined are left open.
    Input,
    /// Null is a value that a strict reader must find allowed.
    Output,
}

/// Words that say nothing to a client, or that some client refuses.
const DROPPED: [&str; 18] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "examples",
    "nullable",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// The schema of a tool's arguments, as every client takes it.
#[must_use]
pub fn input(schema: Value) -> Object {
    root(schema, Side::Input, false)
}

/// The schema by which a call's arguments are checked: that of [`input`], with the formats of
/// texts, which some clients refuse to be told.
#[must_use]
pub fn checked(schema: Value) -> Object {
    root(schema, Side::Input, true)
}

/// The schema of a tool's answer, as every client takes it. A value that may be null is said with
/// one nested `anyOf`, since a strict reader checks the answer against it.
#[must_use]
pub fn output(schema: Value) -> Object {
    root(schema, Side::Output, false)
}

/// The same schema without words for people. A client holds an answer against it and shows it to no
/// one, while some put every byte of it before the model with each message.
#[must_use]
pub fn bare(schema: &Object) -> Object {
    let mut out = Object::new();
    for (word, value) in schema {
        let kept = match (word.as_str(), value) {
            ("description", Value::String(_)) => continue,
            ("properties", Value::Object(members)) => Value::Object(
                members.iter().map(|(name, one)| (name.clone(), bared(one))).collect(),
            ),
            ("enum" | "required", _) => value.clone(),
            _ => bared(value),
        };
        out.insert(word.clone(), kept);
    }
    out
}

fn bared(value: &Value) -> Value {
    match value {
        Value::Object(schema) => Value::Object(bare(schema)),
        Value::Array(list) => list.iter().map(bared).collect(),
        other => other.clone(),
    }
}

fn root(schema: Value, side: Side, formats: bool) -> Object {
    let mut defs = Object::new();
    for key in ["$defs", "definitions"] {
        if let Some(Value::Object(found)) = schema.get(key) {
            defs.extend(found.clone());
        }
    }
    let mut walk = Walk { defs, open: Vec::new(), side, formats };
    let mut done = walk.schema(schema);
    done.remove("anyOf");
    let mut out = Object::new();
    out.insert("type".to_owned(), json!("object"));
    done.remove("type");
    out.append(&mut done);
    out.entry("properties").or_insert_with(|| json!({}));
    out
}

struct Walk {
    defs: Object,
    /// The references being inlined, so that a type that holds itself ends.
    open: Vec<String>,
    side: Side,
    /// Whether the formats of texts stay.
    formats: bool,
}

impl Walk {
    fn schema(&mut self, schema: Value) -> Object {
        let Value::Object(mut map) = schema else { return Object::new() };
        if let Some(Value::String(address)) = map.remove("$ref") {
            return self.reference(&address, map);
        }
        let (alternatives, nullable) = self.alternatives(&mut map);
        self.parts(&mut map);
        let nullable = take_types(&mut map, self.side) || nullable;
        if let Some(only) = map.remove("const") {
            map.insert("enum".to_owned(), json!([only]));
        }
        self.clean(&mut map);
        join(&mut map, alternatives, self.side);
        if nullable && self.side == Side::Output { with_null(map) } else { map }
    }

    /// Puts the schema that a reference names in its place; what stood beside it wins.
    fn reference(&mut self, address: &str, beside: Object) -> Object {
        let name = address.rsplit('/').next().unwrap_or_default().to_owned();
        let target = match self.defs.get(&name) {
            Some(Value::Object(target)) if !self.open.contains(&name) => target.clone(),
            _ => Object::new(),
        };
        let mut joined = target;
        joined.extend(beside);
        self.open.push(name);
        let done = self.schema(Value::Object(joined));
        self.open.pop();
        done
    }

    /// Takes `oneOf` and `anyOf` out: the alternatives that are not null, and whether null was one.
    fn alternatives(&mut self, map: &mut Object) -> (Vec<Object>, bool) {
        let mut found = Vec::new();
        let mut nullable = false;
        for key in ["oneOf", "anyOf"] {
            let Some(Value::Array(list)) = map.remove(key) else { continue };
            for one in list {
                if one.get("type") == Some(&json!("null")) {
                    nullable = true;
                } else {
                    found.push(self.schema(one));
                }
            }
        }
        (found, nullable)
    }

    /// Joins the members of `allOf` into the schema itself.
    fn parts(&mut self, map: &mut Object) {
        let Some(Value::Array(list)) = map.remove("allOf") else { return };
        for one in list {
            let part = self.schema(one);
            merge(map, part, Required::Both);
        }
    }

    /// Drops what is not portable and goes on into what is.
    fn clean(&mut self, map: &mut Object) {
        map.retain(|key, _| !DROPPED.contains(&key.as_str()));
        let stays = self.formats && map.get("type") == Some(&json!("string"));
        if !stays && map.get("format").is_some_and(|format| format != "date-time") {
            map.remove("format");
        }
        if map.get("default").is_some_and(Value::is_null) {
            map.remove("default");
        }
        if let Some(Value::String(said)) = map.get_mut("description") {
            *said = flowing(said);
        }
        if map.get("required").is_some_and(|names| names.as_array().is_none_or(Vec::is_empty)) {
            map.remove("required");
        }
        if self.side == Side::Input
            && let Some(Value::Array(words)) = map.get_mut("enum")
        {
            words.retain(|word| !word.is_null());
        }
        if map.get("enum").is_some_and(|words| words.as_array().is_none_or(Vec::is_empty)) {
            map.remove("enum");
        }
        if let Some(Value::Object(properties)) = map.get_mut("properties") {
            for (_, property) in properties.iter_mut() {
                *property = Value::Object(self.schema(property.take()));
            }
        }
        if let Some(more) = map.get_mut("additionalProperties")
            && more.is_object()
        {
            *more = Value::Object(self.schema(more.take()));
        }
        let tuple = map.remove("prefixItems").is_some();
        if let Some(items) = map.remove("items")
            && !tuple
        {
            map.insert("items".to_owned(), Value::Object(self.schema(items)));
        }
        if map.get("type") == Some(&json!("array")) {
            map.entry("items").or_insert_with(|| json!({}));
        }
    }
}

/// A text without the line breaks that stand in it only because source lines end.
fn flowing(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<String>>().join("\n\n")
}

/// Makes the type one word, and says whether null was among several.
fn take_types(map: &mut Object, side: Side) -> bool {
    let Some(Value::Array(types)) = map.get("type").cloned() else { return false };
    let nullable = types.contains(&json!("null"));
    let mut rest: Vec<Value> = types.into_iter().filter(|kind| kind != "null").collect();
    if rest.contains(&json!("number")) {
        rest.retain(|kind| kind != "integer");
    }
    map.remove("type");
    if let [only] = rest.as_slice() {
        map.insert("type".to_owned(), only.clone());
    } else if rest.is_empty() && nullable && side == Side::Output {
        map.insert("type".to_owned(), json!("null"));
        return false;
    }
    nullable
}

/// Which members a joined object still demands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Required {
    /// Those of one and those of the other: both must hold.
    Both,
    /// Those that both demand: one of them must hold.
    Common,
}

/// Adds another object schema to a schema; where both say something, the first wins, and the
/// choices of a member add up where either may hold.
fn merge(into: &mut Object, mut other: Object, required: Required) {
    let theirs = names(&other);
    let ours = names(into);
    let wanted: Vec<String> = match required {
        Required::Both => {
            let new: Vec<String> = theirs.into_iter().filter(|n| !ours.contains(n)).collect();
            [ours, new].concat()
        }
        Required::Common => ours.into_iter().filter(|name| theirs.contains(name)).collect(),
    };
    other.remove("required");
    if let Some(Value::Object(properties)) = other.remove("properties") {
        let held = into.entry("properties").or_insert_with(|| json!({}));
        for (name, property) in properties {
            match held.get_mut(&name).and_then(Value::as_object_mut) {
                Some(known) if required == Required::Common => either(known, property),
                Some(_) => {}
                None => held[&name] = property,
            }
        }
    }
    for (key, value) in other {
        into.entry(key).or_insert(value);
    }
    into.remove("required");
    if !wanted.is_empty() {
        into.insert("required".to_owned(), json!(wanted));
    }
}

fn names(map: &Object) -> Vec<String> {
    let list = map.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// A member that two alternatives have: what either takes.
fn either(known: &mut Object, other: Value) {
    if Value::Object(known.clone()) == other {
        return;
    }
    let Value::Object(other) = other else { return };
    let words = match (known.get("enum"), other.get("enum")) {
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => Some(union(ours, theirs)),
        _ => None,
    };
    let same_type = known.get("type") == other.get("type");
    known.retain(|key, _| key == "description" || (key == "type" && same_type));
    if let Some(words) = words {
        known.insert("enum".to_owned(), Value::Array(words));
    }
    if known.get("type") == Some(&json!("array")) {
        known.insert("items".to_owned(), json!({}));
    }
}

fn union(ours: &[Value], theirs: &[Value]) -> Vec<Value> {
    let mut all = ours.to_vec();
    all.extend(theirs.iter().filter(|word| !ours.contains(word)).cloned());
    all
}

/// Joins alternatives into the schema they belong to, as closely as one plain schema can say it.
fn join(map: &mut Object, mut alternatives: Vec<Object>, side: Side) {
    if alternatives.is_empty() {
        return;
    }
    if alternatives.len() == 1 {
        merge(map, alternatives.remove(0), Required::Both);
        return;
    }
    if alternatives.iter().all(|one| one.contains_key("enum")) {
        let mut words = Vec::new();
        for one in &alternatives {
            words = union(&words, one["enum"].as_array().map_or(&[][..], Vec::as_slice));
        }
        if let Some(kind) = shared_type(&alternatives) {
            map.insert("type".to_owned(), kind);
        }
        map.insert("enum".to_owned(), Value::Array(words));
    } else if shared_type(&alternatives) == Some(json!("object")) {
        let mut whole = alternatives.remove(0);
        for one in alternatives {
            merge(&mut whole, one, Required::Common);
        }
        // What belongs to one alternative would be refused beside another.
        whole.remove("additionalProperties");
        whole.remove("description");
        merge(map, whole, Required::Both);
    } else if side == Side::Output {
        let all: Vec<Value> = alternatives.into_iter().map(Value::Object).collect();
        map.insert("anyOf".to_owned(), Value::Array(all));
    } else if let Some(kind) = shared_type(&alternatives) {
        map.insert("type".to_owned(), kind.clone());
        if kind == "array" {
            map.insert("items".to_owned(), json!({}));
        }
    }
}

fn shared_type(alternatives: &[Object]) -> Option<Value> {
    let first = alternatives.first()?.get("type")?;
    alternatives.iter().all(|one| one.get("type") == Some(first)).then(|| first.clone())
}

/// The schema of the same value or null.
fn with_null(mut map: Object) -> Object {
    if let Some(Value::Array(words)) = map.get_mut("enum") {
        if !words.contains(&Value::Null) {
            words.push(Value::Null);
        }
        map.remove("type");
        return map;
    }
    if !map.contains_key("type") && !map.contains_key("anyOf") {
        // It takes anything already.
        return map;
    }
    let mut out = Object::new();
    if let Some(description) = map.remove("description") {
        out.insert("description".to_owned(), description);
    }
    let mut choices = match map.remove("anyOf") {
        Some(Value::Array(choices)) => choices,
        _ => vec![Value::Object(map)],
    };
    choices.push(json!({ "type": "null" }));
    out.insert("anyOf".to_owned(), Value::Array(choices));
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schemars::{JsonSchema, generate::SchemaSettings};
    use serde::Serialize;

    use super::*;

    /// How much is asked for.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only their schema is used")]
    enum Amount {
        /// A little.
        Few,
        /// A lot.
        Many,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(tag = "shape", rename_all = "snake_case")]
    #[expect(dead_code, reason = "only their schema is used")]
    enum Shape {
        Circle { radius: u32 },
        Square { side: u32, name: Option<String> },
    }

    #[derive(Serialize, JsonSchema)]
    struct Tree {
        title: String,
        children: Vec<Tree>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Everything {
        /// What it is called.
        title: String,
        note: Option<String>,
        amount: Option<Amount>,
        count: u32,
        big: i64,
        ratio: Option<f64>,
        free: Value,
        list: Vec<Value>,
        pair: (String, u8),
        shape: Option<Shape>,
        tree: Tree,
        map: std::collections::BTreeMap<String, Option<u16>>,
    }

    fn derived<T: JsonSchema>() -> Value {
        let schema = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator()
            .into_root_schema_for::<T>();
        schema.to_value()
    }

    /// What a client would refuse in a schema, with where it stands.
    fn problems(schema: &Value, at: &str, found: &mut Vec<String>) {
        let Some(map) = schema.as_object() else {
            found.push(format!("{at}: not an object"));
            return;
        };
        for key in ["$ref", "$defs", "definitions", "oneOf", "allOf", "const", "title", "not"] {
            if map.contains_key(key) {
                found.push(format!("{at}: {key}"));
            }
        }
        if map.get("type").is_some_and(|kind| !kind.is_string()) {
            found.push(format!("{at}: a type that is not one word"));
        }
        if map.get("type") == Some(&json!("array")) && !map.contains_key("items") {
            found.push(format!("{at}: an array without items"));
        }
        if let Some(Value::Object(properties)) = map.get("properties") {
            for (name, property) in properties {
                problems(property, &format!("{at}.{name}"), found);
            }
        }
        if let Some(items) = map.get("items") {
            problems(items, &format!("{at}[]"), found);
        }
        for one in map.get("anyOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
            problems(one, &format!("{at}|"), found);
        }
    }

    fn portable_root(schema: &Object) -> Vec<String> {
        let mut found = Vec::new();
        problems(&Value::Object(schema.clone()), "", &mut found);
        if schema.get("type") != Some(&json!("object")) {
            found.push("the root is not an object".to_owned());
        }
        if schema.contains_key("anyOf") {
            found.push("composition at the root".to_owned());
        }
        found
    }

    #[test]
    fn what_our_types_derive_becomes_portable() {
        let schema = input(derived::<Everything>());

        assert_eq!(portable_root(&schema), Vec::<String>::new());
        let properties = &schema["properties"];
        assert_eq!(
            properties["title"],
            json!({ "description": "What it is called.", "type": "string" })
        );
        assert_eq!(properties["note"], json!({ "type": "string" }));
        assert_eq!(properties["amount"]["enum"], json!(["few", "many"]));
        assert_eq!(properties["amount"]["type"], "string");
        assert_eq!(properties["count"], json!({ "type": "integer", "minimum": 0 }));
        assert_eq!(properties["list"], json!({ "type": "array", "items": {} }));
        assert_eq!(properties["free"], json!({}));
        assert_eq!(properties["shape"]["properties"]["shape"]["enum"], json!(["circle", "square"]));
        assert_eq!(properties["shape"]["required"], json!(["shape"]));
    }

    #[test]
    fn formats_of_texts_are_for_the_check_alone() {
        let schema = json!({ "properties": {
            "id": { "type": ["string", "null"], "format": "uuid" },
            "at": { "type": "string", "format": "date-time" },
            "count": { "type": "integer", "format": "int64" },
        } });

        let (listed, held) = (input(schema.clone()), checked(schema));

        assert_eq!(listed["properties"]["id"], json!({ "type": "string" }));
        assert_eq!(held["properties"]["id"], json!({ "type": "string", "format": "uuid" }));
        for one in [listed, held] {
            assert_eq!(one["properties"]["at"]["format"], "date-time");
            assert_eq!(one["properties"]["count"], json!({ "type": "integer" }));
        }
    }

    #[test]
    fn a_property_may_be_called_as_a_word_of_the_schema_language() {
        let schema = input(json!({
            "type": "object",
            "title": "Dispatch",
            "properties": { "title": { "type": "string" }, "not": { "type": "string" } },
            "required": ["title"],
        }));

        assert_eq!(
            Value::Object(schema),
            json!({
                "type": "object",
                "properties": { "title": { "type": "string" }, "not": { "type": "string" } },
                "required": ["title"],
            })
        );
    }

    #[test]
    fn a_bare_schema_says_the_same_without_words_for_people() {
        let schema = json!({
            "type": "object",
            "description": "A thing.",
            "properties": {
                "description": { "type": "string", "description": "In words." },
                "list": { "type": "array", "items": { "description": "One.", "type": "string" } },
                "word": { "anyOf": [{ "enum": ["description"], "description": "It." }] },
            },
            "required": ["description"],
        });

        assert_eq!(
            Value::Object(bare(schema.as_object().expect("an object"))),
            json!({
                "type": "object",
                "properties": {
                    "description": { "type": "string" },
                    "list": { "type": "array", "items": { "type": "string" } },
                    "word": { "anyOf": [{ "enum": ["description"] }] },
                },
                "required": ["description"],
            })
        );
    }

    #[test]
    fn a_type_that_holds_itself_ends() {
        let schema = output(derived::<Tree>());

        assert_eq!(portable_root(&schema), Vec::<String>::new());
        assert_eq!(schema["properties"]["children"]["type"], "array");
    }

    #[test]
    fn an_answer_with_and_without_its_optional_values_holds_against_its_schema() {
        let schema = Value::Object(output(derived::<Everything>()));
        let check = jsonschema::validator_for(&schema).expect("a valid schema");
        let full = Everything {
            title: "a".to_owned(),
            note: Some("b".to_owned()),
            amount: Some(Amount::Many),
            count: 1,
            big: -1,
            ratio: Some(0.5),
            free: json!({ "x": [1] }),
            list: vec![json!(1), json!(null)],
            pair: ("a".to_owned(), 1),
            shape: Some(Shape::Square { side: 1, name: None }),
            tree: Tree {
                title: "t".to_owned(),
                children: vec![Tree { title: "u".to_owned(), children: vec![] }],
            },
            map: [("a".to_owned(), Some(1)), ("b".to_owned(), None)].into(),
        };
        let mut bare = serde_json::to_value(&full).expect("plain data");
        for name in ["note", "amount", "ratio", "shape"] {
            bare[name] = Value::Null;
        }

        let errors = |value: &Value| check.iter_errors(value).map(|e| e.to_string()).collect();
        let full: Vec<String> = errors(&serde_json::to_value(&full).expect("plain data"));
        let bare: Vec<String> = errors(&bare);
        let wrong: Vec<String> = errors(&json!({ "title": 1 }));

        assert_eq!((full, bare), (vec![], vec![]));
        assert!(!wrong.is_empty());
        assert_eq!(portable_root(schema.as_object().expect("an object")), Vec::<String>::new());
    }

    #[test]
    fn a_root_of_alternatives_becomes_one_object() {
        let schema = input(derived::<Shape>());

        assert_eq!(portable_root(&schema), Vec::<String>::new());
        assert_eq!(schema["required"], json!(["shape"]));
        assert_eq!(schema["properties"]["radius"]["type"], "integer");
    }

    fn any_schema() -> impl Strategy<Value = Value> {
        let types = prop::sample::select(vec!["string", "array", "object", "integer", "null"]);
        let leaf = prop_oneof![
            types.clone().prop_map(|kind| json!({ "type": kind })),
            prop::collection::vec(types, 0..3).prop_map(|kinds| json!({ "type": kinds })),
            Just(json!(true)),
            Just(json!({ "const": "x", "title": "X" })),
            Just(json!({ "enum": ["a", null] })),
            Just(json!({ "$ref": "#/$defs/Self" })),
        ];
        leaf.prop_recursive(4, 40, 4, |inner| {
            let many = prop::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                many.clone().prop_map(|all| json!({ "oneOf": all })),
                many.clone().prop_map(|all| json!({ "anyOf": all, "title": "A" })),
                many.clone().prop_map(|all| json!({ "allOf": all })),
                inner.clone().prop_map(|one| json!({ "type": ["array", "null"], "items": one })),
                many.prop_map(|all| json!({ "type": "array", "prefixItems": all })),
                prop::collection::btree_map("[a-c]", inner, 0..3)
                    .prop_map(|all| json!({ "type": "object", "properties": all })),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_schema_becomes_portable_and_stays_so(schema in any_schema()) {
            let mut whole = json!({ "$defs": { "Self": schema.clone() }, "properties": {} });
            whole["properties"]["a"] = schema.clone();
            let all =
                [input(whole.clone()), output(whole), input(schema.clone()), output(schema)];
            for done in all {
                prop_assert_eq!(portable_root(&done), Vec::<String>::new());
                let once = serde_json::to_string(&done).expect("plain data");
                prop_assert!(jsonschema::validator_for(&Value::Object(done)).is_ok(), "{}", once);
            }
        }
    }
}
