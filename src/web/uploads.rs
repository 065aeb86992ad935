//! `PUT /uploads/{token}`: one announced file, streamed to the disk. The address is the permission.
//! Answers are JSON; failures are `{"error": "…", "code": "…"}`.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::BytesMut;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::reading::{self, Pieces};
use crate::base::{Code, Fault, Secret, TicketId};
use crate::contract::code::wire;
use crate::store::{Arriving, Db, Hash};
use crate::tickets::attachments::{self, Attachment, SIZE_MAX};

/// Bytes that are gathered before they are written.
const GATHERED: usize = 256 << 10;

/// How long one upload may take in all.
const UPLOAD_TIME: Duration = Duration::from_mins(10);

/// Bytes of a token's text at most; the longest that is looked for.
const TOKEN_MAX: usize = 100;

/// What the door works with.
#[derive(Clone)]
pub struct Uploading {
    /// What was announced.
    pub db: Db,
    /// Where files go.
    pub uploads: crate::store::Uploads,
}

/// What came.
#[derive(Serialize)]
pub(super) struct Taken {
    job_id: TicketId,
    key: String,
    size_bytes: u64,
    /// BLAKE3, in hexadecimal.
    hash: String,
}

/// The handler of the route.
pub async fn enter(
    State(door): State<Uploading>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response {
    let (parts, body) = request.into_parts();
    if parts.method != Method::PUT {
        let mut response = refuse(&Fault::new(Code::BadRequest, "This address takes PUT."));
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("PUT"));
        return response;
    }
    match door.take(&parts.headers, &token, body).await {
        Ok(done) => Json(done).into_response(),
        Err(fault) => refuse(&fault),
    }
}

impl Uploading {
    /// Takes the file that is expected at the address.
    pub(super) async fn take(
        &self,
        headers: &HeaderMap,
        token: &str,
        body: Body,
    ) -> Result<Taken, Fault> {
        let file = match self.expected(headers, token).await {
            Ok(file) => file,
            Err(fault) => {
                reading::pass_over_body(body);
                return Err(fault);
            }
        };
        let size = usize::try_from(file.size_bytes).map_err(Fault::internal)?;
        let mut pieces = Pieces::open(headers, body, size, UPLOAD_TIME).map_err(of_size)?;
        let arrived = self.receive(&mut pieces).await;
        let arriving = match arrived {
            Ok(arriving) => arriving,
            Err(fault) => {
                pieces.pass_over();
                return Err(of_size(fault));
            }
        };
        if arriving.size() != file.size_bytes {
            let (came, said) = (arriving.size(), file.size_bytes);
            return Err(wrong_size(&format!("{came} bytes came; {said} were announced.")));
        }
        if file.hash.is_some_and(|known| known != arriving.hash()) {
            return Err(attachments::other_bytes());
        }
        let (file, hash) = self.keep(token, arriving).await?;
        Ok(Taken {
            job_id: file.job,
            key: file.key(),
            size_bytes: file.size_bytes,
            hash: hash.to_string(),
        })
    }

    /// The file that is expected at the address, if what the headers say fits it.
    async fn expected(&self, headers: &HeaderMap, token: &str) -> Result<Attachment, Fault> {
        if token.len() > TOKEN_MAX {
            return Err(attachments::no_address());
        }
        let token = Secret::new(token);
        let found = self.db.read(move |read| attachments::find_by_token(read, &token)).await?;
        let file = found.ok_or_else(attachments::no_address)?;
        let sent = headers.get(CONTENT_TYPE).map(|sent| sent.to_str().unwrap_or_default());
        if sent.is_some_and(|sent| attachments::media_type(sent) != file.media_type) {
            let said = format!(
                "The file was announced as {}. Send that as the Content-Type, or none.",
                file.media_type
            );
            return Err(Fault::new(Code::InvalidArgument, said));
        }
        match reading::length(headers).map(|length| length as u64) {
            Some(length) if length > SIZE_MAX => Err(attachments::too_large()),
            Some(length) if length != file.size_bytes => {
                let announced = file.size_bytes;
                Err(wrong_size(&format!("{length} bytes come; {announced} were announced.")))
            }
            _ => Ok(file),
        }
    }

    async fn receive(&self, pieces: &mut Pieces) -> Result<Arriving, Fault> {
        let blobs = self.uploads.blobs().clone();
        let mut arriving = blocking(move || blobs.begin()).await?;
        let mut gathered = BytesMut::new();
        loop {
            let piece = pieces.next().await?;
            let is_last = piece.is_none();
            gathered.extend_from_slice(&piece.unwrap_or_default());
            if is_last || gathered.len() >= GATHERED {
                let bytes = gathered.split();
                arriving = blocking(move || {
                    arriving.write(&bytes)?;
                    Ok(arriving)
                })
                .await?;
            }
            if is_last {
                return Ok(arriving);
            }
        }
    }

    /// Puts the file in its place, then on record.
    async fn keep(&self, token: &str, arriving: Arriving) -> Result<(Attachment, Hash), Fault> {
        let turn = self.uploads.naming().await;
        let hash = blocking(move || arriving.keep()).await?;
        let token = Secret::new(token);
        let file = self.db.write(move |tx| attachments::arrived(tx, &token, hash)).await?;
        drop(turn);
        Ok((file, hash))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(Fault::internal)?
}

/// A body that went on beyond what was announced.
fn of_size(fault: Fault) -> Fault {
    match fault.code {
        Code::PayloadTooLarge => wrong_size("More bytes came than were announced."),
        _ => fault,
    }
}

fn wrong_size(said: &str) -> Fault {
    let said = format!("{said} Announce the file with its size, then upload it whole.");
    Fault::new(Code::InvalidArgument, said)
}

fn refuse(fault: &Fault) -> Response {
    let said = wire(fault.code);
    let status = StatusCode::from_u16(said.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if status.is_server_error() {
        tracing::error!(?fault, "An upload failed");
    }
    (status, Json(json!({ "error": fault.message, "code": said.rpc }))).into_response()
}
