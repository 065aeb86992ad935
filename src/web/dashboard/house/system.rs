//! `/system`: how the server itself stands, for those who manage a team. What is the host's (paths,
//! sizes, settings, the work of all teams) is for those of the first team, who run it. No secret is
//! shown: there is none among the settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use askama::Template;
use axum::extract::State;

use crate::accounts::tenants;
use crate::base::{Fault, Millis};
use crate::jobs;
use crate::store::{Backup, Blobs, MIGRATIONS, Stock, last_backup};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{Fact, Moment, plain_word};
use crate::web::dashboard::shell::Shell;
use crate::web::humane;
use crate::web::metrics::memory;
use crate::web::page::Page;
use crate::web::site::{About, Site};
use crate::web::trouble::Trouble;
use crate::work::env::Paths;

/// Files of a folder of blobs that are counted one by one.
const FILES_MAX: u64 = 4_000;
/// Work trees that are counted one by one.
const TREES_MAX: usize = 2_000;
/// How old the last backup may be until that counts as amiss.
const BACKUP_OLD: Duration = Duration::from_hours(7 * 24);
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
    host: Option<Host>,
}

/// What only those see who run the server.
struct Host {
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
    /// A folder that cannot be written to.
    unwritable: Option<PathBuf>,
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
    let read = visitor.read(&site, |read, visitor| {
        let shell = Shell::load(read, visitor, "/system")?.still();
        let host = tenants::host(read)?.filter(|host| host.id == visitor.actor().tenant);
        let seen = host.map(|_| Ok::<_, Fault>((jobs::backlog(read)?, last_backup(read)?)));
        Ok((shell, seen.transpose()?))
    });
    let (shell, seen) = read.await?;
    let started = Moment::at(about.started, now);
    let well = database(&about, site.db().is_in_place(), now);
    let Some((backlog, backup)) = seen else {
        let server = server(&about, None, now);
        return Ok(Page(SystemPage { shell, parts: vec![well], server, started, host: None }));
    };
    let (blobs, uploads) = (site.blobs().clone(), site.uploads().blobs().clone());
    let file = site.db().path().to_owned();
    let git = site.git().version().await;
    let (folder, trees) = (about.data.clone(), about.worktrees.clone());
    let looked = move || OnDisk::look(&file, &folder, &trees, &blobs, &uploads);
    let disk = tokio::task::spawn_blocking(looked).await.map_err(Fault::internal)??;
    let queue = backlog.kinds.into_iter().map(|(kind, open)| QueueRow {
        kind: plain_word(&kind),
        running: humane::count(open.running),
        ready: humane::count(open.ready),
        longest: humane::duration(open.longest_wait),
    });
    let parts = [well].into_iter().chain(parts(git, &disk)).chain([kept(backup.as_ref(), now)]);
    Ok(Page(SystemPage {
        shell,
        parts: parts.collect(),
        server: server(&about, disk.memory, now),
        started,
        host: Some(Host {
            stored: stored(&disk, backup.as_ref()),
            settings: settings(&about, site.origin()),
            queue: queue.collect(),
        }),
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
            unwritable: Paths::new(data.to_owned()).unwritable(),
            space: rustix::fs::statvfs(data).ok().map(|about| {
                let unit = about.f_frsize;
                (about.f_bavail.saturating_mul(unit), about.f_blocks.saturating_mul(unit))
            }),
            memory: memory(),
            chromium: in_path(&CHROMIUM),
        })
    }
}

/// The first of some programs that is there to be started.
#[expect(clippy::disallowed_methods, reason = "PATH is the system's and no setting of ours")]
fn in_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|file| file.is_file())
}

impl Part {
    fn new(is_well: bool, name: &'static str, said: impl Into<String>) -> Self {
        Self { mark: Mark::part(is_well), name, said: said.into() }
    }
}

fn database(about: &About, is_in_place: bool, now: Millis) -> Part {
    let checked = about.checked_at.load(Ordering::Relaxed);
    let is_damaged = about.damaged.load(Ordering::Relaxed);
    let said = match (is_damaged, is_in_place, checked) {
        (true, _, _) => "It is damaged. Stop the server and restore a backup.".to_owned(),
        (_, false, _) => "Its file was moved away while the server runs. Move it back.".to_owned(),
        (_, _, 0) => "It answers. The check of the whole file has not ended yet.".to_owned(),
        _ => format!(
            "The whole file was checked {} and found sound.",
            humane::ago(Millis(checked), now)
        ),
    };
    Part::new(!is_damaged && is_in_place, "Database", said)
}

fn parts(git: Result<(u32, u32), Fault>, disk: &OnDisk) -> Vec<Part> {
    let (has_git, git) = match git {
        Ok((major, minor)) => (true, format!("Found, version {major}.{minor}.")),
        Err(fault) => (false, fault.message.clone()),
    };
    let chromium = match &disk.chromium {
        Some(path) => format!("Found at {}.", path.display()),
        None => "Not found. Nothing of this version needs it.".to_owned(),
    };
    let mut parts = vec![Part::new(has_git, "Git", git), Part::new(true, "Chromium", chromium)];
    if let Some(folder) = &disk.unwritable {
        let said = format!(
            "{} cannot be written to: its disk is read-only, or the server's user may not. Work \
             waits until it can.",
            folder.display()
        );
        parts.push(Part::new(false, "Data directory", said));
    }
    if let Some((free, all)) = disk.space {
        // SQLite needs room for its log, and agents for their work trees.
        let is_enough = free > (1 << 30) || free > all / 20;
        let said = format!("{} free of {}.", humane::size(free), humane::size(all));
        parts.push(Part::new(is_enough, "Disk", said));
    }
    parts
}

/// The last backup. Who takes none may keep copies by other means; who took one wants the next.
fn kept(backup: Option<&Backup>, now: Millis) -> Part {
    let Some(backup) = backup else {
        let said =
            "None was taken yet. On the server, “assay backup DIR” takes one while it works.";
        return Part::new(true, "Backup", said);
    };
    let ago = humane::ago(backup.taken_at, now);
    if now.since(backup.taken_at) > BACKUP_OLD {
        let said = format!("The last one was taken {ago}. On the server: “assay backup DIR”.");
        return Part::new(false, "Backup", said);
    }
    Part::new(true, "Backup", format!("The last one was taken {ago}."))
}

fn server(about: &About, memory: Option<(u64, u64)>, now: Millis) -> Vec<Fact> {
    let mut facts = vec![
        Fact::plain("Version", env!("CARGO_PKG_VERSION")),
        Fact::plain("Up for", humane::duration(now.since(about.started))),
    ];
    if let Some((now, most)) = memory {
        let said = format!("{}, {} at most", humane::size(now), humane::size(most));
        facts.push(Fact::plain("Memory", said));
    }
    facts
}

fn stored(disk: &OnDisk, backup: Option<&Backup>) -> Vec<Fact> {
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
    let mut facts = vec![
        Fact::plain("Database", humane::size(disk.database)),
        Fact::plain("Its write-ahead log", humane::size(disk.log)),
        Fact::code("Schema", schema),
        Fact::plain("Logs and evidence", stock(disk.kept)),
        Fact::plain("Attachments", stock(disk.attached)),
        Fact::plain("Work trees", trees),
    ];
    if let Some(backup) = backup {
        let key = if backup.has_key { "" } else { ", without secrets.key" };
        let took = humane::duration(Duration::from_millis(backup.took_ms));
        let said = format!("{}{key}, taken in {took}", humane::size(backup.bytes));
        facts.push(Fact::plain("Last backup", said));
        facts.push(Fact::code("Its folder", backup.folder.display().to_string()));
    }
    facts
}

fn settings(about: &About, origin: &str) -> Vec<Fact> {
    let or_none = |text: Option<&str>| text.unwrap_or("not set").to_owned();
    let hosts = about.allowed_hosts.join(", ");
    let metrics = if about.has_open_metrics { "for everybody" } else { "for a key of an admin" };
    let hosts = Some(&*hosts).filter(|hosts| !hosts.is_empty());
    vec![
        Fact::code("Data directory (--data)", about.data.display().to_string()),
        Fact::code("Listens on (--listen)", about.listen.to_string()),
        Fact::code("Reached by", origin),
        Fact::code("Public URL (--public-url)", or_none(about.public_url.as_deref())),
        Fact::code("More hosts (--allowed-host)", or_none(hosts)),
        Fact::code("Calls a minute and key (--rate-limit)", about.rate_limit.to_string()),
        Fact::code("Metrics at /metrics (--open-metrics)", metrics),
    ]
}

#[cfg(test)]
impl SystemPage {
    pub(super) fn sample() -> Self {
        let host = Host {
            stored: vec![Fact::plain("Database", "12.0 MB")],
            settings: vec![Fact::code("Data directory (--data)", "/srv/assay")],
            queue: vec![QueueRow {
                kind: "Run node".to_owned(),
                running: "2".to_owned(),
                ready: "4".to_owned(),
                longest: "3 s".to_owned(),
            }],
        };
        Self { host: Some(host), ..Self::sample_of_another_team() }
    }

    pub(super) fn sample_of_another_team() -> Self {
        Self {
            shell: Shell::sample("/system"),
            parts: vec![
                Part::new(true, "Database", "The whole file was checked 3 h ago and found sound."),
                Part::new(false, "Git", "git is not there."),
            ],
            server: vec![Fact::plain("Version", "0.1.0")],
            started: crate::web::dashboard::parts::samples::minutes_ago(200),
            host: None,
        }
    }
}
