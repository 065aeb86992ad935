//! A conversation with an agent over the Agent Client Protocol: one session, one prompt.
//!
//! What the agent tells of its work is read where every agent's output is ([`super::usage`]) and
//! never comes here: here are its answers and what it asks. So a flood of updates fills no memory.

mod bounds;
mod files;
mod policy;
mod trouble;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CancelNotification, ClientCapabilities, ContentBlock,
    FileSystemCapabilities, Implementation, InitializeRequest, NewSessionRequest, PromptRequest,
    ReadTextFileRequest, ReadTextFileResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionId, StopReason, TextContent,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{
    Agent, Channel, Client, Error, ErrorCode, RawJsonRpcMessage, TransportFrame, on_receive_request,
};
use futures_util::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::output::Feed;
use super::report::Question;
use crate::base::Clock;
use crate::base::text::{cut, printable};
use crate::projects::agents::Permissions;

pub(super) use bounds::Bounds;
pub use trouble::Trouble;

/// How long an agent may take to say hello and to open a session: it may be fetched first.
const HELLO: Duration = Duration::from_mins(2);
/// How long an agent that is cancelled may take to say so.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// How many lines that are no JSON are passed over, as of a launcher that prints a greeting.
const STRAY_MAX: usize = 50;
/// The most bytes that wait for an agent that asks and does not listen.
const BACKLOG_MAX: usize = 16 * 1024 * 1024;
/// The longest part of a line that a failure quotes, in characters.
const QUOTED: usize = 200;
/// What is answered, beside the permissions.
const OFFERED: [&str; 3] =
    ["session/request_permission", "fs/read_text_file", "fs/write_text_file"];

/// What a conversation needs to know.
pub(super) struct Talk {
    pub(super) prompt: String,
    pub(super) bounds: Bounds,
    pub(super) permissions: Permissions,
    /// Questions of this ticket and what people answered.
    pub(super) answers: Vec<(String, String)>,
    /// The way to log in, where the profile names one.
    pub(super) authenticate: Option<String>,
    pub(super) clock: Clock,
    pub(super) feed: Arc<Feed>,
    /// Cancelled where the agent is to stop.
    pub(super) stop: CancellationToken,
}

/// What a conversation came to.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// What went wrong; nothing where the agent answered its prompt.
    pub(super) trouble: Option<Trouble>,
    /// The agent's own words about it.
    pub(super) detail: Option<String>,
    /// What a person is to be asked before it goes on.
    pub(super) question: Option<Question>,
}

type Failed = (Trouble, Option<String>);

/// The answer to `initialize`, as far as the version goes.
#[derive(serde::Deserialize)]
struct Hello {
    result: Version,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    protocol_version: u64,
}

/// Talks until the agent has answered its prompt, or something went wrong. `lines` are those of
/// its standard output.
pub(super) async fn talk(talk: Talk, lines: mpsc::Receiver<String>, stdin: ChildStdin) -> Said {
    let (ours, theirs) = Channel::duplex();
    let (to_write, incoming) = ours.into_parts();
    let host = Arc::new(Host {
        talk,
        backlog: AtomicUsize::new(0),
        question: Mutex::default(),
        asked: CancellationToken::new(),
    });
    let ended = tokio::select! {
        ended = connect(host.clone(), theirs) => ended,
        failed = take_in(&host, lines, incoming) => Err(failed),
        failed = give_out(&host, to_write, stdin) => Err(failed),
    };
    let question = host.question.lock().unwrap_or_else(PoisonError::into_inner).take();
    match ended {
        _ if question.is_some() => Said { question, ..Said::default() },
        Ok(()) => Said::default(),
        Err((trouble, detail)) => Said { trouble: Some(trouble), detail, question: None },
    }
}

/// Hands the agent's messages on. Updates are for the log alone. Ends only with what is wrong.
async fn take_in(
    host: &Host,
    mut lines: mpsc::Receiver<String>,
    incoming: futures_channel::mpsc::UnboundedSender<TransportFrame>,
) -> Failed {
    let mut stray = 0;
    while let Some(line) = lines.recv().await {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if !line.starts_with(['{', '[']) && stray < STRAY_MAX {
            stray += 1;
            continue;
        }
        let TransportFrame::Single(message) = TransportFrame::parse_json(line) else {
            let quoted = cut(&printable(line), QUOTED);
            return (Trouble::Malformed, Some(format!("It wrote: {quoted}")));
        };
        match &message {
            RawJsonRpcMessage::Response(_) => {
                // The crate would say of another version only that something is wrong.
                let hello = serde_json::from_str::<Hello>(line).map(|it| it.result);
                let ours = u64::from(ProtocolVersion::V1.as_u16());
                if let Some(other) = hello.ok().filter(|it| it.protocol_version != ours) {
                    let detail = format!("It offers version {}.", other.protocol_version);
                    return (Trouble::Version, Some(detail));
                }
            }
            RawJsonRpcMessage::Notification(note) if &*note.method == "session/update" => continue,
            RawJsonRpcMessage::Request(request) if !OFFERED.contains(&&*request.method) => {
                let method = cut(&printable(&request.method), QUOTED);
                let note = format!("✗ the agent asked for `{method}`, which Assay does not offer");
                host.talk.feed.note(&note).await;
            }
            _ => {}
        }
        if incoming.unbounded_send(TransportFrame::Single(message)).is_err() {
            break;
        }
    }
    // The connection tells whoever waits for an answer that none will come.
    drop(incoming);
    std::future::pending().await
}

/// Writes what is said to the agent. That it no longer listens shows in what it says.
async fn give_out(
    host: &Host,
    mut frames: futures_channel::mpsc::UnboundedReceiver<TransportFrame>,
    mut stdin: ChildStdin,
) -> Failed {
    while let Some(frame) = frames.next().await {
        let TransportFrame::Single(message) = frame else { continue };
        let Ok(mut line) = serde_json::to_vec(&message) else { continue };
        line.push(b'\n');
        let written = stdin.write_all(&line).await;
        let waiting = host.backlog.load(Ordering::Relaxed);
        host.backlog.fetch_sub(line.len().min(waiting), Ordering::Relaxed);
        if written.is_err() {
            break;
        }
    }
    std::future::pending().await
}

async fn connect(host: Arc<Host>, transport: Channel) -> Result<(), Failed> {
    let (permits, reads, writes) = (host.clone(), host.clone(), host.clone());
    let connection = Client
        .v1()
        .name("assay")
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                let outcome = permits.permission(&request).await;
                responder.respond(RequestPermissionResponse::new(outcome))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, _| {
                let read = reads.read(request).await;
                responder.respond_with_result(read.map(ReadTextFileResponse::new))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, _| {
                let written = writes.write(request).await;
                responder.respond_with_result(written.map(|()| WriteTextFileResponse::new()))
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            Ok(host.converse(&agent).await)
        });
    match connection.await {
        Ok(ended) => ended,
        Err(error) => Err(Trouble::of(&error, "the conversation")),
    }
}

/// This side of the conversation.
struct Host {
    talk: Talk,
    /// Bytes that were answered and not written yet.
    backlog: AtomicUsize,
    question: Mutex<Option<Question>>,
    /// Cancelled once a person has to be asked.
    asked: CancellationToken,
}

impl Host {
    async fn converse(&self, agent: &ConnectionTo<Agent>) -> Result<(), Failed> {
        let files = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new().fs(files))
            .client_info(Implementation::new("assay", env!("CARGO_PKG_VERSION")));
        let hello = self.in_time("initialize", agent.send_request(hello).block_task()).await?;
        let ways = hello.auth_methods.iter().map(|way| format!("`{}`", printable(&way.id().0)));
        let ways: Vec<String> = ways.collect();
        let session = self.session(agent).await.map_err(|(trouble, detail)| match trouble {
            Trouble::Login if !ways.is_empty() => {
                let offered = format!("It offers these ways: {}.", ways.join(", "));
                let said = detail.map(|said| format!("{said}\n")).unwrap_or_default();
                (trouble, Some(cut(&format!("{said}{offered}"), 2_000)))
            }
            _ => (trouble, detail),
        })?;
        self.prompt(agent, session).await
    }

    /// Opens a session; logs in first where the agent wants it and the profile says how.
    async fn session(&self, agent: &ConnectionTo<Agent>) -> Result<SessionId, Failed> {
        let open = || {
            let new = NewSessionRequest::new(&self.talk.bounds.tree);
            self.in_time("session/new", agent.send_request(new).block_task())
        };
        let mut opened = open().await;
        if let (Err((Trouble::Login, _)), Some(way)) = (&opened, &self.talk.authenticate) {
            let login = AuthenticateRequest::new(way.clone());
            let login = agent.send_request(login).block_task();
            self.in_time("authenticate", login).await.map_err(|(trouble, said)| match trouble {
                Trouble::Refused => (Trouble::Login, said),
                _ => (trouble, said),
            })?;
            opened = open().await;
        }
        opened.map(|opened| opened.session_id)
    }

    async fn prompt(&self, agent: &ConnectionTo<Agent>, session: SessionId) -> Result<(), Failed> {
        let text = |text: String| ContentBlock::Text(TextContent::new(text));
        let blocks = vec![text(self.talk.prompt.clone()), text(self.places())];
        let request = PromptRequest::new(session.clone(), blocks);
        let mut answer = std::pin::pin!(agent.send_request(request).block_task());
        let answered = tokio::select! {
            answered = &mut answer => answered,
            () = self.until_stopped() => {
                // Whether it hears it or not: its processes are ended soon.
                drop(agent.send_notification(CancelNotification::new(session)));
                drop(tokio::time::timeout(PATIENCE, answer).await);
                return Ok(());
            }
        };
        let answered = answered.map_err(|error| Trouble::of(&error, "session/prompt"))?;
        let trouble = match answered.stop_reason {
            StopReason::EndTurn => return Ok(()),
            StopReason::Cancelled => Trouble::Dropped,
            StopReason::MaxTokens => Trouble::MaxTokens,
            StopReason::MaxTurnRequests => Trouble::MaxRequests,
            _ => Trouble::Declined,
        };
        Err((trouble, None))
    }

    async fn until_stopped(&self) {
        tokio::select! {
            () = self.talk.stop.cancelled() => {}
            () = self.asked.cancelled() => {}
        }
    }

    /// Names the places that a command's agent knows from its environment.
    fn places(&self) -> String {
        let Bounds { tree, report, attachments } = &self.talk.bounds;
        let (tree, report) = (tree.display(), report.display());
        let files = attachments
            .as_ref()
            .map(|folder| format!("ASSAY_ATTACHMENTS is `{}`.\n", folder.display()));
        format!(
            "The work tree is `{tree}`. ASSAY_REPORT is `{report}`.\n{}Where you cannot write that \
             file, end your last message with the same JSON object in a ```json block.",
            files.unwrap_or_default()
        )
    }

    async fn in_time<T>(
        &self,
        asked: &str,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failed> {
        tokio::select! {
            answered = answer => answered.map_err(|error| Trouble::of(&error, asked)),
            () = self.talk.clock.sleep(HELLO) => {
                let waited = format!("`{asked}` was not answered in {} s.", HELLO.as_secs());
                Err((Trouble::NoAnswer, Some(waited)))
            }
            () = self.talk.stop.cancelled() => Err((Trouble::Left, None)),
        }
    }

    async fn permission(&self, request: &RequestPermissionRequest) -> RequestPermissionOutcome {
        let Talk { permissions, bounds, answers, feed, .. } = &self.talk;
        if self.talk.stop.is_cancelled() || self.asked.is_cancelled() {
            return RequestPermissionOutcome::Cancelled;
        }
        let title = feed.cleaned(&policy::title(request));
        let mut named = request.clone();
        named.tool_call.fields.title = named.tool_call.fields.title.map(|it| feed.cleaned(&it));
        let ruling = policy::judge(*permissions, bounds, answers, &named);
        let (allowed, note) = match ruling {
            policy::Ruling::Allow => (true, format!("✓ allowed: {title}")),
            policy::Ruling::Refuse(why) => (false, format!("✗ refused: {title}: {why}")),
            policy::Ruling::Ask(question) => {
                feed.note(&format!("? a person is asked: {title}")).await;
                *self.question.lock().unwrap_or_else(PoisonError::into_inner) = Some(question);
                self.asked.cancel();
                return RequestPermissionOutcome::Cancelled;
            }
        };
        feed.note(&note).await;
        match policy::option(allowed, *permissions, request) {
            Some(id) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id)),
            None => RequestPermissionOutcome::Cancelled,
        }
    }

    async fn read(&self, request: ReadTextFileRequest) -> Result<String, Error> {
        if self.backlog.load(Ordering::Relaxed) > BACKLOG_MAX {
            let said = "Read the answers to earlier requests first.";
            return Err(Error::new(ErrorCode::INTERNAL_ERROR, said));
        }
        let bounds = self.talk.bounds.clone();
        let path: PathBuf = request.path.clone();
        let read = tokio::task::spawn_blocking(move || files::read(&bounds, &request)).await;
        let read = read.map_err(Error::into_internal_error).flatten();
        match &read {
            Ok(text) => drop(self.backlog.fetch_add(text.len(), Ordering::Relaxed)),
            Err(error) => self.note_refusal("read", &path, error).await,
        }
        read
    }

    async fn write(&self, request: WriteTextFileRequest) -> Result<(), Error> {
        let bounds = self.talk.bounds.clone();
        let path: PathBuf = request.path.clone();
        let wrote = tokio::task::spawn_blocking(move || files::write(&bounds, &request)).await;
        let wrote = wrote.map_err(Error::into_internal_error).flatten();
        match &wrote {
            Ok(()) => self.talk.feed.note(&format!("→ write {}", path.display())).await,
            Err(error) => self.note_refusal("write", &path, error).await,
        }
        wrote
    }

    async fn note_refusal(&self, what: &str, path: &std::path::Path, error: &Error) {
        let said = format!("✗ {what} {}: {}", path.display(), error.message);
        self.talk.feed.note(&cut(&said, 1_000)).await;
    }
}
