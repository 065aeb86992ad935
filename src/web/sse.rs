//! `GET /events`: says when a page has changed, and sends the new lines of running logs. An event
//! only says that something changed; the page is read again, and so nothing here can be stale.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderName, header};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::Instant;
use uuid::Uuid;

use super::ansi::Line;
use super::auth::Visitor;
use super::live_logs::Chunk;
use super::page::guards;
use super::site::Site;
use super::trouble::Trouble;
use crate::base::Fault;
use crate::events::Event;
use crate::tools::tickets;

/// How often a quiet stream shows that it is alive: proxies close what is silent.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// How long a stream lives. The browser then comes back, and its login is looked at again.
const LIFE: Duration = Duration::from_mins(10);
/// The pause between two words of change: a busy server need not say so more often.
const CHANGE_PAUSE: Duration = Duration::from_millis(200);

/// What the browser wants to hear of.
#[derive(Debug, Deserialize)]
pub struct Asked {
    /// One ticket; all of the team's where absent.
    ticket: Option<String>,
}

/// New lines of a log, as the page appends them.
#[derive(Serialize)]
struct LogFrame<'a> {
    node: &'a str,
    seq: u64,
    lines: Vec<Vec<(&'a str, &'a str)>>,
}

struct Stream {
    tenant: Uuid,
    ticket: Option<Uuid>,
    events: Receiver<Event>,
    chunks: Receiver<Chunk>,
    site: Site,
    /// When the page was last told of a change.
    told: Instant,
    end: Instant,
}

/// `GET /events?ticket=ACME-1`.
pub async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Response, Trouble> {
    // Both are watched before the page is read again, so that no change falls in between.
    let (events, chunks) = (site.bus().watch(), site.logs().watch());
    let ticket = match asked.ticket {
        Some(named) => Some(find(&site, &visitor, named).await?),
        None => None,
    };
    let tenant = visitor.actor().tenant.uuid();
    let told = Instant::now();
    let stream = Stream { tenant, ticket, events, chunks, site, told, end: told + LIFE };
    let frames = stream::unfold(stream, |mut stream| async {
        let frame = stream.next().await?;
        Some((Ok::<Frame, Infallible>(frame), stream))
    });
    let kept =
        [(header::CACHE_CONTROL, "no-store"), (HeaderName::from_static("x-accel-buffering"), "no")];
    let frames = Sse::new(frames).keep_alive(KeepAlive::new().interval(ALIVE_EVERY));
    Ok((guards(), kept, frames).into_response())
}

async fn find(site: &Site, visitor: &Visitor, named: String) -> Result<Uuid, Fault> {
    let found =
        visitor.read(site, move |read, visitor| tickets::find(read, visitor.actor(), &named));
    Ok(found.await?.id.uuid())
}

impl Stream {
    /// The next frame; `None` ends the stream.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            let shutdown = self.site.shutdown().clone();
            tokio::select! {
                event = self.events.recv() => match event {
                    Ok(event) if !self.concerns(&event) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => {
                        return Some(self.change().await);
                    }
                    Err(RecvError::Closed) => return None,
                },
                chunk = self.chunks.recv(), if self.ticket.is_some() => match chunk {
                    Ok(chunk) if self.ticket == Some(chunk.ticket) => {
                        return Some(Frame::default().event("log").data(text(&chunk)));
                    }
                    Ok(_) => {}
                    // The page is read again, and has the lines that were missed.
                    Err(RecvError::Lagged(_)) => {
                        return Some(Frame::default().event("change").data("{}"));
                    }
                    Err(RecvError::Closed) => return None,
                },
                () = shutdown.cancelled() => return None,
                () = tokio::time::sleep_until(self.end) => return None,
            }
        }
    }

    fn concerns(&self, event: &Event) -> bool {
        match event {
            Event::Ticket { tenant, ticket } => {
                *tenant == self.tenant && self.ticket.is_none_or(|own| own == *ticket)
            }
            Event::Project { tenant, .. } | Event::JobEnded { tenant } => {
                *tenant == self.tenant && self.ticket.is_none()
            }
            Event::Log { .. } | Event::JobReady | Event::JobCancelled { .. } => false,
        }
    }

    /// The word of change: at once after a quiet time. Otherwise it waits a moment and stands for
    /// everything that came meanwhile.
    async fn change(&mut self) -> Frame {
        let quiet_at = self.told + CHANGE_PAUSE;
        if Instant::now() < quiet_at {
            tokio::time::sleep_until(quiet_at).await;
            self.drain();
        }
        self.told = Instant::now();
        Frame::default().event("change").data("{}")
    }

    fn drain(&mut self) {
        loop {
            match self.events.try_recv() {
                Ok(_) | Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}

fn text(chunk: &Chunk) -> String {
    let lines = chunk.lines.iter().map(runs).collect();
    let frame = LogFrame { node: &chunk.node, seq: chunk.seq, lines };
    serde_json::to_string(&frame).expect("a log frame holds texts and numbers")
}

fn runs(line: &Line) -> Vec<(&str, &str)> {
    line.runs.iter().map(|run| (run.class.as_str(), run.text.as_str())).collect()
}
