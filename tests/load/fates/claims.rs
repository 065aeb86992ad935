//! What must be true once every ticket has ended.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::graph::{self, Planned};
use super::house::House;
use super::{Filed, Report};

/// Problems of a sort that are told word for word.
const TOLD_MAX: usize = 5;

/// How a ticket stands in the database.
struct Stands {
    status: String,
    reason: String,
}

/// Looks at everything.
pub(super) fn look(
    house: &House,
    planned: &[Planned],
    filed: &[Option<Filed>],
    report: &mut Report,
) {
    if !house.stop() {
        report.problems.push("the server did not stop well".to_owned());
    }
    house.sweep();
    if !house.stop() {
        report.problems.push("the last server did not stop well".to_owned());
    }
    let stands = stands(house);
    ends(planned, filed, &stands, report);
    base(house, planned, filed, report);
    left(house, report);
    records(house, report);
    figures(house, filed, report);
}

/// The tickets by operation key.
fn stands(house: &House) -> HashMap<usize, Vec<Stands>> {
    let rows =
        "SELECT operation_key || char(10) || status || char(10) || coalesce(failure_reason, '')
        FROM tickets";
    let mut stands: HashMap<usize, Vec<Stands>> = HashMap::new();
    for row in house.database().raw_column(rows).unwrap() {
        let mut parts = row.splitn(3, '\n').map(str::to_owned);
        let key = parts.next().unwrap_or_default();
        let place = key.trim_start_matches("key-").parse().expect("a key of ours");
        let (status, reason) = (parts.next().unwrap(), parts.next().unwrap());
        stands.entry(place).or_default().push(Stands { status, reason });
    }
    stands
}

/// Every ticket that was answered is there once, and ended as it must.
fn ends(
    planned: &[Planned],
    filed: &[Option<Filed>],
    stands: &HashMap<usize, Vec<Stands>>,
    report: &mut Report,
) {
    let mut wrong = Vec::new();
    for (place, expected) in graph::ends(planned).into_iter().enumerate() {
        let rows = stands.get(&place).map_or(&[][..], Vec::as_slice);
        match (&filed[place], rows) {
            (Some(Filed::As(_)), [one]) if one.status == expected => {}
            (Some(Filed::As(named)), [one]) => wrong.push(format!(
                "{named}, “{}”, is {} and not {expected}: {}",
                planned[place].title(place),
                one.status,
                one.reason
            )),
            // Refused for the sake of a parent: then it could not have started.
            (Some(Filed::Refused), []) if expected == "cancelled" => {}
            (filed, rows) => {
                wrong.push(format!("No {place} was {filed:?} and is there {} times", rows.len()));
            }
        }
    }
    told("tickets did not end as they must", &wrong, report);
}

/// What landed is on the base branch once, behind what it builds on, and nothing else is there.
fn base(house: &House, planned: &[Planned], filed: &[Option<Filed>], report: &mut Report) {
    let log = house.git(&["log", "--first-parent", "--reverse", "--format=%s", "main"]);
    let mut landed: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, subject) in log.lines().skip(1).enumerate() {
        let named = subject.split(':').next().unwrap_or_default();
        landed.entry(named).or_default().push(at);
    }
    let names: Vec<Option<&str>> =
        filed.iter().map(|one| one.as_ref().and_then(Filed::named)).collect();
    let at = |place: usize| names[place].and_then(|named| landed.get(named)).map(Vec::as_slice);
    let mut wrong = Vec::new();
    for (place, end) in graph::ends(planned).into_iter().enumerate() {
        let count = at(place).map_or(0, <[usize]>::len);
        if count != usize::from(end == "succeeded") {
            wrong.push(format!("No {place} is {end} and on the base {count} times"));
        }
        for parent in planned[place].parents.iter().filter(|_| count > 0) {
            if at(*parent) >= at(place) {
                wrong.push(format!("No {place} landed before No {parent}, which it builds on"));
            }
        }
    }
    let known: BTreeSet<&str> = names.into_iter().flatten().collect();
    wrong.extend(
        landed
            .keys()
            .filter(|named| !known.contains(*named))
            .map(|named| format!("{named} landed")),
    );
    told("landings are not as they must be", &wrong, report);
    files(house, planned, report);
}

/// Each success brought its file, and nobody else did.
fn files(house: &House, planned: &[Planned], report: &mut Report) {
    let listed = house.git(&["ls-tree", "--name-only", "main", "tickets/"]);
    let there: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let ends = graph::ends(planned);
    let succeeded = ends.iter().enumerate().filter(|(_, end)| **end == "succeeded");
    let due: BTreeSet<String> = succeeded.map(|(at, _)| format!("tickets/{at}.txt")).collect();
    let wrong: Vec<String> = there.symmetric_difference(&due).cloned().collect();
    told("files of the base are missing or nobody's", &wrong, report);
}

/// Nothing is left behind: no tree, no process, no folder of a run, no lock, no branch but of work
/// that did not land.
fn left(house: &House, report: &mut Report) {
    told("work trees are left", &house.trees(), report);
    told("processes are left", &house.processes(), report);
    let listed = house.git(&["worktree", "list", "--porcelain"]);
    let trees = listed.lines().filter(|line| line.starts_with("worktree ")).skip(1);
    told("work trees are registered", &owned(trees), report);
    let runs = std::fs::read_dir(house.path("data/runs")).into_iter().flatten().flatten();
    let runs: Vec<String> = runs.map(|run| run.path().display().to_string()).collect();
    told("folders of runs are left", &runs, report);
    let status = house.git(&["status", "--porcelain"]);
    told("the checkout is changed", &owned(status.lines()), report);
    let done = "SELECT 'agent/' || lower(substr(hex(id), 1, 8) || '-' || substr(hex(id), 9, 4)
        || '-' || substr(hex(id), 13, 4) || '-' || substr(hex(id), 17, 4) || '-'
        || substr(hex(id), 21)) FROM tickets WHERE status = 'succeeded'";
    let done: BTreeSet<String> = house.database().raw_column(done).unwrap().into_iter().collect();
    let branches = house.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    let needless = |branch: &&str| {
        done.contains(*branch) || !(branch.starts_with("agent/") || *branch == "main")
    };
    let needless = owned(branches.lines().filter(needless));
    told("branches are left", &needless, report);
    let locks = house.git(&["count-objects", "-v"]);
    let garbage =
        locks.lines().filter(|line| line.starts_with("garbage: ") && *line != "garbage: 0");
    told("git finds garbage", &owned(garbage), report);
}

/// The record is closed, and no server had trouble.
fn records(house: &House, report: &mut Report) {
    let db = house.database();
    for (what, sql) in [
        (
            "the database is damaged",
            "SELECT integrity_check FROM pragma_integrity_check
            WHERE integrity_check <> 'ok'",
        ),
        ("processes stand on record", "SELECT hex(run_id) FROM processes"),
        (
            "keys of agents are good",
            "SELECT name FROM api_keys
            WHERE ticket_id IS NOT NULL AND revoked_at IS NULL",
        ),
        ("landings are open", "SELECT commit_sha FROM landings WHERE state = 'intended'"),
        ("jobs failed", "SELECT kind || ' ' || errors FROM jobs WHERE state = 'failed'"),
        (
            "jobs of nodes are open",
            "SELECT state FROM jobs
            WHERE kind = 'run_node' AND state NOT IN ('done', 'cancelled')",
        ),
        (
            "nodes are open",
            "SELECT kind || ' ' || status FROM nodes
            WHERE status NOT IN ('succeeded', 'failed', 'skipped', 'cancelled')",
        ),
        (
            "children began before their parents had ended",
            "SELECT c.title FROM tickets c
            JOIN ticket_dependencies d ON d.ticket_id = c.id JOIN tickets p ON p.id = d.parent_id
            WHERE c.started_at < p.completed_at",
        ),
    ] {
        told(what, &db.raw_column(sql).unwrap(), report);
    }
    let log = house.log();
    let bad = ["panicked", "ERROR", "database is locked"];
    let lines = log.lines().filter(|line| bad.iter().any(|word| line.contains(word)));
    told("servers logged trouble", &owned(lines), report);
}

fn figures(house: &House, filed: &[Option<Filed>], report: &mut Report) {
    let db = house.database();
    let count = |sql: &str| db.raw_column(sql).unwrap()[0].parse::<usize>().unwrap_or(0);
    report.interruptions = count("SELECT sum(interrupt_count) || '' FROM tickets");
    report.repairs = count("SELECT count(*) || '' FROM nodes WHERE kind = 'merge_repair'");
    let by_status = "SELECT status || ' ' || count(*) FROM tickets GROUP BY status";
    for row in db.raw_column(by_status).unwrap() {
        let (status, count) = row.split_once(' ').expect("a word and a number");
        report.ended.push((status.to_owned(), count.parse().unwrap()));
    }
    let refused = filed.iter().filter(|one| matches!(one, Some(Filed::Refused))).count();
    report.ended.push(("refused".to_owned(), refused));
}

fn owned<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    lines.map(str::to_owned).collect()
}

/// Adds problems of a sort: how many, and the first few.
fn told(what: &str, found: &[String], report: &mut Report) {
    if found.is_empty() {
        return;
    }
    let first: Vec<&str> = found.iter().take(TOLD_MAX).map(String::as_str).collect();
    report.problems.push(format!("{what} ({}): {}", found.len(), first.join("; ")));
}
