//! `/tickets/{ref}/attachments/{id}`: a file that came with a ticket, to be saved and never shown.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use tokio_util::io::ReaderStream;

use crate::base::{AttachmentId, Code, Fault};
use crate::tickets::attachments;
use crate::tools::tickets;
use crate::web::auth::Visitor;
use crate::web::page::{guards, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// What a browser may do with a file that it opens all the same: nothing.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// `GET /tickets/{ref}/attachments/{id}`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path((named, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let none = || Fault::new(Code::NotFound, "The ticket has no such file.");
    let id = AttachmentId::parse(&id).ok_or_else(none)?;
    let file = visitor
        .read(&site, move |read, visitor| {
            let ticket = tickets::find(read, visitor.actor(), &named)?;
            let files = attachments::of_ticket(read, ticket.tenant, ticket.id)?;
            files.into_iter().find(|file| file.id == id).ok_or_else(none)
        })
        .await?;
    let hash = file.hash.ok_or_else(none)?;
    let path = site.uploads().blobs().path(hash);
    let opened = tokio::fs::File::open(path).await.map_err(|error| {
        Fault::new(Code::NotFound, "The file is gone from the server's disk.").because(error)
    })?;
    let body = Body::from_stream(ReaderStream::new(opened));
    let mut response = (guards(), body).into_response();
    let headers = response.headers_mut();
    let said = |text: String| HeaderValue::try_from(text).map_err(Fault::internal);
    headers.insert(header::CONTENT_TYPE, said(file.media_type)?);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(file.size_bytes));
    headers.insert(header::CONTENT_DISPOSITION, said(disposition(&file.name))?);
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    Ok(response)
}

/// To be saved, under its name as far as a file can have it.
fn disposition(name: &str) -> String {
    let safe = attachments::file_names([name]).pop().unwrap_or_default();
    format!("attachment; filename*=UTF-8''{}", in_query(&safe))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_header_and_leads_nowhere() {
        let said = disposition("../é\"\r\nX: y.pdf");

        assert_eq!(said, "attachment; filename*=UTF-8''%C3%A9___X__y.pdf");
    }
}
