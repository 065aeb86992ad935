//! The official Rust client, over a real connection, in both eras.

use std::net::SocketAddr;
use std::time::Duration;

use assay::web::serve;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RoleClient,
    RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Server;

const PATIENCE: Duration = Duration::from_secs(30);

/// A client that hands on what it hears of progress.
#[derive(Clone)]
struct Listener(mpsc::UnboundedSender<ProgressNotificationParam>);

impl ClientHandler for Listener {
    async fn on_progress(
        &self,
        step: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(step).unwrap_or_default();
    }
}

type Client = RunningService<RoleClient, Listener>;

/// The server at an address, until it is ended.
struct Running {
    address: SocketAddr,
    end: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    fn start(server: &Server, place: &std::net::TcpListener) -> Self {
        let listener = TcpListener::from_std(place.try_clone().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let end = CancellationToken::new();
        let task = tokio::spawn(serve::serve(listener, server.router.clone(), end.clone()));
        Self { address, end, task }
    }

    async fn stop(self) {
        self.end.cancel();
        self.task.await.unwrap();
    }
}

/// A place to listen. It outlives the server on it, so that nobody else takes it in between.
fn place() -> std::net::TcpListener {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

async fn connect(
    running: &Running,
    query: &str,
    key: &str,
    mode: ClientLifecycleMode,
) -> Result<(Client, mpsc::UnboundedReceiver<ProgressNotificationParam>), String> {
    drop(rustls::crypto::ring::default_provider().install_default());
    let address = format!("http://{}/api/mcp{query}", running.address);
    let config = StreamableHttpClientTransportConfig::with_uri(address).auth_header(key);
    let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
    let (sender, steps) = mpsc::unbounded_channel();
    let client = Listener(sender).serve_with_lifecycle(transport, mode).await;
    client.map(|client| (client, steps)).map_err(|error| format!("{error:?}"))
}

fn params(tool: &'static str, args: Value) -> CallToolRequestParams {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool).with_arguments(args)
}

async fn call(
    client: &Client,
    tool: &'static str,
    args: Value,
) -> Result<CallToolResult, ServiceError> {
    client.call_tool(params(tool, args)).await
}

fn refused(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => panic!("no error of the protocol: {other}"),
    }
}

fn eras() -> [ClientLifecycleMode; 2] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let auto = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
    [ClientLifecycleMode::Initialize, auto]
}

#[tokio::test]
async fn it_lists_calls_and_reads_failures_in_both_eras() {
    let server = Server::start().await;
    let running = Running::start(&server, &place());

    for mode in eras() {
        let (client, _) = connect(&running, "", &server.full, mode.clone()).await.unwrap();
        let (other, _) = connect(&running, "?errors=object", &server.full, mode).await.unwrap();
        let missing = json!({ "ticket": "ACME-9" });

        let tools = client.list_all_tools().await.unwrap();
        let listed = call(&client, "list_projects", json!({})).await.unwrap();
        let error = refused(call(&client, "get_ticket", missing.clone()).await.unwrap_err());
        let object = call(&other, "get_ticket", missing).await.unwrap();

        let tool = tools.iter().find(|tool| tool.name == "list_projects").unwrap();
        let schema = Value::Object((**tool.output_schema.as_ref().unwrap()).clone());
        let content = listed.structured_content.unwrap();
        assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&content), "{content}");
        assert_eq!(error.data, Some(json!({ "code": "NOT_FOUND", "statusCode": 404 })));
        assert_eq!((object.is_error, object.structured_content), (Some(true), None));
        client.cancel().await.unwrap();
        other.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn it_is_refused_with_a_key_that_nobody_made() {
    let server = Server::start().await;
    let running = Running::start(&server, &place());

    for mode in eras() {
        let error = connect(&running, "", "alch_wrong", mode).await.err().unwrap();

        assert!(error.contains("AuthRequired"), "{error}");
    }
}

#[tokio::test]
async fn it_does_not_notice_that_the_server_was_another_between_two_calls() {
    let server = Server::start().await;
    for mode in eras() {
        let place = place();
        let running = Running::start(&server, &place);
        let (client, _) = connect(&running, "", &server.full, mode).await.unwrap();
        call(&client, "list_projects", json!({})).await.unwrap();

        running.stop().await;
        let _again = Running::start(&server, &place);

        call(&client, "list_projects", json!({})).await.unwrap();
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn it_hears_of_a_call_that_waits_for_a_network_and_its_cancellation_ends_the_work() {
    let server = Server::start().await;
    let running = Running::start(&server, &place());
    let remote = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let repository = format!("https://{}/slow.git", remote.local_addr().unwrap());
    let new = json!({ "name": "Slow", "key": "SLO", "repository": repository, "confirm": true });
    server.call("/api/mcp", "create_project", new).await;

    for mode in eras() {
        let (client, mut steps) = connect(&running, "", &server.full, mode).await.unwrap();
        let asked = params("get_project", json!({ "project": "SLO" }));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(asked));
        let options = PeerRequestOptions::no_options();

        let handle = client.send_cancellable_request(request, options).await.unwrap();
        let step = tokio::time::timeout(PATIENCE, steps.recv()).await.unwrap().unwrap();
        let (mut git, _) = tokio::time::timeout(PATIENCE, remote.accept()).await.unwrap().unwrap();
        handle.cancel(Some("not wanted any more".to_owned())).await.unwrap();

        assert!(step.message.unwrap().contains(&repository));
        let mut said = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, git.read_to_end(&mut said)).await;
        assert!(ended.is_ok(), "git still waits for its remote");
        call(&client, "list_projects", json!({})).await.unwrap();
        client.cancel().await.unwrap();
    }
}
