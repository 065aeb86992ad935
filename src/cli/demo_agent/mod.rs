//! `assay demo-agent`: the agent of the demonstration. It is deterministic and needs no model,
//! but what it does is real: it reads its prompt, edits the files of the worktree that it is
//! started in, reads the diff that it reviews, and writes a report like any other agent.

mod edit;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use self::edit::Work;
use crate::tickets::runner::report::{
    Assertion, Check, Finding, Outcome, Question, Report, Severity, Verdict,
};

/// Works on the prompt that comes on standard input, in the current folder. Takes no arguments.
pub fn run(_: &[OsString]) -> ExitCode {
    let mut prompt = String::new();
    let report = match io::stdin().read_to_string(&mut prompt) {
        Ok(_) => work(&Task::parse(&prompt), Path::new(".")),
        Err(error) => failed(format!("The prompt cannot be read: {error}.")),
    };
    match hand_back(&report) {
        Ok(()) if report.outcome == Outcome::Failed => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(io::stderr(), "The report cannot be written: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// What the prompt asks for. Its first lines are `Name: value`; the rest is for other agents.
#[derive(Debug, Default, PartialEq, Eq)]
struct Task {
    node: String,
    ticket: String,
    title: String,
    answer: Option<String>,
    base: Option<String>,
}

impl Task {
    fn parse(prompt: &str) -> Self {
        let mut task = Self::default();
        let mut in_head = true;
        for line in prompt.lines() {
            let Some((name, value)) = line.split_once(": ") else {
                in_head &= !line.trim().is_empty();
                continue;
            };
            let value = value.trim().to_owned();
            match name {
                "Node" if in_head => task.node = value,
                "Ticket" if in_head => task.ticket = value,
                "Title" if in_head => task.title = value,
                "Base" if in_head => task.base = Some(value),
                // An answer comes later than the question, and so does its line.
                "Answer" if !value.is_empty() => task.answer = Some(value),
                _ => {}
            }
        }
        task
    }

    /// Whether the title leaves a choice to a person.
    fn asks(&self) -> bool {
        let title = self.title.to_lowercase();
        title.contains('?')
            || title.split(|c: char| !c.is_alphanumeric()).any(|w| matches!(w, "which" | "choose"))
    }
}

fn work(task: &Task, place: &Path) -> Report {
    say("36", &format!("{} · {} · {}", task.ticket, task.node, task.title));
    match task.node.as_str() {
        "plan" => plan(task, place),
        "contract" => contract(task, place),
        "review" | "security" => review(task, place),
        "implement" if task.asks() && task.answer.is_none() => ask(task),
        "implement" => implement(task, place),
        _ => done(format!("Looked at {}: nothing to do for this step.", task.title)),
    }
}

fn plan(task: &Task, place: &Path) -> Report {
    let work = Work::of(&task.title, task.answer.as_deref());
    let files = work.files(place).join(", ");
    say("2", &format!("will touch {files}"));
    done(format!("1. {}\n2. Files: {files}.\n3. Check the result with the tests.", work.intent()))
}

fn contract(task: &Task, place: &Path) -> Report {
    let work = Work::of(&task.title, task.answer.as_deref());
    // What a person has yet to choose cannot be promised.
    let open = task.asks() && task.answer.is_none();
    let mut assertions: Vec<Assertion> = if open { Vec::new() } else { work.assertions(place) };
    if place.join("test.sh").exists() {
        assertions.push(Assertion {
            text: "The project's own tests pass.".to_owned(),
            check: Some(Check::Command("sh test.sh".to_owned())),
        });
    }
    say("2", &format!("{} assertions", assertions.len()));
    Report { assertions, ..done(format!("What must hold once this is done: {}", work.intent())) }
}

fn ask(task: &Task) -> Report {
    let title = task.title.to_lowercase();
    let choices: &[&str] = if title.contains("colour") || title.contains("color") {
        &["blue", "green", "purple"]
    } else {
        &["the short version", "the full version"]
    };
    let text = if task.title.ends_with('?') {
        task.title.clone()
    } else {
        format!("“{}”: which shall it be?", task.title)
    };
    say("33", &format!("? {text}"));
    let choices = choices.iter().map(|&choice| choice.to_owned()).collect();
    Report {
        outcome: Outcome::NeedsInput,
        question: Some(Question { text, choices, secret: None }),
        ..done("The title leaves a choice that is not mine to make.".to_owned())
    }
}

fn implement(task: &Task, place: &Path) -> Report {
    let work = Work::of(&task.title, task.answer.as_deref());
    match work.apply(place) {
        Ok(touched) if touched.is_empty() => {
            say("33", "it is there already");
            let summary = format!("Nothing to change: {} is there already.", work.name());
            Report { outcome: Outcome::NoChanges, ..done(summary) }
        }
        Ok(touched) => {
            for file in &touched {
                say("32", &format!("✓ edited {file}"));
            }
            Report {
                follow_ups: work.follow_up().into_iter().collect(),
                ..done(format!("{} Edited {}.", work.intent(), touched.join(", ")))
            }
        }
        Err(error) => failed(format!("The files cannot be edited: {error}.")),
    }
}

fn review(task: &Task, place: &Path) -> Report {
    let diff = match diff(task.base.as_deref(), place) {
        Ok(diff) => diff,
        Err(why) => return failed(format!("The diff cannot be read: {why}.")),
    };
    let added = diff.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    let (mut lines, mut findings) = (0, Vec::new());
    for line in added {
        lines += 1;
        let text = &line[1..];
        if ["<<<<<<< ", ">>>>>>> "].iter().any(|marker| text.starts_with(marker)) {
            findings.push(finding(Severity::Blocking, "A conflict marker was left in a file."));
        } else if text.chars().count() > 200 {
            findings.push(finding(Severity::Advisory, "A line is longer than 200 characters."));
        }
    }
    let files = diff.lines().filter(|line| line.starts_with("diff --git ")).count();
    say("2", &format!("read {files} files, {lines} added lines"));
    if files == 0 {
        findings.push(finding(Severity::Blocking, "There is no change to review."));
    }
    let blocked = findings.iter().any(|finding| finding.severity == Severity::Blocking);
    let verdict = if blocked { Verdict::ChangesRequested } else { Verdict::Approve };
    say(if blocked { "31" } else { "32" }, verdict.word());
    let summary = format!("Read the whole diff: {files} files, {lines} added lines.");
    Report { findings, verdict: Some(verdict), ..done(summary) }
}

/// Everything that differs from the base: commits of the branch and what is not committed yet.
fn diff(base: Option<&str>, place: &Path) -> Result<String, String> {
    let bases = [base.unwrap_or("HEAD~1"), "HEAD"];
    let mut why = String::new();
    for base in bases {
        let arguments = ["diff", "--no-ext-diff", "--no-color", "--end-of-options", base, "--"];
        let run = command("git").args(arguments).current_dir(place).output();
        let output = run.map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        String::from_utf8_lossy(&output.stderr).trim().clone_into(&mut why);
    }
    Err(why)
}

fn finding(severity: Severity, text: &str) -> Finding {
    Finding { text: text.to_owned(), severity, file: None }
}

fn done(summary: String) -> Report {
    Report { summary, ..Report::default() }
}

fn failed(summary: String) -> Report {
    say("31", &summary);
    Report { outcome: Outcome::Failed, ..done(summary) }
}

/// Prints a line in an ANSI colour, as agents do. A closed output stops nobody.
fn say(colour: &str, text: &str) {
    drop(writeln!(io::stdout(), "\u{1b}[{colour}m{text}\u{1b}[0m"));
}

/// Leaves the report where the runner asked for it; without a runner, shows it.
fn hand_back(report: &Report) -> io::Result<()> {
    let text = serde_json::to_string_pretty(report)?;
    let asked = std::env::vars_os().find(|(name, _)| name == "ASSAY_REPORT");
    match asked.map(|(_, path)| PathBuf::from(path)) {
        Some(path) => fs::write(path, text),
        None => writeln!(io::stdout(), "{text}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "an agent runs programs, and so does this one")]
fn command(program: &str) -> Command {
    Command::new(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(node: &str, title: &str) -> Task {
        let prompt = format!("Node: {node}\nTicket: ACME-1\nTitle: {title}\n\nDo it well.\n");
        Task::parse(&prompt)
    }

    #[test]
    fn the_head_of_the_prompt_is_read_and_an_answer_from_anywhere() {
        let prompt = "Node: implement\nTicket: ACME-2\nTitle: Pick: one\nBase: abc\n\n\
                      Title: not this\nAnswer: blue\n";

        let expected = Task {
            node: "implement".to_owned(),
            ticket: "ACME-2".to_owned(),
            title: "Pick: one".to_owned(),
            answer: Some("blue".to_owned()),
            base: Some("abc".to_owned()),
        };
        assert_eq!(Task::parse(prompt), expected);
    }

    #[test]
    fn a_title_that_leaves_a_choice_is_asked_about_once() {
        let place = tempfile::tempdir().unwrap();
        let mut asked = task("implement", "Choose an accent colour");

        let report = work(&asked, place.path());
        assert_eq!(report.outcome, Outcome::NeedsInput);
        assert_eq!(report.question.unwrap().choices, ["blue", "green", "purple"]);

        asked.answer = Some("green".to_owned());
        assert_eq!(work(&asked, place.path()).outcome, Outcome::Done);
        let css = fs::read_to_string(place.path().join("style.css")).unwrap();
        assert!(css.contains("--accent: green"), "{css}");
    }

    #[test]
    fn a_contract_promises_what_the_edit_then_keeps() {
        let titles = ["Add a dark mode toggle", "Add a footer with the year", "Say hello"];
        for title in titles {
            let place = tempfile::tempdir().unwrap();
            fs::write(place.path().join("index.html"), "<body>\n</body>\n").unwrap();
            fs::write(place.path().join("test.sh"), "exit 0\n").unwrap();

            let promised = work(&task("contract", title), place.path()).assertions;
            assert_eq!(work(&task("implement", title), place.path()).outcome, Outcome::Done);

            assert!(promised.len() >= 2);
            for assertion in promised {
                let Some(Check::Command(line)) = assertion.check else { panic!("{assertion:?}") };
                let status = command("sh").args(["-c", &line]).current_dir(&place).status();
                assert!(status.unwrap().success(), "{title}: {line}");
            }
            let again = work(&task("implement", title), place.path());
            assert_eq!(again.outcome, Outcome::NoChanges, "{title}");
        }
    }

    #[test]
    fn a_review_reads_the_diff() {
        let place = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let user = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
            let run = command("git").args(user).args(arguments).current_dir(&place).output();
            assert!(run.unwrap().status.success(), "{arguments:?}");
        };
        let page = place.path().join("index.html");
        fs::write(&page, "<body>\n</body>\n").unwrap();
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-qm", "first"]);
        let verdict = || work(&task("review", "Say hello"), place.path()).verdict;

        assert_eq!(verdict(), Some(Verdict::ChangesRequested));
        work(&task("implement", "Say hello"), place.path());
        assert_eq!(verdict(), Some(Verdict::Approve));
        fs::write(&page, "<<<<<<< HEAD\n").unwrap();
        assert_eq!(verdict(), Some(Verdict::ChangesRequested));
    }
}
