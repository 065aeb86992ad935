//! Files that come with a ticket. Each is announced first, then uploaded to an address that is good
//! for it alone, and becomes part of a ticket when the ticket is dispatched.

mod media_types;
mod names;

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub use self::media_types::media_type;
pub use self::names::file_names;
use crate::base::{
    AttachmentId, Code, Fault, Millis, ProjectId, Secret, TenantId, TicketId, field,
};
use crate::store::{Hash, Read, Row, Tx, to_int};
use crate::{params, sql};

/// Bytes of one file at most: 25 MiB.
pub const SIZE_MAX: u64 = 25 << 20;

/// Files of one ticket at most.
pub const FILES_MAX: u32 = 20;

/// How long an upload's address can be used.
pub const ADDRESS_LASTS: Duration = Duration::from_hours(1);

/// How long a file is kept that no ticket has.
pub const UNUSED_KEPT: Duration = Duration::from_hours(24);

/// Characters of a file's name at most.
pub const NAME_MAX: usize = 200;

/// Files that one sweep takes away at most.
const SWEPT_MAX: u32 = 100;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The file.
    pub id: AttachmentId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The project whose ticket it is for.
    pub project: ProjectId,
    /// The id that the ticket has, or will have.
    pub job: TicketId,
    /// Its name, as it was announced.
    pub name: String,
    /// Its type, in lower case and without parameters.
    pub media_type: String,
    /// How large it is.
    pub size_bytes: u64,
    /// What came, once it has come.
    pub hash: Option<Hash>,
    /// The ticket that has it.
    pub ticket: Option<TicketId>,
    /// Until when it can be uploaded.
    pub expires_at: Millis,
}

impl Attachment {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            project: row.get("project_id")?,
            job: row.get("job_id")?,
            name: row.get("name")?,
            media_type: row.get("media_type")?,
            size_bytes: row.unsigned("size_bytes")?,
            hash: row.get("hash")?,
            ticket: row.get("ticket_id")?,
            expires_at: row.get("expires_at")?,
        })
    }

    /// What a dispatch names it by.
    #[must_use]
    pub fn key(&self) -> String {
        format!("attachments/{}/{}", self.job, self.id)
    }
}

/// A file that is announced.
#[derive(Debug, Clone, Copy)]
pub struct Announced<'a> {
    /// The id of the ticket to be, where a file was announced for it before.
    pub job: Option<TicketId>,
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub media_type: &'a str,
    /// How large it is.
    pub size_bytes: u64,
}

/// A file as a dispatch names it.
#[derive(Debug, Clone)]
pub struct Given {
    /// What it was announced under.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its type.
    pub media_type: String,
    /// How large it is.
    pub size_bytes: u64,
}

/// Announces a file: gives it with the token of the address that it is to be uploaded to.
///
/// # Errors
/// `PayloadTooLarge`, `InvalidArgument`; `NotFound` for a job of which nothing is known here;
/// `Conflict` where the ticket is there already or has as many files as it may.
pub fn announce(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: ProjectId,
    actor: &str,
    file: &Announced<'_>,
) -> Result<(Attachment, Secret), Fault> {
    let name = field::line("original_name", file.name, NAME_MAX)?;
    let media_type = media_type(file.media_type);
    if !media_types::is_taken(&media_type) {
        let said = "is no type that is taken: documents, images, texts and archives are";
        return Err(Fault::argument("content_type", said));
    }
    check_size(file.size_bytes)?;
    let job = match file.job {
        Some(job) => {
            check_job(tx, tenant, project, job)?;
            job
        }
        None => tx.new_id(),
    };
    let token = Secret::new(URL_SAFE_NO_PAD.encode(tx.entropy().bytes::<32>()));
    let (id, now): (AttachmentId, _) = (tx.new_id(), tx.now());
    let expires_at = now.plus(ADDRESS_LASTS);
    tx.run_one(
        sql!("attachments.sql", "announce"),
        params! { ":id": id, ":tenant": tenant, ":project": project, ":job": job,
        ":token": token.digest(), ":name": name, ":media_type": media_type,
        ":size": to_int(file.size_bytes), ":actor": actor, ":now": now,
        ":expires_at": expires_at },
    )?;
    let size_bytes = file.size_bytes;
    let made = Attachment {
        id,
        tenant,
        project,
        job,
        name,
        media_type,
        size_bytes,
        hash: None,
        ticket: None,
        expires_at,
    };
    Ok((made, token))
}

fn check_size(size: u64) -> Result<(), Fault> {
    if size == 0 {
        return Err(Fault::argument("size_bytes", "must be at least 1"));
    }
    if size <= SIZE_MAX {
        return Ok(());
    }
    Err(too_large().issue("size_bytes", format!("may be at most {SIZE_MAX}")))
}

/// The fault of a file over the limit.
#[must_use]
pub fn too_large() -> Fault {
    let mebibytes = SIZE_MAX >> 20;
    let said =
        format!("An attachment has at most {SIZE_MAX} bytes ({mebibytes} MiB); this has more.");
    Fault::new(Code::PayloadTooLarge, said)
}

fn check_job(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
    job: TicketId,
) -> Result<(), Fault> {
    let files = of_job(read, tenant, job)?;
    if files.is_empty() || files.iter().any(|file| file.project != project) {
        let said = "No file of this project was announced under this job_id. Leave it out for the \
                    first file, and send the one that came back for the others.";
        return Err(Fault::new(Code::NotFound, said).issue("job_id", "is not known here"));
    }
    if files.iter().any(|file| file.ticket.is_some()) {
        let said = "The ticket of this job_id has been dispatched; it takes no more files.";
        return Err(Fault::new(Code::Conflict, said).issue("job_id", "is a ticket already"));
    }
    if files.len() >= FILES_MAX as usize {
        let said = format!("A ticket has at most {FILES_MAX} attachments.");
        return Err(Fault::new(Code::Conflict, said).issue("job_id", "has as many as it may"));
    }
    Ok(())
}

fn of_job(read: &Read<'_>, tenant: TenantId, job: TicketId) -> Result<Vec<Attachment>, Fault> {
    let of = params! { ":tenant": tenant, ":job": job, ":limit": FILES_MAX };
    read.list(sql!("attachments.sql", "of_job"), of, Attachment::from_row)
}

/// The file whose address this is; `None` where there is none or it is too late.
pub fn find_by_token(read: &Read<'_>, token: &Secret) -> Result<Option<Attachment>, Fault> {
    let of = params! { ":token": token.digest(), ":now": read.now() };
    read.find(sql!("attachments.sql", "find_by_token"), of, Attachment::from_row)
}

/// Notes what came. The blob must be on disk.
///
/// # Errors
/// `Conflict` where other bytes came before; `NotFound` where the file is no longer expected.
pub fn arrived(tx: &mut Tx<'_>, token: &Secret, hash: Hash) -> Result<Attachment, Fault> {
    let Some(file) = find_by_token(tx, token)? else { return Err(no_address()) };
    match file.hash {
        Some(known) if known != hash => return Err(other_bytes()),
        Some(_) => return Ok(file),
        None => {}
    }
    let now = tx.now();
    tx.run_one(
        sql!("attachments.sql", "arrived"),
        params! { ":tenant": file.tenant, ":id": file.id, ":hash": hash, ":now": now },
    )?;
    Ok(Attachment { hash: Some(hash), ..file })
}

/// The one answer for an address that never was and for one whose time is over.
#[must_use]
pub fn no_address() -> Fault {
    let said = "There is no upload at this address, or its time is over. Ask for another with \
                mint_attachment_upload_url.";
    Fault::new(Code::NotFound, said)
}

/// What is there is not written over.
#[must_use]
pub fn other_bytes() -> Fault {
    let said = "Another file was uploaded to this address. Announce this one for itself with \
                mint_attachment_upload_url.";
    Fault::new(Code::Conflict, said)
}

/// The files that a dispatch names, checked: announced for this project and job, uploaded, and
/// what the dispatch says of them. All problems at once.
pub fn claim(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
    job: TicketId,
    given: &[Given],
) -> Result<Vec<AttachmentId>, Fault> {
    let mut files = of_job(read, tenant, job)?;
    files.retain(|file| file.project == project);
    if files.is_empty() {
        let said = "was not minted for this project; mint_attachment_upload_url gives it";
        return Err(Fault::argument("job_id", said));
    }
    if files.iter().any(|file| file.ticket.is_some()) {
        let said = "The ticket of this job_id has been dispatched already.";
        return Err(Fault::new(Code::Conflict, said).issue("job_id", "is a ticket already"));
    }
    let (mut claimed, mut problems) = (Vec::new(), Vec::new());
    for (index, given) in given.iter().enumerate() {
        match amiss(&files, given) {
            Err((member, said)) => problems.push((format!("attachments[{index}]{member}"), said)),
            Ok(id) if claimed.contains(&id) => {
                problems.push((format!("attachments[{index}].key"), "is named twice"));
            }
            Ok(id) => claimed.push(id),
        }
    }
    if problems.is_empty() {
        return Ok(claimed);
    }
    let said = "Nothing was filed: the attachments are not as they were announced.";
    let fault = Fault::new(Code::InvalidArgument, said);
    Err(problems.into_iter().fold(fault, |fault, (path, said)| fault.issue(path, said)))
}

/// The announced file that is meant, or what is wrong and where.
fn amiss(
    files: &[Attachment],
    given: &Given,
) -> Result<AttachmentId, (&'static str, &'static str)> {
    let Some(file) = files.iter().find(|file| file.key() == given.key) else {
        return Err((".key", "was not minted for this project and job_id"));
    };
    if file.name != given.name.trim() {
        return Err((".original_name", "is not the name that was announced"));
    }
    if file.media_type != media_type(&given.media_type) {
        return Err((".content_type", "is not the type that was announced"));
    }
    if file.size_bytes != given.size_bytes {
        return Err((".size_bytes", "is not the size that was announced"));
    }
    if file.hash.is_none() {
        return Err(("", "has not been uploaded; PUT it to its upload_url first"));
    }
    Ok(file.id)
}

/// Makes files part of a ticket.
pub(super) fn attach(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    files: &[AttachmentId],
) -> Result<(), Fault> {
    for file in files {
        let of = params! { ":tenant": tenant, ":id": file, ":ticket": ticket };
        tx.run_one(sql!("attachments.sql", "attach"), of)?;
    }
    Ok(())
}

/// A ticket's files, in the order in which they were announced.
pub fn of_ticket(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Vec<Attachment>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": FILES_MAX };
    read.list(sql!("attachments.sql", "of_ticket"), of, Attachment::from_row)
}

/// Forgets files that no ticket has and that were announced long ago. Gives the blobs that nothing
/// names any more; the caller removes them.
pub fn sweep(tx: &mut Tx<'_>) -> Result<Vec<Hash>, Fault> {
    let before = tx.now().minus(UNUSED_KEPT);
    let unused = tx.list(
        sql!("attachments.sql", "unused"),
        params! { ":before": before, ":limit": SWEPT_MAX },
        Attachment::from_row,
    )?;
    let mut gone = Vec::new();
    for file in unused {
        let of = params! { ":tenant": file.tenant, ":id": file.id };
        tx.run_one(sql!("attachments.sql", "forget"), of)?;
        let Some(hash) = file.hash else { continue };
        let named =
            tx.find(sql!("attachments.sql", "is_named"), params! { ":hash": hash }, |_| Ok(()))?;
        if named.is_none() {
            gone.push(hash);
        }
    }
    Ok(gone)
}
