//! Tells a webhook what it is to be told. Whatever the other side does, it costs ten seconds and a
//! few kilobytes, and no ticket waits for it.

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::FutureExt;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use super::env::Env;
use super::webhook_body;
use crate::base::stops::{self, Stop};
use crate::base::{Fault, TenantId};
use crate::jobs::{Ctx, JobError};
use crate::notices::deliveries::{self, Next, Outcome, Telling};
use crate::notices::webhooks::Webhook;
use crate::notices::{TellWebhook, address, signature};

/// How long one try takes at most, from the look at the name to the end of the answer.
const TRY_MAX: Duration = Duration::from_secs(10);

/// How long the words of an answer are waited for, once its status is there.
const WORDS_MAX: Duration = Duration::from_secs(1);

/// Bytes that are read of an answer.
const ANSWER_BYTES: usize = 1_024;

/// How long a receiver may ask to be left alone.
const ASKED_MAX: Duration = Duration::from_hours(12);

/// Messages that one run sends; the rest is the next run's, so that others get their turn.
const RUN_MAX: usize = 50;

/// How long the next run waits then.
const SOON: Duration = Duration::from_millis(100);

const AGENT: &str = concat!("Assay/", env!("CARGO_PKG_VERSION"));

/// Tells a webhook what is due, and comes back when more is.
pub(super) async fn run(env: &Env, ctx: &Ctx, job: TellWebhook) -> Result<(), JobError> {
    let Some(tenant) = ctx.tenant else { return Ok(()) };
    for _ in 0..RUN_MAX {
        if ctx.cancel.is_cancelled() {
            break;
        }
        match look(env, tenant, &job).await? {
            Next::Nothing => return Ok(()),
            Next::Wait(until) => return Err(JobError::Later(until.since(env.clock.now()))),
            Next::Tell(telling) => {
                let outcome = tell(env, &telling).await?;
                stops::reach(Stop::WebhookTold);
                let Telling { webhook, message, .. } = *telling;
                let settling =
                    env.db.write(move |tx| deliveries::settle(tx, &webhook, &message, &outcome));
                settling.await?;
            }
        }
    }
    Err(JobError::Later(SOON))
}

async fn look(env: &Env, tenant: TenantId, job: &TellWebhook) -> Result<Next, Fault> {
    let id = job.webhook;
    env.db.read(move |read| deliveries::next(read, tenant, id)).await
}

/// What an answer was.
struct Answer {
    status: StatusCode,
    words: String,
    asked_to_wait: Option<Duration>,
}

async fn tell(env: &Env, telling: &Telling) -> Result<Outcome, Fault> {
    let Telling { webhook, secret, message } = telling;
    let (at, body) = (env.clock.now(), webhook_body::body(message, &env.origin)?);
    let Some(secret) = secret else {
        let said = "Its secret cannot be read: the key file of the data directory is another one. \
                    Remove the webhook and add it again.";
        return Ok(failed(at, Duration::ZERO, said.to_owned()));
    };
    let (id, seconds) = (message.name(), signature::seconds(at));
    let signed = signature::sign(secret, &id, at, &body)
        .ok_or_else(|| Fault::internal("the secret of a webhook is none"))?;
    let begun = std::time::Instant::now();
    let trying = async {
        let (client, url) = client(webhook).await?;
        let request = client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(signature::ID, id)
            .header(signature::TIMESTAMP, seconds)
            .header(signature::SIGNATURE, signed)
            .body(body);
        let response = request.send().await.map_err(|error| in_words(&error))?;
        Ok::<_, String>(read(response).await)
    };
    let answer = tokio::time::timeout(TRY_MAX, trying).await;
    let took = begun.elapsed();
    Ok(match answer {
        Err(_) => failed(at, took, no_answer()),
        Ok(Err(said)) => failed(at, took, said),
        Ok(Ok(answer)) => Outcome {
            at,
            took,
            status: Some(answer.status.as_u16()),
            error: wrong(answer.status),
            answer: answer.words,
            asked_to_wait: answer.asked_to_wait,
            is_gone: answer.status == StatusCode::GONE,
        },
    })
}

fn failed(at: crate::base::Millis, took: Duration, said: String) -> Outcome {
    Outcome {
        at,
        took,
        status: None,
        answer: String::new(),
        error: Some(said),
        asked_to_wait: None,
        is_gone: false,
    }
}

fn no_answer() -> String {
    format!("No answer within {} seconds.", TRY_MAX.as_secs())
}

/// A client that can reach nothing but the machines that were looked at: a name that leads
/// elsewhere a moment later changes nothing, and neither does a proxy or a redirect.
async fn client(webhook: &Webhook) -> Result<(Client, Url), String> {
    let said = |fault: Fault| fault.message.clone();
    let url = address::parse(&webhook.url, webhook.is_private).map_err(said)?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let name = host.trim_matches(['[', ']']);
    let machines: Vec<SocketAddr> = match tokio::net::lookup_host((name, port)).await {
        Ok(found) => found.collect(),
        Err(error) => return Err(format!("The name {name} cannot be looked up: {error}.")),
    };
    let ips: Vec<IpAddr> = machines.iter().map(SocketAddr::ip).collect();
    address::may_reach(&url, webhook.is_private, &ips).map_err(said)?;
    // Another part of the program may have installed it already.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = Client::builder()
        .user_agent(AGENT)
        .redirect(Policy::none())
        .no_proxy()
        .timeout(TRY_MAX)
        .pool_max_idle_per_host(0)
        .resolve_to_addrs(&host, &machines)
        .build();
    Ok((client.map_err(|error| in_words(&error))?, url))
}

/// The status of an answer, and what it begins with. A receiver whose words do not come has
/// answered all the same.
async fn read(mut response: Response) -> Answer {
    let status = response.status();
    let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let asked = asked.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
    let mut bytes = Vec::new();
    let words = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = ANSWER_BYTES - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if bytes.len() == ANSWER_BYTES {
                break;
            }
        }
    };
    // What came in time is kept.
    tokio::time::timeout(WORDS_MAX, words).map(drop).await;
    Answer {
        status,
        words: String::from_utf8_lossy(&bytes).into_owned(),
        asked_to_wait: asked.map(|wait| wait.min(ASKED_MAX)),
    }
}

/// What is wrong with a status; `None` where the message was taken.
fn wrong(status: StatusCode) -> Option<String> {
    if status.is_success() {
        return None;
    }
    let code = status.as_u16();
    Some(if status.is_redirection() {
        format!("It answered with a redirect ({code}), which is not followed.")
    } else {
        format!("It answered {code}.")
    })
}

/// Why there was no answer, without the address, which may itself be a password.
fn in_words(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return no_answer();
    }
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    let what = if error.is_connect() { "cannot be connected to" } else { "cannot be told" };
    match cause {
        Some(cause) => format!("It {what}: {cause}."),
        None => format!("It {what}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_hundreds_are_a_success() {
        for (status, taken) in
            [(200, true), (204, true), (301, false), (308, false), (400, false), (503, false)]
        {
            assert_eq!(wrong(StatusCode::from_u16(status).unwrap()).is_none(), taken, "{status}");
        }
    }
}
