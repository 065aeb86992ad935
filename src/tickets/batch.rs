//! Several tickets at once, with dependencies among them by names of the caller's own: all are
//! checked before any is made, and all are made in one transaction.

use super::dispatch::{self, Dispatch, FILED, InBatch};
use super::similarity::Profile;
use super::ticket::Ticket;
use super::{duplicates, pipeline, reference};
use crate::base::{Code, Fault, Issue, ScopeId, TenantId};
use crate::projects::Project;
use crate::store::{Read, Tx};
use crate::tickets::states::Status;
use crate::{params, sql};

/// Tickets of one batch at most.
pub const MEMBERS_MAX: u32 = 50;

/// One ticket of a batch.
#[derive(Debug, Clone)]
pub struct Member {
    /// What the others call it.
    pub name: String,
    /// The ticket. Its `depends_on` holds names of the batch, and refs of tickets that are there;
    /// where one could be both, it is the name.
    pub asked: Dispatch,
}

/// What a batch came to.
#[derive(Debug, Clone)]
pub enum Batched {
    /// New tickets, parents before children.
    Filed(Vec<Ticket>),
    /// The tickets that the same operation key made before.
    Replayed(Vec<Ticket>),
}

/// What a ticket of a batch waits for.
enum Parent {
    /// The one at this place of the batch.
    Local(usize),
    /// One that is there.
    Known(Box<Ticket>),
}

/// A problem with one member.
struct Problem(Code, Issue);

impl Problem {
    fn new(code: Code, path: String, message: impl Into<String>) -> Self {
        Self(code, Issue { path, message: message.into() })
    }
}

/// The tickets that an earlier batch with the same key made, in the order of filing.
///
/// # Errors
/// `Conflict` where the key belongs to a ticket that was filed by itself.
pub fn replay(
    read: &Read<'_>,
    tenant: TenantId,
    key: Option<&str>,
) -> Result<Option<Vec<Ticket>>, Fault> {
    let Some(earlier) = dispatch::replay(read, tenant, key)? else { return Ok(None) };
    let Some(scope) = earlier.scope else {
        let message = format!(
            "The operation_key belongs to {}, which was filed by itself. Choose another.",
            earlier.reference()
        );
        return Err(Fault::new(Code::Conflict, message).issue("operation_key", "is taken"));
    };
    let of = params! { ":tenant": tenant, ":scope": scope, ":limit": MEMBERS_MAX };
    read.list(sql!("tickets.sql", "list_scope"), of, Ticket::from_row).map(Some)
}

/// Files a batch, or finds the one that the same call filed before. The key is the first ticket's.
/// `find` looks up a ref for the caller.
///
/// # Errors
/// Every problem of every ticket at once, each with its path; nothing is made then.
pub fn dispatch(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: &Project,
    key: Option<&str>,
    members: &[Member],
    find: impl Fn(&Read<'_>, &str) -> Result<Ticket, Fault>,
) -> Result<Batched, Fault> {
    if let Some(earlier) = replay(tx, tenant, key)? {
        return Ok(Batched::Replayed(earlier));
    }
    let mut problems = names(members);
    let parents = parents(tx, members, &find, &mut problems)?;
    let order = order(&local(&parents));
    if let Err(cycle) = &order {
        problems.push(closes(members, cycle));
    }
    let ready = dispatch::check_ready(project);
    refuse(problems, ready)?;
    let Ok(order) = order else { return Ok(Batched::Filed(Vec::new())) };
    file_all(tx, tenant, project, key, members, &parents, &order).map(Batched::Filed)
}

/// Names that are none, or that two tickets have.
fn names(members: &[Member]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let path = format!("tickets[{index}].name");
        let first = members.iter().position(|other| other.name == member.name);
        if let Some(first) = first.filter(|first| *first < index) {
            let message = format!("tickets[{first}] has the name {:?} already", member.name);
            problems.push(Problem::new(Code::InvalidArgument, path, message));
        }
    }
    problems
}

/// What each ticket waits for.
fn parents(
    read: &Read<'_>,
    members: &[Member],
    find: impl Fn(&Read<'_>, &str) -> Result<Ticket, Fault>,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Vec<Parent>>, Fault> {
    let mut all = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let mut own = Vec::new();
        for (place, named) in member.asked.depends_on.iter().enumerate() {
            let path = format!("tickets[{index}].depends_on[{place}]");
            match parent(read, members, named, &find)? {
                Ok(parent) => own.push(parent),
                Err((code, said)) => problems.push(Problem::new(code, path, said)),
            }
        }
        if !member.asked.depends_on.is_empty() && !dispatch::gives_reason(&member.asked) {
            let path = format!("tickets[{index}].depends_on_reason");
            let said = "at least 10 characters: which output of the parents it consumes";
            problems.push(Problem::new(Code::DependsOnReasonRequired, path, said));
        }
        all.push(own);
    }
    Ok(all)
}

/// What one entry of `depends_on` means, or why it means nothing.
fn parent(
    read: &Read<'_>,
    members: &[Member],
    named: &str,
    find: impl Fn(&Read<'_>, &str) -> Result<Ticket, Fault>,
) -> Result<Result<Parent, (Code, String)>, Fault> {
    let named = named.trim();
    if let Some(place) = members.iter().position(|member| member.name == named) {
        return Ok(Ok(Parent::Local(place)));
    }
    if reference::Reference::parse(named).is_none() {
        let said = format!("no ticket of this call is named {named:?}, and it is no ref");
        return Ok(Err((Code::InvalidArgument, said)));
    }
    match find(read, named) {
        Ok(found) if is_dead(&found) => {
            let said = format!("{} is {} and will not land", found.reference(), found.status);
            Ok(Err((Code::InvalidDependsOn, said)))
        }
        Ok(found) => Ok(Ok(Parent::Known(Box::new(found)))),
        Err(fault) if fault.code == Code::NotFound => {
            Ok(Err((Code::NotFound, "no such ticket".to_owned())))
        }
        Err(fault) if fault.code == Code::AmbiguousTicketRef => {
            Ok(Err((fault.code, fault.message)))
        }
        Err(fault) => Err(fault),
    }
}

fn is_dead(ticket: &Ticket) -> bool {
    matches!(ticket.status, Status::Failed | Status::Timeout | Status::Cancelled)
}

/// For each ticket the places of those of the batch that it waits for.
fn local(parents: &[Vec<Parent>]) -> Vec<Vec<usize>> {
    let place = |parent: &Parent| match parent {
        Parent::Local(place) => Some(*place),
        Parent::Known(_) => None,
    };
    parents.iter().map(|own| own.iter().filter_map(place).collect()).collect()
}

/// An order in which every ticket stands behind those that it waits for, otherwise as they came; or
/// the places along a cycle.
fn order(parents: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut placed: Vec<usize> = Vec::new();
    let is_free = |placed: &[usize], at: usize| {
        !placed.contains(&at) && parents[at].iter().all(|parent| placed.contains(parent))
    };
    while let Some(next) = (0..parents.len()).find(|at| is_free(&placed, *at)) {
        placed.push(next);
    }
    let Some(stuck) = (0..parents.len()).find(|at| !placed.contains(at)) else {
        return Ok(placed);
    };
    // Whoever is stuck waits for somebody who is stuck.
    let mut way = vec![stuck];
    let mut at = stuck;
    while let Some(next) = parents[at].iter().copied().find(|parent| !placed.contains(parent)) {
        if let Some(start) = way.iter().position(|seen| *seen == next) {
            return Err(way.split_off(start));
        }
        way.push(next);
        at = next;
    }
    Err(way)
}

fn closes(members: &[Member], cycle: &[usize]) -> Problem {
    let mut names: Vec<&str> = cycle.iter().map(|at| members[*at].name.as_str()).collect();
    names.extend(names.first().copied());
    let said = format!("closes a cycle: {}", names.join(" → "));
    let at = cycle.first().copied().unwrap_or_default();
    Problem::new(Code::DependencyCycle, format!("tickets[{at}].depends_on"), said)
}

/// All problems as one fault. Its code is theirs where they have one in common.
fn refuse(problems: Vec<Problem>, ready: Result<(), Fault>) -> Result<(), Fault> {
    let Some(Problem(first, _)) = problems.first() else { return ready };
    let common = problems.iter().all(|Problem(code, _)| code == first);
    let code = if common { *first } else { Code::InvalidArgument };
    let mut issues: Vec<Issue> = problems.into_iter().map(|Problem(_, issue)| issue).collect();
    if let Err(fault) = ready {
        issues.push(Issue { path: "project".to_owned(), message: fault.message });
    }
    let lines: Vec<String> =
        issues.iter().map(|Issue { path, message }| format!("{path}: {message}")).collect();
    let message = format!("Nothing was filed.\n{}", lines.join("\n"));
    let fault = Fault::new(code, message);
    Err(issues.into_iter().fold(fault, |fault, issue| fault.issue(issue.path, issue.message)))
}

fn file_all(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: &Project,
    key: Option<&str>,
    members: &[Member],
    parents: &[Vec<Parent>],
    order: &[usize],
) -> Result<Vec<Ticket>, Fault> {
    let scope: ScopeId = tx.new_id();
    let mut filed: Vec<(usize, Ticket)> = Vec::new();
    for at in order {
        let mut own: Vec<Ticket> = Vec::new();
        for parent in &parents[*at] {
            let parent = match parent {
                Parent::Known(known) => known.as_ref(),
                Parent::Local(place) => filed
                    .iter()
                    .find_map(|(at, ticket)| (at == place).then_some(ticket))
                    .ok_or_else(|| Fault::internal("a parent stands behind its child"))?,
            };
            if own.iter().all(|known| known.id != parent.id) {
                own.push(parent.clone());
            }
        }
        let Member { name, asked } = &members[*at];
        let key = key.filter(|_| filed.is_empty()).map(str::to_owned);
        let asked = Dispatch { operation_key: key, ..asked.clone() };
        let batch = InBatch { scope, name: name.clone() };
        let ticket = dispatch::file(tx, tenant, project, &asked, &own, FILED, Some(&batch))?;
        let profile = Profile::of(&asked.title, &asked.description);
        duplicates::remember(tx, tenant, &ticket, &profile)?;
        filed.push((*at, ticket));
    }
    pipeline::start_waiting(tx, tenant, project)?;
    Ok(filed.into_iter().map(|(_, ticket)| ticket).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_order_keeps_to_the_one_given_where_it_can() {
        assert_eq!(order(&[vec![], vec![], vec![]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[vec![2], vec![], vec![1]]), Ok(vec![1, 2, 0]));
        assert_eq!(order(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_cycle_is_told_without_what_only_hangs_on_it() {
        assert_eq!(order(&[vec![0]]), Err(vec![0]));
        assert_eq!(order(&[vec![1], vec![2], vec![1], vec![]]), Err(vec![1, 2]));
    }

    proptest! {
        #[test]
        fn every_ticket_stands_behind_its_parents_or_there_is_a_cycle(
            edges in prop::collection::vec((0_usize..8, 0_usize..8), 0..16),
        ) {
            let mut parents = vec![Vec::new(); 8];
            for (child, parent) in edges {
                parents[child].push(parent);
            }

            match order(&parents) {
                Ok(order) => {
                    let place = |at: usize| order.iter().position(|seen| *seen == at);
                    prop_assert_eq!(order.len(), 8);
                    for (child, own) in parents.iter().enumerate() {
                        prop_assert!(own.iter().all(|parent| place(*parent) < place(child)));
                    }
                }
                Err(cycle) => {
                    for (at, one) in cycle.iter().enumerate() {
                        prop_assert!(parents[*one].contains(&cycle[(at + 1) % cycle.len()]));
                    }
                }
            }
        }
    }
}
