//! Where the server's own log goes while a test reads it.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing::Level;
use tracing::subscriber::{DefaultGuard, set_default};

/// What this thread logged so far.
#[derive(Clone, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    /// Takes what this thread logs, as detailed as that, until the guard is dropped.
    pub(crate) fn take(level: Level) -> (Self, DefaultGuard) {
        let log = Self::default();
        let sink = log.clone();
        let lines = tracing_subscriber::fmt().with_max_level(level).with_ansi(false);
        let guard = set_default(lines.with_writer(move || sink.clone()).finish());
        (log, guard)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
