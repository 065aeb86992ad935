//! What the agent of a node that runs wants to know of a person, as it said by a tool: it becomes
//! the ticket's question if the node ends so.

use serde::{Deserialize, Serialize};

use crate::base::{Code, Fault, NodeId, TenantId};
use crate::store::{Read, Tx, to_json};
use crate::{params, sql};

/// A question that is not open yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What is asked.
    pub text: String,
    /// Answers to choose from; none where any text will do.
    pub choices: Vec<String>,
    /// The secret that is wanted, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// Notes what the agent of a running node asks, in place of what it asked before.
pub fn ask(tx: &mut Tx<'_>, tenant: TenantId, node: NodeId, asked: &Asked) -> Result<(), Fault> {
    let of = params! { ":tenant": tenant, ":id": node, ":asks": to_json(asked)? };
    if tx.run(sql!("nodes.sql", "ask"), of)? == 1 {
        return Ok(());
    }
    Err(Fault::new(Code::Conflict, "The node has ended; nothing can be asked for it any more."))
}

/// What the agent of a node asks.
pub fn asked(read: &Read<'_>, tenant: TenantId, node: NodeId) -> Result<Option<Asked>, Fault> {
    let of = params! { ":tenant": tenant, ":id": node };
    let found = read.find(sql!("nodes.sql", "asked"), of, |row| {
        let text: Option<String> = row.get("asks")?;
        text.map(|text| serde_json::from_str(&text).map_err(Fault::internal)).transpose()
    })?;
    Ok(found.flatten())
}
