//! Which types of files are taken. Pure.

/// Types of files that are taken, beside all of `text/`.
const TYPES: &[&str] = &[
    "application/gzip",
    "application/json",
    "application/msword",
    "application/pdf",
    "application/rtf",
    "application/toml",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.rar",
    "application/x-7z-compressed",
    "application/x-bzip2",
    "application/x-tar",
    "application/x-xz",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "application/zip",
    "application/zstd",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/heic",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/tiff",
    "image/webp",
    "message/rfc822",
];

/// What the types of whole families of documents begin with.
const FAMILIES: &[&str] = &[
    "application/vnd.oasis.opendocument.",
    "application/vnd.openxmlformats-officedocument.",
    "text/",
];

/// A type in the form in which types are compared.
#[must_use]
pub fn media_type(said: &str) -> String {
    said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether files of this type are taken.
pub(super) fn is_taken(media_type: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.+-_".contains(c);
    media_type.len() <= 100
        && media_type.chars().all(plain)
        && media_type.matches('/').count() == 1
        && (TYPES.contains(&media_type)
            || FAMILIES
                .iter()
                .any(|start| media_type.strip_prefix(start).is_some_and(|rest| !rest.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_images_texts_and_archives_are_taken_and_programs_are_not() {
        for taken in [
            "application/pdf",
            "text/markdown",
            "image/png",
            "application/zip",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ] {
            assert!(is_taken(taken), "{taken}");
        }
        for other in [
            "",
            "text/",
            "application/octet-stream",
            "application/x-msdownload",
            "video/mp4",
            "text/plain/x",
            "text/pl\nain",
            "image/*",
        ] {
            assert!(!is_taken(other), "{other:?}");
        }
        assert_eq!(media_type(" Text/CSV; charset=utf-8"), "text/csv");
    }
}
