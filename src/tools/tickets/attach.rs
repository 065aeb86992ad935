//! The files that a dispatch brings along.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::{Code, Fault, ProjectId, TenantId, TicketId};
use crate::store::Read;
use crate::tickets::attachments::{self, Given};
use crate::tickets::dispatch::Attached;
use crate::tickets::forgotten;

/// A file that was uploaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AttachmentInput {
    /// The `key` that `mint_attachment_upload_url` gave.
    #[schemars(length(max = 200))]
    key: String,
    /// The name that it was announced with.
    #[schemars(length(max = 200))]
    original_name: String,
    /// The MIME type that it was announced with.
    #[schemars(length(max = 200))]
    content_type: String,
    /// The size that it was announced with, in bytes.
    #[schemars(range(min = 1))]
    size_bytes: u64,
}

impl AttachmentInput {
    fn given(&self) -> Given {
        Given {
            key: self.key.clone(),
            name: self.original_name.clone(),
            media_type: self.content_type.clone(),
            size_bytes: self.size_bytes,
        }
    }
}

/// What a dispatch says of its files.
pub(super) struct Files<'a> {
    pub(super) job: Option<TicketId>,
    pub(super) given: &'a [AttachmentInput],
    /// Whether a file that the text names is none to be attached.
    pub(super) none_meant: bool,
}

/// The files that come along, checked; or a refusal where the text, which is title and description,
/// speaks of a file and none comes.
pub(super) fn checked(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
    files: &Files<'_>,
    (title, description): (&str, &str),
) -> Result<Option<Attached>, Fault> {
    if files.given.is_empty() && !files.none_meant {
        refuse_forgotten(title, description)?;
    }
    let Some(job) = files.job else {
        if files.given.is_empty() {
            return Ok(None);
        }
        let message = "attachments need the job_id under which they were uploaded.";
        return Err(Fault::new(Code::MissingJobId, message).issue("job_id", "is missing"));
    };
    let given: Vec<Given> = files.given.iter().map(AttachmentInput::given).collect();
    let files = attachments::claim(read, tenant, project, job, &given)?;
    Ok(Some(Attached { job, files }))
}

/// Refuses a text that speaks of a file which nobody has attached.
pub(super) fn refuse_forgotten(title: &str, description: &str) -> Result<(), Fault> {
    let Some(words) = forgotten::mention(title, description) else { return Ok(()) };
    let message = format!(
        "The text says {words:?}, and nothing is attached. Attach the file (\
         mint_attachment_upload_url says how), or send confirm_no_attachments: true if it is in \
         the repository or on the web."
    );
    Err(Fault::new(Code::AttachmentReferenceWithoutAttachments, message)
        .issue("attachments", "is empty"))
}
