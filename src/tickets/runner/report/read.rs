//! Reading a report's text. Every problem is kept with its path, so that an agent that is told
//! of them can mend them all at once.

use std::path::{Component, Path};

use serde_json::{Map, Value};

use super::{
    Assertion, Check, Finding, Handed, MAX_CHOICES, MAX_LIST, MAX_SUMMARY, MAX_TEXT, Outcome,
    Question, Report, Severity, Verdict,
};
use crate::base::Issue;
use crate::base::text::{cut, printable};
use crate::tickets::secrets::name::problem;

/// Reads a report. A text that is no JSON object at all is taken as it is, and cut where it is
/// too long for a summary. `clean` takes secrets out of each text.
pub fn parse(bytes: &[u8], clean: &dyn Fn(&str) -> String) -> Handed {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let message = "It is neither JSON nor text in UTF-8.".to_owned();
        return Handed::Invalid(vec![Issue { path: String::new(), message }]);
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Handed::Missing;
    }
    let inner = unfenced(text);
    if !inner.starts_with('{') {
        if let Ok(value) = serde_json::from_str::<Value>(inner) {
            let message =
                format!("It is JSON, but {}; it must be an object with an outcome.", kind(&value));
            return Handed::Invalid(vec![Issue { path: String::new(), message }]);
        }
        return Handed::Text(cut(&clean(&printable(text)), MAX_SUMMARY));
    }
    let mut reader = Reader { clean, issues: Vec::new() };
    let report = match serde_json::from_str(inner) {
        Ok(Value::Object(fields)) => reader.report(&with_known_names(fields)),
        Ok(_) => Report::default(),
        Err(error) => {
            reader.issue("", format!("It is not valid JSON: {error}."));
            Report::default()
        }
    };
    if reader.issues.is_empty() {
        Handed::Report(Box::new(report))
    } else {
        Handed::Invalid(reader.issues)
    }
}

/// Reads a report that stands at the end of an agent's last message: a JSON object with an outcome,
/// in a block of its own or as the last lines. A message without one is no report.
pub fn in_words(said: &str, clean: &dyn Fn(&str) -> String) -> Handed {
    let said = said.trim_end();
    let body = said.strip_suffix("```").unwrap_or(said).trim_end();
    let starts = body.char_indices().filter(|&(at, c)| {
        c == '{' && (at == 0 || body[..at].trim_end_matches([' ', '\t']).ends_with('\n'))
    });
    // The object that begins first and reaches to the end; a message has few lines that begin so.
    let object = starts.map(|(at, _)| &body[at..]).take(MAX_LIST).find(|text| {
        serde_json::from_str::<Map<String, Value>>(text)
            .is_ok_and(|fields| fields.contains_key("outcome"))
    });
    object.map_or(Handed::Missing, |text| parse(text.as_bytes(), clean))
}

/// What stands within a Markdown code fence, where the whole text is one.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|rest| rest.strip_suffix("```")).map_or(text, str::trim)
}

struct Reader<'a> {
    clean: &'a dyn Fn(&str) -> String,
    issues: Vec<Issue>,
}

impl Reader<'_> {
    fn issue(&mut self, path: &str, message: impl Into<String>) {
        self.issues.push(Issue { path: path.to_owned(), message: message.into() });
    }

    fn report(&mut self, fields: &Map<String, Value>) -> Report {
        let outcome = self.word(fields, "outcome", "outcome", Outcome::parse, &Outcome::choices());
        if !is_given(fields, "outcome") {
            self.issue("outcome", format!("is missing; it is {}.", Outcome::choices()));
        }
        let summary = self.optional(fields, "summary", "summary", MAX_SUMMARY);
        let question = given(fields, "question").and_then(|value| self.question(value));
        if outcome == Some(Outcome::NeedsInput) && !is_given(fields, "question") {
            self.issue("question", "is missing, though the outcome is needs_input.");
        }
        Report {
            outcome: outcome.unwrap_or(Outcome::Failed),
            summary: summary.unwrap_or_default(),
            deferred: self.texts(fields, "deferred", "deferred", MAX_LIST),
            follow_ups: self.texts(fields, "followUps", "followUps", MAX_LIST),
            human_actions: self.texts(fields, "humanActions", "humanActions", MAX_LIST),
            question,
            assertions: self.list(fields, "assertions", Self::assertion),
            findings: self.list(fields, "findings", Self::finding),
            verdict: self.word(fields, "verdict", "verdict", Verdict::parse, &Verdict::choices()),
        }
    }

    fn question(&mut self, value: &Value) -> Option<Question> {
        // A bare text can only be the question itself.
        if value.is_string() {
            let text = self.text(value, "question", MAX_TEXT)?;
            return Some(Question { text, choices: Vec::new(), secret: None });
        }
        let fields = self.object(value, "question")?;
        let text = self.required(fields, "text", "question.text")?;
        let choices = self.texts(fields, "choices", "question.choices", MAX_CHOICES);
        let secret = given(fields, "secret").and_then(|name| self.secret(name));
        if secret.is_some() && !choices.is_empty() {
            self.issue("question.choices", "must be left out where a secret is asked for.");
        }
        Some(Question { text, choices, secret })
    }

    /// The name of a secret. What else stands there may be its value, and is not repeated.
    fn secret(&mut self, value: &Value) -> Option<String> {
        let name = value.as_str().unwrap_or_default().trim();
        match problem(name) {
            None => return Some(name.to_owned()),
            Some(said) => self.issue("question.secret", said),
        }
        None
    }

    fn assertion(&mut self, value: &Value, path: &str) -> Option<Assertion> {
        if value.is_string() {
            return Some(Assertion { text: self.text(value, path, MAX_TEXT)?, check: None });
        }
        let fields = self.object(value, path)?;
        let text = self.required(fields, "text", &format!("{path}.text"));
        let check =
            given(fields, "check").and_then(|check| self.check(check, &format!("{path}.check")));
        Some(Assertion { text: text?, check })
    }

    fn check(&mut self, value: &Value, path: &str) -> Option<Check> {
        let fields = self.object(value, path)?;
        let mut found =
            ["command", "file", "person"].into_iter().filter(|kind| is_given(fields, kind));
        let (Some(kind), None) = (found.next(), found.next()) else {
            self.issue(path, "must hold one of command, file or person.");
            return None;
        };
        let at = format!("{path}.{kind}");
        let text = self.required(fields, kind, &at)?;
        let inside = Path::new(&text)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if kind == "file" && !inside {
            self.issue(&at, "must be a path within the repository, without `..`.");
            return None;
        }
        Some(match kind {
            "command" => Check::Command(text),
            "file" => Check::File {
                path: plain_path(&text),
                contains: self.optional(fields, "contains", &format!("{path}.contains"), MAX_TEXT),
            },
            _ => Check::Person(text),
        })
    }

    fn finding(&mut self, value: &Value, path: &str) -> Option<Finding> {
        let fields = self.object(value, path)?;
        let text = self.required(fields, "text", &format!("{path}.text"));
        let at = format!("{path}.severity");
        let choices = Severity::choices();
        let severity = self.word(fields, "severity", &at, Severity::parse, &choices);
        if !is_given(fields, "severity") {
            self.issue(&at, format!("is missing; it is {choices}."));
        }
        let file = self.optional(fields, "file", &format!("{path}.file"), MAX_TEXT);
        Some(Finding { text: text?, severity: severity?, file })
    }

    fn list<T>(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
        read: fn(&mut Self, &Value, &str) -> Option<T>,
    ) -> Vec<T> {
        let Some(values) = self.values(fields, name, name, MAX_LIST) else { return Vec::new() };
        let read = |(at, value)| read(self, value, &format!("{name}[{at}]"));
        values.iter().enumerate().filter_map(read).collect()
    }

    fn texts(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
        path: &str,
        most: usize,
    ) -> Vec<String> {
        let Some(values) = self.values(fields, name, path, most) else { return Vec::new() };
        let read = |(at, value)| self.text(value, &format!("{path}[{at}]"), MAX_TEXT);
        values.iter().enumerate().filter_map(read).collect()
    }

    fn values<'v>(
        &mut self,
        fields: &'v Map<String, Value>,
        name: &str,
        path: &str,
        most: usize,
    ) -> Option<&'v [Value]> {
        match given(fields, name)? {
            Value::Array(values) if values.len() <= most => return Some(values),
            Value::Array(values) => {
                let said = format!("has {} entries; {most} at most.", values.len());
                self.issue(path, said);
            }
            other => self.issue(path, format!("must be a list, not {}.", kind(other))),
        }
        None
    }

    fn object<'v>(&mut self, value: &'v Value, path: &str) -> Option<&'v Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.issue(path, format!("must be an object, not {}.", kind(value)));
        }
        object
    }

    fn required(&mut self, fields: &Map<String, Value>, name: &str, path: &str) -> Option<String> {
        let Some(value) = given(fields, name) else {
            self.issue(path, "is missing.");
            return None;
        };
        let text = self.text(value, path, MAX_TEXT)?;
        if text.trim().is_empty() {
            self.issue(path, "is empty.");
            return None;
        }
        Some(text)
    }

    fn optional(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
        path: &str,
        most: usize,
    ) -> Option<String> {
        given(fields, name).and_then(|value| self.text(value, path, most))
    }

    fn text(&mut self, value: &Value, path: &str, most: usize) -> Option<String> {
        let Value::String(text) = value else {
            self.issue(path, format!("must be a text, not {}.", kind(value)));
            return None;
        };
        if text.chars().nth(most).is_some() {
            self.issue(path, format!("is longer than {most} characters."));
            return None;
        }
        Some((self.clean)(&printable(text)))
    }

    fn word<T>(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
        path: &str,
        parse: fn(&str) -> Option<T>,
        choices: &str,
    ) -> Option<T> {
        let value = given(fields, name)?;
        let word = value.as_str().and_then(parse);
        if word.is_none() {
            let shown = value.as_str().map_or_else(|| kind(value).to_owned(), |s| cut(s, 40));
            self.issue(path, format!("must be {choices}, not {}.", printable(&shown)));
        }
        word
    }
}

/// The fields of a report.
const NAMES: [&str; 9] = [
    "outcome",
    "summary",
    "deferred",
    "followUps",
    "humanActions",
    "question",
    "assertions",
    "findings",
    "verdict",
];

/// The fields, where one that is written otherwise has its known name: `human_actions` can only
/// mean `humanActions`. A field under its own name wins.
fn with_known_names(fields: Map<String, Value>) -> Map<String, Value> {
    let letters = |name: &str| name.replace(['_', '-', ' '], "").to_ascii_lowercase();
    let (mut known, others): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(name, _)| NAMES.contains(&name.as_str()));
    for (name, value) in others {
        let meant = NAMES.into_iter().find(|known| letters(known) == letters(&name));
        if let Some(meant) = meant.filter(|meant| !is_given(&known, meant)) {
            known.insert(meant.to_owned(), value);
        }
    }
    known
}

/// The field's value; null is as good as absent.
fn given<'v>(fields: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn is_given(fields: &Map<String, Value>, name: &str) -> bool {
    given(fields, name).is_some()
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A path without the parts that say nothing: `./a/./b` is `a/b`.
fn plain_path(text: &str) -> String {
    let parts = Path::new(text).components().filter(|part| *part != Component::CurDir);
    parts.collect::<std::path::PathBuf>().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Handed {
        parse(value.to_string().as_bytes(), &str::to_owned)
    }

    fn problems(value: &Value) -> Vec<String> {
        let Handed::Invalid(issues) = read(value) else { panic!("{value} was taken") };
        issues.into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect()
    }

    #[test]
    fn a_full_report_reads_and_its_document_form_reads_again() {
        let document = json!({
            "outcome": "done", "summary": "Added it.\nWith tests.", "deferred": ["IE 6"],
            "followUps": ["Dark mode"], "humanActions": ["Deploy"], "question": null,
            "assertions": [
                { "text": "tests pass", "check": { "command": "sh test.sh", "file": null } },
                { "text": "page is there", "check": { "file": "./web/index.html" } },
                { "text": "looks right", "check": { "person": "Open the page." } },
                "nothing else changed"
            ],
            "findings": [{ "text": "typo", "severity": "advisory", "file": "a.css" }],
            "verdict": "approve", "confidence": 0.9
        });

        let Handed::Report(report) = read(&document) else { panic!("the report was refused") };

        assert_eq!(report.assertions[0].check, Some(Check::Command("sh test.sh".to_owned())));
        assert_eq!(report.assertions[3].check, None);
        assert_eq!(report.verdict, Some(Verdict::Approve));
        assert_eq!(report.follow_ups, ["Dark mode"]);
        let stored = serde_json::to_value(&report).unwrap();
        assert_eq!(read(&stored), Handed::Report(report.clone()));
        assert_eq!(serde_json::from_value::<Report>(stored).unwrap(), *report);
    }

    #[test]
    fn a_report_in_a_code_fence_and_a_bare_question_are_understood() {
        let text = "```json\n{\"outcome\":\"needs_input\",\"question\":\"Which?\"}\n```\n";

        let handed = parse(text.as_bytes(), &str::to_owned);

        let text = "Which?".to_owned();
        let question = Some(Question { text, choices: Vec::new(), secret: None });
        let report = Report { outcome: Outcome::NeedsInput, question, ..Report::default() };
        assert_eq!(handed, Handed::Report(Box::new(report)));
    }

    #[test]
    fn json_that_is_no_object_is_refused_and_other_text_is_a_summary() {
        for text in ["[1]", "\"x\"", "7", "null", "```json\n[]\n```"] {
            let Handed::Invalid(issues) = parse(text.as_bytes(), &str::to_owned) else {
                panic!("{text} was taken")
            };
            assert!(issues[0].message.starts_with("It is JSON, but "), "{issues:?}");
        }
        for text in ["outcome: done", "[x] all done", "7 files changed"] {
            let handed = parse(text.as_bytes(), &str::to_owned);
            assert_eq!(handed, Handed::Text(text.to_owned()));
        }
    }

    #[test]
    fn a_field_that_is_written_otherwise_is_taken_under_its_name() {
        let document = json!({
            "Outcome": "done", "human_actions": ["Deploy"], "follow-ups": ["More"],
            "humanactions": ["lost"], "followUps": null
        });

        let Handed::Report(report) = read(&document) else { panic!("the report was refused") };

        assert_eq!(report.outcome, Outcome::Done);
        assert_eq!(report.follow_ups, ["More"]);
        assert_eq!(report.human_actions.len(), 1);
    }

    #[test]
    fn all_problems_come_at_once_with_their_paths() {
        let document = json!({
            "outcome": "finished", "summary": 3, "deferred": "x", "followUps": ["a", 2],
            "question": { "choices": ["a"] }, "assertions": [
                { "text": "a", "check": { "command": "x", "file": "y" } },
                { "text": "b", "check": { "file": "../../etc/passwd" } },
                { "text": " " }
            ],
            "findings": [{ "text": "t" }, 4]
        });

        let expected = [
            "outcome must be done, failed, needs_input or no_changes, not finished.",
            "summary must be a text, not a number.",
            "question.text is missing.",
            "deferred must be a list, not a text.",
            "followUps[1] must be a text, not a number.",
            "assertions[0].check must hold one of command, file or person.",
            "assertions[1].check.file must be a path within the repository, without `..`.",
            "assertions[2].text is empty.",
            "findings[0].severity is missing; it is blocking or advisory.",
            "findings[1] must be an object, not a number.",
        ];
        assert_eq!(problems(&document), expected);
    }

    #[test]
    fn a_question_must_come_with_an_outcome_that_waits_for_it() {
        let needs = json!({ "outcome": "needs_input" });

        assert_eq!(problems(&needs), ["question is missing, though the outcome is needs_input."]);
        assert!(problems(&json!({}))[0].starts_with("outcome is missing"));
    }

    #[test]
    fn a_question_may_ask_for_a_secret_by_its_name() {
        let asks = |question: &Value| json!({ "outcome": "needs_input", "question": question });

        let named = asks(&json!({ "text": "The key?", "secret": "STRIPE_WEBHOOK_SECRET" }));
        let Handed::Report(report) = read(&named) else { panic!("the report was refused") };
        let secret = report.question.and_then(|question| question.secret);
        assert_eq!(secret.as_deref(), Some("STRIPE_WEBHOOK_SECRET"));
        for bad in [json!("LD_PRELOAD"), json!("whsec_x-1"), json!(7), json!("")] {
            let said = problems(&asks(&json!({ "text": "The key?", "secret": bad })));
            assert!(said[0].starts_with("question.secret "), "{said:?}");
            assert!(!said[0].contains("whsec"), "{said:?}");
        }
        let both = asks(&json!({ "text": "?", "secret": "KEY_OF_IT", "choices": ["a"] }));
        assert!(problems(&both)[0].starts_with("question.choices "));
    }

    #[test]
    fn lists_and_texts_are_bounded() {
        let document = json!({
            "outcome": "done", "deferred": vec!["x"; MAX_LIST + 1],
            "followUps": ["y".repeat(MAX_TEXT + 1)], "summary": "z".repeat(MAX_SUMMARY)
        });

        let expected = [
            "deferred has 201 entries; 200 at most.",
            "followUps[0] is longer than 4000 characters.",
        ];
        assert_eq!(problems(&document), expected);
    }

    #[test]
    fn secrets_are_taken_out_of_every_text() {
        let clean = |text: &str| text.replace("s3cret", "[redacted]");
        let document = json!({
            "outcome": "failed", "summary": "key s3cret", "assertions": [
                { "text": "s3cret", "check": { "command": "x s3cret" } }
            ], "findings": [{ "text": "s3cret", "severity": "blocking", "file": "s3cret" }]
        });

        let handed = parse(document.to_string().as_bytes(), &clean);

        assert!(matches!(handed, Handed::Report(_)));
        assert!(!format!("{handed:?}").contains("s3cret"));
        let text = parse(b"# Done\nwith s3cret", &clean);
        assert_eq!(text, Handed::Text("# Done\nwith [redacted]".to_owned()));
    }

    #[test]
    fn only_an_object_with_an_outcome_at_the_end_of_a_message_is_a_report() {
        let read = |said: &str| in_words(said, &str::to_owned);

        for said in [
            "{\"outcome\": \"done\", \"summary\": \"it\"}",
            "Done.\n```json\n{\n\"outcome\": \"done\", \"summary\": \"it\"\n}\n```\n",
            "{\n not it\n}\n  {\"outcome\": \"done\", \"summary\": \"it\"}",
        ] {
            assert!(matches!(read(said), Handed::Report(_)), "{said}");
        }
        for said in ["", "Done.", "{\"a\": 1}", "{\"outcome\": \"done\"}\nMore.", "{", "x {"] {
            assert_eq!(read(said), Handed::Missing, "{said}");
        }
        assert!(matches!(read("{\"outcome\": \"great\"}"), Handed::Invalid(_)));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            drop(parse(&bytes, &str::to_owned));
            drop(parse(&[b"{\"outcome\":", &bytes[..], b"}"].concat(), &str::to_owned));
        }

        #[test]
        fn arbitrary_json_in_any_field_never_panics(
            field in "outcome|summary|question|assertions|findings|verdict|deferred",
            body in "[\\[\\]{}\",:a-z0-9]{0,40}",
        ) {
            let text = format!("{{\"outcome\":\"done\",\"{field}\":{body}}}");
            drop(parse(text.as_bytes(), &str::to_owned));
        }
    }
}
