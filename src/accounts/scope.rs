//! What a caller may call: the one place where scopes mean something.

use super::actor::{Actor, KeyScope, Who};
use crate::base::{Code, Fault};

/// The writes of an agent's own key. Each of them touches its ticket in one bounded way and none
/// changes its record: an agent cannot answer itself, end, retry or approve what it works on, and
/// can file nothing but a child ticket.
pub const AGENT_WRITES: [&str; 3] = ["file_child_ticket", "ask_person", "attach_evidence"];

/// Refuses a call that the caller's scope does not include.
///
/// # Errors
/// `ScopeDenied`, with the scope that is needed.
pub fn check(actor: &Actor, tool: &str, is_read: bool) -> Result<(), Fault> {
    let is_agent = matches!(actor.who, Who::Agent { .. });
    let allowed = match (is_read, is_agent) {
        (true, _) => actor.can_read(),
        (false, true) => actor.can_read() && AGENT_WRITES.contains(&tool),
        (false, false) => actor.can_write(),
    };
    if allowed {
        return Ok(());
    }
    let needed = if is_read { KeyScope::McpRead } else { KeyScope::McpFull };
    let message = if is_agent {
        format!(
            "{tool} is not for the agent of a ticket: its key reads, and writes by {} alone. Its \
             own record is not the agent's to change.",
            AGENT_WRITES.join(", ")
        )
    } else {
        format!(
            "{tool} needs the scope {needed}; this caller has {}. Use a key that was created with \
             --scope {needed}.",
            actor.scope
        )
    };
    Err(Fault::new(Code::ScopeDenied, message))
}

#[cfg(test)]
mod tests {
    use super::super::plans::Plan;
    use super::*;
    use crate::base::Id;

    fn agent(scope: KeyScope) -> Actor {
        let id = |n| uuid::Uuid::from_u128(n);
        let who = Who::Agent { key: Id::from_uuid(id(2)), ticket: Id::from_uuid(id(3)) };
        Actor { who, scope, ..Actor::local(Id::from_uuid(id(1)), Plan::All) }
    }

    #[test]
    fn an_agent_writes_by_its_own_tools_and_no_other_whatever_its_scope() {
        for scope in [KeyScope::McpRead, KeyScope::McpFull] {
            let agent = agent(scope);

            assert!(check(&agent, "get_ticket", true).is_ok());
            for own in AGENT_WRITES {
                assert!(check(&agent, own, false).is_ok(), "{own}");
            }
            for other in ["dispatch_ticket", "cancel_ticket", "reply_ticket", "claim_ticket_node"] {
                let fault = check(&agent, other, false).expect_err(other);
                assert_eq!(fault.code, Code::ScopeDenied, "{other}");
            }
        }
        assert!(check(&agent(KeyScope::Ci), "ask_person", false).is_err());
    }

    #[test]
    fn the_tools_of_agents_are_no_way_around_a_reading_key() {
        let reader = Actor { who: Who::Local, ..agent(KeyScope::McpRead) };

        assert!(check(&reader, "ask_person", false).is_err());
    }
}
