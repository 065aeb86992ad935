//! What the system tells of this process.

use std::fs;

/// What Linux counts the time of processors in, for programs: hundredths of a second.
const TICKS_A_SECOND: f64 = 100.0;

/// Bytes of memory now and at most.
pub(in crate::web) fn memory() -> Option<(u64, u64)> {
    memory_in(&fs::read_to_string("/proc/self/status").ok()?)
}

fn memory_in(status: &str) -> Option<(u64, u64)> {
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1_024)
    };
    Some((of("VmRSS:")?, of("VmHWM:")?))
}

/// Seconds that processors worked for this process.
pub(super) fn processor_seconds() -> Option<f64> {
    seconds_in(&fs::read_to_string("/proc/self/stat").ok()?)
}

fn seconds_in(stat: &str) -> Option<f64> {
    // The second field is the program's name in brackets, which may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut ticks = rest.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((ticks.next()?.ok()? + ticks.next()?.ok()?) / TICKS_A_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        let status = "Name:\tassay\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\n";

        assert_eq!(memory_in(status), Some((1_048_576, 2_097_152)));
        assert_eq!(memory_in("Name:\tassay\n"), None);
    }

    #[test]
    fn the_time_of_processors_is_read_behind_any_name() {
        let stat = "12 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 150 250 0 0";

        assert_eq!(seconds_in(stat), Some(4.0));
        assert_eq!(seconds_in("12"), None);
    }
}
