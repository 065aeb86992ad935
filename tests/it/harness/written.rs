//! Where the server's own log goes while a test reads it.

use std::cell::RefCell;
use std::io::Write;
use std::sync::{Arc, Mutex, Once};

use tracing::Level;
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// What a thread logged since it was asked.
#[derive(Clone, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

/// Takes what its thread logs until it is dropped.
pub(crate) struct Taking;

thread_local! {
    static TAKEN: RefCell<Option<(Level, Written)>> = const { RefCell::new(None) };
}

static LISTENING: Once = Once::new();

impl Written {
    /// Takes what this thread logs, as detailed as that. One subscriber listens for all threads:
    /// one of a thread's own is at times not told, as whether anybody listens is remembered for
    /// all.
    pub(crate) fn take(level: Level) -> (Self, Taking) {
        LISTENING.call_once(listen);
        let log = Self::default();
        TAKEN.set(Some((level, log.clone())));
        (log, Taking)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        TAKEN.set(None);
    }
}

fn listen() {
    let is_taken = |level: &Level| {
        TAKEN.with_borrow(|taken| taken.as_ref().is_some_and(|(most, _)| level <= most))
    };
    let sink = || TAKEN.with_borrow(|taken| taken.clone().map(|(_, log)| log).unwrap_or_default());
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(sink);
    let lines = lines.with_filter(dynamic_filter_fn(move |about, _| is_taken(about.level())));
    let all = tracing_subscriber::registry().with(lines);
    tracing::subscriber::set_global_default(all).expect("nobody else listens");
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
