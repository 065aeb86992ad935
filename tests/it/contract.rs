//! Every code in every dialect, held against golden files.

use assay::base::{Code, Fault, NextAction};
use assay::contract::{envelope, error_object, jsonrpc, reference, schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::golden;

/// A fault of this code with everything that a fault can carry and a credential in its text.
fn fault(code: Code) -> Fault {
    let fault = Fault::new(code, format!("{code:?}: the call with alch_0123456789abcdef failed."))
        .issue("fixes[1].issue", "expected 32 lower-case hexadecimal characters")
        .issue("", "token=s3cret is not an argument")
        .next(NextAction::Call {
            label: "List the projects".into(),
            tool: "list_projects".into(),
            args: json!({ "limit": 5 }),
        })
        .next(NextAction::Run("npx playwright install chrome".into()))
        .next(NextAction::Open("/projects/acme/settings".into()))
        .next(NextAction::Edit("assay.toml".into()))
        .because("the cause, which nobody outside may read");
    match code {
        Code::RateLimited | Code::Unavailable => fault.retry_after_ms(1_250),
        Code::ProofFailed => fault.data(json!({ "proofVerdict": "failed" })),
        _ => fault,
    }
}

/// What a door sends for each code, one code a line.
fn lines<T: Serialize>(say: impl Fn(&Fault) -> T) -> String {
    let line = |code: Code| serde_json::to_string(&say(&fault(code))).unwrap();
    Code::ALL.map(line).join("\n") + "\n"
}

fn each_is_valid(format: &str, lines: &str, body: impl Fn(Value) -> Value) {
    let schema = jsonschema::validator_for(schema::find(format, 1).unwrap()).unwrap();
    for line in lines.lines() {
        let value = body(serde_json::from_str(line).unwrap());
        let problems: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(problems.is_empty(), "{line}: {problems:?}");
    }
}

#[test]
fn every_code_is_said_in_the_envelope_as_the_golden_says() {
    let said = lines(|fault| envelope::failure("get_ticket", fault));

    golden::matches("contract/tool-response.jsonl", &said);
    each_is_valid("tool-response", &said, |pair| pair[1].clone());
}

#[test]
fn every_code_is_said_over_json_rpc_as_the_golden_says() {
    let said = lines(jsonrpc::error);

    golden::matches("contract/jsonrpc-error.jsonl", &said);
    each_is_valid("jsonrpc-error", &said, |error| error);
}

#[test]
fn every_code_is_said_in_the_error_object_as_the_golden_says() {
    let said = lines(|fault| error_object::encode(fault, "https://assay.example"));

    golden::matches("contract/cora-mcp-error.jsonl", &said);
    each_is_valid("cora-mcp-error", &said, |object| object);
}

#[test]
fn no_dialect_says_the_cause_or_a_credential() {
    let said = [
        lines(|fault| envelope::failure("get_ticket", fault)),
        lines(jsonrpc::error),
        lines(|fault| error_object::encode(fault, "https://assay.example")),
    ];

    for secret in ["nobody outside", "0123456789abcdef", "s3cret"] {
        assert!(said.iter().all(|text| !text.contains(secret)), "{secret}");
    }
}

#[test]
fn the_published_schemas_are_as_the_golden_says() {
    for (format, version) in schema::FORMATS {
        let schema = schema::find(format, *version).unwrap();
        let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
        golden::matches(&format!("contract/{format}.v{version}.schema.json"), &text);
    }
}

#[test]
fn the_error_reference_is_as_the_golden_says() {
    let text: Vec<String> = reference::entries()
        .map(|entry| {
            let w = entry.wire;
            format!(
                "#{} {} {} recoverable={} | {} {}\n{}. {} {}",
                entry.anchor,
                w.envelope,
                w.http,
                w.recoverable,
                w.rpc,
                w.status,
                w.title,
                w.meaning,
                w.hint
            )
        })
        .collect();

    golden::matches("contract/reference.txt", &(text.join("\n\n") + "\n"));
}
