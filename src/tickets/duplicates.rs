//! Whether a brief asks for what a ticket of the project asks for already. Tickets that might be
//! it are found by their keys ([`Profile::keys`]), a bounded number of them whatever the project
//! holds, and the best of them are compared word by word.

use std::collections::HashMap;

use super::indexing;
use super::similarity::{KEYS, Profile};
use super::states::Status;
use super::ticket::{self, Ticket};
use crate::base::{Fault, Millis, ProjectId, TenantId, TicketId};
use crate::projects::Project;
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// The newest tickets that are looked at for one key.
const MET_MAX: u32 = 32;

/// Tickets that share a key and are read, at most.
const READ_MAX: usize = 16;

/// Keys that one sweep looks at, at most.
pub const SWEPT_MAX: u32 = 5_000;

/// How long a ticket that ended still counts, in milliseconds: 14 days.
const FINISHED_MILLIS: i64 = 14 * 24 * 60 * 60 * 1_000;

/// A ticket that asks for the same.
#[derive(Debug, Clone)]
pub struct Duplicate {
    /// The ticket.
    pub ticket: Ticket,
    /// Why it counts as the same, for a person.
    pub reason: String,
}

/// A look at the tickets that are there. It is made while reading, so that the writer, who lets
/// nobody else write meanwhile, has only those to look at that came after it.
#[derive(Debug)]
pub struct Look {
    profile: Profile,
    project: ProjectId,
    /// The newest ticket that the look could meet.
    newest: i64,
    /// Whether one of them asks for the same.
    met: bool,
}

/// Looks whether a ticket of the project asks for the same as a brief.
pub fn look(
    read: &Read<'_>,
    tenant: TenantId,
    project: &Project,
    title: &str,
    description: &str,
) -> Result<Look, Fault> {
    let profile = Profile::of(title, description);
    let newest = indexing::state(read)?.newest;
    let met = find(read, tenant, project, &profile, None)?.is_some();
    Ok(Look { profile, project: project.id, newest, met })
}

impl Look {
    /// How the brief is compared.
    pub(super) const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The ticket of the project that asks for the same, if there is one: open, or ended within the
    /// last 14 days and not cancelled. One that a retry opened again since the look is missed where
    /// it had ended before that.
    pub(super) fn duplicate(
        &self,
        read: &Read<'_>,
        tenant: TenantId,
        project: &Project,
    ) -> Result<Option<Duplicate>, Fault> {
        let is_whole = !self.met && self.project == project.id;
        find(read, tenant, project, &self.profile, is_whole.then_some(self.newest))
    }
}

/// The best match among the tickets after `after`, or among all. A threshold of 0 compares nothing.
fn find(
    read: &Read<'_>,
    tenant: TenantId,
    project: &Project,
    asked: &Profile,
    after: Option<i64>,
) -> Result<Option<Duplicate>, Fault> {
    let threshold = project.settings.dispatch.duplicate_threshold.value();
    if threshold <= 0.0 {
        return Ok(None);
    }
    let mut best: Option<(f64, TicketId)> = None;
    for n in met(read, tenant, &keys(asked, project.id), after)?.into_iter().take(READ_MAX) {
        let Some((id, known)) = candidate(read, tenant, project.id, n)? else { continue };
        let score = asked.score(&known);
        let is_same = score >= threshold && asked.difference(&known).is_none();
        if is_same && best.is_none_or(|(known, _)| known < score) {
            best = Some((score, id));
        }
    }
    let Some((score, id)) = best else { return Ok(None) };
    let ticket = ticket::get(read, tenant, id)?;
    let reason = reason(&ticket, score, threshold);
    Ok(Some(Duplicate { ticket, reason }))
}

/// The tickets that share a key with the brief: those that share most first, then the newest.
fn met(
    read: &Read<'_>,
    tenant: TenantId,
    keys: &[i64; KEYS],
    after: Option<i64>,
) -> Result<Vec<i64>, Fault> {
    let [k0, k1, k2, k3, k4, k5] = keys;
    let lately = match after {
        Some(after) => after,
        None => indexing::state(read)?.upto,
    };
    let of = params! { ":tenant": tenant, ":k0": k0, ":k1": k1, ":k2": k2, ":k3": k3, ":k4": k4,
    ":k5": k5, ":after": lately, ":limit": MET_MAX };
    let pair = |row: &Row<'_>| Ok((row.get::<i64>("ticket_n")?, row.get::<i64>("shared")?));
    let lately = read.list(sql!("duplicates.sql", "met_lately"), of, pair)?;
    let mut met: HashMap<i64, i64> = lately.into_iter().collect();
    for key in keys.iter().filter(|_| after.is_none()) {
        let of = params! { ":tenant": tenant, ":key": key, ":limit": MET_MAX };
        for n in read.list(sql!("duplicates.sql", "met"), of, |row| row.get("ticket_n"))? {
            *met.entry(n).or_default() += 1;
        }
    }
    let mut ranked: Vec<(i64, i64)> = met.into_iter().map(|(n, shared)| (shared, n)).collect();
    ranked.sort_unstable_by(|one, other| other.cmp(one));
    Ok(ranked.into_iter().map(|(_, n)| n).collect())
}

fn keys(profile: &Profile, project: ProjectId) -> [i64; KEYS] {
    profile.keys(project.uuid().as_bytes())
}

/// A ticket that still counts, as it was asked for: before it was split.
fn candidate(
    read: &Read<'_>,
    tenant: TenantId,
    project: ProjectId,
    n: i64,
) -> Result<Option<(TicketId, Profile)>, Fault> {
    let since = Millis(read.now().0 - FINISHED_MILLIS);
    let of = params! { ":tenant": tenant, ":project": project, ":n": n, ":since": since };
    read.find(sql!("duplicates.sql", "candidate"), of, |row| {
        let (title, description): (String, String) = (row.get("title")?, row.get("description")?);
        Ok((row.get("id")?, Profile::of(&title, &description)))
    })
}

fn reason(ticket: &Ticket, score: f64, threshold: f64) -> String {
    let (named, stands) = (ticket.reference(), standing(ticket.status));
    #[expect(clippy::cast_possible_truncation, reason = "a share of 100")]
    let percent = |share: f64| (share * 100.0 + 1e-9).floor() as i64;
    let alike = if score > 0.9999 {
        format!("{named}, which {stands}, asks for the same.")
    } else {
        format!(
            "{named}, which {stands}, is {} % the same in its words, with the same numbers and \
             file names; this project takes {} % for the same ticket.",
            percent(score),
            percent(threshold)
        )
    };
    let next = match ticket.status {
        Status::Failed | Status::Timeout => " retry_ticket goes on from where it stopped.",
        _ => "",
    };
    format!(
        "{alike} Nothing new was filed.{next} If a second ticket is meant, send \
         override_duplicate: true."
    )
}

const fn standing(status: Status) -> &'static str {
    match status {
        Status::Queued => "is queued",
        Status::Blocked => "waits for other tickets",
        Status::Running => "is running",
        Status::AwaitingInput => "waits for an answer",
        Status::Succeeded => "has landed",
        Status::Failed => "failed",
        Status::Timeout => "ran out of time",
        Status::Cancelled => "was cancelled",
    }
}

/// How far a sweep has come among the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    key: i64,
    n: i64,
}

impl Place {
    /// Before the first key.
    pub const START: Self = Self { key: i64::MIN, n: 0 };
}

/// Forgets the keys of tickets that count no more, among the next [`SWEPT_MAX`] behind `from`. Says
/// where to go on: at the start again, once all were looked at.
pub fn sweep(tx: &mut Tx<'_>, from: Place) -> Result<Place, Fault> {
    let since = Millis(tx.now().0 - FINISHED_MILLIS);
    let page = params! { ":key": from.key, ":n": from.n, ":since": since, ":limit": SWEPT_MAX };
    let page = tx.list(sql!("duplicates.sql", "page"), page, |row| {
        let place = Place { key: row.get("key")?, n: row.get("ticket_n")? };
        Ok((place, row.get::<TenantId>("tenant_id")?, row.get::<bool>("is_over")?))
    })?;
    for (place, tenant, _) in page.iter().filter(|(_, _, is_over)| *is_over) {
        let of = params! { ":key": place.key, ":n": place.n, ":tenant": tenant };
        tx.run_one(sql!("duplicates.sql", "forget"), of)?;
    }
    let is_whole = page.len() < SWEPT_MAX as usize;
    Ok(page.last().filter(|_| !is_whole).map_or(Place::START, |(place, ..)| *place))
}

/// Lets a ticket be found again that is open again: its keys may have been swept away.
pub(super) fn remember_again(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), Fault> {
    let of = params! { ":tenant": ticket.tenant, ":n": ticket.n };
    tx.run(sql!("duplicates.sql", "remember_again"), of)?;
    Ok(())
}

/// Lets the ticket be found by briefs like the one it was filed with.
pub(super) fn remember(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: &Ticket,
    asked: &Profile,
) -> Result<(), Fault> {
    indexing::note(tx, tenant, ticket.n, keys(asked, ticket.project))
}
