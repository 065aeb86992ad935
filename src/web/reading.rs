//! Reading the body of a request: no more than a door takes, in no more time than a slow client is
//! given.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;

use crate::base::{Code, Fault};

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

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
