//! `/system`: how the server itself stands. For those who manage the team. No secret is shown:
//! there is none among the settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use askama::Template;
use axum::extract::State;

use crate::base::{Fault, Millis};
use crate::jobs;
use crate::store::{Blobs, MIGRATIONS, Stock};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{Fact, Moment, plain_word};
use crate::web::dashboard::shell::Shell;
use crate::web::humane;
use crate::web::page::Page;
use crate::web::site::{About, Site};
use crate::web::trouble::Trouble;

/// Files of a folder of blobs that are counted one by one.
const FILES_MAX: u64 = 4_000;
/// Work trees that are counted one by one.
const TREES_MAX: usize = 2_000;
/// What a browser that can be driven is called.
const CHROMIUM: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// How the server stands.
#[derive(Template)]
#[template(path = "system.html")]
pub(super) struct SystemPage {
    shell: Shell,
    parts: Vec<Part>,
    server: Vec<Fact>,
    started: Moment,
    stored: Vec<Fact>,
    settings: Vec<Fact>,
    queue: Vec<QueueRow>,
}

/// A part of the server that can be amiss.
struct Part {
    mark: Mark,
    name: &'static str,
    said: String,
}

/// The open jobs of one kind, of all teams of this server.
struct QueueRow {
    kind: String,
    running: String,
    ready: String,
    longest: String,
}

/// What is read from the disk.
struct OnDisk {
    database: u64,
    log: u64,
    kept: Stock,
    attached: Stock,
    trees: usize,
    /// Free bytes, and all of them.
    space: Option<(u64, u64)>,
    /// Bytes of memory now and at most.
    memory: Option<(u64, u64)>,
    chromium: Option<PathBuf>,
}

/// `GET /system`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
) -> Result<Page<SystemPage>, Trouble> {
    visitor.demand_admin()?;
    let (about, now) = (site.about().clone(), site.now());
    let (blobs, uploads) = (site.blobs().clone(), site.uploads().blobs().clone());
    let database = site.db().path().to_owned();
    let git = site.git().version().await;
    let queue = visitor.read(&site, |read, visitor| {
        Ok((Shell::load(read, visitor, "/system")?.still(), jobs::backlog(read)?))
    });
    let (shell, backlog) = queue.await?;
    let (folder, trees) = (about.data.clone(), about.worktrees.clone());
    let looked = move || OnDisk::look(&database, &folder, &trees, &blobs, &uploads);
    let disk = tokio::task::spawn_blocking(looked).await.map_err(Fault::internal)??;
    let queue = backlog.kinds.into_iter().map(|(kind, open)| QueueRow {
        kind: plain_word(&kind),
        running: humane::count(open.running),
        ready: humane::count(open.ready),
        longest: humane::duration(open.longest_wait),
    });
    Ok(Page(SystemPage {
        shell,
        parts: parts(&about, site.db().is_in_place(), git, &disk, now),
        server: server(&about, &disk, now),
        started: Moment::at(about.started, now),
        stored: stored(&disk),
        settings: settings(&about, site.origin()),
        queue: queue.collect(),
    }))
}

impl OnDisk {
    fn look(
        database: &Path,
        data: &Path,
        trees: &Path,
        blobs: &Blobs,
        uploads: &Blobs,
    ) -> Result<Self, Fault> {
        let size = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self {
            database: size(database),
            log: size(Path::new(&log)),
            kept: blobs.count(FILES_MAX)?,
            attached: uploads.count(FILES_MAX)?,
            trees: fs::read_dir(trees).map_or(0, |entries| entries.take(TREES_MAX).count()),
            space: rustix::fs::statvfs(data).ok().map(|about| {
                let unit = about.f_frsize;
                (about.f_bavail.saturating_mul(unit), about.f_blocks.saturating_mul(unit))
            }),
            memory: fs::read_to_string("/proc/self/status").ok().and_then(|text| memory(&text)),
            chromium: in_path(&CHROMIUM),
        })
    }
}

/// Bytes of memory now and at most, as Linux tells.
fn memory(status: &str) -> Option<(u64, u64)> {
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1_024)
    };
    Some((of("VmRSS:")?, of("VmHWM:")?))
}

/// The first of some programs that is there to be started.
#[expect(clippy::disallowed_methods, reason = "PATH is the system's and no setting of ours")]
fn in_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|file| file.is_file())
}

fn parts(
    about: &About,
    is_in_place: bool,
    git: Result<(u32, u32), Fault>,
    disk: &OnDisk,
    now: Millis,
) -> Vec<Part> {
    let part = |is_well, name, said| Part { mark: Mark::part(is_well), name, said };
    let checked = about.checked_at.load(Ordering::Relaxed);
    let is_damaged = about.damaged.load(Ordering::Relaxed);
    let database = match (is_damaged, is_in_place, checked) {
        (true, _, _) => "It is damaged. Stop the server and restore a backup.".to_owned(),
        (_, false, _) => "Its file was moved away while the server runs. Move it back.".to_owned(),
        (_, _, 0) => "It answers. The check of the whole file has not ended yet.".to_owned(),
        _ => format!(
            "The whole file was checked {} and found sound.",
            humane::ago(Millis(checked), now)
        ),
    };
    let (has_git, git) = match git {
        Ok((major, minor)) => (true, format!("Found, version {major}.{minor}.")),
        Err(fault) => (false, fault.message.clone()),
    };
    let chromium = match &disk.chromium {
        Some(path) => format!("Found at {}.", path.display()),
        None => "Not found. Nothing of this version needs it.".to_owned(),
    };
    let mut parts = vec![
        part(!is_damaged && is_in_place, "Database", database),
        part(has_git, "Git", git),
        part(true, "Chromium", chromium),
    ];
    if let Some((free, all)) = disk.space {
        // SQLite needs room for its log, and agents for their work trees.
        let is_enough = free > (1 << 30) || free > all / 20;
        let said = format!("{} free of {}.", humane::size(free), humane::size(all));
        parts.push(part(is_enough, "Disk", said));
    }
    parts
}

fn server(about: &About, disk: &OnDisk, now: Millis) -> Vec<Fact> {
    let mut facts = vec![
        Fact::plain("Version", env!("CARGO_PKG_VERSION")),
        Fact::plain("Up for", humane::duration(now.since(about.started))),
    ];
    if let Some((now, most)) = disk.memory {
        let said = format!("{}, {} at most", humane::size(now), humane::size(most));
        facts.push(Fact::plain("Memory", said));
    }
    facts
}

fn stored(disk: &OnDisk) -> Vec<Fact> {
    let stock = |stock: Stock| {
        let about = if stock.is_reckoned { "about " } else { "" };
        let files = humane::counted(stock.files, "file", "files");
        format!("{about}{files}, {}", humane::size(stock.bytes))
    };
    let schema = MIGRATIONS.last().map_or("none", |migration| migration.name);
    let trees = if disk.trees == TREES_MAX {
        format!("{TREES_MAX} or more")
    } else {
        humane::count(disk.trees as u64)
    };
    vec![
        Fact::plain("Database", humane::size(disk.database)),
        Fact::plain("Its write-ahead log", humane::size(disk.log)),
        Fact::code("Schema", schema),
        Fact::plain("Logs and evidence", stock(disk.kept)),
        Fact::plain("Attachments", stock(disk.attached)),
        Fact::plain("Work trees", trees),
    ]
}

fn settings(about: &About, origin: &str) -> Vec<Fact> {
    let or_none = |text: Option<&str>| text.unwrap_or("not set").to_owned();
    let hosts = about.allowed_hosts.join(", ");
    let hosts = Some(&*hosts).filter(|hosts| !hosts.is_empty());
    vec![
        Fact::code("Data directory (--data)", about.data.display().to_string()),
        Fact::code("Listens on (--listen)", about.listen.to_string()),
        Fact::code("Reached by", origin),
        Fact::code("Public URL (--public-url)", or_none(about.public_url.as_deref())),
        Fact::code("More hosts (--allowed-host)", or_none(hosts)),
        Fact::code("Calls a minute and key (--rate-limit)", about.rate_limit.to_string()),
    ]
}

#[cfg(test)]
impl SystemPage {
    pub(super) fn sample() -> Self {
        let part = |is_well, name, said: &str| Part {
            mark: Mark::part(is_well),
            name,
            said: said.to_owned(),
        };
        Self {
            shell: Shell::sample("/system"),
            parts: vec![
                part(true, "Database", "The whole file was checked 3 h ago and found sound."),
                part(false, "Git", "git is not there."),
            ],
            server: vec![Fact::plain("Version", "0.1.0")],
            started: crate::web::dashboard::parts::samples::minutes_ago(200),
            stored: vec![Fact::plain("Database", "12.0 MB")],
            settings: vec![Fact::code("Data directory (--data)", "/srv/assay")],
            queue: vec![QueueRow {
                kind: "Run node".to_owned(),
                running: "2".to_owned(),
                ready: "4".to_owned(),
                longest: "3 s".to_owned(),
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        let status = "Name:\tassay\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\n";

        assert_eq!(memory(status), Some((1_048_576, 2_097_152)));
        assert_eq!(memory("Name:\tassay\n"), None);
    }
}
