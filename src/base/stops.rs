//! Points at which a test may hold the program for ever, to kill it there. A build for use has
//! none of them: [`reach`] is empty there.
//!
//! `ASSAY_STOP_AT=<point>[:<n>]` names the point and which passage of it, the first where nothing
//! is said; `ASSAY_STOP_MARK=<file>` names a file that is made once a thread is held. The other
//! threads go on until the test kills the process.

crate::words! {
    /// Where the program may be held.
    pub enum Stop {
        /// A change of the schema was run and is not committed.
        MigrationOpen = "migration_open",
        /// A change of the schema is committed, and nothing was served since.
        MigrationDone = "migration_done",
        /// Changes of a group were run, and none of them is committed.
        GroupOpen = "group_open",
        /// A group is on disk, and none of its callers knows.
        GroupCommitted = "group_committed",
        /// A blob's bytes are on disk under a name that means nothing.
        BlobWritten = "blob_written",
        /// A blob has its name, and no row names it.
        BlobNamed = "blob_named",
        /// A backup is written, under a name that means nothing.
        BackupWritten = "backup_written",
        /// A call of a tool did what it should, and its caller does not know.
        CallDone = "call_done",
        /// A job is claimed, and its run has not begun.
        JobClaimed = "job_claimed",
        /// A ticket's work tree is there, and the record does not say so.
        TreeMade = "tree_made",
        /// An agent's or check's process is there, waits, and is not on record.
        ProcessSpawned = "process_spawned",
        /// That process is on record and still waits.
        ProcessRecorded = "process_recorded",
        /// That process works.
        ProcessWorks = "process_works",
        /// That process is gone, and the record says that it may be there.
        ProcessEnded = "process_ended",
        /// An agent's work is on its branch, and what its node came to is not on record.
        WorkCommitted = "work_committed",
        /// A check has run, and others of its node have not.
        CheckEnded = "check_ended",
        /// What a node came to is known and not on record.
        NodeDone = "node_done",
        /// What a node came to is on record, and its job does not know.
        NodeRecorded = "node_recorded",
        /// A data operation's script is on record as about to run, and has not run.
        ScriptIntended = "script_intended",
        /// That script has run to its end, and the record does not say so.
        ScriptEnded = "script_ended",
        /// A webhook was told something, and the record does not say so.
        WebhookTold = "webhook_told",
        /// A landing is on record as intended, and the base branch has not moved.
        LandingIntended = "landing_intended",
        /// The base branch has moved, and a person's checkout of it has not followed.
        BaseMoved = "base_moved",
        /// The base branch and its checkout have moved, and the record does not say so.
        BaseLanded = "base_landed",
        /// The landing is on record, and its node's end is not.
        LandingSettled = "landing_settled",
    }
}

/// Passes a point, or stays there for ever where a test asked for it.
#[cfg(debug_assertions)]
pub fn reach(point: Stop) {
    held::reach(point);
}

/// Passes a point.
#[cfg(not(debug_assertions))]
#[inline]
pub const fn reach(_: Stop) {}

#[cfg(debug_assertions)]
mod held {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::Stop;

    struct Order {
        point: Stop,
        passages: AtomicU32,
        mark: PathBuf,
    }

    static ORDER: OnceLock<Option<Order>> = OnceLock::new();

    pub(super) fn reach(point: Stop) {
        let Some(order) = ORDER.get_or_init(order) else { return };
        // The passage that counts is the one that finds a single one left.
        if order.point != point || order.passages.fetch_sub(1, Ordering::Relaxed) != 1 {
            return;
        }
        std::fs::write(&order.mark, point.word()).expect("the mark of a stop can be made");
        loop {
            std::thread::park();
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own order, not a setting")]
    fn order() -> Option<Order> {
        let said = std::env::var("ASSAY_STOP_AT").ok()?;
        let mark = std::env::var_os("ASSAY_STOP_MARK").expect("a stop has a mark").into();
        let (word, passage) = said.split_once(':').unwrap_or((&said, "1"));
        let point = Stop::parse(word).expect("a stop has a name of the list");
        let passage: u32 = passage.parse().expect("a passage is a number");
        Some(Order { point, passages: AtomicU32::new(passage), mark })
    }
}
