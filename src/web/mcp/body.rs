//! What was posted, as far as the door must know it before anybody acts on it: a call for the
//! invoke door, a message of the protocol, or neither.

use std::fmt;

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use serde::de::{Deserialize, Deserializer, IgnoredAny, Visitor};
use serde_json::Value;

use crate::base::Fault;
use crate::web::reading;

/// The largest body that is read, in bytes.
pub(super) const LIMIT: usize = 4 * 1024 * 1024;

/// The kinds of body.
#[derive(Debug, PartialEq)]
pub(super) enum Posted {
    /// A call for the invoke door.
    Invoke,
    /// A message of the protocol.
    Message(Message),
    /// Something that no door reads.
    Unreadable(Unreadable),
}

/// A message of the protocol.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Message {
    /// The id to answer to, as it came: a string or a number; none in a notification.
    pub(super) id: Option<Value>,
    /// Its method; none in an answer.
    pub(super) method: Option<String>,
}

/// Why a body is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is not JSON, or nested too deeply.
    NotJson,
    /// It is an array: the protocol has no batches any more.
    Batch,
    /// It is JSON, but not a message.
    NotAMessage,
}

impl Unreadable {
    /// The code of JSON-RPC for it, and what to say.
    pub(super) const fn say(self) -> (i32, &'static str) {
        match self {
            Self::NotJson => (-32700, "The body is not JSON, or it is nested too deeply."),
            Self::Batch => (-32600, "Batches are not served; send each message in its own POST."),
            Self::NotAMessage => (
                -32600,
                "The body is not a JSON-RPC 2.0 message, and it has no \"tool\" to invoke.",
            ),
        }
    }
}

/// The members that tell what a body is. The rest is passed over without being kept.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Peek {
    jsonrpc: Text,
    tool: Text,
    method: Text,
    id: Ident,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Posted {
    pub(super) fn read(bytes: &[u8]) -> Self {
        // A derived reader would take an array for an object's members in their order.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Self::Unreadable(no_object(bytes));
        }
        let peek: Peek = match serde_json::from_slice(bytes) {
            Ok(peek) => peek,
            Err(error) if error.is_data() => return Self::Unreadable(Unreadable::NotAMessage),
            Err(_) => return Self::Unreadable(Unreadable::NotJson),
        };
        let is_message = peek.jsonrpc.0.as_deref() == Some("2.0");
        let answers = peek.result.is_some() || peek.error.is_some();
        if is_message && (peek.method.0.is_some() || answers) {
            Self::Message(Message { id: peek.id.0, method: peek.method.0 })
        } else if peek.tool.0.is_some() && peek.jsonrpc.0.is_none() {
            Self::Invoke
        } else {
            Self::Unreadable(Unreadable::NotAMessage)
        }
    }
}

fn no_object(bytes: &[u8]) -> Unreadable {
    match serde_json::from_slice::<IgnoredAny>(bytes) {
        Err(_) => Unreadable::NotJson,
        Ok(_) if bytes.trim_ascii_start().starts_with(b"[") => Unreadable::Batch,
        Ok(_) => Unreadable::NotAMessage,
    }
}

/// The request that a cancellation means, as JSON text.
pub(super) fn cancelled_request(bytes: &[u8]) -> Option<String> {
    let whole: Value = serde_json::from_slice(bytes).ok()?;
    whole
        .get("params")?
        .get("requestId")
        .filter(|id| id.is_string() || id.is_number())
        .map(Value::to_string)
}

/// Reads a body up to the limit, within the time that a slow client is given.
pub(in crate::web) async fn collect(headers: &HeaderMap, body: Body) -> Result<Bytes, Fault> {
    reading::collect(headers, body, LIMIT).await
}

/// A string; anything else counts as none.
#[derive(Default)]
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match Ident::deserialize(from)?.0 {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }))
    }
}

/// A string or a number; anything else counts as none.
#[derive(Default)]
struct Ident(Option<Value>);

impl<'de> Deserialize<'de> for Ident {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(IdentVisitor)
    }
}

struct IdentVisitor;

impl<'de> Visitor<'de> for IdentVisitor {
    type Value = Ident;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_str<E>(self, text: &str) -> Result<Ident, E> {
        Ok(Ident(Some(Value::from(text))))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Ident, E> {
        Ok(Ident(Some(Value::from(number))))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Ident, E> {
        Ok(Ident(Some(Value::from(number))))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Ident, E> {
        Ok(Ident(Some(Value::from(number))))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Ident, E> {
        Ok(Ident(None))
    }
    fn visit_unit<E>(self) -> Result<Ident, E> {
        Ok(Ident(None))
    }
    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Ident, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Ident(None))
    }
    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Ident, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Ident(None))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn message(id: Option<Value>, method: Option<&str>) -> Posted {
        Posted::Message(Message { id, method: method.map(str::to_owned) })
    }

    #[test]
    fn bodies_are_told_apart_by_their_members() {
        use Unreadable::{Batch, NotAMessage, NotJson};
        let cases = [
            (r#"{"tool":"get_ticket","args":{"ticket":"A-1"}}"#, Posted::Invoke),
            (r#"{"tool":"get_ticket","jsonrpc":null}"#, Posted::Invoke),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","tool":"x"}"#,
                message(Some(json!(1)), Some("ping")),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"x":[{}]}}"#,
                message(Some(json!("a")), Some("tools/call")),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                message(None, Some("notifications/initialized")),
            ),
            (r#"{"jsonrpc":"2.0","id":{"deep":[1]},"method":"ping"}"#, message(None, Some("ping"))),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, message(Some(json!(1)), None)),
            (r#"{"tool":7}"#, Posted::Unreadable(NotAMessage)),
            (r#"{"tool":"x","jsonrpc":"2.0"}"#, Posted::Unreadable(NotAMessage)),
            (r#"{"jsonrpc":"1.0","method":"ping"}"#, Posted::Unreadable(NotAMessage)),
            (r"{}", Posted::Unreadable(NotAMessage)),
            (r#""tool""#, Posted::Unreadable(NotAMessage)),
            ("7", Posted::Unreadable(NotAMessage)),
            ("null", Posted::Unreadable(NotAMessage)),
            (r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Posted::Unreadable(Batch)),
            (r#"["2.0",null,"ping",1]"#, Posted::Unreadable(Batch)),
            (r#"{"tool":"a","tool":"b"}"#, Posted::Unreadable(NotAMessage)),
            ("", Posted::Unreadable(NotJson)),
            ("{\"tool\":", Posted::Unreadable(NotJson)),
            ("<html>", Posted::Unreadable(NotJson)),
        ];

        for (body, posted) in cases {
            assert_eq!(Posted::read(body.as_bytes()), posted, "{body}");
        }
    }

    #[test]
    fn deep_nesting_is_passed_over_without_a_stack() {
        let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
        for body in [
            deep.clone(),
            format!("{{\"tool\":{deep}}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":{deep}}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{deep}}}"),
            "{\"a\":".repeat(200_000),
        ] {
            let posted = Posted::read(body.as_bytes());

            assert!(matches!(posted, Posted::Unreadable(_) | Posted::Message(_)), "{posted:?}");
            assert_eq!(cancelled_request(body.as_bytes()), None);
        }
    }

    #[test]
    fn a_cancellation_names_its_request() {
        let body = |id: Value| json!({ "params": { "requestId": id } }).to_string();

        assert_eq!(cancelled_request(body(json!(7)).as_bytes()).as_deref(), Some("7"));
        assert_eq!(cancelled_request(body(json!("7")).as_bytes()).as_deref(), Some("\"7\""));
        assert_eq!(cancelled_request(body(json!([7])).as_bytes()), None);
        assert_eq!(cancelled_request(b"{}"), None);
    }

    proptest! {
        #[test]
        fn no_body_is_too_much(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            drop(Posted::read(&bytes));
            drop(cancelled_request(&bytes));
        }
    }
}
