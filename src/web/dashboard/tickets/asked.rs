//! What the address of the list asks for, and the addresses of lists that differ in one thing.

use axum::extract::Query;
use http::Uri;

use crate::base::text::cut;
use crate::base::{Fault, ProjectId};
use crate::projects::{self, Category, Project, categories};
use crate::store::Read;
use crate::tickets::browse::{BY_ATTENTION, Filter, Place, Sort};
use crate::tickets::search::{self, QUERY_MAX};
use crate::tickets::states::{Kind, Status};
use crate::web::auth::Visitor;
use crate::web::page::in_query;

/// Characters of a name in the address that are read.
const NAME_MAX: usize = 200;

/// What stands in the address. Words that mean nothing are left out.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) text: String,
    /// In one order, whatever order the address has.
    pub(super) statuses: Vec<Status>,
    pub(super) project: String,
    pub(super) kind: Option<Kind>,
    pub(super) category: String,
    pub(super) requester: String,
    pub(super) sort: Sort,
    pub(super) is_board: bool,
    pub(super) from: Option<Place>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            text: String::new(),
            statuses: Vec::new(),
            project: String::new(),
            kind: None,
            category: String::new(),
            requester: String::new(),
            sort: Sort::Newest,
            is_board: false,
            from: None,
        }
    }
}

impl Asked {
    /// What the pairs of a query ask for.
    pub(super) fn read(pairs: &[(String, String)]) -> Self {
        let mut asked = Self::default();
        for (name, value) in pairs {
            let value = value.trim();
            match name.as_str() {
                "q" => asked.text = cut(value, QUERY_MAX - 1),
                "status" => asked.statuses.extend(Status::parse(value)),
                "project" => asked.project = cut(value, NAME_MAX),
                "kind" => asked.kind = Kind::parse(value),
                "category" => asked.category = cut(value, NAME_MAX),
                "requester" => asked.requester = cut(value, NAME_MAX),
                "sort" => asked.sort = Sort::parse(value).unwrap_or(Sort::Newest),
                "view" => asked.is_board = value == "board",
                "from" => asked.from = Place::parse(value),
                _ => {}
            }
        }
        let named = std::mem::take(&mut asked.statuses);
        asked.statuses.extend(BY_ATTENTION.into_iter().filter(|one| named.contains(one)));
        asked
    }

    /// What a query asks for, if it is one.
    pub(super) fn parse(query: &str) -> Option<Self> {
        let address: Uri = format!("/?{query}").parse().ok()?;
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&address).ok()?;
        Some(Self::read(&pairs))
    }

    /// The query of the address of this list, without a place in it; empty for all tickets.
    pub(super) fn query(&self) -> String {
        let mut parts = Vec::new();
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                parts.push(format!("{name}={}", in_query(value)));
            }
        };
        add("q", &self.text);
        for status in &self.statuses {
            add("status", status.word());
        }
        add("project", &self.project);
        add("kind", self.kind.map_or("", Kind::word));
        add("category", &self.category);
        add("requester", &self.requester);
        add("sort", if self.sort == Sort::Newest { "" } else { self.sort.word() });
        add("view", if self.is_board { "board" } else { "" });
        parts.join("&")
    }

    /// The address of this list, from its beginning.
    pub(super) fn href(&self) -> String {
        href_of(&self.query())
    }

    /// The address of this list from a place on.
    pub(super) fn href_from(&self, place: Place) -> String {
        let query = self.query();
        let and = if query.is_empty() { "" } else { "&" };
        format!("/tickets?{query}{and}from={}", place.said())
    }

    /// The same with a status more, or less where it is one of them.
    pub(super) fn toggled(&self, status: Status) -> Self {
        let was = self.statuses.contains(&status);
        let wanted = |one: &Status| (*one == status && !was) || (*one != status && self.has(*one));
        let statuses = BY_ATTENTION.into_iter().filter(wanted).collect();
        Self { statuses, ..self.clone() }
    }

    fn has(&self, status: Status) -> bool {
        self.statuses.contains(&status)
    }

    /// Whether the list is narrowed at all.
    pub(super) fn is_narrowed(&self) -> bool {
        !self.statuses.is_empty() || self.is_narrowed_beyond_status()
    }

    /// Whether the list is narrowed by something that the counts of statuses do not know.
    pub(super) fn is_narrowed_beyond_status(&self) -> bool {
        let texts = [&self.text, &self.project, &self.category, &self.requester];
        self.kind.is_some() || texts.iter().any(|text| !text.is_empty())
    }
}

/// The address of a list with this query.
pub(super) fn href_of(query: &str) -> String {
    if query.is_empty() { "/tickets".to_owned() } else { format!("/tickets?{query}") }
}

/// What is asked for, with the things it names.
pub(super) struct Wanted {
    pub(super) asked: Asked,
    pub(super) project: Option<Project>,
    pub(super) category: Option<Category>,
}

impl Wanted {
    /// Finds what the address names. A category is a project's own, and means nothing without it.
    pub(super) fn load(read: &Read<'_>, visitor: &Visitor, asked: Asked) -> Result<Self, Fault> {
        let named = Some(&*asked.project).filter(|name| !name.is_empty());
        let project = named.map(|name| projects::named(read, visitor.actor(), name)).transpose()?;
        let mut category = None;
        if let Some(project) = project.as_ref().filter(|_| !asked.category.is_empty()) {
            category = categories::find(read, project.tenant, project.id, &asked.category)?;
        }
        let mut asked = asked;
        asked.project = project.as_ref().map_or_else(String::new, |found| found.slug.clone());
        asked.category = category.as_ref().map_or_else(String::new, |found| found.name.clone());
        Ok(Self { asked, project, category })
    }

    pub(super) fn project_id(&self) -> Option<ProjectId> {
        self.project.as_ref().map(|project| project.id)
    }

    pub(super) fn filter(&self) -> Filter {
        let asked = &self.asked;
        Filter {
            words: search::words(&asked.text),
            statuses: asked.statuses.clone(),
            project: self.project_id(),
            category: self.category.as_ref().map(|category| category.id),
            kind: asked.kind,
            requester: Some(asked.requester.clone()).filter(|name| !name.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn statuses_are_added_and_taken_away_one_at_a_time() {
        let asked = Asked::parse("status=running&status=failed&status=nonsense").unwrap();

        assert_eq!(asked.query(), "status=failed&status=running");
        assert_eq!(asked.toggled(Status::Running).query(), "status=failed");
        assert_eq!(
            asked.toggled(Status::AwaitingInput).query(),
            "status=awaiting_input&status=failed&status=running"
        );
    }

    #[test]
    fn a_place_follows_the_filter_and_is_no_part_of_it() {
        let asked = Asked::parse("kind=fix&from=0.12").unwrap();

        assert_eq!(asked.query(), "kind=fix");
        assert_eq!(asked.href_from(asked.from.unwrap()), "/tickets?kind=fix&from=0.12");
        assert_eq!(Asked::default().href(), "/tickets");
    }

    proptest! {
        #[test]
        fn an_address_reads_back_as_what_it_was_made_of(
            text in "\\PC{0,40}", project in "[a-z -]{0,10}", requester in "\\PC{0,20}",
            kind in 0..6_usize, sort in 0..4_usize, board: bool, statuses: u8,
        ) {
            let asked = Asked {
                text: text.trim().to_owned(),
                statuses: (0..8).filter(|bit| statuses & (1 << bit) != 0)
                    .map(|bit| BY_ATTENTION[bit]).collect(),
                project: project.trim().to_owned(),
                kind: Kind::ALL.get(kind).copied(),
                requester: requester.trim().to_owned(),
                sort: Sort::ALL[sort],
                is_board: board,
                ..Asked::default()
            };

            let again = Asked::parse(&asked.query()).unwrap();

            prop_assert_eq!(again.query(), asked.query());
            prop_assert_eq!(again.text, asked.text);
        }
    }
}
