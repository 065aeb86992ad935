//! Somebody with a key, at both doors. Every answer that passes here is held to the shape of its
//! door and to the schema of its tool, whatever the test is about.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use assay::events::Bus;
use assay::tools::Registry;
use http::HeaderMap;
use jsonschema::Validator;
use serde_json::{Value, json};

/// How long a ticket may take to come to where a test waits for it.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long to wait for an event before looking again, since events may be missed.
const POLL: Duration = Duration::from_millis(200);

/// The keys of an envelope, in order; the last two on failures only.
const ENVELOPE: [&str; 8] =
    ["ok", "tool", "summary", "data", "warnings", "nextActions", "error", "recoverable"];

/// Somebody who calls.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(super) url: String,
    pub(super) client: reqwest::Client,
    pub(super) key: String,
    pub(super) bus: Bus,
}

/// What a door said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// One failure as both doors say it.
#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    /// `data.code` of the JSON-RPC error.
    pub(crate) code: String,
    /// `data.statusCode` of the JSON-RPC error.
    pub(crate) status: u64,
    /// `error.code` of the envelope.
    pub(crate) envelope: String,
    /// The HTTP status of the envelope.
    pub(crate) http: u16,
    /// The message, which is the same at both doors.
    pub(crate) message: String,
    /// The paths of the single problems.
    pub(crate) paths: Vec<String>,
}

impl Caller {
    /// The same key at another server.
    pub(crate) fn at(&self, app: &super::TestApp) -> Self {
        app.caller(&self.key)
    }

    /// Posts JSON to an address of the server.
    pub(crate) async fn post(&self, address: &str, body: &Value) -> Said {
        let mut request = self
            .client
            .post(format!("{}{address}", self.url))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body.to_string());
        if !self.key.is_empty() {
            request = request.bearer_auth(&self.key);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"));
        Said { status, headers, body }
    }

    /// Puts bytes to an address as nobody in particular.
    pub(crate) async fn put(&self, url: &str, media_type: &str, bytes: &[u8]) -> Said {
        let mut request = self.client.put(url).body(bytes.to_vec());
        if !media_type.is_empty() {
            request = request.header("content-type", media_type);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"));
        Said { status, headers, body }
    }

    /// Reads an address of the server as JSON.
    pub(crate) async fn get(&self, address: &str) -> Value {
        let asked = self.client.get(format!("{}{address}", self.url)).send().await.unwrap();
        serde_json::from_str(&asked.text().await.unwrap()).unwrap()
    }

    /// Calls a tool at the invoke door.
    pub(crate) async fn invoke(&self, tool: &str, args: &Value) -> Said {
        self.invoke_body(&json!({ "tool": tool, "args": args })).await
    }

    /// Sends a body to the invoke door.
    pub(crate) async fn invoke_body(&self, body: &Value) -> Said {
        let said = self.post("/api/mcp/v1/invoke", body).await;
        let keys: Vec<&String> = said.body.as_object().unwrap().keys().collect();
        let ok = said.status == 200;
        let expected = if ok { &ENVELOPE[..6] } else { &ENVELOPE };
        assert_eq!(keys[..expected.len()], *expected, "{}", said.body);
        let more = &keys[expected.len()..];
        assert!(more.is_empty() || (!ok && *more == ["retryAfterMs"]), "{}", said.body);
        assert_eq!(said.body["ok"], ok);
        if ok {
            holds(said.body["tool"].as_str().unwrap(), &said.body["data"]);
        }
        said
    }

    /// Sends a method of the protocol.
    pub(crate) async fn mcp(&self, method: &str, params: &Value) -> Said {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let said = self.post("/mcp", &message).await;
        assert_eq!((&said.body["jsonrpc"], &said.body["id"]), (&json!("2.0"), &json!(1)));
        said
    }

    /// Calls a tool over MCP and gives its answer; the call must succeed.
    pub(crate) async fn call(&self, tool: &str, args: Value) -> Value {
        let params = json!({ "name": tool, "arguments": args });
        let said = self.mcp("tools/call", &params).await;
        let result = &said.body["result"];
        let answer = result["structuredContent"].clone();
        assert!(answer.is_object(), "{tool} {args}: {}", said.body);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer);
        holds(tool, &answer);
        answer
    }

    /// Calls a tool at both doors; it must be refused, and alike.
    pub(crate) async fn refusal(&self, tool: &str, args: Value) -> Refusal {
        let params = json!({ "name": tool, "arguments": args });
        let rpc = self.mcp("tools/call", &params).await.body;
        let said = self.invoke(tool, &args).await;
        assert_eq!(rpc["error"]["code"], -32600, "{tool} {args}: {rpc}");
        assert!(rpc.get("result").is_none(), "{rpc}");
        let data = &rpc["error"]["data"];
        let text = |value: &Value| value.as_str().map(str::to_owned).unwrap();
        let message = text(&rpc["error"]["message"]);
        assert_eq!(said.body["error"]["message"], message, "{tool} {args}: {}", said.body);
        let issues = data["issues"].as_array().cloned().unwrap_or_default();
        Refusal {
            code: text(&data["code"]),
            status: data["statusCode"].as_u64().unwrap(),
            envelope: text(&said.body["error"]["code"]),
            http: said.status,
            message,
            paths: issues.iter().map(|issue| text(&issue["path"])).collect(),
        }
    }

    /// Files a ticket and gives it.
    pub(crate) async fn dispatch(&self, args: Value) -> Value {
        self.call("dispatch_ticket", args).await["ticket"].clone()
    }

    /// Waits until a ticket stands somewhere, and gives its digest. Fails as soon as the ticket
    /// has ended elsewhere.
    pub(crate) async fn wait_for(&self, ticket: &str, status: &str) -> Value {
        let mut events = self.bus.watch();
        let looks = async {
            loop {
                let digest = self.call("get_ticket", json!({ "ticket": ticket })).await;
                if digest["ticket"]["status"] == status {
                    return digest;
                }
                let ended = !digest["ticket"]["completedAt"].is_null();
                assert!(!ended, "{ticket} did not come to be {status}: {digest:#}");
                drop(tokio::time::timeout(POLL, events.recv()).await);
            }
        };
        let seen = tokio::time::timeout(PATIENCE, looks).await;
        seen.unwrap_or_else(|_| panic!("{ticket} was not {status} in {PATIENCE:?}"))
    }
}

/// Demands that an answer fits the schema that its tool is listed with, and leaves out what the
/// schema calls optional where it has nothing to say.
fn holds(tool: &str, answer: &Value) {
    static SCHEMAS: OnceLock<HashMap<&'static str, (Value, Validator)>> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| {
        let registry = Registry::new();
        let entries = registry.all().iter();
        let one = |schema| {
            let schema = Value::Object(schema);
            let validator = jsonschema::validator_for(&schema).unwrap();
            (schema, validator)
        };
        entries.map(|tool| (tool.name, one((*tool.output_schema).clone()))).collect()
    });
    let (schema, validator) = &schemas[tool];
    let mut problems: Vec<String> =
        validator.iter_errors(answer).map(|problem| problem.to_string()).collect();
    nulls(answer, schema, "", &mut problems);
    assert_eq!(problems, Vec::<String>::new(), "{tool}: {answer}");
}

/// Members that are null although the schema lets them be left out.
fn nulls(value: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    // What may be null is said as two alternatives, of which null is the last.
    let schema = schema.get("anyOf").map_or(schema, |either| &either[0]);
    for item in value.as_array().into_iter().flatten() {
        nulls(item, &schema["items"], at, found);
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{name}");
        let required = schema["required"].as_array().is_some_and(|it| it.contains(&json!(name)));
        if member.is_null() && !required {
            found.push(format!("{at} is null, not absent"));
        }
        nulls(member, &schema["properties"][name], &at, found);
    }
}
