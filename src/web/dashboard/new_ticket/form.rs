//! What somebody typed into the form of a new ticket, and the call that it becomes.

use axum::extract::{Form as Sent, FromRequest, Request};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::accounts::sessions::LoggedIn;
use crate::base::text::printable;
use crate::base::{Code, Fault, TicketId};
use crate::tickets::dispatch::{Attached, Dispatch};
use crate::tickets::states::{Kind, PassProfile, Preset};
use crate::tickets::ticket::Requester;
use crate::web::multipart::{self, Part};

/// A file that was uploaded for the ticket to be, as the call names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct File {
    pub(super) key: String,
    pub(super) original_name: String,
    pub(super) content_type: String,
    pub(super) size_bytes: u64,
}

impl File {
    /// The file as the form carries it along.
    pub(super) fn said(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What was typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Typed {
    pub(super) csrf: String,
    pub(super) act: String,
    pub(super) project: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) kind: String,
    pub(super) preset: String,
    pub(super) pass_profile: String,
    pub(super) category: String,
    pub(super) depends_on: String,
    pub(super) depends_on_reason: String,
    pub(super) seed_from_ref: String,
    pub(super) replaces: String,
    pub(super) requester_name: String,
    pub(super) requester_email: String,
    pub(super) no_split: bool,
    pub(super) predrafted: bool,
    pub(super) confirm_no_attachments: bool,
    pub(super) override_duplicate: bool,
    pub(super) job_id: String,
    pub(super) files: Vec<File>,
}

impl Typed {
    /// What a request sends, and the files that came with it.
    pub(super) async fn read(request: Request) -> Result<(Self, Vec<Part>), Fault> {
        if !multipart::is_form(request.headers()) {
            let Sent(pairs) = Sent::<Vec<(String, String)>>::from_request(request, &())
                .await
                .map_err(|wrong| Fault::new(Code::BadRequest, wrong.body_text()))?;
            return Ok((Self::of(pairs.into_iter()), Vec::new()));
        }
        let (parts, body) = request.into_parts();
        // The layer around every page has read the body already, up to its limit.
        let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(Fault::internal)?;
        let parts = multipart::parts(&parts.headers, &body)?;
        let (files, fields): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| part.file_name.is_some());
        let typed = Self::of(fields.into_iter().map(|part| (part.name.clone(), part.text())));
        let came = |file: &Part| !file.bytes.is_empty();
        Ok((typed, files.into_iter().filter(came).collect()))
    }

    fn of(pairs: impl Iterator<Item = (String, String)>) -> Self {
        let mut typed = Self::default();
        let mut dropped = Vec::new();
        for (name, value) in pairs {
            let yes = !value.is_empty();
            match name.as_str() {
                "csrf" => typed.csrf = value,
                "act" => typed.act = value,
                "project" => typed.project = value,
                "title" => typed.title = value,
                // Browsers send line ends as two characters.
                "description" => typed.description = value.replace("\r\n", "\n"),
                "kind" => typed.kind = value,
                "preset" => typed.preset = value,
                "pass_profile" => typed.pass_profile = value,
                "category" => typed.category = value,
                "depends_on" => typed.depends_on = value,
                "depends_on_reason" => typed.depends_on_reason = value,
                "seed_from_ref" => typed.seed_from_ref = value,
                "replaces" => typed.replaces = value,
                "requester_name" => typed.requester_name = value,
                "requester_email" => typed.requester_email = value,
                "no_split" => typed.no_split = yes,
                "predrafted" => typed.predrafted = yes,
                "confirm_no_attachments" => typed.confirm_no_attachments = yes,
                "override_duplicate" => typed.override_duplicate = yes,
                "job_id" => typed.job_id = value,
                "attached" => typed.files.extend(serde_json::from_str::<File>(&value)),
                "drop" => dropped.push(value),
                _ => {}
            }
        }
        typed.files.retain(|file| !dropped.contains(&file.key));
        typed
    }

    /// The refs that the ticket builds on.
    pub(super) fn parents(&self) -> Vec<&str> {
        let apart = |c: char| c.is_whitespace() || c == ',' || c == ';';
        self.depends_on.split(apart).filter(|named| !named.is_empty()).collect()
    }

    /// The arguments of the call. What was left empty is left out.
    pub(super) fn arguments(&self, by: &LoggedIn) -> Value {
        let mut call = Map::new();
        let mut add = |name: &str, value: &str| {
            if !value.trim().is_empty() {
                call.insert(name.to_owned(), json!(value.trim()));
            }
        };
        add("project", &self.project);
        add("description", &self.description);
        add("kind", &self.kind);
        add("preset", &self.preset);
        add("pass_profile", &self.pass_profile);
        add("category", &self.category);
        add("depends_on_reason", &self.depends_on_reason);
        add("seed_from_ref", &self.seed_from_ref);
        add("replaces", &self.replaces);
        call.insert("title".to_owned(), json!(self.title.trim()));
        let parents = self.parents();
        if !parents.is_empty() {
            call.insert("depends_on".to_owned(), json!(parents));
        }
        for (name, is_set) in [
            ("no_split", self.no_split),
            ("predrafted", self.predrafted),
            ("confirm_no_attachments", self.confirm_no_attachments),
            ("override_duplicate", self.override_duplicate),
        ] {
            if is_set {
                call.insert(name.to_owned(), json!(true));
            }
        }
        if !self.files.is_empty() {
            call.insert("job_id".to_owned(), json!(self.job_id));
            call.insert("attachments".to_owned(), json!(self.files));
        }
        call.insert("requester".to_owned(), self.requester(by));
        Value::Object(call)
    }

    /// Who asks: whoever is named, and else who is signed in.
    fn requester(&self, by: &LoggedIn) -> Value {
        let (name, email) = (self.requester_name.trim(), self.requester_email.trim());
        if name.is_empty() && email.is_empty() {
            return json!({ "display_name": by.user.name, "email": by.user.email });
        }
        let mut who = Map::new();
        for (key, value) in [("display_name", name), ("email", email)] {
            if !value.is_empty() {
                who.insert(key.to_owned(), json!(value));
            }
        }
        Value::Object(who)
    }

    /// The same as the rules of filing see it, to say what it would come to.
    pub(super) fn asked(&self) -> Dispatch {
        let title = printable(&self.title);
        let job = TicketId::parse(&self.job_id).filter(|_| !self.files.is_empty());
        Dispatch {
            title: title.split_whitespace().collect::<Vec<_>>().join(" "),
            description: printable(&self.description),
            kind: Kind::parse(&self.kind),
            preset: Preset::parse(&self.preset).unwrap_or(Preset::Auto),
            pass_profile: PassProfile::parse(&self.pass_profile).unwrap_or(PassProfile::Auto),
            depends_on: self.parents().into_iter().map(str::to_owned).collect(),
            depends_on_reason: None,
            requester: Requester::default(),
            category: None,
            operation_key: None,
            override_duplicate: self.override_duplicate,
            no_split: self.no_split,
            predrafted: self.predrafted,
            conversation: Vec::new(),
            by_model: None,
            replaces: None,
            seed_from_ref: Some(self.seed_from_ref.trim().to_owned())
                .filter(|branch| !branch.is_empty()),
            attached: job.map(|job| Attached { job, files: Vec::new() }),
            source: String::new(),
            actor: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(pairs: &[(&str, &str)]) -> Typed {
        Typed::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn refs_stand_apart_by_spaces_and_commas() {
        let typed = typed(&[("depends_on", " ACME-1,ACME-2;  #3\n")]);

        assert_eq!(typed.parents(), ["ACME-1", "ACME-2", "#3"]);
    }

    #[test]
    fn files_are_carried_along_until_they_are_dropped() {
        let file = |key: &str| File {
            key: key.to_owned(),
            original_name: "a \"brief\".pdf".to_owned(),
            content_type: "application/pdf".to_owned(),
            size_bytes: 5,
        };
        let (kept, gone) = (file("k1").said(), file("k2").said());

        let typed = typed(&[
            ("attached", &kept),
            ("attached", &gone),
            ("drop", "k2"),
            ("attached", "nonsense"),
        ]);

        assert_eq!(typed.files, [file("k1")]);
    }
}
