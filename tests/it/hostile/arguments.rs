//! Arguments of every tool, made from the schema that the tool is listed with, and then bent.

use assay::tools::Registry;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use super::{Dice, House, TEXTS};

/// A value that the schema allows, or nearly.
fn of_schema(schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[dice.roll(words.len())].clone();
    }
    match schema["type"].as_str() {
        Some("object") if depth < 4 => {
            let mut object = Map::new();
            for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                let required =
                    schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                if required || dice.one_in(3) {
                    object.insert(name.clone(), of_schema(inner, dice, depth + 1));
                }
            }
            Value::Object(object)
        }
        Some("array") => {
            let count = dice.roll(4);
            (0..count).map(|_| of_schema(&schema["items"], dice, depth + 1)).collect()
        }
        Some("boolean") => json!(dice.one_in(2)),
        Some("integer" | "number") => json!(dice.roll(120)),
        _ => json!(dice.pick(TEXTS)),
    }
}

/// Something that no schema asked for.
fn odd(dice: &mut Dice) -> Value {
    match dice.roll(12) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(i64::MIN),
        4 => json!(1e300),
        5 => json!(0.5),
        6 => json!([]),
        7 => json!({}),
        8 => json!([[[[[null]]]]]),
        9 => json!("x".repeat(70_000)),
        10 => json!(vec!["ACME-1"; 300]),
        _ => json!(dice.pick(TEXTS)),
    }
}

/// Bends some part of a value.
fn bend(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(object) if !object.is_empty() && !dice.one_in(6) => {
            let at = dice.roll(object.len());
            let name = object.keys().nth(at).unwrap().clone();
            match dice.roll(4) {
                0 => drop(object.remove(&name)),
                1 => drop(object.insert(format!("{name}_"), odd(dice))),
                _ => bend(&mut object[&name], dice),
            }
        }
        Value::Array(list) if !list.is_empty() && !dice.one_in(3) => {
            let at = dice.roll(list.len());
            bend(&mut list[at], dice);
        }
        other => *other = odd(dice),
    }
}

#[test]
fn whatever_a_tool_is_called_with_it_answers_and_nothing_breaks() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let house = runtime.block_on(House::start());
    runtime
        .block_on(house.invoke("dispatch_ticket", &json!({ "title": "One", "project": "ACME" })));
    let registry = Registry::new();
    let config = Config { cases: 20, failure_persistence: None, ..Config::default() };

    for tool in registry.all() {
        let schema = Value::Object((*tool.input_schema).clone());
        let seeds = (any::<u64>(), 0..3_usize);
        let ran = TestRunner::new(config.clone()).run(&seeds, |(seed, bends)| {
            let mut dice = Dice(seed);
            let mut args = of_schema(&schema, &mut dice, 0);
            for _ in 0..bends {
                bend(&mut args, &mut dice);
            }
            runtime.block_on(both_doors(&house, tool.name, &args));
            Ok(())
        });
        ran.unwrap_or_else(|failure| panic!("{}: {failure}", tool.name));
    }
}

async fn both_doors(house: &House, tool: &str, args: &Value) {
    let body = json!({ "tool": tool, "args": args }).to_string();
    house.post("/api/mcp/v1/invoke", body).await.is_envelope();
    let params = json!({ "name": tool, "arguments": args });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = house.post("/mcp", body.to_string()).await;
    answer.is_of_mcp();
}

/// What clients send for an argument that their person left empty.
#[test]
fn an_argument_left_empty_is_absent_or_refused_by_its_name() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let house = runtime.block_on(House::start());
    runtime
        .block_on(house.invoke("dispatch_ticket", &json!({ "title": "One", "project": "ACME" })));
    let outcome = |answer: &Value| (answer["ok"].clone(), answer["error"]["code"].clone());

    for tool in Registry::new().all() {
        let mut base: Map<String, Value> = serde_json::from_str(tool.example).unwrap();
        for (name, here) in [("project", "ACME"), ("ticket", "ACME-1")] {
            base.entry(name).and_modify(|value| *value = json!(here));
        }
        for (name, _) in tool.input_schema["properties"].as_object().unwrap() {
            let ask = |value: Option<Value>| {
                let mut args = base.clone();
                args.remove(name);
                args.extend(value.map(|value| (name.clone(), value)));
                // Each call is one of its own.
                args.shift_remove("operation_key");
                runtime.block_on(house.invoke(tool.name, &Value::Object(args)))
            };
            let whole = ask(base.get(name).cloned());
            let absent = ask(None);
            let null = ask(Some(Value::Null));
            assert_eq!(outcome(&null), outcome(&absent), "{} without {name}", tool.name);
            for empty in [json!(""), json!("null"), json!([null]), json!(["null"])] {
                let answer = ask(Some(empty.clone()));
                let message = answer["error"]["message"].as_str().unwrap_or_default();
                let told = answer["ok"] == true
                    || message.contains(name)
                    || [&absent, &whole].iter().any(|same| outcome(same) == outcome(&answer))
                    || answer["error"]["code"] == "not_found";
                assert!(told, "{} with {name}: {empty} answers {answer}", tool.name);
                assert_ne!(answer["error"]["code"], "internal", "{}: {name}", tool.name);
            }
        }
    }
}
