//! The text of `git diff`, file by file and line by line, within bounds. Pure.

/// Lines of one file that a page of many shows.
const LINES_OF_FILE: usize = 300;
/// Characters of a line that are shown; what machines write has lines without end.
const CHARS_OF_LINE: usize = 500;

/// How much of a change is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Lines of each file.
    pub(super) of_file: usize,
    /// Lines of all files.
    pub(super) of_all: usize,
}

impl Bounds {
    /// Of a page of all files.
    pub(super) const ALL: Self = Self { of_file: LINES_OF_FILE, of_all: 900 };
    /// Of a page of one file.
    pub(super) const ONE: Self = Self { of_file: 1_200, of_all: 1_200 };
}

/// The changes of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Patch {
    /// What git says of the file beside its lines: that it is new, gone, renamed or not text.
    pub(super) note: &'static str,
    pub(super) lines: Vec<PatchLine>,
    /// Lines that are there and not shown.
    pub(super) left_out: usize,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatchLine {
    /// The class that says what became of it: `came`, `went`, `place`, or nothing.
    pub(super) class: &'static str,
    /// With the sign that git puts before it.
    pub(super) text: String,
}

/// The files of a diff, in git's order.
pub(super) fn read(text: &str, bounds: Bounds) -> Vec<Patch> {
    let mut patches: Vec<Patch> = Vec::new();
    let mut is_head = true;
    let mut shown = 0;
    for line in text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)) {
        // A line of a file always stands behind a sign, so no file can begin another.
        if line.starts_with("diff --git ") {
            patches.push(Patch::default());
            is_head = true;
            continue;
        }
        let Some(patch) = patches.last_mut() else { continue };
        if is_head && !line.starts_with("@@ ") {
            patch.note = note(line).unwrap_or(patch.note);
            continue;
        }
        is_head = false;
        let Some(class) = class(line) else { continue };
        if shown >= bounds.of_all || patch.lines.len() >= bounds.of_file {
            patch.left_out += 1;
            continue;
        }
        shown += 1;
        patch.lines.push(PatchLine { class, text: cut(line) });
    }
    patches
}

/// What a line of a file's head says that people want to know.
fn note(line: &str) -> Option<&'static str> {
    let notes = [
        ("new file mode", "New"),
        ("deleted file mode", "Deleted"),
        ("rename from", "Renamed"),
        ("old mode", "Mode changed"),
        ("Binary files", "Not text"),
        ("GIT binary patch", "Not text"),
    ];
    notes.into_iter().find(|(start, _)| line.starts_with(start)).map(|(_, note)| note)
}

fn class(line: &str) -> Option<&'static str> {
    match line.as_bytes().first()? {
        b'+' => Some("came"),
        b'-' => Some("went"),
        b'@' | b'\\' => Some("place"),
        _ => Some(""),
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(CHARS_OF_LINE) {
        Some((at, _)) => format!("{} …", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n\
        @@ -1,2 +1,2 @@\n one\n-diff --git a/x b/x\n+two\n\\ No newline at end of file\n\
        diff --git a/logo.png b/logo.png\nnew file mode 100644\n\
        Binary files /dev/null and b/logo.png differ\n";

    #[test]
    fn a_diff_is_read_file_by_file() {
        let files = read(TEXT, Bounds::ALL);

        let lines: Vec<_> = files[0].lines.iter().map(|line| (line.class, &*line.text)).collect();
        assert_eq!(files.len(), 2);
        assert_eq!(lines[0], ("place", "@@ -1,2 +1,2 @@"));
        assert_eq!(lines[1], ("", " one"));
        assert_eq!(lines[2], ("went", "-diff --git a/x b/x"), "a file cannot begin another");
        assert_eq!(lines[3], ("came", "+two"));
        assert_eq!((files[1].note, files[1].lines.len()), ("Not text", 0));
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let bounds = Bounds { of_file: 2, of_all: 10 };

        let files = read(TEXT, bounds);

        assert_eq!((files[0].lines.len(), files[0].left_out), (2, 3));
        let long = format!("diff --git a b\n@@ @@\n+{}", "ä".repeat(2_000));
        assert_eq!(read(&long, bounds)[0].lines[1].text.chars().count(), CHARS_OF_LINE + 2);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "(diff --git |@@ |[+-]|\n|.){0,60}", of_all in 0..20_usize) {
            let files = read(&text, Bounds { of_file: 5, of_all });

            let shown: usize = files.iter().map(|file| file.lines.len()).sum();
            prop_assert!(shown <= of_all);
            prop_assert!(files.iter().all(|file| file.lines.len() <= 5));
        }
    }
}
