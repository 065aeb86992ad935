//! `dispatch_ticket_graph`: files several tickets with dependencies among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::attach;
use super::dispatch_ticket::{self, RequesterInput};
use super::wire::{self, TicketWire};
use crate::accounts::{Actor, Feature};
use crate::base::{Code, Fault, Issue, ProjectId, ScopeId, text};
use crate::projects;
use crate::store::Tx;
use crate::tickets::Ticket;
use crate::tickets::batch::{self, Batched, Member};
use crate::tickets::dispatch::{DESCRIPTION_MAX, Dispatch, OPERATION_KEY_MAX};
use crate::tickets::states::{Kind, PassProfile, Preset};
use crate::tickets::ticket::Requester;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Files several tickets with dependencies among them.
pub struct DispatchTicketGraph;

/// What `dispatch_ticket_graph` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The tickets, 1 to 50, in any order.
    #[schemars(length(min = 1, max = 50))]
    tickets: Vec<TicketInput>,
    /// The project's UUID. Wins over `project`.
    project_id: Option<ProjectId>,
    /// The project's UUID, key, slug or name. Left out, it is the key's default project, or the
    /// only one there is.
    project: Option<String>,
    /// True says that files named in the texts are in the repository or on the web. The tickets of
    /// a graph have no attachments; a text that speaks of one is refused without this.
    confirm_no_attachments: Option<bool>,
    /// Who asks. For display; it gives no rights.
    requester: Option<RequesterInput>,
    /// A key that stays the same when the call is repeated: the repeated call returns the first
    /// one's tickets. It holds for the tenant, for ever.
    #[schemars(length(min = 1, max = 200))]
    operation_key: Option<String>,
}

/// One of the tickets.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TicketInput {
    /// What the other tickets of the call name it by, such as `schema`. Kept with the ticket.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// A short title.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// The full brief with its acceptance criteria, complete in itself.
    description: Option<String>,
    /// What sort of work it is. Told from the title and description where absent.
    kind: Option<Kind>,
    /// Which of the project's agent profiles does the work. `auto` where absent.
    preset: Option<Preset>,
    /// Whether the security and docs passes run. `auto` where absent.
    pass_profile: Option<PassProfile>,
    /// What must land first: names of this call, or refs of tickets that are there (UUIDs, `KEY-N`,
    /// `#N` of the same project). A name wins over a ref.
    #[schemars(length(max = 50))]
    depends_on: Option<Vec<String>>,
    /// One sentence that names the landed output of the parents which this ticket consumes. Needed
    /// with `depends_on`; at least 10 characters.
    depends_on_reason: Option<String>,
    /// The category's name; it is made where the project has none of that name.
    #[schemars(length(max = 100))]
    category: Option<String>,
}

/// What `dispatch_ticket_graph` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What the tickets have in common: the `scopeId` of each.
    #[serde(rename = "scopeId")]
    scope_id: Option<ScopeId>,
    /// The tickets, parents before children.
    tickets: Vec<NamedTicket>,
    /// How many these are.
    count: usize,
    /// Whether an earlier call with the same `operation_key` made them.
    replayed: bool,
}

/// One of the tickets, under its name.
#[derive(Debug, Serialize, JsonSchema)]
struct NamedTicket {
    /// What the call named it.
    name: String,
    /// The ticket.
    ticket: TicketWire,
}

impl Tool for DispatchTicketGraph {
    const NAME: &'static str = "dispatch_ticket_graph";
    const TITLE: &'static str = "Dispatch several tickets";
    const ABOUT: &'static str = "Files up to 50 tickets of one project with dependencies among \
        them, by names of your own, and starts those that wait for nothing. All of it is checked \
        first: unknown and double names, cycles, parents that will not land, the project. If \
        anything is wrong, every problem is told with its path and nothing is filed. The tickets \
        have one `scopeId`, and parents have lower numbers than their children.\n\n\
        They are filed as they are: none is split, and none is compared with tickets that are \
        there.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const BACKGROUND: bool = true;
    const EXAMPLE: &'static str = r#"{
  "project": "Acme Widgets",
  "operation_key": "theme-work",
  "tickets": [
    { "name": "store", "title": "Keep the chosen theme in local storage" },
    {
      "name": "toggle",
      "title": "Add a dark mode toggle to the header",
      "depends_on": ["store"],
      "depends_on_reason": "It reads and writes the theme that the store keeps."
    }
  ]
}"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let via = cx.via();
        let output = cx
            .write(move |tx, actor| {
                let output = file(tx, actor, via, input)?;
                let refs = output.tickets.iter().map(|it| it.ticket.ticket_ref.as_str());
                let subject = refs.collect::<Vec<_>>().join(" ");
                Ok((output, subject))
            })
            .await?;
        let summary = match (output.replayed, output.count) {
            (true, _) => "These tickets were filed by this call before.".to_owned(),
            (false, 1) => "1 ticket is filed.".to_owned(),
            (false, n) => format!("{n} tickets are filed."),
        };
        let first = output.tickets.first().map(|it| it.ticket.ticket_ref.clone());
        let done = Done::new(output, summary);
        Ok(match first {
            Some(named) => {
                let follow = json!({ "ticket": named });
                done.next(format!("Follow {named}"), "get_ticket", follow)
            }
            None => done,
        })
    }
}

fn file(tx: &mut Tx<'_>, actor: &Actor, via: &str, input: Input) -> Result<Output, Fault> {
    let key = operation_key(input.operation_key)?;
    // A replay is answered whatever else the call now says: the first call's tickets stand.
    if let Some(earlier) = batch::replay(tx, actor.tenant, key.as_deref())? {
        if earlier.iter().any(|ticket| !actor.may_reach(ticket.project)) {
            return Err(Fault::new(Code::Forbidden, "This key does not reach that project."));
        }
        return output(tx, &earlier, true);
    }
    let project = projects::resolve(tx, actor, input.project_id, input.project.as_deref())?;
    let requester = dispatch_ticket::requester(input.requester.unwrap_or_default())?;
    let members = members(actor, via, input.tickets, &requester)?;
    if input.confirm_no_attachments != Some(true) {
        for (index, Member { asked, .. }) in members.iter().enumerate() {
            attach::refuse_forgotten(&asked.title, &asked.description)
                .map_err(|fault| fault.issue(format!("tickets[{index}]"), "speaks of a file"))?;
        }
    }
    let find = |read: &crate::store::Read<'_>, named: &str| {
        super::find_in(read, actor, Some(project.id), named)
    };
    match batch::dispatch(tx, actor.tenant, &project, key.as_deref(), &members, find)? {
        Batched::Filed(tickets) => output(tx, &tickets, false),
        Batched::Replayed(tickets) => output(tx, &tickets, true),
    }
}

fn operation_key(key: Option<String>) -> Result<Option<String>, Fault> {
    let key = key.map(|key| key.trim().to_owned());
    if key.as_deref().is_some_and(str::is_empty) {
        let limit = format!("needs 1 to {OPERATION_KEY_MAX} visible characters");
        return Err(Fault::argument("operation_key", limit));
    }
    Ok(key)
}

fn output(tx: &Tx<'_>, tickets: &[Ticket], replayed: bool) -> Result<Output, Fault> {
    let named = |ticket: &Ticket| {
        let name = ticket.local_name.clone().unwrap_or_default();
        Ok(NamedTicket { name, ticket: wire::ticket(tx, ticket)? })
    };
    let scope_id = tickets.first().and_then(|ticket| ticket.scope);
    let tickets = tickets.iter().map(named).collect::<Result<Vec<_>, Fault>>()?;
    Ok(Output { scope_id, count: tickets.len(), tickets, replayed })
}

/// What the schema cannot say of the texts, all of it at once.
fn members(
    actor: &Actor,
    via: &str,
    tickets: Vec<TicketInput>,
    requester: &Requester,
) -> Result<Vec<Member>, Fault> {
    let mut issues: Vec<Issue> = Vec::new();
    let mut members = Vec::new();
    for (index, ticket) in tickets.into_iter().enumerate() {
        let mut amiss = |member: &str, message: String| {
            issues.push(Issue { path: format!("tickets[{index}].{member}"), message });
        };
        let name = dispatch_ticket::one_line(&ticket.name);
        let title = dispatch_ticket::one_line(&ticket.title);
        for (member, said) in [("name", &name), ("title", &title)] {
            if said.is_empty() {
                amiss(member, "needs at least one visible character".to_owned());
            }
        }
        let description = text::printable(&ticket.description.unwrap_or_default());
        if description.chars().count() > DESCRIPTION_MAX {
            amiss("description", format!("may have at most {DESCRIPTION_MAX} characters"));
        }
        let asked = Dispatch {
            title,
            description,
            kind: ticket.kind,
            preset: ticket.preset.unwrap_or(Preset::Auto),
            pass_profile: ticket.pass_profile.unwrap_or(PassProfile::Auto),
            depends_on: ticket.depends_on.unwrap_or_default(),
            depends_on_reason: ticket.depends_on_reason.map(|said| text::printable(&said)),
            requester: requester.clone(),
            category: ticket.category,
            replaces: None,
            seed_from_ref: None,
            attached: None,
            operation_key: None,
            override_duplicate: false,
            no_split: true,
            predrafted: true,
            conversation: Vec::new(),
            by_model: None,
            source: dispatch_ticket::source(via).to_owned(),
            actor: actor.label(),
        };
        members.push(Member { name, asked });
    }
    if issues.is_empty() {
        return Ok(members);
    }
    let fault = Fault::new(Code::InvalidArgument, "Nothing was filed.");
    Err(issues.into_iter().fold(fault, |fault, issue| fault.issue(issue.path, issue.message)))
}
