//! Named statements: all SQL lives in `sql/*.sql`, and a name that is not there stops the build.

/// One statement of a file under `sql/`.
#[derive(Debug, Clone, Copy)]
pub struct Sql {
    /// What the file calls it.
    pub name: &'static str,
    /// The statement with the comments under its name.
    pub text: &'static str,
}

const HEAD: &[u8] = b"-- name: ";

impl Sql {
    /// The statement headed `-- name: {name}` in `file`.
    ///
    /// # Panics
    /// At compile time, where the macro calls it, if the file has no such statement.
    #[must_use]
    pub const fn find(name: &'static str, file: &'static str) -> Self {
        let bytes = file.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let end = line_end(bytes, at);
            if is_head(bytes, at, end, name.as_bytes()) {
                return Self { name, text: body(file, end) };
            }
            at = end + 1;
        }
        panic!("no statement of that name in the file");
    }
}

/// Where the line that starts at `at` ends.
const fn line_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        at += 1;
    }
    at
}

const fn starts(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    let mut i = 0;
    while i < word.len() {
        if at + i >= bytes.len() || bytes[at + i] != word[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn is_head(bytes: &[u8], at: usize, end: usize, name: &[u8]) -> bool {
    starts(bytes, at, HEAD)
        && starts(bytes, at + HEAD.len(), name)
        && at + HEAD.len() + name.len() == end
}

/// The text from `from` up to the next head.
const fn body(file: &'static str, from: usize) -> &'static str {
    let bytes = file.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        if at > from && starts(bytes, at, HEAD) {
            break;
        }
        at = end + 1;
    }
    let end = if at > bytes.len() { bytes.len() } else { at };
    let (head, _) = file.split_at(end);
    let (_, text) = head.split_at(from);
    text.trim_ascii()
}

/// The statement `name` of `sql/file`, found when the program is built.
#[macro_export]
macro_rules! sql {
    ($file:literal, $name:literal) => {
        const {
            $crate::store::Sql::find(
                $name,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/", $file)),
            )
        }
    };
}

/// Named parameters of a statement: `params! { ":tenant": tenant, ":now": now }`.
#[macro_export]
macro_rules! params {
    ($($name:literal : $value:expr),* $(,)?) => {
        &[$(($name, &$value as &dyn $crate::store::Value)),*]
            as &[(&str, &dyn $crate::store::Value)]
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "-- name: one\n-- Why.\nSELECT 1;\n\n-- name: one_more\nSELECT 2;\n";

    #[test]
    fn a_statement_is_found_by_its_whole_name() {
        assert_eq!(Sql::find("one", FILE).text, "-- Why.\nSELECT 1;");
        assert_eq!(Sql::find("one_more", FILE).text, "SELECT 2;");
    }
}
