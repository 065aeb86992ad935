//! What the pages work with: the database, the gate, the clock, and where this server is.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};

use axum::extract::{ConnectInfo, FromRequestParts};
use http::HeaderMap;
use http::request::Parts;
use tokio_util::sync::CancellationToken;

use super::auth::Cookies;
use super::fresh_keys::FreshKeys;
use super::live_logs::LiveLogs;
use super::proxies::Proxies;
use crate::accounts::Throttle;
use crate::base::{Clock, Entropy, Millis, RateLimit, RequestId};
use crate::events::Bus;
use crate::projects::git::Git;
use crate::store::{Blobs, Db, Uploads};
use crate::tools::Gate;

/// What the pages work with. Cheap to clone.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    setup: Setup,
    throttle: Throttle,
    fresh_keys: FreshKeys,
    fresh_links: FreshKeys,
}

/// What a [`Site`] is made of.
pub struct Setup {
    /// The database.
    pub db: Db,
    /// Logs and other large files.
    pub blobs: Blobs,
    /// Files that people upload.
    pub uploads: Uploads,
    /// The gate that every button goes through.
    pub gate: Arc<Gate>,
    /// What time it is.
    pub clock: Clock,
    /// Where tokens come from.
    pub entropy: Entropy,
    /// What changes.
    pub bus: Bus,
    /// The logs of nodes that run.
    pub logs: LiveLogs,
    /// The git program, for a look at a repository.
    pub git: Git,
    /// Where remote repositories are mirrored.
    pub mirrors: PathBuf,
    /// The address that people use, without a slash at its end: `https://assay.example.com`.
    pub origin: String,
    /// The proxies in front whose word on who calls is taken.
    pub proxies: Proxies,
    /// Says when the server stops, so that streams end.
    pub shutdown: CancellationToken,
    /// What is to be known of this server.
    pub about: About,
}

/// What people who run the server want to know of it.
#[derive(Debug, Clone)]
pub struct About {
    /// When it started.
    pub started: Millis,
    /// Its data directory.
    pub data: PathBuf,
    /// Where each ticket has its work tree.
    pub worktrees: PathBuf,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The address that it was told to be reached by.
    pub public_url: Option<String>,
    /// More hosts that requests may be addressed to.
    pub allowed_hosts: Vec<String>,
    /// How often a key may call.
    pub rate_limit: RateLimit,
    /// Whether everybody may read the metrics who reaches the server.
    pub has_open_metrics: bool,
    /// Whether the database was found to be damaged.
    pub damaged: Arc<AtomicBool>,
    /// When the whole database was last found to be sound, in milliseconds since 1970; 0 before.
    pub checked_at: Arc<AtomicI64>,
}

impl Site {
    /// The site.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let (throttle, fresh_keys) = (Throttle::default(), FreshKeys::default());
        let fresh_links = FreshKeys::default();
        Self(Arc::new(Inner { setup, throttle, fresh_keys, fresh_links }))
    }

    pub(super) fn db(&self) -> &Db {
        &self.0.setup.db
    }

    pub(super) fn blobs(&self) -> &Blobs {
        &self.0.setup.blobs
    }

    pub(super) fn uploads(&self) -> &Uploads {
        &self.0.setup.uploads
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.0.setup.gate
    }

    pub(super) fn now(&self) -> Millis {
        self.0.setup.clock.now()
    }

    pub(super) fn entropy(&self) -> &Entropy {
        &self.0.setup.entropy
    }

    pub(super) fn bus(&self) -> &Bus {
        &self.0.setup.bus
    }

    pub(super) fn logs(&self) -> &LiveLogs {
        &self.0.setup.logs
    }

    pub(super) fn git(&self) -> &Git {
        &self.0.setup.git
    }

    pub(super) fn mirrors(&self) -> &Path {
        &self.0.setup.mirrors
    }

    pub(super) fn origin(&self) -> &str {
        &self.0.setup.origin
    }

    pub(super) fn shutdown(&self) -> &CancellationToken {
        &self.0.setup.shutdown
    }

    /// Attempts to sign in.
    pub(super) fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }

    /// Keys that were just made and not yet shown.
    pub(super) fn fresh_keys(&self) -> &FreshKeys {
        &self.0.fresh_keys
    }

    /// Links of invitations that were just made and not yet shown.
    pub(super) fn fresh_links(&self) -> &FreshKeys {
        &self.0.fresh_links
    }

    /// What is to be known of this server.
    pub(super) fn about(&self) -> &About {
        &self.0.setup.about
    }

    pub(super) fn cookies(&self) -> Cookies {
        Cookies { is_secure: self.origin().starts_with("https://") }
    }

    /// The id that the request was given, or a fresh one.
    pub(super) fn request_id(&self, parts: &Parts) -> RequestId {
        let given = parts.extensions.get::<RequestId>().copied();
        given.unwrap_or_else(|| self.entropy().id(self.now()))
    }

    /// Where a request comes from, as the count of attempts to sign in knows it.
    pub(super) fn address_of(&self, peer: Option<SocketAddr>, headers: &HeaderMap) -> String {
        let caller = peer.map(|peer| self.0.setup.proxies.caller(peer.ip(), headers));
        caller.map_or_else(|| "unknown".to_owned(), |address| address.to_string())
    }
}

/// The address at the other end of the connection, where the server was told.
pub(super) struct Peer(pub(super) Option<SocketAddr>);

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let info = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Self(info.map(|ConnectInfo(address)| *address)))
    }
}
