//! The conversation that a call may carry.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::{Fault, text};
use crate::tickets::conversations::{CHARS_MAX, TURN_CHARS_MAX, TURNS_MAX};
use crate::tickets::draft::{Role, Turn};

/// Something that was said.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnInput {
    /// Who said it.
    role: Role,
    /// What.
    #[schemars(length(max = 20000))]
    content: String,
}

/// The turns, held to their bounds in number and size.
pub(super) fn checked(turns: Vec<TurnInput>) -> Result<Vec<Turn>, Fault> {
    let sizes: Vec<usize> = turns.iter().map(|turn| turn.content.chars().count()).collect();
    if let Some(at) = sizes.iter().position(|size| *size > TURN_CHARS_MAX) {
        let limit = format!("may have at most {TURN_CHARS_MAX} characters");
        return Err(Fault::argument(format!("conversation[{at}].content"), limit));
    }
    let all: usize = sizes.iter().sum();
    if turns.len() > TURNS_MAX || all > CHARS_MAX {
        let limit = format!(
            "holds {} turns with {all} characters; at most {TURNS_MAX} turns with {CHARS_MAX} \
             characters are taken. Send the turns that the ticket is about, the newest among them",
            turns.len()
        );
        return Err(Fault::argument("conversation", limit));
    }
    let turn = |turn: TurnInput| Turn { role: turn.role, content: text::printable(&turn.content) };
    Ok(turns.into_iter().map(turn).collect())
}
