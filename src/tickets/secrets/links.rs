//! The link through which a person gives a secret. Whoever holds it may give the value, once: its
//! token is 256 random bits, of which the SHA-256 is kept.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::base::{Code, Fault, Millis, QuestionId, Secret, TenantId};
use crate::projects;
use crate::store::{Read, Tx};
use crate::tickets::questions;
use crate::tickets::states::Status;
use crate::tickets::ticket::{self, Ticket};
use crate::{params, sql};

/// How long a link can be used.
pub const LASTS: Duration = Duration::from_hours(24);

/// Bytes of a token's text at most; the longest that is looked for.
const TOKEN_MAX: usize = 100;

/// A link that was just made. The only time that its token is known.
pub struct Minted {
    /// The last part of its address.
    pub token: Secret,
    /// The name of the secret.
    pub name: String,
    /// Until when it can be used.
    pub expires_at: Millis,
}

/// What a link that can be used is for.
pub struct Link {
    /// The ticket that waits.
    pub ticket: Ticket,
    /// The name of the ticket's project.
    pub project: String,
    /// The question that is answered by it.
    pub question: QuestionId,
    /// What is asked, in the agent's words.
    pub asked: String,
    /// The name of the secret.
    pub name: String,
    /// Until when it can be used.
    pub expires_at: Millis,
}

/// What a token leads to.
pub enum Found {
    /// A link that can be used.
    Open(Box<Link>),
    /// One that was used, has expired, or is no longer needed.
    Over,
    /// None at all.
    Unknown,
}

/// Makes a link for the secret that a ticket waits for. Earlier ones stay good for their time.
pub fn mint(tx: &mut Tx<'_>, ticket: &Ticket, actor: &str) -> Result<Minted, Fault> {
    let asked = questions::open(tx, ticket.tenant, ticket.id)?;
    let Some((question, name)) = asked.and_then(|asked| Some((asked.id, asked.secret?))) else {
        let instead = match ticket.status {
            Status::AwaitingInput => "get_ticket says what it waits for".to_owned(),
            status => format!("it is {status}"),
        };
        let message = format!("{} waits for no secret; {instead}.", ticket.reference());
        return Err(Fault::new(Code::NotAwaitingInput, message));
    };
    let token = Secret::new(URL_SAFE_NO_PAD.encode(tx.entropy().bytes::<32>()));
    let (now, tenant) = (tx.now(), ticket.tenant);
    let expires_at = now.plus(LASTS);
    tx.run_one(
        sql!("secrets.sql", "add_link"),
        params! { ":token": token.digest(), ":tenant": tenant, ":ticket": ticket.id,
        ":question": question, ":by": actor, ":now": now, ":expires_at": expires_at },
    )?;
    Ok(Minted { token, name, expires_at })
}

/// What a token leads to.
pub fn find(read: &Read<'_>, token: &Secret) -> Result<Found, Fault> {
    if token.reveal().len() > TOKEN_MAX {
        return Ok(Found::Unknown);
    }
    let of = params! { ":token": token.digest() };
    let found = read.find(sql!("secrets.sql", "find_link"), of, |row| {
        let key: (TenantId, QuestionId) = (row.get("tenant_id")?, row.get("question_id")?);
        let used_at: Option<Millis> = row.get("used_at")?;
        Ok((key, row.get::<Millis>("expires_at")?, used_at))
    })?;
    let Some(((tenant, question), expires_at, used_at)) = found else {
        return Ok(Found::Unknown);
    };
    let of = params! { ":tenant": tenant, ":id": question };
    let asked = read.find(sql!("questions.sql", "find_open"), of, questions::Question::from_row)?;
    let is_over = used_at.is_some() || expires_at <= read.now();
    let Some((asked, false)) = asked.map(|asked| (asked, is_over)) else { return Ok(Found::Over) };
    let Some(name) = asked.secret else { return Ok(Found::Over) };
    let ticket = ticket::get(read, tenant, asked.ticket)?;
    let project = projects::find(read, tenant, ticket.project)?;
    Ok(Found::Open(Box::new(Link {
        project: project.map(|project| project.name).unwrap_or_default(),
        ticket,
        question,
        asked: asked.text,
        name,
        expires_at,
    })))
}

/// Uses a link up. `false` where somebody was quicker.
pub(in crate::tickets) fn consume(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    token: &Secret,
) -> Result<bool, Fault> {
    let now = tx.now();
    let of = params! { ":token": token.digest(), ":tenant": tenant, ":now": now };
    Ok(tx.run(sql!("secrets.sql", "use_link"), of)? == 1)
}
