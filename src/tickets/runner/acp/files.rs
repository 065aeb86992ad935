//! Reading and writing files for an agent. It could do both by itself; what it does through Assay
//! stays within bounds.

use std::fs::File;
use std::io::{Read, Write};

use agent_client_protocol::v1::schema::{ReadTextFileRequest, WriteTextFileRequest};
use agent_client_protocol::{Error, ErrorCode};

use super::bounds::{Bounds, Want, open};

/// The largest file that is read, in bytes.
const READ_MAX: u64 = 4 * 1024 * 1024;

/// The text of a file, or the lines of it that are asked for. Blocks.
pub(super) fn read(bounds: &Bounds, request: &ReadTextFileRequest) -> Result<String, Error> {
    let (base, way) = bounds.place(&request.path, Want::Read).map_err(refused)?;
    let file = File::from(open(&base, &way, Want::Read).map_err(|error| unusable(&error))?);
    let about = file.metadata().map_err(|error| unusable(&error))?;
    if !about.is_file() || about.len() > READ_MAX {
        return Err(refused(format!("only plain files of up to {READ_MAX} bytes are read")));
    }
    let mut text = String::new();
    file.take(READ_MAX).read_to_string(&mut text).map_err(|error| unusable(&error))?;
    if request.line.is_none() && request.limit.is_none() {
        return Ok(text);
    }
    let number = |of: u32| usize::try_from(of).unwrap_or(usize::MAX);
    let skipped = number(request.line.unwrap_or(1).saturating_sub(1));
    let most = request.limit.map_or(usize::MAX, number);
    Ok(text.split_inclusive('\n').skip(skipped).take(most).collect())
}

/// Writes a file anew. Blocks.
pub(super) fn write(bounds: &Bounds, request: &WriteTextFileRequest) -> Result<(), Error> {
    let (base, way) = bounds.place(&request.path, Want::Write).map_err(refused)?;
    let mut file = File::from(open(&base, &way, Want::Write).map_err(|error| unusable(&error))?);
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Err(refused("only plain files are written"));
    }
    let written = file.set_len(0).and_then(|()| file.write_all(request.content.as_bytes()));
    written.map_err(|error| unusable(&error))
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, format!("Refused: {why}."))
}

fn unusable(error: &std::io::Error) -> Error {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    Error::new(code, format!("The file cannot be used: {error}. Links are not followed."))
}
