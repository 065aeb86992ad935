//! How many requests were answered how, and how fast.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::text::{Kind, Text};
use super::{number, seconds};

/// What a request was for: few classes, so that there are few lines, and none names a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A page of the dashboard, or a form of one.
    Page,
    /// A style sheet, script or image.
    Asset,
    /// A stream of changes. It counts as answered when it begins.
    Stream,
    Mcp,
    Invoke,
    /// Addresses of CI programs.
    Ci,
    /// The upload of a file.
    Upload,
    Schema,
    /// Whether the server is well, and these figures.
    Health,
    /// An address that leads nowhere.
    Nowhere,
}

/// What each class is called, in the order of the classes.
const CLASSES: [&str; 10] =
    ["page", "asset", "stream", "mcp", "invoke", "ci", "upload", "schema", "health", "nowhere"];

impl Class {
    /// The class of a route, as the router writes it.
    fn of(route: Option<&str>) -> Self {
        let Some(route) = route else { return Self::Nowhere };
        match route.split('/').nth(1).unwrap_or_default() {
            "assets" => Self::Asset,
            "events" => Self::Stream,
            "mcp" => Self::Mcp,
            "uploads" => Self::Upload,
            "schemas" => Self::Schema,
            "healthz" | "readyz" | "metrics" => Self::Health,
            "api" if route == "/api/mcp/v1/invoke" => Self::Invoke,
            "api" if route.starts_with("/api/mcp") => Self::Mcp,
            "api" => Self::Ci,
            _ => Self::Page,
        }
    }
}

/// The bounds of the histogram, in microseconds.
const BOUNDS: [u64; 13] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];

/// What was counted of one class.
#[derive(Default)]
struct Counted {
    /// Requests that took up to each bound and longer than the one before, then those beyond.
    within: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
    /// How often each status was answered.
    statuses: Mutex<BTreeMap<u16, u64>>,
}

/// Counts requests. Cheap to clone.
#[derive(Clone, Default)]
pub struct Meter(Arc<[Counted; CLASSES.len()]>);

impl Meter {
    /// Counts a request once it is answered.
    pub(in crate::web) fn count(&self, route: Option<&str>, status: u16, took: Duration) {
        let counted = &self.0[Class::of(route) as usize];
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let at = BOUNDS.partition_point(|bound| *bound < micros);
        counted.within[at].fetch_add(1, Ordering::Relaxed);
        counted.micros.fetch_add(micros, Ordering::Relaxed);
        let mut statuses = counted.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        *statuses.entry(status).or_default() += 1;
    }

    pub(super) fn tell(&self, text: &mut Text) {
        let all = || CLASSES.iter().copied().zip(self.0.iter());
        let name = "assay_http_requests_total";
        text.head(name, Kind::Counter, "Requests that were answered.");
        for (class, counted) in all() {
            let statuses = counted.statuses.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for (status, count) in statuses {
                let labels = [("class", class), ("status", &*status.to_string())];
                text.line(name, &labels, number(count));
            }
        }
        let name = "assay_http_request_duration_seconds";
        text.head(name, Kind::Histogram, "Time until the head of an answer was there.");
        for (class, counted) in all() {
            counted.tell(name, class, text);
        }
    }
}

impl Counted {
    fn tell(&self, name: &str, class: &str, text: &mut Text) {
        let mut sum = 0;
        let within = self.within.iter().map(|count| count.load(Ordering::Relaxed));
        let within: Vec<u64> = within.collect();
        if within.iter().all(|count| *count == 0) {
            return;
        }
        for (bound, count) in BOUNDS.iter().zip(&within) {
            sum += count;
            let bound = seconds(Duration::from_micros(*bound)).to_string();
            let labels = [("class", class), ("le", &*bound)];
            text.line(&format!("{name}_bucket"), &labels, number(sum));
        }
        sum += within.last().copied().unwrap_or_default();
        text.line(&format!("{name}_bucket"), &[("class", class), ("le", "+Inf")], number(sum));
        let taken = Duration::from_micros(self.micros.load(Ordering::Relaxed));
        text.line(&format!("{name}_sum"), &[("class", class)], seconds(taken));
        text.line(&format!("{name}_count"), &[("class", class)], number(sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_has_a_class() {
        for (route, class) in [
            (Some("/"), Class::Page),
            (Some("/tickets/{ticket}"), Class::Page),
            (Some("/assets/{name}"), Class::Asset),
            (Some("/events"), Class::Stream),
            (Some("/mcp"), Class::Mcp),
            (Some("/api/mcp"), Class::Mcp),
            (Some("/api/mcp/v1/invoke"), Class::Invoke),
            (Some("/api/ci/projects"), Class::Ci),
            (Some("/api/{*path}"), Class::Ci),
            (Some("/uploads/{token}"), Class::Upload),
            (Some("/readyz"), Class::Health),
            (Some("/schemas/"), Class::Schema),
            (None, Class::Nowhere),
        ] {
            assert_eq!(Class::of(route), class, "{route:?}");
        }
        assert_eq!(CLASSES[Class::Nowhere as usize], "nowhere");
        assert_eq!(CLASSES[Class::Mcp as usize], "mcp");
    }

    #[test]
    fn a_histogram_counts_what_stayed_below_each_bound() {
        let meter = Meter::default();
        for micros in [900, 1_000, 1_001, 7_000, 20_000_000] {
            meter.count(Some("/"), 200, Duration::from_micros(micros));
        }
        let mut text = Text::default();

        meter.tell(&mut text);

        let text = text.finish();
        for line in [
            "assay_http_requests_total{class=\"page\",status=\"200\"} 5",
            "assay_http_request_duration_seconds_bucket{class=\"page\",le=\"0.001\"} 2",
            "assay_http_request_duration_seconds_bucket{class=\"page\",le=\"0.0025\"} 3",
            "assay_http_request_duration_seconds_bucket{class=\"page\",le=\"0.01\"} 4",
            "assay_http_request_duration_seconds_bucket{class=\"page\",le=\"10\"} 4",
            "assay_http_request_duration_seconds_bucket{class=\"page\",le=\"+Inf\"} 5",
            "assay_http_request_duration_seconds_sum{class=\"page\"} 20.009901",
            "assay_http_request_duration_seconds_count{class=\"page\"} 5",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
    }
}
