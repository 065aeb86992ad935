//! Finding tickets by their words. What a caller types is text: it never becomes part of the search
//! engine's own language.

use std::ops::Range;

use super::states::Status;
use super::ticket::Ticket;
use crate::base::{CategoryId, Fault, Millis, ProjectId, TenantId};
use crate::store::{Params, Read, Value, to_json};
use crate::{params, sql};

/// Characters of a query at most.
pub const QUERY_MAX: usize = 500;

/// Words of a query at most; what follows is not looked for.
const WORDS_MAX: usize = 32;

/// Tickets are few below this: then they are looked up one by one.
const FEW: u32 = 2_048;

/// The same where each is looked up in the index of words too.
const FEW_WITH_WORDS: u32 = 256;

/// Tickets that are looked up before it is seen whether the page is full.
const PIECE: usize = 64;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

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
///
/// The newest are looked at first, so a page is soon full where many match. Where few can, by their
/// status or by when they ended, only those few are looked at, and dates bound the rest: no search
/// goes through all tickets for a page that stays empty.
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
    let span = span(read, search, before)?;
    let few = few(read, tenant, search, &span)?;
    let status = search.status.map(Status::word);
    let filters = Filters { tenant, span, status, asked: search };
    let Some(few) = few else {
        let query = expression(tenant, search);
        let own = params! { ":query": query, ":limit": limit };
        return read.list(sql!("search.sql", "search"), &filters.with(own), Ticket::from_row);
    };
    among(read, &filters, &few, limit)
}

/// What a ticket must be, beside its words.
struct Filters<'s> {
    tenant: TenantId,
    span: Range<i64>,
    status: Option<&'static str>,
    asked: &'s Search,
}

impl Filters<'_> {
    /// The parameters of a statement that has some of its own.
    fn with<'p>(&'p self, own: Params<'p>) -> Vec<(&'p str, &'p dyn Value)> {
        let filters = params! { ":tenant": self.tenant, ":first": self.span.start,
        ":before": self.span.end, ":status": self.status, ":category": self.asked.category,
        ":created_from": self.asked.created_from, ":created_before": self.asked.created_before,
        ":completed_from": self.asked.completed_from,
        ":completed_before": self.asked.completed_before };
        [own, filters].concat()
    }
}

/// Those of few tickets that match: the newest are looked up first, until there are enough.
fn among(
    read: &Read<'_>,
    filters: &Filters<'_>,
    few: &[i64],
    limit: u32,
) -> Result<Vec<Ticket>, Fault> {
    let Search { projects, words, .. } = filters.asked;
    let hex = |id: &ProjectId| id.uuid().simple().to_string();
    let projects = projects.as_ref().map(|all| all.iter().map(hex).collect::<Vec<_>>());
    let projects = projects.map(|all| to_json(&all)).transpose()?;
    let query = with_words(words);
    let mut found = Vec::new();
    for some in few.chunks(PIECE) {
        let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        if left == 0 {
            break;
        }
        let few = to_json(&some)?;
        let own = params! { ":few": few, ":projects": projects, ":limit": left, ":query": query };
        found.extend(match own {
            [own @ .., _] if words.is_empty() => {
                read.list(sql!("search.sql", "among_all"), &filters.with(own), Ticket::from_row)?
            }
            own => read.list(sql!("search.sql", "among"), &filters.with(own), Ticket::from_row)?,
        });
    }
    Ok(found)
}

/// The numbers that a ticket can have by the dates of a search, and by where it goes on. A ticket
/// never ends before it was filed.
fn span(read: &Read<'_>, search: &Search, before: Option<i64>) -> Result<Range<i64>, Fault> {
    let before = before.unwrap_or(i64::MAX);
    let upto = [search.created_before, search.completed_before].into_iter().flatten().min();
    if search.created_from.is_none() && upto.is_none() {
        return Ok(0..before);
    }
    let day = |at: Millis| at.0.div_euclid(DAY_MILLIS);
    let days = params! { ":from": search.created_from.map_or(i64::MIN, day),
    ":upto": upto.map_or(i64::MAX, day) };
    let bounds = read.find(sql!("search.sql", "days"), days, |row| {
        Ok((row.get::<Option<i64>>("first_n")?, row.get::<Option<i64>>("last_n")?))
    })?;
    Ok(match bounds {
        Some((Some(first), Some(last))) => first..before.min(last + 1),
        _ => 0..0,
    })
}

/// Every ticket that can match, by its number, the newest first, where those are few.
fn few(
    read: &Read<'_>,
    tenant: TenantId,
    search: &Search,
    span: &Range<i64>,
) -> Result<Option<Vec<i64>>, Fault> {
    let most = if search.words.is_empty() { FEW } else { FEW_WITH_WORDS };
    let mut all = Vec::new();
    if let Some(status) = search.status {
        let of = params! { ":tenant": tenant, ":status": status.word(), ":first": span.start,
        ":before": span.end, ":limit": most };
        all.push(read.list(sql!("search.sql", "of_status"), of, |row| row.get("n"))?);
    }
    if search.completed_from.is_some() || search.completed_before.is_some() {
        let of = params! { ":tenant": tenant, ":limit": most,
        ":completed_from": search.completed_from.unwrap_or(Millis(i64::MIN)),
        ":completed_before": search.completed_before.unwrap_or(Millis(i64::MAX)) };
        let mut found = read.list(sql!("search.sql", "ended_between"), of, |row| row.get("n"))?;
        found.sort_unstable_by(|one: &i64, other| other.cmp(one));
        all.push(found);
    }
    Ok(all.into_iter().filter(|found| found.len() < most as usize).min_by_key(Vec::len))
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
        parts.push(with_words(&search.words));
    }
    parts.join(" AND ")
}

/// All of the words, wherever.
fn with_words(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("{{title description ref}} : ({})", words.join(" AND "))
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
