//! The `jsonrpc-error` dialect: the error member of a JSON-RPC answer. Its own code is always
//! the same; `data.code` tells failures apart.

use serde::Serialize;

use super::code::wire;
use super::spoken::{SpokenIssue, issue, message};
use crate::base::Fault;

/// The JSON-RPC code of every failure in this dialect.
pub const CODE: i32 = -32_600;

/// The `error` member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RpcError {
    /// Always [`CODE`].
    pub code: i32,
    /// What went wrong, with every problem on a line of its own.
    pub message: String,
    /// What a program needs to know.
    pub data: RpcData,
}

/// The `error.data` member: two keys always, and two more where they say something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcData {
    /// The failure, as an upper-case name.
    pub code: &'static str,
    /// The HTTP status that would say the same.
    pub status_code: u16,
    /// Milliseconds to wait before the same call may go through, where waiting helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The single problems; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<SpokenIssue>,
}

/// The error member that says this fault.
#[must_use]
pub fn error(fault: &Fault) -> RpcError {
    let wire = wire(fault.code);
    RpcError {
        code: CODE,
        message: message(fault),
        data: RpcData {
            code: wire.rpc,
            status_code: wire.status,
            retry_after_ms: fault.retry_after_ms,
            issues: fault.issues.iter().map(issue).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Code;

    #[test]
    fn a_plain_failure_has_the_two_data_keys_and_no_more() {
        let said = error(&Fault::new(Code::NotFound, "No such ticket."));

        assert_eq!(
            serde_json::to_string(&said).unwrap(),
            concat!(
                r#"{"code":-32600,"message":"No such ticket.","#,
                r#""data":{"code":"NOT_FOUND","statusCode":404}}"#
            )
        );
    }

    #[test]
    fn problems_and_the_wait_come_after_the_two_keys() {
        let fault = Fault::argument("limit", "expected a number").retry_after_ms(9);

        let said = serde_json::to_value(error(&fault)).unwrap();

        let keys: Vec<&String> = said["data"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["code", "statusCode", "retryAfterMs", "issues"]);
        assert_eq!(said["data"]["issues"][0]["path"], "limit");
    }
}
