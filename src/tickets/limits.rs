//! What a ticket and a project's month may use up: the figures, what crosses them, what follows.

use std::sync::Arc;
use std::time::Duration;

use super::claims::Claim;
use super::node::Node;
use super::pipeline::decide::Step;
use super::pipeline::record::Left;
use super::runner::{Bound, Usage};
use super::states::{NodeKind, NodeStatus};
use super::ticket::{self, Ticket};
use super::timeline::{self, Happened, Line, SERVER};
use super::{claims, node};
use crate::base::{Fault, Millis, NodeId, TicketId};
use crate::projects::Project;
use crate::projects::limits::{Bounds, Usd};
use crate::store::{Read, Tx, to_int};
use crate::{params, sql};

/// Tickets held in one transaction at most; the sweep takes the next.
const HELD_MAX: u32 = 500;

/// What was used up, all told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// How long nodes ran.
    pub time: Duration,
    /// Agent turns.
    pub turns: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// Cost in millionths of a US dollar.
    pub cost_micros: u64,
}

impl Used {
    /// What a node has used, with what the holder of its claim says so far.
    fn of(node: &Node, claim: Option<&Claim>, now: Millis) -> Self {
        let end = match node.status {
            NodeStatus::Running => Some(now),
            _ => node.completed_at,
        };
        let time = node.started_at.zip(end).map_or(Duration::ZERO, |(from, to)| to.since(from));
        let claimed = claim.map(|claim| &claim.used);
        let more = |of: fn(&claims::Used) -> u64| claimed.map_or(0, of);
        let tokens = node.input_tokens.saturating_add(node.output_tokens);
        Self {
            time,
            turns: node.turns.saturating_add(more(|used| used.turns)),
            tokens: tokens
                .saturating_add(more(|used| used.input_tokens))
                .saturating_add(more(|used| used.output_tokens)),
            cost_micros: node.cost_micros.saturating_add(more(|used| used.cost_micros)),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            time: self.time.saturating_add(other.time),
            turns: self.turns.saturating_add(other.turns),
            tokens: self.tokens.saturating_add(other.tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
        }
    }

    /// The first bound that it crosses, in words. What a person tries again may use as much again.
    fn crosses(&self, bounds: &Bounds, tries: u64, what: &str, setting: &str) -> Option<String> {
        let minutes = self.time.as_secs() / 60;
        let say = |name: &str, used: String, most: String| {
            format!("{what} has used {used} of {most} {name} (limits.{setting}).")
        };
        let most = |bound: Option<u64>| bound.map(|bound| bound.saturating_mul(tries));
        if let Some(most) = most(bounds.wall_minutes).filter(|most| minutes >= *most) {
            return Some(say("minutes", minutes.to_string(), most.to_string()));
        }
        if let Some(most) = most(bounds.turns).filter(|most| self.turns > *most) {
            return Some(say("turns", self.turns.to_string(), most.to_string()));
        }
        if let Some(most) = most(bounds.tokens).filter(|most| self.tokens > *most) {
            return Some(say("tokens", self.tokens.to_string(), most.to_string()));
        }
        let cost = most(bounds.cost_usd.map(Usd::micros));
        let cost = cost.filter(|most| self.cost_micros > *most)?;
        Some(say("US dollars", dollars(self.cost_micros), dollars(cost)))
    }
}

fn dollars(micros: u64) -> String {
    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

/// Which limit a ticket or one of its nodes has crossed, with the figures.
pub fn crossed(
    read: &Read<'_>,
    ticket: &Ticket,
    project: &Project,
) -> Result<Option<String>, Fault> {
    let limits = &project.settings.limits;
    if limits.node == Bounds::default() && limits.ticket == Bounds::default() {
        return Ok(None);
    }
    let nodes = node::list(read, ticket.tenant, ticket.id)?;
    let all = claims::of_ticket(read, ticket.tenant, ticket.id)?;
    let open =
        |node: &Node| all.iter().find(|claim| claim.node == node.id && claim.ended_as.is_none());
    let mut sum = Used::default();
    for node in &nodes {
        let used = Used::of(node, open(node), read.now());
        sum = sum.plus(used);
        let attempts = u64::from(node.attempt.max(1));
        if let Some(said) = used.crosses(&limits.node, attempts, &node.name, "node") {
            return Ok(Some(said));
        }
    }
    let tries = u64::from(timeline::retries(read, ticket.tenant, ticket.id)?) + 1;
    Ok(sum.crosses(&limits.ticket, tries, &ticket.reference(), "ticket"))
}

/// What ends the run of a node that is about to start, as soon as its agent tells that the node or
/// the ticket has crossed a limit. Time is looked at by the sweep.
pub fn bound(
    read: &Read<'_>,
    ticket: &Ticket,
    project: &Project,
    running: NodeId,
) -> Result<Option<Bound>, Fault> {
    let untimed = |bounds: &Bounds| Bounds { wall_minutes: None, ..bounds.clone() };
    let limits = &project.settings.limits;
    let (of_node, of_ticket) = (untimed(&limits.node), untimed(&limits.ticket));
    if of_node == Bounds::default() && of_ticket == Bounds::default() {
        return Ok(None);
    }
    let nodes = node::list(read, ticket.tenant, ticket.id)?;
    let used = |node: &Node| Used::of(node, None, read.now());
    let all = nodes.iter().map(used).fold(Used::default(), Used::plus);
    let Some(node) = nodes.into_iter().find(|node| node.id == running) else { return Ok(None) };
    let own = Used::of(&node, None, read.now());
    let attempts = u64::from(node.attempt.max(1));
    let tries = u64::from(timeline::retries(read, ticket.tenant, ticket.id)?) + 1;
    let named = ticket.reference();
    Ok(Some(Arc::new(move |usage: &Usage| {
        let more = Used {
            time: Duration::ZERO,
            turns: usage.turns,
            tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            cost_micros: usage.cost_micros.unwrap_or(0),
        };
        let said = own.plus(more).crosses(&of_node, attempts, &node.name, "node");
        said.or_else(|| all.plus(more).crosses(&of_ticket, tries, &named, "ticket"))
    })))
}

/// The next step after a node of `kind`, unless a limit is crossed: then the ticket's time is up.
/// What has landed has landed.
pub(super) fn bounded(
    read: &Read<'_>,
    ticket: &Ticket,
    project: &Project,
    kind: NodeKind,
    step: Step,
) -> Result<Step, Fault> {
    let goes_on = matches!(step, Step::GoOn | Step::AnotherRound { .. });
    if !goes_on || kind == NodeKind::Land {
        return Ok(step);
    }
    Ok(match crossed(read, ticket, project)? {
        Some(reason) => Step::TimeOut { reason },
        None => step,
    })
}

/// The month of a moment: `2026-07`.
fn month(at: Millis) -> String {
    at.iso().chars().take(7).collect()
}

/// Adds what a node's run used to its project's month.
pub(super) fn add(tx: &mut Tx<'_>, node: &Node, left: &Left) -> Result<(), Fault> {
    let tokens = left.input_tokens.saturating_add(left.output_tokens);
    if tokens == 0 && left.cost_micros == 0 {
        return Ok(());
    }
    let (ticket, month) = (ticket::get(tx, node.tenant, node.ticket)?, month(tx.now()));
    tx.run_one(
        sql!("limits.sql", "add"),
        params! { ":tenant": node.tenant, ":project": ticket.project, ":month": month,
        ":tokens": to_int(tokens), ":cost": to_int(left.cost_micros) },
    )
}

/// What a project has used in this month: tokens, and cost in millionths of a US dollar.
pub fn spent(read: &Read<'_>, project: &Project) -> Result<(u64, u64), Fault> {
    let month = month(read.now());
    let of = params! { ":tenant": project.tenant, ":project": project.id, ":month": month };
    let used = read.find(sql!("limits.sql", "month"), of, |row| {
        Ok((row.unsigned("tokens")?, row.unsigned("cost_micros")?))
    })?;
    Ok(used.unwrap_or_default())
}

/// Whether a project has used its month up, with the figures.
pub fn month_crossed(read: &Read<'_>, project: &Project) -> Result<Option<String>, Fault> {
    let limit = &project.settings.limits.project_month;
    if limit.tokens.is_none() && limit.cost_usd.is_none() {
        return Ok(None);
    }
    let (tokens, cost) = spent(read, project)?;
    let (month, name) = (month(read.now()), project.short_name());
    if let Some(most) = limit.tokens.filter(|most| tokens >= *most) {
        let said = format!("{name} has used {tokens} of {most} tokens in {month}");
        return Ok(Some(format!("{said} (limits.projectMonth).")));
    }
    let most = limit.cost_usd.map(Usd::micros).filter(|most| cost >= *most);
    Ok(most.map(|most| {
        let (cost, most) = (dollars(cost), dollars(most));
        format!("{name} has used {cost} of {most} US dollars in {month} (limits.projectMonth).")
    }))
}

/// Holds the project's waiting tickets. Each hold is counted once, until the ticket starts.
pub(super) fn hold(tx: &mut Tx<'_>, project: &Project, why: &str) -> Result<(), Fault> {
    let (tenant, now) = (project.tenant, tx.now());
    let of = params! { ":tenant": tenant, ":project": project.id, ":limit": HELD_MAX };
    let waiting: Vec<TicketId> = tx.list(sql!("limits.sql", "to_hold"), of, |row| row.get("id"))?;
    for id in waiting {
        let held = params! { ":tenant": tenant, ":id": id, ":now": now };
        tx.run_one(sql!("limits.sql", "hold"), held)?;
        let said = format!("Held: {why}");
        let line = Line { happened: Happened::Held, actor: SERVER, text: &said, node: None };
        timeline::record(tx, tenant, id, line)?;
    }
    Ok(())
}

/// Ends a ticket that has crossed a limit while it runs. `false` where it has crossed none.
pub fn enforce(tx: &mut Tx<'_>, ticket: &Ticket, project: &Project) -> Result<bool, Fault> {
    let Some(reason) = crossed(tx, ticket, project)? else { return Ok(false) };
    if super::pipeline::people::cannot_be_stopped(tx, ticket)?.is_some() {
        return Ok(false);
    }
    let now = ticket::get(tx, ticket.tenant, ticket.id)?;
    super::pipeline::end::time_out(tx, &now, &reason)?;
    Ok(true)
}
