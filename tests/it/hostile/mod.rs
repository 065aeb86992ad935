//! Input that nobody means well with. Whatever comes in: never a panic, never a failure of the
//! server's own, never a wait without end, and always an answer in the language of its door.

mod agents;
mod arguments;
mod bodies;
mod doors;
mod forms;
mod headers;
mod markup;
mod names;
mod paths;
mod secrets;
mod sizes;
mod smuggling;
mod waiting;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use assay::accounts::users::{self, NewUser};
use assay::accounts::{Role, passwords, sessions, users::User};
use assay::app::{App, Opening};
use assay::base::{Clock, Entropy, Millis, RateLimit, Secret};
use assay::projects::Settings;
use assay::projects::agents::Profile;
use assay::projects::settings::VerifyCommand;
use assay::web::serve::{self, Limits};
use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::pipeline::{furnish, make_repository, settings};

/// How long any answer may take.
const DEADLINE: Duration = Duration::from_secs(10);
const AT: Millis = Millis(1_785_333_600_000);
const PASSWORD: &str = "correct horse battery";
const EMAIL: &str = "ada@example.com";
const FORM: &str = "application/x-www-form-urlencoded";

/// A server without workers, with one project `ACME`, one key, and one owner who is signed in.
struct House {
    app: Arc<App>,
    stop: CancellationToken,
    router: Router,
    key: String,
    cookie: String,
    csrf: String,
    dir: tempfile::TempDir,
}

/// What a door said.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl House {
    async fn start() -> Self {
        Self::with(|_| ()).await
    }

    async fn with(change: impl FnOnce(&mut Opening)) -> Self {
        Self::build(change, None).await
    }

    /// A house whose workers run; its agent is a script.
    async fn at_work(script: &str) -> Self {
        let house = Self::build(|opening| opening.clock = Clock::system(), Some(script)).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (app, stop) = (house.app.clone(), house.stop.clone());
        tokio::spawn(async move { app.serve(listener, stop).await });
        house
    }

    async fn build(change: impl FnOnce(&mut Opening), script: Option<&str>) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut opening = Opening {
            data: dir.path().join("data"),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7171)),
            public_url: None,
            allowed_hosts: Vec::new(),
            mail: None,
            rate_limit: RateLimit::Off,
            assay: env!("CARGO_BIN_EXE_assay").into(),
            clock: Clock::fake(AT),
            entropy: Entropy::seeded(1),
        };
        change(&mut opening);
        let app = Arc::new(App::open(opening).unwrap());
        let stop = CancellationToken::new();
        let router = app.router(&stop);
        let (key, cookie, csrf) = (String::new(), String::new(), String::new());
        let mut house = Self { app, stop, router, key, cookie, csrf, dir };
        let root = house.dir.path().canonicalize().unwrap();
        let (place, mut settings) = if let Some(script) = script {
            make_repository(&root.join("person"));
            (root.join("person"), settings(&root, script))
        } else {
            let mut settings = Settings::default();
            let agent = Profile::script(vec!["false".to_owned()]);
            settings.agents.profiles.insert("none".to_owned(), agent);
            (root.join("nowhere"), settings)
        };
        settings.verify.push(VerifyCommand::new("tests", "true"));
        let place = place.display().to_string();
        let db = house.app.env().db.clone();
        let key = db.write(move |tx| furnish(tx, &place, settings)).await.unwrap();
        key.reveal().clone_into(&mut house.key);
        let hash = passwords::hash(&Secret::new(PASSWORD), &Entropy::seeded(2)).unwrap();
        let caller = house.app.gate().caller(Some(&key)).await.unwrap();
        let tenant = caller.actor.tenant;
        let user: User = db
            .write(move |tx| {
                let new = NewUser { email: EMAIL, name: "Ada", role: Role::Owner, password: &hash };
                users::create(tx, tenant, &new)
            })
            .await
            .unwrap();
        let started = db.write(move |tx| sessions::start(tx, &user, "test", "127.0.0.1")).await;
        let (session, token) = started.unwrap();
        house.csrf = session.csrf;
        house.cookie = format!("assay={}", token.reveal());
        house
    }

    /// Listens on a port of its own, without workers.
    async fn listen(&self, limits: Limits) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (router, stop) = (self.router.clone(), self.stop.clone());
        tokio::spawn(serve::serve_within(listener, router, stop, limits));
        address
    }

    /// Sends a request and waits for the whole answer; it must come, and be none of the server's
    /// own failures.
    async fn send(&self, request: Request<Body>) -> Answer {
        let about = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
        let answered = async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
            Answer { status: parts.status, headers: parts.headers, body }
        };
        let answer = tokio::time::timeout(DEADLINE, answered).await;
        let answer = answer.unwrap_or_else(|_| panic!("no answer in {DEADLINE:?} to {about}"));
        assert!(!answer.status.is_server_error(), "{about}: {}", answer.text());
        answer
    }

    /// Posts bytes with a key.
    async fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        let request = request(Method::POST, path)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key));
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Reads an address as the person.
    async fn read(&self, path: &str) -> Answer {
        let request = request(Method::GET, path).header(header::COOKIE, &self.cookie);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Sends a form as the person, as it stands.
    async fn form(&self, path: &str, form: impl Into<Body>) -> Answer {
        let request = request(Method::POST, path)
            .header(header::COOKIE, &self.cookie)
            .header(header::CONTENT_TYPE, FORM);
        self.send(request.body(form.into()).unwrap()).await
    }

    /// Waits until the ticket stands at one of these.
    async fn until(&self, ticket: &str, statuses: &[&str]) {
        let number = ticket.rsplit('-').next().unwrap();
        let sql = format!("SELECT status FROM tickets WHERE seq = {number}");
        let looks = async {
            while !statuses.contains(&self.column(&sql)[0].as_str()) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let seen = tokio::time::timeout(DEADLINE * 9, looks).await;
        seen.unwrap_or_else(|_| panic!("{ticket} is {:?}", self.column(&sql)));
    }

    /// The first column of a query's rows.
    fn column(&self, sql: &str) -> Vec<String> {
        self.app.env().db.raw_column(sql).unwrap()
    }

    /// Every page about a ticket, and every log.
    async fn pages_of(&self, ticket: &str) -> Vec<(String, String)> {
        let base = format!("/tickets/{ticket}");
        let mut paths: Vec<String> =
            ["/", "/tickets", "/projects", "/projects/acme", "/keys"].map(str::to_owned).to_vec();
        paths.push(base.clone());
        for node in self.column("SELECT DISTINCT ref FROM nodes") {
            paths.push(format!("{base}/nodes/{node}/log"));
            paths.push(format!("{base}/nodes/{node}/log?raw=1"));
        }
        for id in self.column("SELECT lower(hex(id)) FROM proofs") {
            let cuts = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
            paths.push(format!("{base}/proofs/{cuts}/log"));
            paths.push(format!("{base}/proofs/{cuts}/log?raw=1"));
        }
        let mut pages = Vec::new();
        for path in paths {
            let text = self.read(&path).await.text();
            pages.push((path, text));
        }
        pages
    }

    /// Calls a tool at the invoke door.
    async fn invoke(&self, tool: &str, args: &Value) -> Value {
        let body = serde_json::json!({ "tool": tool, "args": args }).to_string();
        self.post("/api/mcp/v1/invoke", body).await.json()
    }
}

/// A request to the house.
fn request(method: Method, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1:7171")
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("no JSON: {} {}", self.status, self.text()))
    }

    fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Demands the envelope of the invoke door.
    fn is_envelope(&self) {
        let said = self.json();
        assert!(said["ok"].is_boolean() && said["tool"].is_string(), "{said}");
        assert_eq!(said["ok"], self.status == StatusCode::OK, "{said}");
        assert!(said["error"]["code"] != "internal_error", "{said}");
    }

    /// Demands what the MCP door may say: a message of the protocol, an envelope for a call in
    /// that shape, or nothing for what wants no answer.
    fn is_of_mcp(&self) {
        if self.body.is_empty() {
            assert!(matches!(self.status.as_u16(), 202 | 204 | 405), "{self:?}");
            return;
        }
        if self.header(header::CONTENT_TYPE).starts_with("text/event-stream") {
            assert!(self.text().contains("\"jsonrpc\":\"2.0\""), "{}", self.text());
            return;
        }
        let said = self.json();
        if said.get("ok").is_some() {
            return self.is_envelope();
        }
        assert_eq!(said["jsonrpc"], "2.0", "{said}");
        assert!(said["error"].is_object() != said["result"].is_object(), "{said}");
        assert_ne!(said["error"]["code"], -32603, "{said}");
        let status = said["error"]["data"]["statusCode"].as_u64();
        assert!(status.is_none_or(|status| status < 500), "{said}");
    }

    /// Demands a page, or, where scripts ask, a page or JSON.
    fn is_for(&self, scripts: bool) {
        if !scripts || serde_json::from_slice::<Value>(&self.body).is_err() {
            self.is_page();
        }
    }

    /// Demands a page, or to be led to one.
    fn is_page(&self) {
        if self.status.is_redirection() {
            let location = self.header(header::LOCATION);
            assert!(location.starts_with('/') && !location.starts_with("//"), "{location}");
            return;
        }
        let text = self.text();
        assert!(text.starts_with("<!doctype html>"), "{} {text}", self.status);
        assert!(self.header(header::CONTENT_SECURITY_POLICY).starts_with("default-src 'none'"));
    }
}

/// The dashboard's routes, so that a new one is met by itself: each address, and the source that
/// says what it leads to.
fn routes() -> Vec<(&'static str, &'static str)> {
    let sources = [
        include_str!("../../../src/web/dashboard/mod.rs"),
        include_str!("../../../src/web/dashboard/house/mod.rs"),
    ];
    let calls = sources.into_iter().flat_map(|source| source.split(".route(").skip(1));
    let said = |call: &'static str| call.split_once("\n        .").map_or(call, |(said, _)| said);
    calls.filter_map(|call| Some((call.split('"').nth(1)?, said(call)))).collect()
}

/// The route with each parameter filled.
fn fill<'a>(route: &str, with: impl Fn(&str) -> &'a str) -> String {
    let mut out = String::new();
    let mut rest = route;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap();
        out.push_str(before);
        out.push_str(with(name));
        rest = after;
    }
    out + rest
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // The multiplier and the increment are Knuth's.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides.max(1)
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }
}

/// Texts that have broken programs.
const TEXTS: &[&str] = &[
    "",
    " ",
    "\0",
    "a\0b",
    "\u{1b}[31mred\u{1b}]0;title\u{7}",
    "\u{202e}txt.exe",
    "\u{feff}\u{200b}",
    "\u{fffd}\u{10ffff}",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "-rf",
    "--upload-pack=touch /tmp/x",
    "'; DROP TABLE tickets; --",
    "\" OR \"\"=\"",
    "%s%n%d{}{0}",
    "${jndi:ldap://127.0.0.1/x}",
    "$(touch /tmp/x)`id`",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "9999999999999999999999999999",
    "NaN",
    "ACME-1",
    "ACME-0",
    "ACME--1",
    "acme-1",
    "ACME-99999999999999999999",
    "#1",
    "#",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b",
    "ACME",
    "Acme",
    "main",
    "refs/heads/main",
    "https://127.0.0.1:9/x",
    "file:///etc/passwd",
    "ext::sh -c true",
    "e\u{301}\u{301}\u{301}\u{301}",
    "ﷺ𝕏👩‍👩‍👧‍👦",
    "line\r\nSet-Cookie: x=y",
];
