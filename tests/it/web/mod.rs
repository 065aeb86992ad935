//! The dashboard as a browser sees it: cookies, forms, pages, and the stream of changes.

mod asking;
mod board;
mod doors;
mod full;
mod house;
mod list;
mod live;
mod looks;
mod metrics;
mod pages;
mod people;
mod project_pages;
mod proofs;
mod tickets;
mod webhooks;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use assay::accounts::users::{self, NewUser};
use assay::accounts::{Actor, Plan, Role, Tenant, passwords, tenants};
use assay::app::{App, Opening};
use assay::base::{Clock, Entropy, Fault, Millis, RateLimit, RequestId, Secret};
use assay::projects::agents::Profile;
use assay::projects::settings::VerifyCommand;
use assay::projects::{self, NewProject, Settings};
use assay::store::Tx;
use assay::tools::{CallContext, Caller};
use axum::Router;
use axum::body::Body;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const PASSWORD: &str = "correct horse battery";

/// A server without workers: what is dispatched stays as it was dispatched.
struct Server {
    app: App,
    router: Router,
    clock: Clock,
    stop: CancellationToken,
    _data: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        Self::start_as(|app| app)
    }

    fn start_as(change: impl FnOnce(App) -> App) -> Self {
        let data = tempfile::tempdir().unwrap();
        let clock = Clock::fake(Millis(1_785_333_600_000));
        let app = App::open(Opening {
            data: data.path().join("data"),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7171)),
            public_url: None,
            allowed_hosts: Vec::new(),
            mail: None,
            rate_limit: RateLimit::Off,
            assay: PathBuf::from("assay"),
            clock: clock.clone(),
            entropy: Entropy::seeded(1),
        });
        let app = change(app.unwrap());
        let stop = CancellationToken::new();
        let router = app.router(&stop);
        Self { app, router, clock, stop, _data: data }
    }

    async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> T {
        self.app.env().db.write(change).await.unwrap()
    }

    /// A tenant with a project that is ready for tickets and a person of a role.
    async fn team(&self, name: &'static str, email: &'static str, role: Role) -> Tenant {
        let hash = passwords::hash(&Secret::new(PASSWORD), &Entropy::seeded(2)).unwrap();
        self.write(move |tx| {
            let tenant = tenants::create(tx, name, Plan::default())?;
            let new = NewUser { email, name: "Ada <Builder>", role, password: &hash };
            users::create(tx, tenant.id, &new)?;
            let mut settings = Settings::default();
            let agent = Profile::script(vec!["sh".to_owned()]);
            settings.agents.profiles.insert("script".to_owned(), agent);
            settings.verify.push(VerifyCommand::new("tests", "make test"));
            let project = NewProject {
                name: "Acme Widgets",
                repository: Some("/nowhere/acme-widgets"),
                settings,
                ..NewProject::default()
            };
            projects::create(tx, tenant.id, project)?;
            Ok(tenant)
        })
        .await
    }

    /// Calls a tool as somebody at the machine.
    async fn call(&self, tenant: &Tenant, tool: &str, arguments: Value) -> Value {
        let caller = Caller::of(Actor::local(tenant.id, tenant.plan));
        let request: RequestId = Entropy::seeded(9).id(self.clock.now());
        let context =
            CallContext { via: "cli", progress: None, cancel: CancellationToken::new(), request };
        self.app.gate().call(&caller, tool, arguments, context).await.unwrap().value()
    }

    async fn dispatch(&self, tenant: &Tenant, title: &str) {
        let asked = json!({ "title": title, "project": "Acme Widgets", "description": "**Why**" });
        self.call(tenant, "dispatch_ticket", asked).await;
    }

    fn browser(&self) -> Browser {
        Browser { router: self.router.clone(), cookies: Arc::default() }
    }

    /// A browser whose person is signed in.
    async fn signed_in(&self, email: &str) -> Browser {
        let browser = self.browser();
        let said = browser.sign_in(email, PASSWORD).await;
        assert_eq!(said.status, StatusCode::SEE_OTHER, "{}", said.body);
        browser
    }
}

/// Something that keeps cookies.
struct Browser {
    router: Router,
    cookies: Arc<Mutex<BTreeMap<String, String>>>,
}

/// What a page said.
struct Said {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
    /// Bytes of the body.
    size: usize,
}

impl Said {
    fn location(&self) -> &str {
        self.headers[header::LOCATION].to_str().unwrap()
    }

    /// The token of the first form of the page.
    fn csrf(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

impl Browser {
    fn request(&self, method: Method, path: &str, body: Body) -> Request<Body> {
        let cookies = self.cookies.lock().unwrap();
        let pairs: Vec<String> =
            cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "127.0.0.1:7171")
            .header(header::COOKIE, pairs.join("; "))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body)
            .unwrap()
    }

    async fn send(&self, request: Request<Body>) -> Said {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for set in parts.headers.get_all(header::SET_COOKIE) {
            let pair = set.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
        }
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        Said { status: parts.status, headers: parts.headers, body, size: bytes.len() }
    }

    async fn get(&self, path: &str) -> Said {
        self.send(self.request(Method::GET, path, Body::empty())).await
    }

    /// Gets a page as a browser does that takes it compressed; its bytes say nothing as text.
    async fn get_packed(&self, path: &str) -> Said {
        let mut request = self.request(Method::GET, path, Body::empty());
        request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        self.send(request).await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Said {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        self.send(self.request(Method::POST, path, Body::from(pairs.join("&")))).await
    }

    /// Loads a page, and sends a form of it with its token.
    async fn submit(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Said {
        let csrf = self.get(page).await.csrf();
        let mut all = vec![("csrf", csrf.as_str())];
        all.extend(fields);
        self.post(path, &all).await
    }

    async fn sign_in(&self, email: &str, password: &str) -> Said {
        self.submit("/login", "/login", &[("email", email), ("password", password)]).await
    }
}

fn escaped(text: &str) -> String {
    assay::web::page::in_query(text)
}
