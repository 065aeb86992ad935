//! Sends a mail to whoever asked for a ticket. Whatever the mail server does, it costs twenty
//! seconds at a time, and no ticket waits for it.

use super::env::Env;
use super::{mail_text, smtp};
use crate::base::TenantId;
use crate::jobs::{Ctx, JobError};
use crate::notices::SendMail;
use crate::notices::mails::{self, After, Mail, Next, Outcome};
use crate::tickets::timeline;

/// Sends a mail that is due, and comes back where it must be tried again.
pub(super) async fn run(env: &Env, ctx: &Ctx, job: SendMail) -> Result<(), JobError> {
    let Some(tenant) = ctx.tenant else { return Ok(()) };
    let mail = match env.db.read(move |read| mails::next(read, tenant, job.mail)).await? {
        Next::Nothing => return Ok(()),
        Next::Wait(until) => return Err(JobError::Later(until.since(env.clock.now()))),
        Next::Send(mail) => mail,
    };
    let outcome = send(env, &mail).await;
    if let Outcome::Refused(said) | Outcome::Failed(said) = &outcome {
        tracing::warn!(mail = %mail.id, ticket = %mail.ticket, said, "A mail was not taken");
    }
    match settle(env, tenant, mail, outcome).await? {
        After::Again(at) => Err(JobError::Later(at.since(env.clock.now()))),
        After::Settled | After::Lost(_) => Ok(()),
    }
}

async fn send(env: &Env, mail: &Mail) -> Outcome {
    if mail.is_answered {
        return Outcome::Outdated;
    }
    match &env.mail {
        Some(server) => smtp::send(server, mail_text::write(mail, &env.origin)).await,
        None => Outcome::NoServer,
    }
}

/// Notes how it went; a ticket whose mail is lost says so, for nobody to wonder.
async fn settle(
    env: &Env,
    tenant: TenantId,
    mail: Box<Mail>,
    outcome: Outcome,
) -> Result<After, JobError> {
    let settling = env.db.write(move |tx| {
        let after = mails::settle(tx, &mail, &outcome)?;
        if let After::Lost(why) = &after {
            timeline::record_untold(tx, tenant, mail.ticket, why)?;
        }
        Ok(after)
    });
    Ok(settling.await?)
}
