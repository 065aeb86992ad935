//! The methods of the protocol, answered from the registry through the gate.

use std::sync::Arc;

use axum::response::Response;
use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ReadResourceRequestParams, ReadResourceResponse,
    RequestId, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::calls::{Calls, Name};
use super::plain::Plain;
use super::{answer, catalog, prompts, resources};
use crate::base::text::{cut, printable};
use crate::base::{self, Code, Fault};
use crate::tools::{CallContext, Caller, Effect, Gate, Registry, Reply, Step};

/// What a client is told about the server when it connects.
const INSTRUCTIONS: &str = "\
Assay takes tickets, has an agent do each on its own branch, verifies the result and lands it only \
when it is proved.

1. `list_projects` shows where a ticket can go. Without a project, `create_project` makes one for \
a git repository.
2. `dispatch_ticket` with a title and a self-contained description files the work. Give an \
`operation_key` so that a repeated call returns the same ticket.
3. `get_ticket` tells where it stands; poll it, more slowly as it takes longer. \
`get_ticket_graph` and `get_ticket_reports` explain a failure.
4. A ticket is done when its `outcome` is `fully_verified`. Anything in `humanActions` needs a \
person: say so, do not guess.

A failure says what was wrong and what to do next; `assay://docs/errors` lists every code.";

/// Who is there, and what they chose: put among a request's extensions by the door.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    /// Whose key it was.
    pub(super) caller: Caller,
    /// The choices in the address.
    pub(super) address: Address,
    /// The session id that was sent, for telling calls of the same id apart.
    pub(super) session: Option<String>,
    /// Whether the client reads an event stream.
    pub(super) streams: bool,
    /// The request, as the logs name it.
    pub(super) request: base::RequestId,
}

/// The server's side of the protocol.
#[derive(Clone)]
pub(super) struct Handler {
    gate: Arc<Gate>,
    calls: Calls,
    public_url: Arc<str>,
}

impl Handler {
    pub(super) const fn new(gate: Arc<Gate>, calls: Calls, public_url: Arc<str>) -> Self {
        Self { gate, calls, public_url }
    }

    fn registry(&self) -> &Registry {
        self.gate.registry()
    }

    /// Answers a call that was read without the library; none where it must go to it: one that
    /// writes does, which then hears of a client that goes away.
    pub(super) async fn plain(&self, visit: &Visit, mut call: Plain) -> Option<Response> {
        let entry = self.registry().find(&call.tool)?;
        if entry.effect != Effect::Reads {
            return None;
        }
        let dialect = visit.address.dialect(Some(entry));
        let cancel = CancellationToken::new();
        let _under_way = self.calls.enter(name(visit, &call.id), cancel.clone());
        let cx = CallContext { via: "mcp", progress: None, cancel, request: visit.request };
        let args = std::mem::take(&mut call.args);
        let outcome = self.gate.call(&visit.caller, &call.tool, args, cx).await;
        let outcome = outcome.inspect_err(|fault| answer::log(fault, visit.request));
        let outcome = answer::outcome(dialect, &self.public_url, &call.tool, outcome);
        Some(call.answer(&outcome))
    }

    /// Calls a tool for a visitor; progress goes to those who asked for it and can read it.
    async fn call(
        &self,
        visit: &Visit,
        tool: &str,
        args: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Fault> {
        let cancel = context.ct.child_token();
        let _under_way = self.calls.enter(name(visit, &context.id), cancel.clone());
        let token = context.meta.get_progress_token().filter(|_| visit.streams);
        let (sink, steps) = mpsc::unbounded_channel();
        let cx = CallContext {
            via: "mcp",
            progress: token.as_ref().map(|_| sink),
            cancel,
            request: visit.request,
        };
        let work = self.gate.call(&visit.caller, tool, args, cx);
        let outcome = match token {
            Some(token) => forward(work, steps, token, context).await,
            None => work.await,
        };
        outcome.inspect_err(|fault| answer::log(fault, visit.request))
    }
}

/// What a call of a visitor is called while it is under way.
fn name(visit: &Visit, id: &RequestId) -> Name {
    let request = serde_json::to_string(id).unwrap_or_default();
    Name { key: visit.caller.actor.key(), session: visit.session.clone(), request }
}

/// Runs a call to its end and sends its steps on as they come.
async fn forward(
    work: impl Future<Output = Result<Reply, Fault>>,
    mut steps: mpsc::UnboundedReceiver<Step>,
    token: ProgressToken,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Fault> {
    let mut work = std::pin::pin!(work);
    let outcome = loop {
        tokio::select! {
            biased;
            Some(step) = steps.recv() => notify(step, &token, context).await,
            outcome = &mut work => break outcome,
        }
    };
    while let Ok(step) = steps.try_recv() {
        notify(step, &token, context).await;
    }
    outcome
}

async fn notify(step: Step, token: &ProgressToken, context: &RequestContext<RoleServer>) {
    let mut said = ProgressNotificationParam::new(token.clone(), step.done);
    said.total = step.total;
    said.message = step.message;
    // A client that went away no longer hears of progress, and the call is told by its token.
    if let Err(gone) = context.peer.notify_progress(said).await {
        tracing::debug!("Nobody hears of the progress: {gone}");
    }
}

fn visit(context: &RequestContext<RoleServer>) -> Result<&Visit, ErrorData> {
    let found = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Visit>());
    found.ok_or_else(|| {
        answer::rpc_error(&Fault::internal("a request came past the door without a caller"))
    })
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .build();
        let mut server = Implementation::new("assay", env!("CARGO_PKG_VERSION"));
        server.title = Some("Assay".to_owned());
        server.description = Some("Tickets that prove themselves.".to_owned());
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let visit = visit(&context)?;
        let tools = catalog::tools(self.registry(), &visit.address);
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let visit = visit(&context)?;
        let dialect = visit.address.dialect(self.registry().find(&request.name));
        let args = request.arguments.map_or(Value::Null, Value::Object);
        let outcome = self.call(visit, &request.name, args, &context).await;
        answer::outcome(dialect, &self.public_url, &request.name, outcome)
            .map(|outcome| CallToolResult::from(outcome).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        prompts::get(&request.name, &arguments).map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let visit = visit(&context)?;
        let text = match resources::find(&request.uri) {
            Some(resources::Known::Tools) => resources::tools_page(self.registry()),
            Some(resources::Known::Errors) => resources::errors_page(),
            Some(resources::Known::Ticket(reference)) => {
                let args = serde_json::json!({ "ticket": reference });
                match self.call(visit, "get_ticket", args, &context).await {
                    Ok(reply) => reply.data.get().to_owned(),
                    Err(fault) if fault.code == Code::NotFound => {
                        return Err(resources::unknown(&request.uri));
                    }
                    Err(fault) => return Err(answer::rpc_error(&fault)),
                }
            }
            None => return Err(resources::unknown(&request.uri)),
        };
        Ok(resources::contents(&request.uri, text).into())
    }

    /// Requests that the library could not read as any method it knows: an unknown method, or a
    /// known one whose parameters have the wrong shape.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let known = [
            "initialize",
            "server/discover",
            "tools/call",
            "tools/list",
            "prompts/list",
            "prompts/get",
            "resources/list",
            "resources/read",
            "resources/templates/list",
            "ping",
        ];
        let method = cut(&printable(&request.method), 100);
        if known.contains(&method.as_str()) {
            let said = format!("The params of {method} do not have the shape that it takes.");
            return Err(ErrorData::invalid_params(said, None));
        }
        let said = format!("This server has no method {method:?}.");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, said, None))
    }
}
