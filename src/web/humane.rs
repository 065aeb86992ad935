//! Numbers, sizes, durations and moments as people read them.

use std::time::Duration;

use crate::base::Millis;

/// A duration in its two largest units: `850 ms`, `12.4 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`.
#[must_use]
pub fn duration(lasted: Duration) -> String {
    let (millis, seconds) = (lasted.as_millis(), lasted.as_secs());
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{seconds}.{} s", millis % 1000 / 100),
        60..3_600 => two(seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// A duration in little room: `0.4s`, `48s`, `4m 12s`, `2h 10m`, `4d 3h`.
#[must_use]
pub fn brief(lasted: Duration) -> String {
    let seconds = lasted.as_secs();
    match seconds {
        0..10 => format!("{seconds}.{}s", lasted.subsec_millis() / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

fn two(large: u64, unit: &str, small: u64, part: &str) -> String {
    if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {part}") }
}

/// How long ago `at` was: `just now`, `12 s ago`, `4 min ago`, `3 h ago`, `9 d ago`. The scripts
/// of the page say it in the same words while time goes on.
#[must_use]
pub fn ago(at: Millis, now: Millis) -> String {
    let seconds = now.since(at).as_secs();
    if seconds == 0 && at > now {
        return format!("in {}", coarse(at.since(now).as_secs()));
    }
    if seconds < 5 { "just now".to_owned() } else { format!("{} ago", coarse(seconds)) }
}

fn coarse(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A count with its thousands apart: `180,000`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut said = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            said.push(',');
        }
        said.push(digit);
    }
    said
}

/// A size in bytes: `812 B`, `1.4 kB`, `23.0 MB`, in units of a thousand.
#[must_use]
pub fn size(bytes: u64) -> String {
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut scale, mut unit) = (1_000, 0);
    while bytes / scale >= 1_000 && unit + 1 < units.len() {
        scale *= 1_000;
        unit += 1;
    }
    format!("{}.{} {}", bytes / scale, bytes % scale / (scale / 10), units[unit])
}

/// `1 ticket`, `2 tickets`.
#[must_use]
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// Millionths of a dollar as `$1.23`, or `$0.004` where it is less than a cent.
#[must_use]
pub fn dollars(micros: u64) -> String {
    if micros < 10_000 {
        return format!("$0.{:04}", micros / 100);
    }
    format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_names_its_two_largest_units() {
        let said = |millis| duration(Duration::from_millis(millis));

        assert_eq!(said(0), "0 ms");
        assert_eq!(said(12_480), "12.4 s");
        assert_eq!(said(185_000), "3 min 5 s");
        assert_eq!(said(7_200_000), "2 h");
        assert_eq!(said(356_400_000), "4 d 3 h");
        assert_eq!(brief(Duration::from_secs(252)), "4m 12s");
    }

    #[test]
    fn a_moment_is_said_from_now() {
        let now = Millis(1_000_000_000);

        assert_eq!(ago(now, now), "just now");
        assert_eq!(ago(Millis(now.0 - 61_000), now), "1 min ago");
        assert_eq!(ago(Millis(now.0 + 120_000), now), "in 2 min");
    }

    #[test]
    fn large_numbers_stay_readable() {
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_450), "1.4 kB");
        assert_eq!(size(u64::MAX), "18.4 EB");
        assert_eq!(counted(1, "ticket", "tickets"), "1 ticket");
    }

    #[test]
    fn a_cost_is_said_in_dollars() {
        assert_eq!(dollars(1_234_567), "$1.23");
        assert_eq!(dollars(45_000), "$0.04");
        assert_eq!(dollars(4_200), "$0.0042");
    }
}
