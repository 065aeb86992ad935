//! What an agent is given of the secrets of its ticket, and what takes them out of texts again.

use super::env::Env;
use super::result::{Came, To};
use super::run_node::Task;
use crate::base::redact::Redactor;
use crate::base::{Fault, Secret};
use crate::store::Read;
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::Left;
use crate::tickets::questions::Asking;
use crate::tickets::secrets;

/// The ticket's secrets with their names, or what the node comes to instead: a person is asked once
/// more for one that is gone or cannot be read.
pub(super) async fn for_agent(
    env: &Env,
    task: &Task,
) -> Result<Result<Vec<(String, Secret)>, Came>, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    env.db
        .read(move |read: &Read<'_>| {
            let mut usable = Vec::new();
            for given in secrets::of_ticket(read, tenant, ticket)? {
                let name = given.name;
                match given.value {
                    Ok(value) => usable.push((name, value)),
                    Err(why) => {
                        let asked = secrets::first_asked(read, tenant, ticket, &name)?;
                        let why =
                            format!("What was given as {name} cannot be read any more: {why}.");
                        return Ok(Err(again(&why, name, asked.as_deref())));
                    }
                }
            }
            if let Some(gone) = secrets::missing(read, tenant, ticket)?.into_iter().next() {
                let why = format!("{} was erased when the ticket ended.", gone.name);
                return Ok(Err(again(&why, gone.name, Some(&gone.asked))));
            }
            Ok(Ok(usable))
        })
        .await
}

fn again(why: &str, name: String, asked: Option<&str>) -> Came {
    let asked = asked.map_or_else(String::new, |asked| format!("\n\n{asked}"));
    let text = format!("{why} Give it once more.{asked}");
    let asking = Asking { text, choices: Vec::new(), pause: None, secret: Some(name) };
    let left = Left { summary: Some(why.to_owned()), ..Left::default() };
    Came { to: To::Question(asking), ..Came::verdict(Verdict::Good, left) }
}

/// Takes the ticket's secrets out of texts.
pub(super) async fn redactor(env: &Env, task: &Task) -> Result<Redactor, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    env.db.read(move |read| secrets::redactor(read, tenant, ticket, &[])).await
}
