//! Files of a new ticket: each is announced through the gate and uploaded like any client's. A
//! browser with scripts does that file by file, and without them they come with the form.

use axum::Json;
use axum::body::Body;
use axum::extract::{Form as Sent, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{File, Typed};
use crate::base::{Code, Fault};
use crate::contract::code::wire;
use crate::web::auth::Visitor;
use crate::web::multipart::Part;
use crate::web::page::guards;
use crate::web::site::Site;
use crate::web::uploads::Uploading;

/// A file that a browser is about to upload.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Announced {
    csrf: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    job_id: String,
    original_name: String,
    content_type: String,
    size_bytes: u64,
}

/// `POST /tickets/new/files`: where to put a file. Answers JSON, for the script of the form.
pub(in crate::web::dashboard) async fn announce(
    State(site): State<Site>,
    visitor: Visitor,
    Sent(sent): Sent<Announced>,
) -> Response {
    match place(&site, &visitor, &sent).await {
        Ok(place) => (guards(), Json(place)).into_response(),
        Err(fault) => {
            let status = StatusCode::from_u16(wire(fault.code).status);
            let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, guards(), Json(json!({ "error": said(&fault) }))).into_response()
        }
    }
}

async fn place(site: &Site, visitor: &Visitor, sent: &Announced) -> Result<Value, Fault> {
    visitor.check(&sent.csrf)?;
    let minted = announced(
        site,
        visitor,
        (&sent.project, &sent.job_id),
        (&sent.original_name, &sent.content_type, sent.size_bytes),
    );
    let minted = minted.await?;
    let file = File {
        key: minted.key,
        original_name: sent.original_name.clone(),
        content_type: sent.content_type.clone(),
        size_bytes: sent.size_bytes,
    };
    // The address of the page may be another than the one that is written on links.
    let address = format!("/uploads/{}", minted.token);
    Ok(json!({ "job_id": minted.job, "attached": file.said(), "key": file.key, "put": address }))
}

struct Minted {
    job: String,
    key: String,
    token: String,
}

async fn announced(
    site: &Site,
    visitor: &Visitor,
    (project, job): (&str, &str),
    (named, media_type, bytes): (&str, &str, u64),
) -> Result<Minted, Fault> {
    let mut asked =
        json!({ "original_name": named, "content_type": media_type, "size_bytes": bytes });
    for (key, value) in [("project", project), ("job_id", job)] {
        if !value.is_empty() {
            asked[key] = json!(value);
        }
    }
    let said = visitor.call(site, "mint_attachment_upload_url", asked).await?.value();
    let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
    let url = text("upload_url");
    let token = url.rsplit('/').next().unwrap_or_default().to_owned();
    Ok(Minted { job: text("job_id"), key: text("key"), token })
}

/// Takes the files that came with the form.
///
/// # Errors
/// What is wrong with the first that cannot be taken; those before it are taken.
pub(super) async fn take(
    site: &Site,
    visitor: &Visitor,
    typed: &mut Typed,
    files: Vec<Part>,
) -> Result<(), Fault> {
    let door = Uploading { db: site.db().clone(), uploads: site.uploads().clone() };
    for file in files {
        let name = file.file_name.as_deref().unwrap_or_default();
        let bytes = file.bytes.len() as u64;
        let wrong = |fault: Fault| match fault.code {
            Code::Internal | Code::StorageFull => fault,
            _ => Fault::argument("files", format!("{name:?}: {}", said(&fault))),
        };
        let about = (name, &*file.media_type, bytes);
        let minted = announced(site, visitor, (&typed.project, &typed.job_id), about).await;
        let minted = minted.map_err(wrong)?;
        let mut headers = HeaderMap::new();
        if let Ok(kind) = HeaderValue::from_str(&file.media_type) {
            headers.insert(header::CONTENT_TYPE, kind);
        }
        door.take(&headers, &minted.token, Body::from(file.bytes.clone())).await.map_err(wrong)?;
        typed.job_id = minted.job;
        typed.files.push(File {
            key: minted.key,
            original_name: name.to_owned(),
            content_type: file.media_type.clone(),
            size_bytes: bytes,
        });
    }
    Ok(())
}

/// What is wrong with a file, in words for who chose it.
fn said(fault: &Fault) -> String {
    match (fault.code, fault.issues.first()) {
        (Code::InvalidArgument, Some(issue)) if issue.path == "content_type" => {
            "This type of file is not taken: documents, images, texts and archives are.".to_owned()
        }
        (Code::InvalidArgument, Some(issue)) => issue.message.clone(),
        (Code::MissingProject, _) => "Choose the project first.".to_owned(),
        (Code::Internal, _) => "Something went wrong on the server. Try again.".to_owned(),
        _ => fault.message.clone(),
    }
}
