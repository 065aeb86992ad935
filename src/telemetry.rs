//! What is logged, and where: lines on standard error, never on standard output, which belongs to
//! results. `ASSAY_LOG` takes a level, or targets with levels: `info,assay::work=debug`.

use std::io::IsTerminal;
use std::str::FromStr;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What is logged unless somebody says otherwise. The MCP library tells of every request at info
/// and of every refused call as a warning, which the doors do in their own words.
pub const DEFAULT: &str = "info,rmcp=error";

/// Starts logging. A filter that cannot be read is the default one, and says so.
pub fn start(filter: Option<&str>) {
    let wanted = filter.unwrap_or(DEFAULT);
    let read = Targets::from_str(wanted);
    let misread = read.is_err();
    let targets = read.unwrap_or_else(|_| Targets::new().with_default(tracing::Level::INFO));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // A second start, as in a test, keeps the first one's settings.
    drop(tracing_subscriber::registry().with(lines).with(targets).try_init());
    if misread {
        tracing::warn!("ASSAY_LOG={wanted:?} is no filter; logging at info");
    }
}
