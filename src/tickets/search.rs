//! Finding tickets by their words. What a caller types is text: it never becomes part of the search
//! engine's own language.

use super::states::Status;
use super::ticket::Ticket;
use crate::base::{CategoryId, Fault, Millis, ProjectId, TenantId};
use crate::store::Read;
use crate::{params, sql};

/// Characters of a query at most.
pub const QUERY_MAX: usize = 500;

/// Words of a query at most; what follows is not looked for.
const WORDS_MAX: usize = 32;

/// What is looked for. All of it must hold.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Words that must all be in title, description or ref; see [`words`].
    pub words: Vec<String>,
    /// Only in these projects; `None` means all.
    pub projects: Option<Vec<ProjectId>>,
    /// Only this category.
    pub category: Option<CategoryId>,
    /// Only those that stand here.
    pub status: Option<Status>,
    /// Filed at or after this.
    pub created_from: Option<Millis>,
    /// Filed before this.
    pub created_before: Option<Millis>,
    /// Ended at or after this.
    pub completed_from: Option<Millis>,
    /// Ended before this.
    pub completed_before: Option<Millis>,
}

/// The words of a query: what stands between spaces and has a letter or a digit.
#[must_use]
pub fn words(query: &str) -> Vec<String> {
    let said = query.split(|c: char| c.is_whitespace() || c.is_control());
    let words = said.filter(|word| word.contains(char::is_alphanumeric));
    words.take(WORDS_MAX).map(str::to_owned).collect()
}

/// Tickets that match, newest first, at most `limit` of them, filed before the ticket at `before`
/// if given.
pub fn search(
    read: &Read<'_>,
    tenant: TenantId,
    search: &Search,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Ticket>, Fault> {
    if search.projects.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let of = params! { ":tenant": tenant, ":query": expression(tenant, search),
    ":before": before.unwrap_or(i64::MAX), ":limit": limit,
    ":status": search.status.map(Status::word), ":category": search.category,
    ":created_from": search.created_from, ":created_before": search.created_before,
    ":completed_from": search.completed_from, ":completed_before": search.completed_before };
    read.list(sql!("search.sql", "search"), of, Ticket::from_row)
}

/// The search in the engine's language. Whose tickets are meant stands in the index too, so that
/// the tickets of others cost nothing.
fn expression(tenant: TenantId, search: &Search) -> String {
    let mut parts = vec![format!("owner : {}", quoted(&tenant.uuid().simple().to_string()))];
    if let Some(projects) = &search.projects {
        let place = |id: &ProjectId| quoted(&id.uuid().simple().to_string());
        let places: Vec<String> =
            projects.iter().map(|id| format!("place : {}", place(id))).collect();
        parts.push(format!("({})", places.join(" OR ")));
    }
    if !search.words.is_empty() {
        let words: Vec<String> = search.words.iter().map(|word| quoted(word)).collect();
        parts.push(format!("{{title description ref}} : ({})", words.join(" AND ")));
    }
    parts.join(" AND ")
}

/// A text that the engine takes as text.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Id;

    #[test]
    fn only_what_has_a_letter_or_a_digit_is_a_word() {
        assert_eq!(
            words("  dark-mode, \"Größe\" -- * 42\0x "),
            ["dark-mode,", "\"Größe\"", "42", "x"]
        );
        assert_eq!(words("* - \"\" ( ) :"), Vec::<String>::new());
        assert_eq!(words(&"a ".repeat(100)).len(), WORDS_MAX);
    }

    #[test]
    fn what_is_typed_stays_text() {
        let tenant = Id::from_uuid(uuid::Uuid::from_u128(1));
        let search = Search { words: words("a\" OR owner:x NOT b*"), ..Search::default() };

        let said = expression(tenant, &search);

        let owner = "00000000000000000000000000000001";
        let expected = format!(
            "owner : \"{owner}\" AND {{title description ref}} : (\"a\"\"\" AND \"OR\" AND \
             \"owner:x\" AND \"NOT\" AND \"b*\")"
        );
        assert_eq!(said, expected);
    }
}
