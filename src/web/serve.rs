//! The listener's loop: one task a connection, bounded in time, drained at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// File descriptors that are kept for everything but connections: the database, git, agents.
const KEPT_FILES: u64 = 512;

/// What somebody hears when there are as many connections as there may be.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 30\r\ncontent-length: 0\r\n\
    connection: close\r\n\r\n";

/// How long requests may take to finish once the server stops.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// How long to wait after the system refused a connection, such as for lack of file descriptors.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// What a server puts up with.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a client may take to send the head of a request, the first or the next one.
    pub head_time: Duration,
    /// How many connections there may be at once.
    pub connections: usize,
}

impl Default for Limits {
    /// Half a minute, and as many connections as this process may open files, less those that it
    /// needs itself.
    fn default() -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
        let kept = KEPT_FILES.min(files / 2);
        let connections = usize::try_from(files - kept).unwrap_or(usize::MAX);
        Self { head_time: HEAD_TIME, connections: connections.min(Semaphore::MAX_PERMITS) }
    }
}

/// Serves until `shutdown`, then takes no more connections and lets the open requests finish.
pub async fn serve(listener: TcpListener, router: Router, shutdown: CancellationToken) {
    serve_within(listener, router, shutdown, Limits::default()).await;
}

/// The same within limits of one's own.
pub async fn serve_within(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
    limits: Limits,
) {
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(limits.head_time).max_headers(100);
    let open = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => match places.clone().try_acquire_owned() {
                Ok(place) => enter(&server, &open, stream, peer, router.clone(), place),
                Err(_) => turn_away(&stream, peer),
            },
            Err(error) => {
                tracing::warn!(%error, "A connection was refused");
                tokio::time::sleep(REFUSED_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_TIME, open.shutdown()).await.is_err() {
        tracing::warn!("Some requests did not finish in time");
    }
}

/// Lets this process open as many files as the system allows it, since every connection is one.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "The limit of open files stays as it is");
    }
}

/// Says that there is no room, as far as that goes without waiting.
fn turn_away(stream: &TcpStream, peer: SocketAddr) {
    tracing::warn!(%peer, "There are as many connections as there may be");
    drop(stream.try_write(FULL));
}

fn enter(
    server: &http1::Builder,
    open: &GracefulShutdown,
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    place: OwnedSemaphorePermit,
) {
    // Without it an event of a stream waits 40 ms for its neighbour. A socket that is gone already
    // is found out by whoever reads it.
    drop(stream.set_nodelay(true));
    let service = router.map_request(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        request.map(axum::body::Body::new)
    });
    let service = TowerToHyperService::new(service);
    let connection = open.watch(server.serve_connection(TokioIo::new(stream), service));
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, %peer, "A connection ended early");
        }
        drop(place);
    });
}
