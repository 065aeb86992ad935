//! Getting the report's bytes from where an agent was asked to put them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::{Handed, MAX_BYTES, parse};
use crate::base::Issue;

/// Reads what lies at `path`. Blocks; call it where that is allowed. `clean` takes secrets out of
/// each text of the report.
pub fn take(path: &Path, clean: &dyn Fn(&str) -> String) -> Handed {
    match read(path) {
        Ok(Some(bytes)) => parse(&bytes, clean),
        Ok(None) => Handed::Missing,
        Err(message) => Handed::Invalid(vec![Issue { path: String::new(), message }]),
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    // A link could show a file that the agent may not read, and a pipe would never end.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err("It is a link, not a file.".to_owned()),
        Err(error) => return Err(unreadable(&error.into())),
    };
    let about = file.metadata().map_err(|error| unreadable(&error))?;
    if !about.is_file() {
        return Err("It is not a plain file.".to_owned());
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("It is larger than {MAX_BYTES} bytes."));
    }
    Ok(Some(bytes))
}

fn unreadable(error: &io::Error) -> String {
    format!("It cannot be read: {error}.")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn taken(path: &Path) -> Handed {
        take(path, &str::to_owned)
    }

    #[test]
    fn only_a_plain_small_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        assert_eq!(taken(&path), Handed::Missing);

        std::fs::write(&path, "All good.").unwrap();
        assert_eq!(taken(&path), Handed::Text("All good.".to_owned()));

        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(matches!(taken(&link), Handed::Invalid(_)));
        assert!(matches!(taken(folder.path()), Handed::Invalid(_)));

        std::fs::write(&path, vec![b'x'; 1024 * 1024 + 1]).unwrap();
        let Handed::Invalid(issues) = taken(&path) else { panic!("too large a file was taken") };
        assert_eq!(issues[0].message, "It is larger than 1048576 bytes.");
    }
}
