//! Tickets that an agent files beside the one it works on.

use super::dispatch::{self, Dispatch, Dispatched};
use super::node::Node;
use super::pipeline;
use super::states::{Kind, PassProfile, Preset};
use super::ticket::{Requester, Ticket};
use super::timeline::{self, Happened, Line};
use crate::base::{Code, Fault, text};
use crate::store::Tx;

/// Children that the agents of one ticket file at most.
pub const CHILDREN_MAX: u32 = 10;

/// A child to file.
#[derive(Debug, Clone)]
pub struct NewChild {
    /// The title.
    pub title: String,
    /// The brief.
    pub description: String,
    /// The kind, where the agent said.
    pub kind: Option<Kind>,
    /// Who files it, in the words of the audit log.
    pub actor: String,
}

/// Files a child, or finds the one of the same title that an agent of the ticket filed before; and
/// says how many more there may be.
pub fn file(
    tx: &mut Tx<'_>,
    parent: &Ticket,
    node: &Node,
    new: NewChild,
) -> Result<(Ticket, u32), Fault> {
    let title = text::printable(&new.title).split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(Fault::argument("title", "needs at least one visible character"));
    }
    let filed = timeline::count(tx, parent.tenant, parent.id, Happened::ChildFiled)?;
    // A node that is started again finds the same things to be done.
    let hash = blake3::hash(title.to_lowercase().as_bytes()).to_hex();
    let key = format!("child-of-{}-{}", parent.id, &hash[..32]);
    if let Some(earlier) = dispatch::replay(tx, parent.tenant, Some(&key))? {
        return Ok((earlier, CHILDREN_MAX.saturating_sub(filed)));
    }
    if filed >= CHILDREN_MAX {
        let message = format!(
            "The agents of {} have filed {CHILDREN_MAX} tickets, which is all they may. Name the \
             rest in your report as follow-ups.",
            parent.reference()
        );
        return Err(Fault::new(Code::Conflict, message));
    }
    let project = pipeline::project_of(tx, parent)?;
    let asked = Dispatch {
        title,
        description: text::printable(&new.description),
        kind: new.kind,
        preset: Preset::Auto,
        pass_profile: PassProfile::Auto,
        depends_on: Vec::new(),
        depends_on_reason: None,
        requester: Requester::default(),
        category: None,
        replaces: None,
        seed_from_ref: None,
        attached: None,
        operation_key: Some(key),
        override_duplicate: false,
        no_split: true,
        predrafted: true,
        conversation: Vec::new(),
        by_model: None,
        source: "agent".to_owned(),
        actor: new.actor,
    };
    let child = match dispatch::dispatch(tx, parent.tenant, &project, &asked, None)? {
        Dispatched::Filed { ticket, .. } | Dispatched::Replayed(ticket) => ticket,
        // What another ticket asks for already is not filed again, and counts for nothing.
        Dispatched::Folded(same) => return Ok((same.ticket, CHILDREN_MAX - filed)),
    };
    let said = format!("{} filed {}: {}", node.name, child.reference(), child.title);
    let line = Line {
        happened: Happened::ChildFiled,
        actor: &asked.actor,
        text: &said,
        node: Some(&node.name),
    };
    timeline::record(tx, parent.tenant, parent.id, line)?;
    Ok((child, CHILDREN_MAX - filed - 1))
}
