//! What is wrong with what was typed, each at the field where it is put right.

use std::collections::BTreeMap;

use super::form::Typed;
use crate::base::{Code, Fault};

/// The field that is none: what is said above the form.
const WHOLE: &str = "";

/// What is wrong, by the name of the field.
#[derive(Debug, Default)]
pub(super) struct Wrongs(BTreeMap<&'static str, String>);

impl Wrongs {
    /// Something wrong at one field.
    pub(super) fn at(field: &'static str, said: impl Into<String>) -> Self {
        Self(BTreeMap::from([(field, said.into())]))
    }

    /// What is wrong at a field.
    pub(super) fn of(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(String::as_str)
    }

    /// What is wrong with no field of the form.
    pub(super) fn whole(&self) -> Option<&str> {
        self.of(WHOLE)
    }

    /// Whether something is wrong at a field.
    pub(super) fn is_at_fields(&self) -> bool {
        self.0.keys().any(|field| *field != WHOLE)
    }

    /// Whether something is wrong at one of the fields that are folded away.
    pub(super) fn is_in_more(&self) -> bool {
        ["seed_from_ref", "replaces", "confirm_no_attachments"]
            .iter()
            .any(|field| self.of(field).is_some())
    }

    /// What a refusal says, at the fields that it means. A fault of ours is given back.
    pub(super) fn from(fault: Fault, typed: &Typed) -> Result<Self, Fault> {
        if fault.code == Code::Internal {
            return Err(fault);
        }
        if let Some((field, said)) = by_code(&fault) {
            return Ok(Self::at(field, said));
        }
        let mut wrongs = Self::default();
        for issue in &fault.issues {
            let field = field_of(&issue.path);
            let mut said = sentence(&issue.message);
            if let Some(named) = parent(&issue.path, typed) {
                said = format!("{named}: {said}");
            }
            if field == WHOLE {
                said = format!("{}: {said}", issue.path);
            }
            let all = wrongs.0.entry(field).or_default();
            if !all.is_empty() {
                all.push(' ');
            }
            all.push_str(&said);
        }
        if wrongs.0.is_empty() {
            wrongs.0.insert(WHOLE, fault.message);
        }
        Ok(wrongs)
    }
}

/// Refusals whose own words speak to a program.
fn by_code(fault: &Fault) -> Option<(&'static str, String)> {
    let said = match fault.code {
        Code::DependsOnReasonRequired => (
            "depends_on_reason",
            "Say in a sentence of at least 10 characters what of them this ticket uses.",
        ),
        Code::AttachmentReferenceWithoutAttachments => (
            "confirm_no_attachments",
            "The text names a file, and none is attached. Attach it above, or tick this if it is \
             in the repository or on the web.",
        ),
        Code::MissingProject => ("project", "Choose the project that the ticket is for."),
        Code::ProjectNotReady | Code::ProjectNotFound | Code::AmbiguousProject => {
            return Some(("project", fault.message.clone()));
        }
        Code::InvalidDependsOn | Code::DependencyCycle => {
            return Some(("depends_on", fault.message.clone()));
        }
        Code::ReplacesNotCancelled => return Some(("replaces", fault.message.clone())),
        _ => return None,
    };
    Some((said.0, said.1.to_owned()))
}

/// The field of the form for an argument's path.
fn field_of(path: &str) -> &'static str {
    let root = path.split(['[', '.']).next().unwrap_or_default();
    match (root, path) {
        ("project" | "project_id", _) => "project",
        ("title", _) => "title",
        ("description", _) => "description",
        ("kind", _) => "kind",
        ("preset", _) => "preset",
        ("pass_profile", _) => "pass_profile",
        ("category", _) => "category",
        ("depends_on", _) => "depends_on",
        ("depends_on_reason", _) => "depends_on_reason",
        ("seed_from_ref", _) => "seed_from_ref",
        ("replaces", _) => "replaces",
        (_, "requester.display_name") => "requester_name",
        (_, "requester.email") => "requester_email",
        (
            "attachments" | "job_id" | "original_name" | "content_type" | "size_bytes" | "files",
            _,
        ) => "files",
        _ => WHOLE,
    }
}

/// The ref that a path into the list of parents means.
fn parent<'t>(path: &str, typed: &'t Typed) -> Option<&'t str> {
    let at = path.strip_prefix("depends_on[")?.strip_suffix(']')?;
    typed.parents().get(at.parse::<usize>().ok()?).copied()
}

/// A remark as a sentence.
fn sentence(remark: &str) -> String {
    let mut letters = remark.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let mut said: String = first.chain(letters).collect();
    if !said.ends_with(['.', '!', '?']) {
        said.push('.');
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_stands_at_its_field_and_names_the_ref() {
        let typed = Typed { depends_on: "ACME-1 ACME-9".to_owned(), ..Typed::default() };
        let fault = Fault::argument("depends_on[1]", "no such ticket")
            .issue("requester.email", "is no e-mail address")
            .issue("job_id", "is not known here");

        let wrongs = Wrongs::from(fault, &typed).unwrap();

        assert_eq!(wrongs.of("depends_on"), Some("ACME-9: No such ticket."));
        assert_eq!(wrongs.of("requester_email"), Some("Is no e-mail address."));
        assert_eq!(wrongs.of("files"), Some("Is not known here."));
        assert_eq!(wrongs.whole(), None);
    }

    #[test]
    fn what_means_no_field_is_said_above_the_form() {
        let fault = Fault::new(Code::ScopeDenied, "You may not.");

        let wrongs = Wrongs::from(fault, &Typed::default()).unwrap();

        assert_eq!(wrongs.whole(), Some("You may not."));
        assert!(Wrongs::from(Fault::internal("x"), &Typed::default()).is_err());
    }
}
