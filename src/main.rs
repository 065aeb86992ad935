//! The `assay` program.

use std::ffi::OsString;
use std::process::ExitCode;

/// A ticket is read in a few hundred small allocations, here and in `SQLite`; this allocator takes
/// half the time of the system's for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    assay::cli::run(&args)
}
