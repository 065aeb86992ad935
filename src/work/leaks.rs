//! Keeps what people gave in confidence off the base branch: a branch whose commits hold the value
//! of a secret of its ticket waits for a person.

use super::env::Env;
use super::result::Came;
use super::run_node::Task;
use super::workspace::Desk;
use crate::base::redact::Redactor;
use crate::base::{Fault, Secret};
use crate::projects::git::landing::Prepared;
use crate::projects::git::log;
use crate::tickets::secrets;

/// Bytes of changes that are looked through. More of them are a person's to look at.
const LOOKED_AT_MAX: usize = 64 << 20;

/// What the node comes to where what would land holds a secret of the ticket: as it is, or as it
/// looks quoted, in an address, in base64 or in hexadecimal.
pub(super) async fn look(
    env: &Env,
    task: &Task,
    desk: &Desk,
    prepared: &Prepared,
) -> Result<Option<Came>, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let given = env.db.read(move |read| secrets::of_ticket(read, tenant, ticket)).await?;
    let known: Vec<(String, Secret)> =
        given.into_iter().filter_map(|one| Some((one.name, one.value.ok()?))).collect();
    if known.is_empty() {
        return Ok(None);
    }
    let (before, lands) = (&prepared.base_before, &prepared.commit);
    let (text, is_cut) = log::patches(&desk.repository, before, lands, LOOKED_AT_MAX).await?;
    let found = tokio::task::spawn_blocking(move || found(&known, &text));
    let found = found.await.map_err(Fault::internal)?;
    let place = desk.tree.path.display();
    Ok(match (found.as_slice(), is_cut) {
        ([], false) => None,
        ([], true) => Some(Came::held(format!(
            "The ticket was given secrets, and its changes are too large (over {} MiB) to be \
             looked through for them. Make them smaller in {place}, or land the branch by hand.",
            LOOKED_AT_MAX >> 20
        ))),
        (names, _) => Some(Came::held(format!(
            "The branch's commits hold the value of {}, so they do not land. Change the secret \
             where it is used, for the agents' logs and this machine have seen it. In the ticket's \
             work tree, {place}, take it out of every commit since {} (`git rebase -i`); then \
             answer that it can go on, and the work is verified again.",
            names.join(", "),
            before.short()
        ))),
    })
}

/// The names of those whose value is in the text.
fn found(known: &[(String, Secret)], text: &str) -> Vec<String> {
    let is_there = |value: &Secret| Redactor::new(std::slice::from_ref(value)).finds_known(text);
    known.iter().filter(|(_, value)| is_there(value)).map(|(name, _)| name.clone()).collect()
}
