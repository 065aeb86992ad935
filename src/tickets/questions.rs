//! What a person is asked, by an agent or by a step of the pipeline that waits for a person's word,
//! and the answer.

use super::states::{Decision, Pause};
use crate::base::{Fault, Millis, NodeId, QuestionId, TenantId, TicketId};
use crate::store::{Read, Row, Tx, to_json};
use crate::{params, sql};

/// Questions of a ticket at most that are looked at.
const QUESTIONS_MAX: u32 = 100;

/// A question.
#[derive(Debug, Clone)]
pub struct Question {
    /// The question.
    pub id: QuestionId,
    /// The ticket that waits for the answer.
    pub ticket: TicketId,
    /// The node that asked.
    pub node: NodeId,
    /// What is asked.
    pub text: String,
    /// Answers to choose from; none where any text will do.
    pub choices: Vec<String>,
    /// What the pipeline waits for, where it is no agent's question.
    pub pause: Option<Pause>,
    /// The secret that is wanted, by its name. Its value is no answer.
    pub secret: Option<String>,
    /// When it was asked.
    pub asked_at: Millis,
    /// The answer, once there is one.
    pub answer: Option<String>,
    /// Who answered.
    pub answered_by: Option<String>,
}

impl Question {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            ticket: row.get("ticket_id")?,
            node: row.get("node_id")?,
            text: row.get("text")?,
            choices: row.json("choices")?,
            pause: row.word_or_null("pause", Pause::parse)?,
            secret: row.get("secret")?,
            asked_at: row.get("asked_at")?,
            answer: row.get("answer")?,
            answered_by: row.get("answered_by")?,
        })
    }
}

/// The question a ticket waits on, if it waits on one.
pub fn open(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Option<Question>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    read.find(sql!("questions.sql", "open"), of, Question::from_row)
}

/// Everything that was asked for a ticket and answered, oldest first.
pub fn answered(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Vec<Question>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": QUESTIONS_MAX };
    read.list(sql!("questions.sql", "answered"), of, Question::from_row)
}

/// The tenant's open questions, oldest first.
pub fn waiting(read: &Read<'_>, tenant: TenantId, limit: u32) -> Result<Vec<Question>, Fault> {
    let of = params! { ":tenant": tenant, ":limit": limit };
    read.list(sql!("questions.sql", "waiting"), of, Question::from_row)
}

/// A question to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// What is asked.
    pub text: String,
    /// Answers to choose from; none where any text will do.
    pub choices: Vec<String>,
    /// What the pipeline waits for, where it is no agent's question.
    pub pause: Option<Pause>,
    /// The secret that is wanted, by its name.
    pub secret: Option<String>,
}

/// Opens a question.
pub(super) fn ask(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    node: NodeId,
    asking: &Asking,
) -> Result<(), Fault> {
    let (id, now): (QuestionId, _) = (tx.new_id(), tx.now());
    let choices = to_json(&asking.choices)?;
    tx.run_one(
        sql!("questions.sql", "insert"),
        params! { ":id": id, ":tenant": tenant, ":ticket": ticket, ":node": node,
        ":text": asking.text, ":choices": choices, ":pause": asking.pause.map(Pause::word),
        ":secret": asking.secret, ":now": now },
    )
}

/// Notes a person's decision on an open approval. `false` where somebody else was quicker.
pub(super) fn decide(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: QuestionId,
    decision: Decision,
    reason: Option<&str>,
    actor: &str,
) -> Result<bool, Fault> {
    let now = tx.now();
    let decided = tx.run(
        sql!("questions.sql", "decide"),
        params! { ":tenant": tenant, ":id": id, ":decision": decision.word(), ":reason": reason,
        ":actor": actor, ":now": now },
    )?;
    Ok(decided == 1)
}

/// The approval of what a node did, unless it is used up.
pub fn approved(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    node: NodeId,
    pause: Pause,
) -> Result<Option<QuestionId>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":node": node,
    ":pause": pause.word() };
    read.find(sql!("questions.sql", "approved"), of, |row| row.get("id"))
}

/// Answers an open question. `false` where somebody else was quicker.
pub(super) fn answer(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: QuestionId,
    text: &str,
    actor: &str,
) -> Result<bool, Fault> {
    let now = tx.now();
    let answered = tx.run(
        sql!("questions.sql", "answer"),
        params! { ":tenant": tenant, ":id": id, ":answer": text, ":actor": actor, ":now": now },
    )?;
    Ok(answered == 1)
}

/// Closes what nobody will answer any more.
pub(super) fn close(tx: &mut Tx<'_>, tenant: TenantId, ticket: TicketId) -> Result<(), Fault> {
    let now = tx.now();
    tx.run(
        sql!("questions.sql", "close"),
        params! { ":tenant": tenant, ":ticket": ticket, ":now": now },
    )?;
    Ok(())
}
