//! `claim_ticket_node`: takes a node that waits for an agent in somebody's editor.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::wire::{self, TicketWire};
use crate::accounts::{Actor, Feature, Reach};
use crate::base::{ClaimId, Fault, ProjectId};
use crate::projects;
use crate::store::{Read, Tx};
use crate::tickets::claims::{LEASE, Taker};
use crate::tickets::editors::Prepared;
use crate::tickets::pipeline::claim::{self, Taken, Wanted};
use crate::tickets::states::NodeKind;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Takes a node that waits for an agent in somebody's editor.
pub struct ClaimTicketNode;

/// What `claim_ticket_node` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// Only a node of this ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: Option<String>,
    /// Only nodes of this project: its UUID, key, slug or name. All within the key's reach where
    /// absent.
    project: Option<String>,
    /// Only nodes of these kinds, such as `implement`.
    #[schemars(length(max = 15))]
    kinds: Option<Vec<NodeKind>>,
    /// What your agent is called in the record and in its commits: letters, digits, `.`, `_`, `-`.
    /// `editor` where absent.
    #[schemars(length(min = 1, max = 60))]
    agent_name: Option<String>,
    /// How long the claim lasts from each report, in seconds: 60 to 14,400. 900 where absent.
    #[schemars(range(min = 60, max = 14_400))]
    lease_seconds: Option<u64>,
}

/// What `claim_ticket_node` answers. Without a claim only the hint is there.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Output {
    /// The claim; null where no node waits.
    claim: Option<ClaimWire>,
    /// Why there is none, and when to look again.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<TicketWire>,
    /// The node.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<NodeWire>,
    /// What is to be done, as a process would have been told.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// The work tree, on the server's machine, with the branch checked out. Work in it: what is
    /// there at the report is committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree_path: Option<String>,
    /// The ticket's branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The commit that the branch was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_commit: Option<String>,
    /// How to get the branch into another clone on the server's machine; from elsewhere, put
    /// `ssh://HOST` before the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch: Option<String>,
    /// How to hand the result in.
    #[serde(skip_serializing_if = "Option::is_none")]
    report_format: Option<String>,
}

/// A claim.
#[derive(Debug, Serialize, JsonSchema)]
struct ClaimWire {
    /// What every report names.
    id: ClaimId,
    /// When it lapses without a report. ISO 8601, UTC.
    lease_until: String,
}

/// A node.
#[derive(Debug, Serialize, JsonSchema)]
struct NodeWire {
    /// Its name in the graph.
    #[serde(rename = "ref")]
    name: String,
    /// What it does.
    kind: NodeKind,
}

impl Tool for ClaimTicketNode {
    const NAME: &'static str = "claim_ticket_node";
    const TITLE: &'static str = "Claim a node to work on";
    const ABOUT: &'static str = "Takes the node that has waited longest for an agent in somebody's \
        editor, with all that is needed to do it: the prompt, the work tree, the branch. Nobody \
        else gets it while your claim holds.\n\nThe claim lapses after its lease; every \
        `report_node_progress` extends it. Hand the result in with `submit_node_report`, or give \
        the node back with `release_node`. A node that lapses waits again, and counts as an \
        interruption of its ticket. Nodes wait so where their project's settings name the profile \
        `editor` for them. Where nothing waits `claim` is null.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{ "project": "ACME", "agent_name": "cursor" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let agent = agent_name(input.agent_name.as_deref())?;
        let editors = cx.editors()?;
        editors.lapse().await?;
        let taken = cx.write(move |tx, actor| take(tx, actor, agent, &input)).await?;
        let Some(taken) = taken else {
            let hint = "No node waits to be claimed within this key's reach. Look again in a \
                        minute; list_tickets shows what is under way.";
            let output = Output { hint: Some(hint.to_owned()), ..Output::default() };
            return Ok(Done::new(output, "No node waits to be claimed."));
        };
        let prepared = editors.prepare(taken.clone()).await?;
        let (ticket, until) = cx.glance(|read, _| now(read, &taken))?;
        let (named, name) = (ticket.ticket_ref.clone(), taken.node.name.clone());
        let id = taken.claim.id;
        let summary = format!("{name} of {named} is yours until {until}.");
        let output = answer(taken, ticket, until, prepared);
        let report = json!({ "claim_id": id, "message": "Reading the code" });
        Ok(Done::new(output, summary).next("Say how far you are", "report_node_progress", report))
    }
}

/// A name that can stand in a commit's author.
fn agent_name(text: Option<&str>) -> Result<String, Fault> {
    let name = text.unwrap_or("editor").trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > 60 || !name.chars().all(is_plain) {
        let said = "expected 1 to 60 letters, digits, `.`, `_` or `-`";
        return Err(Fault::argument("agent_name", said));
    }
    Ok(name.to_owned())
}

fn take(
    tx: &mut Tx<'_>,
    actor: &Actor,
    agent: String,
    input: &Input,
) -> Result<(Option<Taken>, String), Fault> {
    let ticket = match &input.ticket {
        Some(named) => Some(super::find(tx, actor, named)?.id),
        None => None,
    };
    let wanted = Wanted {
        projects: reach(tx, actor, input.project.as_deref())?,
        ticket,
        kinds: input.kinds.clone().unwrap_or_default(),
    };
    let taker = Taker {
        key: actor.key(),
        holder: actor.label(),
        agent,
        lease: input.lease_seconds.map_or(LEASE, Duration::from_secs),
    };
    let found = claim::take(tx, actor.tenant, &wanted, &taker)?;
    let subject = found.as_ref().map(|taken| taken.ticket.reference()).unwrap_or_default();
    Ok((found, subject))
}

/// The projects that the call may take a node of; `None` for all.
fn reach(
    read: &Read<'_>,
    actor: &Actor,
    project: Option<&str>,
) -> Result<Option<Vec<ProjectId>>, Fault> {
    if let Some(named) = project.filter(|named| !named.trim().is_empty()) {
        return Ok(Some(vec![projects::resolve(read, actor, None, Some(named))?.id]));
    }
    Ok(match &actor.reach {
        Reach::All => None,
        Reach::Only(projects) => Some(projects.clone()),
    })
}

/// The ticket as it now stands, and when the claim lapses.
fn now(read: &Read<'_>, taken: &Taken) -> Result<(TicketWire, String), Fault> {
    let ticket = crate::tickets::ticket::get(read, taken.ticket.tenant, taken.ticket.id)?;
    Ok((wire::ticket(read, &ticket)?, taken.claim.lease_until.iso()))
}

fn answer(taken: Taken, ticket: TicketWire, until: String, prepared: Prepared) -> Output {
    let repository = prepared.repository.display();
    Output {
        claim: Some(ClaimWire { id: taken.claim.id, lease_until: until }),
        hint: None,
        ticket: Some(ticket),
        node: Some(NodeWire { name: taken.node.name, kind: taken.node.kind }),
        prompt: Some(prepared.prompt),
        worktree_path: Some(prepared.worktree.display().to_string()),
        fetch: Some(format!("git fetch {repository} {}", prepared.branch)),
        branch: Some(prepared.branch),
        base_commit: Some(prepared.base_commit),
        report_format: Some(report_format(taken.node.kind)),
    }
}

fn report_format(kind: NodeKind) -> String {
    let own = match kind {
        NodeKind::Contract => " Put what must hold into `assertions`, each with its check.",
        NodeKind::Review => " `needs_round` asks for another round of work: name what is wrong.",
        _ if kind.writes_code() => " What is in the work tree by then is committed for you.",
        _ => " This part only reads: what you change in the work tree is thrown away.",
    };
    format!(
        "Call submit_node_report with the claim's id, an outcome (succeeded, failed, needs_round \
         or awaiting_input), a summary of one paragraph, and the whole report as Markdown.{own}"
    )
}
