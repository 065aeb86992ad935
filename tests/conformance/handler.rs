//! The protocol's methods, answered with the fixtures.
#![expect(deprecated, reason = "the suite's older scenarios log and subscribe as that era does")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, CompleteRequestParams,
    CompleteResult, CompletionInfo, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::rounds::{Given, Round};
use super::{asked, content, listed, prompts, resources, rounds};

/// The pause between two notifications of a tool, so that they are seen to come one by one.
const PAUSE: Duration = Duration::from_millis(50);

/// The suite's server.
#[derive(Clone, Default)]
pub(crate) struct Fixtures {
    listeners: Arc<Mutex<Vec<SubscriptionSink>>>,
}

/// What may be said to those who listen.
#[derive(Clone, Copy)]
enum Changed {
    Tools,
    Prompts,
}

impl Fixtures {
    async fn answer(
        &self,
        tool: &str,
        arguments: &serde_json::Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        match tool {
            "test_tool_with_logging" => {
                for words in ["started", "processing data", "completed"] {
                    let verb = if words.starts_with('p') { "Tool" } else { "Tool execution" };
                    log(&format!("{verb} {words}"), LoggingLevel::Info, context).await;
                }
            }
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    log("This was wanted.", level, context).await;
                }
            }
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    step(done, context).await;
                }
            }
            "test_missing_capability" => {
                let able = context.client_capabilities().unwrap_or_default();
                if able.sampling.is_none() {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
            }
            "test_trigger_tool_change" => self.tell(Changed::Tools).await,
            "test_trigger_prompt_change" => self.tell(Changed::Prompts).await,
            "test_custom_header" => {
                let value = arguments.get("value").and_then(Value::as_str);
                return Ok(content::said(value.unwrap_or("nothing")));
            }
            _ => {
                let said = format!("There is no tool {tool:?}.");
                return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, said, None));
            }
        }
        Ok(content::said("Done."))
    }

    async fn tell(&self, changed: Changed) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners {
            let told = match changed {
                Changed::Tools => listener.notify_tool_list_changed().await,
                Changed::Prompts => listener.notify_prompt_list_changed().await,
            };
            drop(told.inspect_err(|gone| tracing::debug!("Nobody listens: {gone}")));
        }
    }
}

async fn log(words: &str, level: LoggingLevel, context: &RequestContext<RoleServer>) {
    let said = LoggingMessageNotificationParam::new(level, json!(words));
    drop(context.peer.notify_logging_message(said).await);
    tokio::time::sleep(PAUSE).await;
}

async fn step(done: f64, context: &RequestContext<RoleServer>) {
    if let Some(token) = context.meta.get_progress_token() {
        let said = ProgressNotificationParam::new(token, done).with_total(100.0);
        drop(context.peer.notify_progress(said).await);
    }
    tokio::time::sleep(PAUSE).await;
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let able = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .build();
        let name = Implementation::new("assay-conformance", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(able).with_server_info(name)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Some(listed::by_header()).filter(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(listed::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name.as_ref();
        let arguments = request.arguments.unwrap_or_default();
        let given = Given {
            answers: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            able: context.client_capabilities().unwrap_or_default(),
        };
        if let Some(round) = rounds::answer(tool, &given) {
            return match round? {
                Round::Needs(needs) => Ok((*needs).into()),
                Round::Done(done) => content::done(&done).map(Into::into),
            };
        }
        let wire = match content::fixed(tool) {
            Some(fixed) => fixed,
            None => match asked::answer(tool, &arguments, &context).await {
                Some(answer) => answer?,
                None => self.answer(tool, &arguments, &context).await?,
            },
        };
        content::done(&wire).map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list().map(ListResourcesResult::with_all_items)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        resources::templates().map(ListResourceTemplatesResult::with_all_items)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri).map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::read(&request.uri).map(drop)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::read(&request.uri).map(drop)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink().clone();
        let id = sink.id().clone();
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(sink);
        context.cancelled().await;
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| *listener.id() != id);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompts::list().map(ListPromptsResult::with_all_items)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = Given {
            answers: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            able: context.client_capabilities().unwrap_or_default(),
        };
        prompts::get(&request, &given)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value;
        let values = ["paris", "park", "party"].map(str::to_owned);
        let values = values.into_iter().filter(|value| value.starts_with(&begun)).collect();
        let info = CompletionInfo::with_all_values(values);
        info.map(CompleteResult::new).map_err(|why| ErrorData::internal_error(why, None))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}
