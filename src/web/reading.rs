//! Reading the body of a request: no more than a door takes, in no more time than a slow client is
//! given.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;

use crate::base::{Code, Fault};

/// How long a body may take to arrive; less in tests of this file.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 30_000 });

/// Bodies over this are read for nobody unknown.
const LARGE: usize = 64 << 10;

/// How much of a body that was refused is passed over, and for how long: a connection that is cut
/// while the client still writes loses the answer on its way.
const PASSED_OVER: usize = 256 << 20;
const PASSED_OVER_FOR: Duration = Duration::from_secs(2);

/// Whether the body is large, or may be.
pub(super) fn is_large(headers: &HeaderMap) -> bool {
    let is_chunked = headers.contains_key(http::header::TRANSFER_ENCODING);
    length(headers).map_or(is_chunked, |length| length > LARGE)
}

/// Reads a body of at most `max` bytes.
///
/// # Errors
/// `PayloadTooLarge`, which names the limit; `BadRequest` where the body came late or broke off.
pub(super) async fn collect(headers: &HeaderMap, body: Body, max: usize) -> Result<Bytes, Fault> {
    let expected = length(headers).unwrap_or(0);
    let mut frames = body.into_data_stream();
    if expected > max {
        pass_over(frames);
        return Err(too_large(max));
    }
    let reading = tokio::time::timeout(PATIENCE, read_all(&mut frames, expected, max));
    match reading.await {
        Err(_) => {
            let said = format!("The body did not arrive within {} seconds.", PATIENCE.as_secs());
            Err(Fault::new(Code::BadRequest, said))
        }
        Ok(Err(fault)) if fault.code == Code::PayloadTooLarge => {
            pass_over(frames);
            Err(fault)
        }
        Ok(read) => read,
    }
}

fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok())
}

async fn read_all(
    frames: &mut BodyDataStream,
    expected: usize,
    max: usize,
) -> Result<Bytes, Fault> {
    let mut whole = BytesMut::with_capacity(expected.min(LARGE));
    while let Some(frame) = frames.next().await {
        let broken = |error| {
            Fault::new(Code::BadRequest, "The body ended before it was whole.").because(error)
        };
        let frame = frame.map_err(broken)?;
        if frame.len() > max - whole.len() {
            return Err(too_large(max));
        }
        whole.extend_from_slice(&frame);
    }
    Ok(whole.freeze())
}

/// The body of a request that was refused, left unread.
pub(super) fn pass_over_body(body: Body) {
    pass_over(body.into_data_stream());
}

fn pass_over(mut frames: BodyDataStream) {
    let passing = async move {
        let mut passed = 0;
        while let Some(Ok(frame)) = frames.next().await {
            passed += frame.len();
            if passed > PASSED_OVER {
                return;
            }
        }
    };
    tokio::spawn(async move { drop(tokio::time::timeout(PASSED_OVER_FOR, passing).await) });
}

/// The fault of a body over the limit.
fn too_large(max: usize) -> Fault {
    let mebibytes = max >> 20;
    let said =
        format!("The body is larger than {max} bytes ({mebibytes} MiB), the most this door takes.");
    Fault::new(Code::PayloadTooLarge, said)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    async fn collected(body: Body) -> Result<Bytes, Fault> {
        collect(&HeaderMap::new(), body, 10).await
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_not_waited_for() {
        let byte = || Ok::<_, Infallible>(Bytes::from_static(b"x"));
        let stalls = stream::iter([byte()]).chain(stream::pending());

        let fault = collected(Body::from_stream(stalls)).await.unwrap_err();

        assert_eq!(fault.code, Code::BadRequest);
        assert!(fault.message.contains("did not arrive within"), "{fault}");
    }

    #[tokio::test]
    async fn a_body_is_taken_up_to_the_limit_and_no_byte_further() {
        assert_eq!(collected(Body::from("0123456789")).await.unwrap(), "0123456789");

        let fault = collected(Body::from("0123456789x")).await.unwrap_err();

        assert_eq!(fault.code, Code::PayloadTooLarge);
        assert!(fault.message.contains("10 bytes"), "{fault}");
    }

    #[test]
    fn a_body_of_unknown_length_counts_as_large() {
        let with = |name: &'static str, value: &'static str| {
            let headers = [(name, value)].map(|(name, value)| {
                (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
            });
            is_large(&headers.into_iter().collect())
        };

        assert!(with("transfer-encoding", "chunked") && with("content-length", "65537"));
        assert!(!with("content-length", "65536") && !with("accept", "*/*"));
    }
}
