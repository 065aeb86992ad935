//! The listener's loop: one task a connection, bounded in time, drained at the end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// How long a client may take to send the head of a request, the first or the next one.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long requests may take to finish once the server stops.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// How long to wait after the system refused a connection, such as for lack of file descriptors.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `shutdown`, then takes no more connections and lets the open requests finish.
pub async fn serve(listener: TcpListener, router: Router, shutdown: CancellationToken) {
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_headers(100);
    let open = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => enter(&server, &open, stream, peer, router.clone()),
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

fn enter(
    server: &http1::Builder,
    open: &GracefulShutdown,
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
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
    });
}
