//! What a command prints: its result on standard output, everything else on standard error.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::base::fault::Details;
use crate::base::{Code, Fault, Issue, Millis, NextAction};

/// A line of the result.
pub(super) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// A result for a program.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    // Through a value, for what is written out already would stay on one line.
    Ok(line(&serde_json::to_string_pretty(&serde_json::to_value(value)?)?)?)
}

/// A remark for the person at the terminal.
pub(super) fn note(text: &str) {
    // Who closed standard error does not want to know.
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// A table: the heads in capitals, every column as wide as its widest cell.
pub(super) fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> io::Result<()> {
    lines_of(heads, rows).iter().try_for_each(|text| line(text))
}

fn lines_of<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    let heads = heads.map(str::to_uppercase);
    let lines = || std::iter::once(&heads).chain(rows);
    let widths: [usize; N] =
        std::array::from_fn(|at| lines().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    lines().map(line).collect()
}

/// A moment for people: `2026-07-29 14:00 UTC`, or a dash.
pub(super) fn moment(at: Option<Millis>) -> String {
    at.map_or_else(
        || "-".to_owned(),
        |at| {
            let iso = at.iso();
            format!("{} {} UTC", &iso[..10], &iso[11..16])
        },
    )
}

/// Says why a command failed, and gives its exit code.
pub(super) fn failure(error: &anyhow::Error) -> ExitCode {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(closed) {
        // Whoever reads has seen enough, as `head` does.
        return ExitCode::SUCCESS;
    }
    let Some(fault) = error.downcast_ref::<Fault>() else {
        note(&format!("Error: {error:#}"));
        return ExitCode::FAILURE;
    };
    for text in explain(&fault.message, fault) {
        note(&text);
    }
    if let Some(cause) = fault.cause() {
        note(&format!("  cause: {cause}"));
    }
    ExitCode::from(if fault.code == Code::InvalidArgument { 2 } else { 1 })
}

fn explain(message: &str, details: &Details) -> Vec<String> {
    let mut lines = vec![format!("Error: {message}")];
    // The message of a single problem says all of it already.
    let told = |issue: &Issue| message.contains(&issue.path) && message.contains(&issue.message);
    let news = details.issues.iter().filter(|issue| !told(issue));
    lines.extend(news.map(|Issue { path, message }| match path.as_str() {
        "" => format!("  {message}"),
        path => format!("  {path}: {message}"),
    }));
    lines.extend(details.next.iter().map(|next| match next {
        NextAction::Run(command) => format!("  run: {command}"),
        NextAction::Open(address) => format!("  open: {address}"),
        NextAction::Edit(file) => format!("  edit: {file}"),
        NextAction::Call { label, tool, args } => {
            format!("  {label}: assay call {tool} '{args}'")
        }
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [["é".to_owned(), "x".to_owned()], ["longer".to_owned(), String::new()]];

        assert_eq!(lines_of(["a", "state"], &rows), ["A       STATE", "é       x", "longer"]);
    }

    #[test]
    fn a_failure_names_its_problems_and_what_to_do() {
        let fault = Fault::new(Code::InvalidArgument, "Two problems.")
            .issue("name", "it is empty.")
            .issue("", "expected an object")
            .next(NextAction::Run("assay key list".to_owned()));

        let lines = explain(&fault.message, &fault);

        let expected = ["  name: it is empty.", "  expected an object", "  run: assay key list"];
        assert_eq!(lines[1..], expected);
    }

    #[test]
    fn a_problem_that_the_message_tells_is_not_told_again() {
        let fault = Fault::argument("name", "it is empty.");

        let lines = explain(&fault.message, &fault);

        assert_eq!(lines, ["Error: The argument name is not usable: it is empty."]);
    }

    #[test]
    fn a_moment_is_short() {
        assert_eq!(moment(Some(Millis(1_785_333_600_000))), "2026-07-29 14:00 UTC");
        assert_eq!(moment(None), "-");
    }
}
