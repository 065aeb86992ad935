//! Names that files can have, whatever they are called. Pure.

/// Names under which files can lie in one folder, whatever they are called: no path, nothing
/// hidden, no two alike.
#[must_use]
pub fn file_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in names {
        let safe = safe_name(name);
        let is_free =
            |name: &String| out.iter().all(|other| other.to_lowercase() != name.to_lowercase());
        let (stem, ending) = match safe.rsplit_once('.') {
            Some((stem, ending)) => (stem, format!(".{ending}")),
            None => (&*safe, String::new()),
        };
        let numbered = (2..).map(|n| format!("{stem}-{n}{ending}"));
        let chosen = std::iter::once(safe.clone()).chain(numbered).find(is_free);
        out.extend(chosen);
    }
    out
}

fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let safe: String = last.chars().map(plain).collect();
    let safe = safe.trim_start_matches(['.', '-', '_']).trim_end_matches('.');
    let (stem, ending) = match safe.rsplit_once('.') {
        Some((stem, ending)) if ending.chars().count() <= 10 => (stem, format!(".{ending}")),
        _ => (safe, String::new()),
    };
    let stem: String = stem.chars().take(50).collect();
    if stem.is_empty() { format!("file{ending}") } else { format!("{stem}{ending}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_lead_nowhere_and_are_no_two_alike() {
        let names = [
            "../../etc/passwd",
            "C:\\temp\\Brief.pdf",
            "brief.PDF",
            ".bashrc",
            "-rf",
            "résumé (1).pdf",
            "..",
            "",
            "a\0b\n.txt",
        ];

        let expected = [
            "passwd",
            "Brief.pdf",
            "brief-2.PDF",
            "bashrc",
            "rf",
            "résumé__1_.pdf",
            "file",
            "file-2",
            "a_b_.txt",
        ];
        assert_eq!(file_names(names), expected);
    }

    proptest! {
        #[test]
        fn every_name_can_be_that_of_a_file(names in prop::collection::vec("\\PC{0,300}", 1..8)) {
            let safe = file_names(names.iter().map(String::as_str));

            prop_assert_eq!(safe.len(), names.len());
            for (at, name) in safe.iter().enumerate() {
                prop_assert!(!name.is_empty() && name.len() <= 255, "{:?}", name);
                prop_assert!(!name.starts_with(['.', '-']) && !name.contains(['/', '\0']));
                prop_assert!(!safe[..at].contains(name), "{:?}", safe);
            }
        }
    }
}
