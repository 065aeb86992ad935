//! Mails to those who asked for tickets: what they are told, how often, and how that went. Like
//! what webhooks are told, a mail is written in the transaction of what it tells of; where there is
//! no mail server, or nobody left an address, that costs one look at the database.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::TicketFacts;
use super::outbox::{self, ATTEMPTS_MAX};
use super::{SendMail, deliveries};
use crate::base::redact::redact;
use crate::base::text::{cut, printable};
use crate::base::{Fault, MailId, Millis, QuestionId, TenantId, TicketId};
use crate::jobs::{self, Enqueue};
use crate::store::{Read, Row, Tx, to_json};
use crate::{params, sql, words};

/// How far apart two mails for the same ticket and the same reason are.
pub const APART: Duration = Duration::from_mins(10);

/// Mails that one address gets of a tenant within an hour.
pub const HOURLY_MAX: u64 = 20;

/// How long what is settled is kept.
const KEEP: Duration = Duration::from_hours(14 * 24);

/// Rows that one transaction of the sweep deletes.
const SWEEP_MAX: u32 = 500;

/// Characters of what is asked, or of what came of a ticket.
const TEXT_MAX: usize = 4_000;

/// Answers to choose from that a mail shows.
const CHOICES_MAX: usize = 20;

/// Characters that are kept of what a mail server said.
const SAID_MAX: usize = 300;

words! {
    /// Why somebody is told.
    pub enum Reason {
        /// An agent asks.
        Question = "question",
        /// An agent needs a secret.
        Secret = "secret",
        /// The plan waits for approval.
        Plan = "plan",
        /// The landing waits for approval.
        Land = "land",
        /// A data operation's script waits for approval.
        Apply = "apply",
        /// Something stands in the way that a person must clear.
        Hold = "hold",
        /// Nobody knows whether a script ran.
        Unclear = "unclear",
        /// The ticket ended well.
        Succeeded = "succeeded",
        /// It ended without landing.
        Failed = "failed",
        /// It crossed a limit.
        Timeout = "timeout",
        /// Somebody cancelled it.
        Cancelled = "cancelled",
    }
}

/// What a mail says, as it was when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// The ticket.
    pub ticket: TicketFacts,
    /// Its project's name.
    pub project: String,
    /// What is asked, or what came of it. Without credentials.
    pub text: String,
    /// Answers to choose from.
    pub choices: Vec<String>,
}

/// Who is told of a ticket, and of what.
struct Subject {
    address: String,
    reason: Reason,
    question: Option<QuestionId>,
    letter: Letter,
}

impl Subject {
    /// `None` where the ticket stands where nobody is told.
    fn from_row(row: &Row<'_>, ticket: TicketId) -> Result<Option<Self>, Fault> {
        let status: String = row.get("status")?;
        let question: Option<QuestionId> = row.get("question_id")?;
        let reason = match (status.as_str(), question) {
            ("awaiting_input", Some(_)) => match row.get::<Option<String>>("secret")? {
                Some(_) => Some(Reason::Secret),
                None => Some(row.word_or_null("pause", Reason::parse)?.unwrap_or(Reason::Question)),
            },
            ("succeeded" | "failed" | "timeout" | "cancelled", _) => Reason::parse(&status),
            _ => None,
        };
        let Some(reason) = reason else { return Ok(None) };
        let text: Option<String> = match reason {
            Reason::Succeeded | Reason::Cancelled => row.get("completion_summary")?,
            Reason::Failed | Reason::Timeout => row.get("failure_reason")?,
            _ => row.get("question")?,
        };
        let choices: Vec<String> = row.json("choices")?;
        Ok(Some(Self {
            address: row.get("requester_email")?,
            reason,
            question,
            letter: Letter {
                project: outbox::clean(&row.get::<String>("project_name")?),
                text: cut(&printable(&redact(text.as_deref().unwrap_or_default())), TEXT_MAX),
                choices: choices.iter().take(CHOICES_MAX).map(|one| outbox::clean(one)).collect(),
                ticket: TicketFacts {
                    id: ticket,
                    reference: outbox::reference(row)?,
                    title: outbox::clean(&row.get::<String>("title")?),
                    status,
                    commit: row.get("commit_sha")?,
                    base_branch: row.get("base_branch")?,
                },
            },
        }))
    }
}

/// Whether there is a mail server.
pub fn are_on(read: &Read<'_>) -> Result<bool, Fault> {
    let found = read.find(sql!("mails.sql", "enabled"), params! {}, |row| row.get("enabled"))?;
    Ok(found.unwrap_or(false))
}

/// Writes down whether there is a mail server.
pub fn switch(tx: &mut Tx<'_>, are_on: bool) -> Result<(), Fault> {
    tx.run_one(sql!("mails.sql", "switch"), params! { ":enabled": are_on })
}

/// Tells whoever asked for a ticket that it waits for a person, or has ended. Gives what stood
/// against it where they would have been told and are not.
pub fn tell(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Option<&'static str>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    let subject = sql!("mails.sql", "subject");
    let subject = tx.find(subject, of, |row| Subject::from_row(row, ticket))?.flatten();
    let Some(subject) = subject else { return Ok(None) };
    let (now, inbox) = (tx.now(), subject.address.to_lowercase());
    let lately = params! { ":tenant": tenant, ":ticket": ticket, ":inbox": inbox,
    ":reason": subject.reason.word(), ":apart": now.minus(APART),
    ":hour": now.minus(Duration::from_hours(1)) };
    let counted = tx.find(sql!("mails.sql", "lately"), lately, |row| {
        Ok((row.unsigned("same")?, row.unsigned("hourly")?))
    })?;
    let (same, hourly) = counted.unwrap_or_default();
    if same > 0 {
        return Ok(Some("the last one for the same reason is less than 10 minutes old."));
    }
    if hourly >= HOURLY_MAX {
        return Ok(Some("the address has had 20 mails within an hour."));
    }
    let mail: MailId = tx.new_id();
    tx.run_one(
        sql!("mails.sql", "insert"),
        params! { ":id": mail, ":tenant": tenant, ":ticket": ticket, ":inbox": inbox,
        ":question": subject.question, ":address": subject.address,
        ":reason": subject.reason.word(), ":letter": to_json(&subject.letter)?, ":now": now },
    )?;
    jobs::enqueue(tx, &SendMail { mail }, Enqueue::of(tenant))?;
    Ok(None)
}

/// A mail that is to be sent.
#[derive(Debug)]
pub struct Mail {
    /// The mail: the same at each try.
    pub id: MailId,
    /// Whose ticket it is about.
    pub tenant: TenantId,
    /// The ticket.
    pub ticket: TicketId,
    /// Whom it is for, as they were named when the ticket was filed.
    pub address: String,
    /// Why they are told.
    pub reason: Reason,
    /// What it says.
    pub letter: Letter,
    /// How often it was tried.
    pub attempts: u32,
    /// When it was written.
    pub created_at: Millis,
    /// Whether what it asks was answered meanwhile.
    pub is_answered: bool,
    next_at: Option<Millis>,
}

impl Mail {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            ticket: row.get("ticket_id")?,
            address: row.get("address")?,
            reason: row.word("reason", Reason::parse)?,
            letter: row.json("letter")?,
            attempts: row.get("attempts")?,
            created_at: row.get("created_at")?,
            is_answered: row.get("is_answered")?,
            next_at: row.get("next_at")?,
        })
    }
}

/// What there is to do for a mail.
#[derive(Debug)]
pub enum Next {
    /// Send it.
    Send(Box<Mail>),
    /// Nothing before this moment.
    Wait(Millis),
    /// Nothing.
    Nothing,
}

/// What there is to do for a mail now.
pub fn next(read: &Read<'_>, tenant: TenantId, id: MailId) -> Result<Next, Fault> {
    let of = params! { ":tenant": tenant, ":id": id };
    let mail = read.find(sql!("mails.sql", "find_pending"), of, Mail::from_row)?;
    Ok(match mail {
        None => Next::Nothing,
        Some(Mail { next_at: Some(at), .. }) if at > read.now() => Next::Wait(at),
        Some(mail) => Next::Send(Box::new(mail)),
    })
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The server took it, and said this.
    Sent(String),
    /// It cannot be sent, now or later.
    Refused(String),
    /// It cannot be sent now.
    Failed(String),
    /// What it asks was answered before it could be sent.
    Outdated,
    /// There is no mail server any more.
    NoServer,
}

/// What follows from a try.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    /// Nothing; it is settled.
    Settled,
    /// It is tried again then.
    Again(Millis),
    /// It is settled, and whoever it is for was not told.
    Lost(String),
}

/// Notes how a try ended, and says what follows.
pub fn settle(tx: &mut Tx<'_>, mail: &Mail, outcome: &Outcome) -> Result<After, Fault> {
    let (attempt, now) = (mail.attempts + 1, tx.now());
    let clean = |said: &str| cut(&printable(&redact(said)).replace('\n', " "), SAID_MAX);
    let (state, said, after) = match outcome {
        Outcome::Sent(said) => ("sent", clean(said), After::Settled),
        Outcome::Outdated => ("dropped", String::new(), After::Settled),
        Outcome::NoServer => {
            ("dropped", String::new(), After::Lost("no mail server is set any more.".to_owned()))
        }
        Outcome::Refused(said) => ("refused", clean(said), After::Lost(clean(said))),
        Outcome::Failed(said) if attempt >= ATTEMPTS_MAX => {
            let lost = format!("it was tried {ATTEMPTS_MAX} times over a day. {}", clean(said));
            ("given_up", clean(said), After::Lost(lost))
        }
        Outcome::Failed(said) => {
            let next = now.plus(deliveries::wait_after(attempt));
            ("pending", clean(said), After::Again(next))
        }
    };
    let next_at = if let After::Again(at) = after { Some(at) } else { None };
    tx.run(
        sql!("mails.sql", "settle"),
        params! { ":id": mail.id, ":tenant": mail.tenant, ":attempt": attempt, ":state": state,
        ":answer": said, ":next_at": next_at, ":settled_at": next_at.is_none().then_some(now) },
    )?;
    Ok(after)
}

/// Forgets what was settled long ago. `true` where there may be more.
pub fn sweep(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let old = params! { ":before": tx.now().minus(KEEP), ":limit": SWEEP_MAX };
    Ok(tx.run(sql!("mails.sql", "purge"), old)? > 0)
}
