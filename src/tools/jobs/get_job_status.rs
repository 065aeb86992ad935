//! `get_job_status`: how far background work is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::accounts::{Actor, Reach};
use crate::base::{Code, Fault, JobId, Millis, TicketId};
use crate::jobs::{self, JobRecord, State};
use crate::store::Read;
use crate::tickets::states::Status;
use crate::tickets::{Ticket, ticket};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// How far background work is.
pub struct GetJobStatus;

/// What `get_job_status` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The job, as the tool that started it named it; a ticket's id will do as well.
    job_id: String,
}

/// What `get_job_status` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The job.
    job_id: String,
    /// What sort of work it is.
    tool: String,
    /// `queued`, `running`, `completed`, `failed` or `cancelled`.
    status: &'static str,
    /// How far it is, where it says so.
    progress: Option<ProgressWire>,
    /// What it left, once it is completed.
    #[schemars(with = "Option<std::collections::HashMap<String, Value>>")]
    result: Option<Value>,
    /// Why it failed.
    error: Option<String>,
    /// When it was asked for. ISO 8601, UTC.
    created_at: String,
    /// When it was last started. ISO 8601, UTC.
    started_at: Option<String>,
    /// When it ended. ISO 8601, UTC.
    completed_at: Option<String>,
}

/// How far a job is.
#[derive(Debug, Serialize, JsonSchema)]
struct ProgressWire {
    /// Steps done.
    done: u32,
    /// Steps in all, where that is known.
    total: Option<u32>,
    /// What is being done.
    text: String,
}

impl Tool for GetJobStatus {
    const NAME: &'static str = "get_job_status";
    const TITLE: &'static str = "Get the status of a job";
    const ABOUT: &'static str = "How far a piece of background work is, and its `result` once the \
        status is `completed`. Poll it every few seconds until the status is `completed`, `failed` \
        or `cancelled`. The id of a ticket is taken too.";
    const FAMILY: Family = Family::Jobs;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = r#"{ "jobId": "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let output = cx.read(move |read, actor| find(read, actor, &input.job_id)).await?;
        let summary = format!("The job is {}.", output.status);
        let again = json!({ "jobId": output.job_id });
        let open = matches!(output.status, "queued" | "running");
        let done = Done::new(output, summary);
        Ok(if open { done.next("Look again", "get_job_status", again) } else { done })
    }
}

fn find(read: &Read<'_>, actor: &Actor, id: &str) -> Result<Output, Fault> {
    if let Some(id) = JobId::parse(id)
        && let Some(job) = jobs::find(read, Some(actor.tenant), id)?
        && actor.reach == Reach::All
    {
        return Ok(of_job(job));
    }
    let ticket = match TicketId::parse(id) {
        Some(id) => ticket::find(read, actor.tenant, id)?,
        None => None,
    };
    match ticket {
        Some(ticket) if actor.may_reach(ticket.project) => Ok(of_ticket(&ticket)),
        _ => Err(Fault::new(Code::NotFound, "There is no such job, or it is not yours to see.")),
    }
}

fn of_job(job: JobRecord) -> Output {
    Output {
        job_id: job.id.to_string(),
        tool: job.kind,
        status: match job.state {
            State::Ready => "queued",
            State::Running => "running",
            State::Done => "completed",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
        },
        progress: job.progress.map(|progress| ProgressWire {
            done: progress.done,
            total: progress.total,
            text: progress.text,
        }),
        result: job.result,
        error: match job.state {
            State::Failed => job.failures.last().map(|failure| failure.message.clone()),
            _ => None,
        },
        created_at: job.created_at.iso(),
        started_at: job.started_at.map(Millis::iso),
        completed_at: job.finished_at.map(Millis::iso),
    }
}

/// A ticket as the job that it is to its caller.
fn of_ticket(ticket: &Ticket) -> Output {
    Output {
        job_id: ticket.id.to_string(),
        tool: "dispatch_ticket".to_owned(),
        status: match ticket.status {
            Status::Queued | Status::Blocked => "queued",
            Status::Running | Status::AwaitingInput => "running",
            Status::Succeeded => "completed",
            Status::Failed | Status::Timeout => "failed",
            Status::Cancelled => "cancelled",
        },
        progress: ticket.latest_phase_summary.clone().map(|text| ProgressWire {
            done: 0,
            total: None,
            text,
        }),
        result: (ticket.status == Status::Succeeded).then(|| {
            json!({ "ticketRef": ticket.reference(), "commitSha": ticket.commit_sha,
                "completionSummary": ticket.completion_summary })
        }),
        error: ticket.failure_reason.clone(),
        created_at: ticket.created_at.iso(),
        started_at: ticket.started_at.map(Millis::iso),
        completed_at: ticket.completed_at.map(Millis::iso),
    }
}
