//! Processes and how they end. An agent starts children, and children start children of their
//! own that leave the group; none of them may outlive its run. They are found by their process
//! group and by the marker in their environment, and a process is only ever signalled once it is
//! known to be the one that was meant.

use std::num::NonZeroI32;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::base::{Code, Fault};

/// The variable whose value marks every process of a run.
pub const MARKER: &str = "ASSAY_RUN";

/// How long killed processes may take to be gone. With [`GRACE_MAX`] it stays under ten seconds.
const KILL_WAIT: Duration = Duration::from_secs(4);
/// The longest grace between asking a process to end and ending it.
pub const GRACE_MAX: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A process that cannot be mistaken for another one that got its number later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessId {
    /// The number that the system gave it, also that of its process group.
    pub pid: u32,
    /// When it started, in clock ticks since the machine booted; 0 where the system does not say.
    pub started: u64,
}

impl ProcessId {
    /// The process that has this number now, if there is one.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        if cfg!(target_os = "linux") {
            system::stat(pid).map(|stat| Self { pid, started: stat.started })
        } else {
            let found = raw(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok());
            found.then_some(Self { pid, started: 0 })
        }
    }

    /// Whether this very process still runs. One that ended and was not waited for does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        if cfg!(target_os = "linux") {
            system::stat(self.pid).is_some_and(|stat| stat.runs() && stat.started == self.started)
        } else {
            Self::of(self.pid).is_some()
        }
    }
}

/// Ends every process of a run whose leader is a child of ours that was not waited for yet, so
/// that its number cannot have gone to another. They are asked first and killed after `grace`.
///
/// # Errors
/// If some process outlives even that, as one stuck in a broken disk does.
pub async fn end_group(leader: ProcessId, marker: &str, grace: Duration) -> Result<(), Fault> {
    Pack { leader, marker: marker.into(), by_group: true }.end(grace).await
}

/// Ends what is left of a run that an earlier server process started. Says whether there was
/// anything. A process that merely got the same number is left alone, and so is everything where
/// the system does not tell when a process started.
///
/// # Errors
/// As [`end_group`].
pub async fn end_orphan(leader: ProcessId, marker: &str, grace: Duration) -> Result<bool, Fault> {
    let pack =
        Pack { leader, marker: marker.into(), by_group: leader.started != 0 && leader.is_alive() };
    if !pack.by_group && pack.clone().gone().await {
        return Ok(false);
    }
    pack.end(grace).await?;
    Ok(true)
}

/// Kills a run's processes at once, for a run that is dropped before its end. The leader must be
/// a child of ours that was not waited for yet.
pub(super) fn kill_now(leader: ProcessId, marker: &str) {
    Pack { leader, marker: marker.into(), by_group: true }.signal(Signal::KILL);
}

/// All processes of one run.
#[derive(Clone)]
struct Pack {
    leader: ProcessId,
    marker: Arc<str>,
    /// Whether the leader's number is known to be still its own, and so its group's.
    by_group: bool,
}

impl Pack {
    async fn end(self, grace: Duration) -> Result<(), Fault> {
        self.clone().blocking(|pack| pack.signal(Signal::TERM)).await?;
        let asked = tokio::time::timeout(grace.min(GRACE_MAX), async {
            while !self.clone().gone().await {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        if asked.await.is_ok() {
            return Ok(());
        }
        // A killed process may have started another one in between, so look again each time.
        let killed = tokio::time::timeout(KILL_WAIT, async {
            loop {
                self.clone().blocking(|pack| pack.signal(Signal::KILL)).await?;
                if self.clone().gone().await {
                    return Ok(());
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        killed.await.unwrap_or_else(|_| {
            let said = "Some processes of an agent could not be ended.";
            Err(Fault::new(Code::Internal, said)
                .because(format!("the group of process {} outlived SIGKILL", self.leader.pid)))
        })
    }

    async fn gone(self) -> bool {
        self.blocking(Self::is_gone).await.unwrap_or(false)
    }

    /// Looking through the processes reads files, some of which may keep a reader waiting.
    async fn blocking<T: Send + 'static>(
        self,
        what: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        tokio::task::spawn_blocking(move || what(&self)).await.map_err(Fault::internal)
    }

    fn is_gone(&self) -> bool {
        if cfg!(target_os = "linux") {
            self.members().is_empty()
        } else {
            !self.by_group
                || raw(self.leader.pid)
                    .is_none_or(|group| rustix::process::test_kill_process_group(group).is_err())
        }
    }

    fn signal(&self, signal: Signal) {
        if self.by_group
            && let Some(group) = raw(self.leader.pid)
        {
            // That the group is gone already is the wished-for end, not an error.
            rustix::process::kill_process_group(group, signal).ok();
        }
        for pid in self.members() {
            system::signal(pid, signal, |pid| self.has(pid));
        }
    }

    fn members(&self) -> Vec<u32> {
        system::all().into_iter().filter(|&pid| self.has(pid)).collect()
    }

    /// Whether the process that now has this number belongs to the run.
    fn has(&self, pid: u32) -> bool {
        let Some(stat) = system::stat(pid) else { return false };
        let grouped = self.by_group && stat.group == i64::from(self.leader.pid);
        pid != std::process::id() && stat.runs() && (grouped || system::marked(pid, &self.marker))
    }
}

fn raw(pid: u32) -> Option<Pid> {
    // Zero and one would mean everybody, and negative numbers mean groups.
    let pid = i32::try_from(pid).ok().filter(|&pid| pid > 1)?;
    Some(NonZeroI32::new(pid).and_then(|pid| Pid::from_raw(pid.get())))?
}

/// One line of what the system says about a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: char,
    group: i64,
    started: u64,
}

impl Stat {
    /// Reads `/proc/<pid>/stat`. The second field is the program's name in parentheses and may
    /// hold anything, spaces and parentheses too, so fields are counted from its end.
    fn parse(text: &str) -> Option<Self> {
        let (_, after) = text.rsplit_once(')')?;
        let mut fields = after.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let group = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(16)?.parse().ok()?;
        Some(Self { state, group, started })
    }

    fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::{MARKER, Stat, raw};

    pub(super) fn stat(pid: u32) -> Option<Stat> {
        let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Stat::parse(&String::from_utf8_lossy(&bytes))
    }

    pub(super) fn all() -> Vec<u32> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    }

    /// Whether the process was started with the marker. Another account's cannot be read.
    pub(super) fn marked(pid: u32, marker: &str) -> bool {
        let wanted = format!("{MARKER}={marker}");
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|bytes| bytes.split(|&byte| byte == 0).any(|set| set == wanted.as_bytes()))
    }

    /// Signals a process if it is the one meant. The handle is taken first, so that the number
    /// cannot go to another process between the look and the signal.
    pub(super) fn signal(pid: u32, signal: Signal, meant: impl Fn(u32) -> bool) {
        let Some(Ok(handle)) = raw(pid).map(|raw| pidfd_open(raw, PidfdFlags::empty())) else {
            return;
        };
        if meant(pid) {
            // It may have ended meanwhile, which is what was wanted.
            pidfd_send_signal(&handle, signal).ok();
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use rustix::process::Signal;

    use super::Stat;

    pub(super) fn stat(_: u32) -> Option<Stat> {
        None
    }

    pub(super) fn all() -> Vec<u32> {
        Vec::new()
    }

    pub(super) fn marked(_: u32, _: &str) -> bool {
        false
    }

    pub(super) fn signal(_: u32, _: Signal, _: impl Fn(u32) -> bool) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_program_with_a_strange_name_is_still_read() {
        let text = "77 (a) b (c)) S 1 70 70 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 999 0";

        let stat = Stat::parse(text).unwrap();

        assert_eq!(stat, Stat { state: 'S', group: 70, started: 12_345 });
        assert!(stat.runs());
    }

    #[test]
    fn this_process_is_alive_and_one_with_another_start_is_not() {
        let own = ProcessId::of(std::process::id()).unwrap();

        assert!(own.is_alive());
        if cfg!(target_os = "linux") {
            assert!(!ProcessId { started: own.started + 1, ..own }.is_alive());
        }
    }

    #[test]
    fn numbers_that_mean_many_processes_name_none() {
        for pid in [0, 1, u32::MAX] {
            assert_eq!(raw(pid), None);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,80}") {
            prop_assert!(Stat::parse(&text).is_none_or(|stat| !stat.state.is_whitespace()));
        }
    }
}
