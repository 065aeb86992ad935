//! `/proofs/{id}/export` and `/proofs/{id}/evidence/{n}`: a proof, and what was kept with it, on
//! their way out of the server.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use tokio_util::io::ReaderStream;

use super::proof::{absent, links};
use crate::base::{Code, Fault, ProofId};
use crate::proofs;
use crate::web::auth::Visitor;
use crate::web::page::guards;
use crate::web::proof_bundle::Bundle;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// What a browser may do with a file that an agent or a check has written: show its letters.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// `GET /proofs/{id}/export`.
pub(super) async fn bundle(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    let id = ProofId::parse(&id).ok_or_else(absent)?;
    let blobs = site.blobs().clone();
    let text = visitor.read(&site, move |read, visitor| {
        Bundle::of(&links(read, visitor.actor().tenant, id)?, &blobs)?.to_text()
    });
    let text = text.await?;
    let name = format!("attachment; filename=\"assay-proof-{id}.json\"");
    Ok(sent(Body::from(text), "application/json", &name)?)
}

/// `GET /proofs/{id}/evidence/{n}`: text as text, everything else to be saved and never shown.
pub(super) async fn evidence(
    State(site): State<Site>,
    visitor: Visitor,
    Path((id, position)): Path<(String, usize)>,
) -> Result<Response, Trouble> {
    let id = ProofId::parse(&id).ok_or_else(absent)?;
    let kept = visitor.read(&site, move |read, visitor| {
        let proof = proofs::find(read, visitor.actor().tenant, id)?.ok_or_else(absent)?;
        proof.evidence.into_iter().nth(position).ok_or_else(absent)
    });
    let kept = kept.await?;
    let path = site.blobs().path(kept.hash);
    let file = tokio::fs::File::open(path).await.map_err(|error| {
        Fault::new(Code::NotFound, "The file is gone from the server's disk.").because(error)
    })?;
    let body = Body::from_stream(ReaderStream::new(file));
    let is_text = kept.media_type.starts_with("text/");
    let (media_type, disposition) = if is_text {
        ("text/plain; charset=utf-8", "inline".to_owned())
    } else {
        let name = format!("attachment; filename=\"evidence-{position}.bin\"");
        ("application/octet-stream", name)
    };
    let mut response = sent(body, media_type, &disposition)?;
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(kept.size_bytes));
    Ok(response)
}

fn sent(body: Body, media_type: &'static str, disposition: &str) -> Result<Response, Fault> {
    let mut response = (guards(), body).into_response();
    let headers = response.headers_mut();
    let said = |text: &str| HeaderValue::try_from(text).map_err(Fault::internal);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CONTENT_DISPOSITION, said(disposition)?);
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    Ok(response)
}
