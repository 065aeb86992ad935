//! `assay agent-shim -- PROGRAM ARGUMENT…`, started by the server and by nobody else. It becomes
//! the agent's process, but not before it is told to: until then the server can write down which
//! process it is, and if the server dies first, nothing has run.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::tickets::runner::{GO, NOT_FOUND, NOT_RUNNABLE, NOT_STARTED};

/// Waits for [`GO`] on standard input and then becomes the program; what follows on standard
/// input is the program's. `args` are those after `agent-shim`, with or without the `--`.
pub fn run(args: &[OsString]) -> ExitCode {
    let args = match args {
        [first, rest @ ..] if first == "--" => rest,
        all => all,
    };
    let Some((program, arguments)) = args.split_first() else {
        return end(NOT_FOUND, "No agent command was given.");
    };
    match told_to_go() {
        Ok(true) => {}
        Ok(false) => return end(NOT_STARTED, "The server ended before the agent was started."),
        Err(error) => return end(NOT_STARTED, &format!("Standard input cannot be read: {error}")),
    }
    let error = command(program).args(arguments).exec();
    let program = program.to_string_lossy();
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE };
    end(
        code,
        &format!(
            "The agent command `{program}` could not be started: {error}. Check that it is \
             installed for the account that the server runs as, and that PATH names its folder."
        ),
    )
}

/// Reads exactly one byte, past no buffer: what follows belongs to the agent.
fn told_to_go() -> io::Result<bool> {
    let mut raw = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut byte = [0];
    match raw.read_exact(&mut byte) {
        Ok(()) => Ok(byte == [GO]),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[expect(clippy::disallowed_methods, reason = "the shim becomes this program")]
fn command(program: &OsString) -> Command {
    Command::new(program)
}

fn end(code: u8, said: &str) -> ExitCode {
    // A closed standard error leaves nobody to tell.
    drop(writeln!(io::stderr(), "assay: {said}"));
    ExitCode::from(code)
}
