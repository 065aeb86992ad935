//! Reading the body of a request: no more than a door takes, in no more time than a slow client is
//! given.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use tokio::time::Instant;

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

/// A body that is read piece by piece.
pub(super) struct Pieces {
    frames: BodyDataStream,
    left: usize,
    max: usize,
    until: Instant,
}

impl Pieces {
    /// The pieces of a body of at most `max` bytes, which may take so long in all.
    ///
    /// # Errors
    /// `PayloadTooLarge`, which names the limit.
    pub(super) fn open(
        headers: &HeaderMap,
        body: Body,
        max: usize,
        time: Duration,
    ) -> Result<Self, Fault> {
        let frames = body.into_data_stream();
        if length(headers).is_some_and(|length| length > max) {
            pass_over(frames);
            return Err(too_large(max));
        }
        Ok(Self { frames, left: max, max, until: Instant::now() + time })
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// `PayloadTooLarge`; `BadRequest` where the body came late or broke off.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        let latest = self.until.min(Instant::now() + PATIENCE);
        let Ok(frame) = tokio::time::timeout_at(latest, self.frames.next()).await else {
            let said = "The body did not arrive in time.";
            return Err(Fault::new(Code::BadRequest, said));
        };
        let Some(frame) = frame else { return Ok(None) };
        let frame = frame.map_err(broken)?;
        self.left = self.left.checked_sub(frame.len()).ok_or_else(|| too_large(self.max))?;
        Ok(Some(frame))
    }

    /// Leaves the rest unread.
    pub(super) fn pass_over(self) {
        pass_over(self.frames);
    }
}

fn broken(error: axum::Error) -> Fault {
    Fault::new(Code::BadRequest, "The body ended before it was whole.").because(error)
}

/// How long the body says that it is.
pub(super) fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok())
}

async fn read_all(
    frames: &mut BodyDataStream,
    expected: usize,
    max: usize,
) -> Result<Bytes, Fault> {
    let mut whole = BytesMut::with_capacity(expected.min(LARGE));
    while let Some(frame) = frames.next().await {
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

    #[tokio::test]
    async fn pieces_end_at_the_limit_and_where_nothing_comes() {
        let byte = || Ok::<_, Infallible>(Bytes::from_static(b"x"));
        let pieces = |body, max| Pieces::open(&HeaderMap::new(), body, max, PATIENCE).unwrap();

        let mut whole = pieces(Body::from("0123456789"), 10);
        assert_eq!(whole.next().await.unwrap().unwrap(), "0123456789");
        assert_eq!(whole.next().await.unwrap(), None);
        let fault = pieces(Body::from("0123456789x"), 10).next().await.unwrap_err();
        assert_eq!(fault.code, Code::PayloadTooLarge);
        let stalls = stream::iter([byte()]).chain(stream::pending());
        let mut stalled = pieces(Body::from_stream(stalls), 10);
        assert_eq!(stalled.next().await.unwrap().unwrap(), "x");
        assert_eq!(stalled.next().await.unwrap_err().code, Code::BadRequest);
    }

    #[tokio::test]
    async fn a_body_that_trickles_has_its_time_in_all_and_no_more() {
        let trickle = stream::unfold((), |()| async {
            tokio::time::sleep(PATIENCE / 10).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b"x")), ()))
        });
        let body = Body::from_stream(trickle);
        let mut pieces = Pieces::open(&HeaderMap::new(), body, 1_000, PATIENCE).unwrap();

        let mut came = 0;
        let fault = loop {
            match pieces.next().await {
                Ok(_) => came += 1,
                Err(fault) => break fault,
            }
        };

        assert!(fault.message.contains("did not arrive in time"), "{fault}");
        assert!((1..11).contains(&came), "{came}");
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
