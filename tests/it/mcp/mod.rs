//! The MCP door with everything behind it: keys, the gate, the tools, the database.

mod doors;
mod legacy;
mod listing;
mod modern;
mod plain;
mod rust_client;

use std::sync::Arc;

use assay::accounts::keys::{self, NewKey};
use assay::accounts::{KeyScope, Plan, tenants};
use assay::base::{Clock, Entropy, Millis, RateLimit};
use assay::events::Bus;
use assay::projects::git::Git;
use assay::store::Db;
use assay::tools::{Gate, Premises};
use assay::web::host::{self, Hosts};
use assay::web::invoke::Invoke;
use assay::web::mcp::{self, Door, Setting};
use axum::Router;
use axum::body::Body;
use axum::middleware::from_fn_with_state;
use http::{HeaderMap, Request};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

/// A server with one tenant and a key of each scope.
struct Server {
    router: Router,
    full: String,
    read: String,
    ci: String,
    _data: TempDir,
}

/// What the server said.
struct Said {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Server {
    async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let (clock, entropy) = (Clock::fake(Millis(1_785_333_600_000)), Entropy::seeded(1));
        let db = Db::open(data.path(), clock.clone(), entropy.clone(), Bus::default()).unwrap();
        let texts = db.write(|tx| {
            let tenant = tenants::create(tx, "Acme", Plan::All)?;
            let mut texts = Vec::new();
            for scope in [KeyScope::McpFull, KeyScope::McpRead, KeyScope::Ci] {
                let new = NewKey::plain(scope.word(), scope, "test");
                let (_, text) = keys::create(tx, tenant.id, &new)?;
                texts.push(text.reveal().to_owned());
            }
            Ok(texts)
        });
        let [full, read, ci] = texts.await.unwrap().try_into().unwrap();
        let premises = Premises { url: "http://localhost:7171".to_owned(), mirrors: "/".into() };
        let gate = Arc::new(Gate::new(db, clock.clone(), RateLimit::Off, Git::default(), premises));
        let invoke = Invoke::new(gate.clone(), clock.clone(), entropy.clone());
        let setting = Setting {
            invoke: Arc::new(move |parts, body| {
                let invoke = invoke.clone();
                Box::pin(async move { invoke.answer(parts, body).await })
            }),
            public_url: "http://localhost:7171".to_owned(),
            clock,
            entropy,
        };
        let hosts = Arc::new(Hosts::new(None, &[], "127.0.0.1:7171".parse().unwrap()));
        let router = mcp::routes(Arc::new(Door::new(gate, setting)))
            .layer(from_fn_with_state(hosts, host::guard));
        Self { router, full, read, ci, _data: data }
    }

    async fn send(&self, request: Request<Body>) -> Said {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Said {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Posts to an address of the door with the full key and whatever other headers are given.
    async fn post(&self, address: &str, headers: &[(&str, &str)], body: &Value) -> Said {
        let key = format!("Bearer {}", self.full);
        let mut all = vec![
            ("host", "localhost:7171"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("authorization", key.as_str()),
        ];
        for header in headers {
            all.retain(|(name, _)| name != &header.0);
            all.push(*header);
        }
        let mut request = Request::post(address);
        for (name, value) in all {
            request = request.header(name, value);
        }
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Calls a method of the older era and gives the answer.
    async fn ask(&self, address: &str, method: &str, params: Value) -> Value {
        let body = message(method, params);
        let said = self.post(address, &[], &body).await;
        assert_eq!(said.status, 200, "{}", said.body);
        said.json()
    }

    /// Calls a tool and gives the answer.
    async fn call(&self, address: &str, tool: &str, args: Value) -> Value {
        self.ask(address, "tools/call", json!({ "name": tool, "arguments": args })).await
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}
