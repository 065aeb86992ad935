//! `mint_attachment_upload_url`: gives an address to upload a file to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounts::Feature;
use crate::base::{Fault, ProjectId, TicketId};
use crate::projects;
use crate::tickets::attachments::{self, Announced};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Gives an address to upload a file to.
pub struct MintAttachmentUploadUrl;

/// What `mint_attachment_upload_url` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The project's UUID. Wins over `project`.
    project_id: Option<ProjectId>,
    /// The project's UUID, key, slug or name. Left out, it is the key's default project, or the
    /// only one there is.
    project: Option<String>,
    /// The `job_id` that came back for the first file of the same ticket. Left out for that one.
    job_id: Option<TicketId>,
    /// The file's name, such as `brief.pdf`.
    #[schemars(length(min = 1, max = 200))]
    original_name: String,
    /// Its MIME type: that of a document, an image, a text or an archive.
    #[schemars(length(min = 1, max = 200))]
    content_type: String,
    /// Its size in bytes; at most 26214400 (25 MiB).
    #[schemars(range(min = 1))]
    size_bytes: u64,
}

/// What `mint_attachment_upload_url` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The id that the ticket will have: the `job_id` of its dispatch, and of its other files.
    job_id: TicketId,
    /// What the dispatch names the file by.
    key: String,
    /// Where to PUT the bytes. Whoever has this address may upload this one file; it needs no key.
    upload_url: String,
    /// Until when. ISO 8601, UTC.
    expires_at: String,
}

impl Tool for MintAttachmentUploadUrl {
    const NAME: &'static str = "mint_attachment_upload_url";
    const TITLE: &'static str = "Get an address to upload a file to";
    const ABOUT: &'static str = "The first of three steps that attach a file to a ticket. Then \
        PUT the bytes to `upload_url`, with the same Content-Type, within an hour (`curl -T \
        brief.pdf -H 'Content-Type: application/pdf' URL`); at last call `dispatch_ticket` with \
        the `job_id` and, under `attachments`, the `key` and what was said of the file here. \
        For several files, call this once for each and send the first one's `job_id` with the \
        others: at most 20 for a ticket, 25 MiB each. A file that no ticket has after a day is \
        removed.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{
  "project": "Acme Widgets",
  "original_name": "brief.pdf",
  "content_type": "application/pdf",
  "size_bytes": 48213
}"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let (file, token) = cx
            .write(move |tx, actor| {
                let named = input.project.as_deref();
                let project = projects::resolve(tx, actor, input.project_id, named)?;
                let announced = Announced {
                    job: input.job_id,
                    name: &input.original_name,
                    media_type: &input.content_type,
                    size_bytes: input.size_bytes,
                };
                let (tenant, label) = (actor.tenant, actor.label());
                let made = attachments::announce(tx, tenant, project.id, &label, &announced)?;
                let subject = made.0.key();
                Ok((made, subject))
            })
            .await?;
        let summary = format!("PUT {} to its upload_url, then dispatch.", file.name);
        let output = Output {
            job_id: file.job,
            key: file.key(),
            upload_url: format!("{}/uploads/{}", cx.premises().url, token.reveal()),
            expires_at: file.expires_at.iso(),
        };
        Ok(Done::new(output, summary))
    }
}
