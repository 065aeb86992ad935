//! How it went: each try to tell a webhook something, and what follows from it.

use std::time::Duration;

use super::event::{Event, Facts};
use super::outbox::{self, ATTEMPTS_MAX};
use super::webhooks::{self, Webhook};
use crate::base::redact::redact;
use crate::base::text::{cut, printable};
use crate::base::{Code, Fault, MessageId, Millis, Secret, TenantId, WebhookId};
use crate::store::{Read, Row, Tx};
use crate::{params, sql, words};

/// How long what is settled is kept.
const KEEP: Duration = Duration::from_hours(14 * 24);

/// How long a webhook may fail before it is switched off.
pub const FAILING_MAX: Duration = Duration::from_hours(5 * 24);

/// How long a webhook that fails is left alone at most.
const PAUSE_MAX: Duration = Duration::from_mins(10);

/// Characters that are kept of an answer, and of what went wrong.
const SAID_MAX: usize = 300;

/// Rows that one transaction of the sweep deletes.
const SWEEP_MAX: u32 = 500;

/// Webhooks that one sweep wakes.
const WAITING_MAX: u32 = 500;

/// Messages of a log, and tries of a message, at most.
const LIST_MAX: u32 = 200;

words! {
    /// Where a message is in its life.
    pub enum State {
        /// It is to be told, now or later.
        Pending = "pending",
        /// The other side took it.
        Delivered = "delivered",
        /// It was tried as often as it may be.
        GivenUp = "given_up",
        /// The webhook was off or removed, or had too much to be told.
        Dropped = "dropped",
    }
}

/// What a webhook is to be told, or was.
#[derive(Debug, Clone)]
pub struct Message {
    /// The message: the same at each try.
    pub id: MessageId,
    /// Whom it is for.
    pub webhook: WebhookId,
    /// What happened.
    pub event: Event,
    /// What is said of it.
    pub facts: Facts,
    /// Where it is in its life.
    pub state: State,
    /// How often it was tried.
    pub attempts: u32,
    /// How often it may be.
    pub attempts_max: u32,
    /// When it is tried next, while it is pending.
    pub next_at: Option<Millis>,
    /// When it happened.
    pub created_at: Millis,
}

impl Message {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            webhook: row.get("webhook_id")?,
            event: row.word("event", Event::parse)?,
            facts: row.json("facts")?,
            state: row.word("state", State::parse)?,
            attempts: row.get("attempts")?,
            attempts_max: row.get("attempts_max")?,
            next_at: row.get("next_at")?,
            created_at: row.get("created_at")?,
        })
    }

    /// What the header `webhook-id` names it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("msg_{}", self.id)
    }
}

/// One try to tell a message.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Which; the first is 1.
    pub number: u32,
    /// When it began.
    pub at: Millis,
    /// How long it took.
    pub took: Duration,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// What the answer began with.
    pub answer: String,
    /// What went wrong; `None` where it was taken.
    pub error: Option<String>,
}

impl Attempt {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            number: row.get("attempt")?,
            at: row.get("at")?,
            took: Duration::from_millis(row.unsigned("duration_ms")?),
            status: row.get("status")?,
            answer: row.get("answer")?,
            error: row.get("error")?,
        })
    }
}

/// How long a message waits after its try number `attempt` failed: the tries spread over a day.
#[must_use]
pub const fn wait_after(attempt: u32) -> Duration {
    match attempt {
        0 | 1 => Duration::from_secs(5),
        2 => Duration::from_mins(1),
        3 => Duration::from_mins(10),
        4 => Duration::from_hours(1),
        5 => Duration::from_hours(3),
        6 => Duration::from_hours(8),
        _ => Duration::from_hours(12),
    }
}

/// How long a webhook is left alone that has failed so often in a row, whatever it is to be told.
fn pause_after(failures: u32) -> Duration {
    let doubled = 5_u64.saturating_mul(1 << failures.saturating_sub(1).min(20));
    Duration::from_secs(doubled).min(PAUSE_MAX)
}

/// A message that is due.
#[derive(Debug)]
pub struct Telling {
    /// Whom it is for.
    pub webhook: Webhook,
    /// What signs it; `None` where that cannot be read any more.
    pub secret: Option<Secret>,
    /// What it is.
    pub message: Message,
}

/// What there is to do for a webhook.
#[derive(Debug)]
pub enum Next {
    /// Tell it this.
    Tell(Box<Telling>),
    /// Nothing before this moment.
    Wait(Millis),
    /// Nothing.
    Nothing,
}

/// What a webhook is to be told next.
pub fn next(read: &Read<'_>, tenant: TenantId, id: WebhookId) -> Result<Next, Fault> {
    let webhook = webhooks::find(read, tenant, id)?.filter(|webhook| webhook.off.is_none());
    let Some(webhook) = webhook else { return Ok(Next::Nothing) };
    let of = params! { ":tenant": tenant, ":webhook": id };
    let message = read.find(sql!("webhooks.sql", "next_message"), of, Message::from_row)?;
    let Some(message) = message else { return Ok(Next::Nothing) };
    let due = message.next_at.max(webhook.paused_until).unwrap_or(read.now());
    if due > read.now() {
        return Ok(Next::Wait(due));
    }
    let secret = webhook.secret(read)?;
    Ok(Next::Tell(Box::new(Telling { webhook, secret, message })))
}

/// How a try ended, as the one who made it saw it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// When it began.
    pub at: Millis,
    /// How long it took.
    pub took: Duration,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// What the answer began with.
    pub answer: String,
    /// What went wrong; `None` where it was taken.
    pub error: Option<String>,
    /// For how long the other side wants to be left alone, where it says so.
    pub asked_to_wait: Option<Duration>,
    /// Whether the other side says that it is gone for good.
    pub is_gone: bool,
}

/// Notes how a try ended, and what follows: the message is done, waits for its next try or is given
/// up; the webhook is left alone for a while, or switched off.
pub fn settle(
    tx: &mut Tx<'_>,
    webhook: &Webhook,
    message: &Message,
    outcome: &Outcome,
) -> Result<(), Fault> {
    let (tenant, now, attempt) = (webhook.tenant, tx.now(), message.attempts + 1);
    let failed = outcome.error.is_some();
    let wait = wait_after(attempt + ATTEMPTS_MAX - message.attempts_max);
    let wait = wait.max(outcome.asked_to_wait.unwrap_or_default());
    let (state, next_at) = match failed {
        false => (State::Delivered, None),
        true if attempt >= message.attempts_max => (State::GivenUp, None),
        true => (State::Pending, Some(now.plus(wait))),
    };
    let settled = tx.run(
        sql!("webhooks.sql", "settle"),
        params! { ":id": message.id, ":tenant": tenant, ":attempt": attempt,
        ":state": state.word(), ":next_at": next_at,
        ":settled_at": next_at.is_none().then_some(now) },
    )?;
    if settled == 0 {
        // It was dropped while it was on its way; the log ends with what dropped it.
        return Ok(());
    }
    note(tx, tenant, message.id, attempt, outcome)?;
    let which = params! { ":tenant": tenant, ":id": webhook.id };
    if !failed {
        return tx.run(sql!("webhooks.sql", "note_success"), which).map(drop);
    }
    let until = now.plus(pause_after(webhook.failures + 1));
    let failure = params! { ":tenant": tenant, ":id": webhook.id, ":now": now, ":until": until };
    tx.run(sql!("webhooks.sql", "note_failure"), failure)?;
    match give_up(webhook, outcome, now) {
        Some(why) => webhooks::switch_off(tx, tenant, webhook.id, &why),
        None => Ok(()),
    }
}

fn note(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    message: MessageId,
    attempt: u32,
    outcome: &Outcome,
) -> Result<(), Fault> {
    let said = |text: &str| cut(&printable(&redact(text)), SAID_MAX);
    let took = i64::try_from(outcome.took.as_millis()).unwrap_or(i64::MAX);
    tx.run_one(
        sql!("webhooks.sql", "add_attempt"),
        params! { ":message": message, ":attempt": attempt, ":tenant": tenant,
        ":at": outcome.at, ":duration": took, ":status": outcome.status,
        ":answer": said(&outcome.answer), ":error": outcome.error.as_deref().map(said) },
    )
}

/// Why a webhook that has just failed is switched off, if it is.
fn give_up(webhook: &Webhook, outcome: &Outcome, now: Millis) -> Option<String> {
    if outcome.is_gone {
        return Some("It answered that it is gone for good (410).".to_owned());
    }
    let since = webhook.failing_since?;
    let days = FAILING_MAX.as_secs() / (24 * 3_600);
    let last = outcome.error.as_deref().unwrap_or_default();
    (now.since(since) >= FAILING_MAX).then(|| format!("It has failed for {days} days. {last}"))
}

/// The newest messages of a webhook, newest first, each with its last try.
pub fn log(
    read: &Read<'_>,
    tenant: TenantId,
    webhook: WebhookId,
    limit: u32,
) -> Result<Vec<(Message, Option<Attempt>)>, Fault> {
    let of = params! { ":tenant": tenant, ":webhook": webhook, ":limit": limit.min(LIST_MAX) };
    let messages = read.list(sql!("webhooks.sql", "list_messages"), of, Message::from_row)?;
    let with_last = |message: Message| {
        let of = params! { ":tenant": tenant, ":message": message.id };
        let last = read.find(sql!("webhooks.sql", "last_attempt"), of, Attempt::from_row)?;
        Ok((message, last))
    };
    messages.into_iter().map(with_last).collect()
}

/// Every try of a message, oldest first.
pub fn attempts(
    read: &Read<'_>,
    tenant: TenantId,
    message: MessageId,
) -> Result<Vec<Attempt>, Fault> {
    let of = params! { ":tenant": tenant, ":message": message, ":limit": LIST_MAX };
    read.list(sql!("webhooks.sql", "list_attempts"), of, Attempt::from_row)
}

/// How much a webhook has to be told yet.
pub fn pending(read: &Read<'_>, tenant: TenantId, webhook: WebhookId) -> Result<u64, Fault> {
    let of = params! { ":tenant": tenant, ":webhook": webhook };
    let counted =
        read.find(sql!("webhooks.sql", "count_pending"), of, |row| row.unsigned("pending"))?;
    Ok(counted.unwrap_or(0))
}

/// The message with this id, or the answer that hides whether it is absent or another tenant's.
pub fn message(read: &Read<'_>, tenant: TenantId, id: MessageId) -> Result<Message, Fault> {
    let by_id = params! { ":tenant": tenant, ":id": id };
    let found = read.find(sql!("webhooks.sql", "find_message"), by_id, Message::from_row)?;
    found.ok_or_else(|| Fault::new(Code::NotFound, "There is no such message."))
}

/// Tells a message once more, at once and with all its tries, under the same id.
///
/// # Errors
/// A webhook that is off or gone is told nothing.
pub fn send_again(tx: &mut Tx<'_>, tenant: TenantId, id: MessageId) -> Result<Message, Fault> {
    let message = message(tx, tenant, id)?;
    let webhook = webhooks::get(tx, tenant, message.webhook)?;
    if webhook.off.is_some() {
        let said = "The webhook is off. Switch it on, then send the message again.";
        return Err(Fault::new(Code::Conflict, said));
    }
    let now = tx.now();
    let again = params! { ":tenant": tenant, ":id": id, ":now": now, ":more": ATTEMPTS_MAX };
    tx.run_one(sql!("webhooks.sql", "send_again"), again)?;
    wake_now(tx, tenant, webhook.id)?;
    Ok(message)
}

/// Has a webhook told what is due although it has just failed: somebody asked for it.
pub fn wake_now(tx: &mut Tx<'_>, tenant: TenantId, webhook: WebhookId) -> Result<(), Fault> {
    let which = params! { ":tenant": tenant, ":id": webhook };
    tx.run(sql!("webhooks.sql", "unpause"), which)?;
    outbox::wake(tx, tenant, webhook, None)
}

/// The net under the outbox: wakes the webhooks that have something due to be told.
pub fn wake_waiting(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let of = params! { ":now": tx.now(), ":limit": WAITING_MAX };
    let waiting: Vec<(TenantId, WebhookId)> =
        tx.list(sql!("webhooks.sql", "waiting"), of, |row| {
            Ok((row.get("tenant_id")?, row.get("webhook_id")?))
        })?;
    for (tenant, webhook) in waiting {
        outbox::wake(tx, tenant, webhook, None)?;
    }
    Ok(())
}

/// Forgets what was settled long ago. `true` where there may be more.
pub fn sweep(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let before = tx.now().minus(KEEP);
    let old = params! { ":before": before, ":limit": SWEEP_MAX };
    tx.run(sql!("webhooks.sql", "purge_attempts"), old)?;
    let purged = tx.run(sql!("webhooks.sql", "purge_messages"), old)?;
    tx.run(sql!("webhooks.sql", "purge_removed"), params! { ":before": before })?;
    Ok(purged > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tries_of_a_message_spread_over_a_day() {
        let all: Duration = (1..ATTEMPTS_MAX).map(wait_after).sum();

        assert!(all > Duration::from_hours(24) && all < Duration::from_hours(25), "{all:?}");
    }

    #[test]
    fn a_webhook_that_fails_is_left_alone_longer_and_longer() {
        let pauses = [1, 2, 3, 7, 8, 1_000].map(|failures| pause_after(failures).as_secs());

        assert_eq!(pauses, [5, 10, 20, 320, 600, 600]);
    }
}
