//! An agent of the Agent Client Protocol, built with the protocol's own crate and scripted by its
//! environment. It is this very test binary: [`command`] starts it again with the one test that
//! is the agent, which otherwise does nothing.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::*;
use agent_client_protocol::{
    Agent, Channel, Client, Error, TransportFrame, on_receive_notification, on_receive_request,
};
use assay::projects::agents::{Profile, Protocol};
use futures_util::StreamExt;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

/// Names what the agent does; without it the test below is none.
const SCRIPT: &str = "ACP_SCRIPT";

/// The profile of an agent that does what `script` names.
pub(crate) fn profile(script: &str) -> Profile {
    let own = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let words = ["--exact", "acp_agent::is_the_agent", "--nocapture", "--quiet"];
    let command = std::iter::once(own).chain(words.map(str::to_owned)).collect();
    let mut profile = Profile::script(command);
    profile.protocol = Protocol::Acp;
    profile.set.insert(SCRIPT.to_owned(), script.to_owned());
    profile
}

#[expect(clippy::disallowed_methods, reason = "an agent is told by its environment")]
fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn is_the_agent() {
    let Some(script) = env(SCRIPT) else { return };
    let mut out = tokio::io::stdout();
    match script.as_str() {
        "mute" => std::future::pending().await,
        "garbage" => out.write_all(b"{\"jsonrpc\": \"2.0\", oops\n").await.unwrap(),
        "future" => future(&mut out).await,
        "chatter" => out.write_all("Welcome!\n".repeat(100).as_bytes()).await.unwrap(),
        _ => {}
    }
    out.flush().await.unwrap();
    let (ours, theirs) = Channel::duplex();
    let (mut to_write, incoming) = ours.into_parts();
    let reads = async move {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            drop(incoming.unbounded_send(TransportFrame::parse_json(&line)));
        }
        if script_ignores_the_end() {
            std::future::pending::<()>().await;
        }
    };
    let writes = async move {
        while let Some(TransportFrame::Single(message)) = to_write.next().await {
            let line = serde_json::to_string(&message).unwrap() + "\n";
            out.write_all(line.as_bytes()).await.unwrap();
            out.flush().await.unwrap();
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = reads => {}
        () = writes => {}
        ended = serve(script, theirs) => ended.unwrap(),
    }
    end(0);
}

/// Says hello as an agent of another version, which the crate would not do.
async fn future(out: &mut tokio::io::Stdout) {
    let mut line = String::new();
    BufReader::new(tokio::io::stdin()).read_line(&mut line).await.unwrap();
    let hello: serde_json::Value = serde_json::from_str(&line).unwrap();
    let answer = json!({ "jsonrpc": "2.0", "id": hello["id"], "result": { "protocolVersion": 9 } });
    out.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
}

fn script_ignores_the_end() -> bool {
    env(SCRIPT).as_deref() == Some("deaf")
}

#[expect(clippy::exit, reason = "the test harness would print after the protocol")]
fn end(code: i32) -> ! {
    std::process::exit(code)
}

async fn serve(script: String, transport: Channel) -> Result<(), Error> {
    let script: Arc<str> = script.into();
    let cancelled = CancellationToken::new();
    let (open, asked) = (script.clone(), script);
    let heard = cancelled.clone();
    let logged_in = CancellationToken::new();
    let login = logged_in.clone();
    Agent
        .v1()
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| {
                let way = AuthMethod::Agent(AuthMethodAgent::new("test-login", "Log in"));
                let hello = InitializeResponse::new(ProtocolVersion::V1);
                responder.respond(hello.auth_methods(vec![way]))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: AuthenticateRequest, responder, _| {
                login.cancel();
                responder.respond(AuthenticateResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _| {
                if &*open == "login" && !logged_in.is_cancelled() {
                    return responder.respond_with_error(Error::auth_required());
                }
                responder.respond(NewSessionResponse::new("session"))
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _| {
                heard.cancel();
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client: ConnectionTo<Client>| {
                let turn = Turn {
                    client: client.clone(),
                    session: request.session_id,
                    cancelled: cancelled.clone(),
                };
                let script = asked.clone();
                client.spawn(async move { responder.respond(turn.take(&script).await?) })
            },
            on_receive_request!(),
        )
        .connect_to(transport)
        .await
}

struct Turn {
    client: ConnectionTo<Client>,
    session: SessionId,
    cancelled: CancellationToken,
}

impl Turn {
    async fn take(self, script: &str) -> Result<PromptResponse, Error> {
        match script {
            "crash" => end(3),
            "leave" => end(0),
            "hang" | "deaf" => {
                fs::write("begun", "").unwrap();
                std::future::pending::<()>().await;
            }
            "polite" => {
                fs::write("begun", "").unwrap();
                self.cancelled.cancelled().await;
                fs::write("heard", "").unwrap();
                return Ok(PromptResponse::new(StopReason::Cancelled));
            }
            "flood" => loop {
                self.say(&"words ".repeat(1_000))?;
                tokio::task::yield_now().await;
            },
            "declines" => return Ok(PromptResponse::new(StopReason::Refusal)),
            "words" => {
                self.say("All is well.\n```json\n{\n  \"outcome\": \"done\",\n")?;
                self.say("  \"summary\": \"said\"\n}\n```\n")?;
                return Ok(PromptResponse::new(StopReason::EndTurn));
            }
            "strange" => {
                let strange = CreateTerminalRequest::new(self.session.clone(), "ls");
                let answer = self.client.send_request(strange).block_task().await;
                self.report(&answer.unwrap_err().to_string()).await?;
            }
            "escapes" => self.escapes().await?,
            "outside" => self.outside().await?,
            _ => self.works().await?,
        }
        let usage = Usage::new(120, 100, 20);
        Ok(PromptResponse::new(StopReason::EndTurn).usage(usage))
    }

    fn tell(&self, update: SessionUpdate) -> Result<(), Error> {
        self.client.send_notification(SessionNotification::new(self.session.clone(), update))
    }

    fn say(&self, text: &str) -> Result<(), Error> {
        let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
        self.tell(SessionUpdate::AgentMessageChunk(chunk))
    }

    async fn write(&self, path: impl Into<PathBuf>, text: &str) -> Result<(), Error> {
        let request = WriteTextFileRequest::new(self.session.clone(), path, text);
        self.client.send_request(request).block_task().await.map(drop)
    }

    async fn report(&self, summary: &str) -> Result<(), Error> {
        let report = json!({ "outcome": "done", "summary": summary });
        self.write(env("ASSAY_REPORT").unwrap(), &report.to_string()).await
    }

    /// Asks for a tool call and says which option was chosen.
    async fn may(&self, call: ToolCallUpdateFields) -> Result<String, Error> {
        let options = vec![
            PermissionOption::new("always", "Always", PermissionOptionKind::AllowAlways),
            PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        ];
        let call = ToolCallUpdate::new("call", call);
        let request = RequestPermissionRequest::new(self.session.clone(), call, options);
        let answer = self.client.send_request(request).block_task().await?;
        Ok(match answer.outcome {
            RequestPermissionOutcome::Selected(chosen) => chosen.option_id.0.to_string(),
            _ => "cancelled".to_owned(),
        })
    }

    async fn works(&self) -> Result<(), Error> {
        let entry = |content, status| PlanEntry::new(content, PlanEntryPriority::High, status);
        let entries = vec![
            entry("Write the file", PlanEntryStatus::InProgress),
            entry("Report", PlanEntryStatus::Pending),
        ];
        self.tell(SessionUpdate::Plan(Plan::new(entries)))?;
        self.say("I begin ")?;
        self.say("with hunter2.\n")?;
        if env("ASSAY_NODE").as_deref() == Some("implement") {
            let path = std::env::current_dir().unwrap().join("made/hello.txt");
            let call = ToolCallUpdateFields::new()
                .title("Write made/hello.txt")
                .kind(ToolKind::Edit)
                .locations(vec![ToolCallLocation::new(path.clone())]);
            assert_eq!(self.may(call).await?, "yes");
            let diff = ToolCallContent::Diff(Diff::new(path.clone(), "hello\n"));
            let call = ToolCall::new("call", "Write made/hello.txt").content(vec![diff]);
            self.tell(SessionUpdate::ToolCall(call))?;
            self.write(path, "hello\n").await?;
        }
        let cost = Cost::new(0.5, "USD");
        self.tell(SessionUpdate::UsageUpdate(UsageUpdate::new(90, 1_000).cost(cost)))?;
        self.report("I wrote hello.").await
    }

    async fn outside(&self) -> Result<(), Error> {
        let call = ToolCallUpdateFields::new().title("Fetch the manual").kind(ToolKind::Fetch);
        let answer = self.may(call).await?;
        if env("ASSAY_NODE").as_deref() == Some("implement") {
            fs::write("answer.txt", format!("{answer}\n")).unwrap();
        }
        self.report(&answer).await
    }

    /// Tries to reach beyond the work tree and reports what it could.
    async fn escapes(&self) -> Result<(), Error> {
        let tree = std::env::current_dir().unwrap();
        std::os::unix::fs::symlink(tree.parent().unwrap(), "out").unwrap();
        fs::write("lines", "1\n2\n3\n").unwrap();
        let mut could = Vec::new();
        for path in ["../secret", "out/secret", "/etc/hostname", ".git/secret"] {
            let path = tree.join(path);
            if self.write(path.clone(), "got out").await.is_ok() {
                could.push(format!("write {}", path.display()));
            }
            let read = ReadTextFileRequest::new(self.session.clone(), path.clone());
            if self.client.send_request(read).block_task().await.is_ok() {
                could.push(format!("read {}", path.display()));
            }
        }
        let read = ReadTextFileRequest::new(self.session.clone(), tree.join("lines"));
        let read = self.client.send_request(read.line(2).limit(1)).block_task().await?;
        could.push(format!("line {}", read.content.trim()));
        self.report(&could.join(", ")).await
    }
}
