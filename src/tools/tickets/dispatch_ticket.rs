//! `dispatch_ticket`: files a ticket and starts it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::attach::{self, AttachmentInput, Files};
use super::repoint::{self, RepointResult};
use super::seed;
use super::wire::{self, TicketWire};
use crate::accounts::{Actor, Feature};
use crate::base::{Code, Fault, ProjectId, TicketId, text};
use crate::projects;
use crate::projects::git::BranchName;
use crate::store::Tx;
use crate::tickets::dispatch::{self, DESCRIPTION_MAX, Dispatch, Dispatched, OPERATION_KEY_MAX};
use crate::tickets::states::{Channel, Kind, PassProfile, Preset};
use crate::tickets::ticket::Requester;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Files a ticket and starts it.
pub struct DispatchTicket;

/// What `dispatch_ticket` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// A short title.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// The project's UUID. Wins over `project`.
    project_id: Option<ProjectId>,
    /// The project's UUID, key, slug or name. Left out, it is the key's default project, or the
    /// only one there is.
    project: Option<String>,
    /// The full brief with its acceptance criteria, complete in itself.
    description: Option<String>,
    /// What sort of work it is. Told from the title and description where absent.
    kind: Option<Kind>,
    /// Which of the project's agent profiles does the work. `auto` where absent.
    preset: Option<Preset>,
    /// Whether the security and docs passes run. `auto` where absent: they run where the ticket's
    /// words call for them.
    pass_profile: Option<PassProfile>,
    /// Tickets that must land first: UUIDs, `KEY-N`, or `#N` of the same project.
    #[schemars(length(max = 50))]
    depends_on: Option<Vec<String>>,
    /// One sentence that names the landed output of the parents which this ticket consumes. Needed
    /// with `depends_on`; at least 10 characters.
    depends_on_reason: Option<String>,
    /// The name of an existing branch that the ticket's own branch starts from, instead of from the
    /// base branch: to go on with what another ticket left.
    #[schemars(length(max = 200))]
    seed_from_ref: Option<String>,
    /// A cancelled ticket that this one refiles: its UUID, `KEY-N`, or `#N` of the same project.
    /// What waited for it waits for this one instead, and what was cancelled only because it did
    /// not land is blocked again.
    replaces: Option<String>,
    /// True files title and description verbatim. They are never changed by this server, so it may
    /// be left out.
    #[expect(dead_code, reason = "always so here; taken because clients send it")]
    predrafted: Option<bool>,
    /// True says that the ticket must not be split. This server splits none.
    #[expect(dead_code, reason = "always so here; taken because clients send it")]
    no_split: Option<bool>,
    /// True files the ticket although one like it exists. This server compares none.
    #[expect(dead_code, reason = "always so here; taken because clients send it")]
    override_duplicate: Option<bool>,
    /// The id that `mint_attachment_upload_url` gave: the ticket gets it. Needed with
    /// `attachments`.
    job_id: Option<TicketId>,
    /// Files that were uploaded for this ticket; never the bytes themselves. Its agents find them
    /// in a folder beside their work tree.
    #[schemars(length(max = 20))]
    attachments: Option<Vec<AttachmentInput>>,
    /// True says that a file named in the text is in the repository or on the web, and nothing is
    /// to be attached. Without it, a text that says "see attached", or names a document such as
    /// `brief.pdf` without a path, is refused where nothing is attached.
    confirm_no_attachments: Option<bool>,
    /// Who asks. For display; it gives no rights.
    requester: Option<RequesterInput>,
    /// The category's name; it is made where the project has none of that name.
    #[schemars(length(max = 100))]
    category: Option<String>,
    /// A key that stays the same when the call is repeated: the repeated call returns the first
    /// one's ticket. It holds for the tenant, for ever.
    #[schemars(length(min = 1, max = 200))]
    operation_key: Option<String>,
}

/// Who asks.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequesterInput {
    /// A name to show.
    #[schemars(length(max = 200))]
    display_name: Option<String>,
    /// An e-mail address.
    #[schemars(length(max = 320))]
    email: Option<String>,
    /// The address of a picture; `https` only.
    #[schemars(length(max = 2000))]
    avatar_url: Option<String>,
    /// Where the request was made.
    channel: Option<Channel>,
    /// An opaque pointer back to there. Never a secret.
    #[schemars(length(max = 500))]
    external_ref: Option<String>,
}

/// What `dispatch_ticket` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The ticket.
    ticket: TicketWire,
    /// Only with `replaces`: what became of each ticket that waited for the replaced one.
    #[serde(skip_serializing_if = "Option::is_none")]
    repointed_dependents: Option<Vec<RepointResult>>,
    /// Only where the call was folded into a ticket that was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<DuplicateInfo>,
}

/// Into which ticket a call was folded, and why.
#[derive(Debug, Serialize, JsonSchema)]
struct DuplicateInfo {
    /// The ticket that was there.
    existing_job_id: TicketId,
    /// Its ref.
    existing_ticket_ref: String,
    /// Why the call counts as the same.
    match_reason: String,
    /// `operation_key`.
    source: &'static str,
}

impl Tool for DispatchTicket {
    const NAME: &'static str = "dispatch_ticket";
    const TITLE: &'static str = "Dispatch a ticket";
    const ABOUT: &'static str = "Files a ticket for one of your projects and starts it: an agent \
        does the work on a branch of its own, the result is checked, and only then it lands.\n\n\
        Write the description as a complete brief with acceptance criteria; the agent sees nothing \
        else. Follow the ticket with `get_ticket`. A ticket with `depends_on` waits as `blocked` \
        until its parents have landed. Send an `operation_key` if the call may be repeated.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const BACKGROUND: bool = true;
    const ARGUMENT_CODES: &'static [(&'static str, Code)] = &[
        ("kind", Code::InvalidKind),
        ("preset", Code::InvalidPreset),
        ("pass_profile", Code::InvalidPassProfile),
    ];
    const UNSERVED: &'static [(&'static str, &'static str)] = &[(
        "conversation",
        "drafting from a conversation is not served; write title and description",
    )];
    const EXAMPLE: &'static str = r#"{
  "title": "Add a dark mode toggle to the header",
  "project": "Acme Widgets",
  "description": "A button in the header switches between light and dark. The choice is kept.",
  "operation_key": "header-work:1"
}"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let via = cx.via();
        let seed = seed(cx, &input).await?;
        let (mut output, replaces) = cx
            .write(move |tx, actor| {
                let (output, replaces) = file(tx, actor, via, input, seed)?;
                let subject = output.ticket.ticket_ref.clone();
                Ok(((output, replaces), subject))
            })
            .await?;
        if replaces {
            output.repointed_dependents = Some(repoint::all(cx, output.ticket.id).await?);
        }
        let named = output.ticket.ticket_ref.clone();
        let summary = match &output.duplicate {
            Some(_) => format!("{named} was filed by this call before; nothing new was made."),
            None => format!("{named} is {}.", output.ticket.status),
        };
        let follow = json!({ "ticket": named });
        Ok(Done::new(output, summary).next(format!("Follow {named}"), "get_ticket", follow))
    }
}

/// The branch that the ticket is to start from, sure to be there. A replay needs none.
async fn seed(cx: &Cx, input: &Input) -> Result<Option<BranchName>, Fault> {
    let Some(said) = input.seed_from_ref.as_deref().filter(|said| !said.is_empty()) else {
        return Ok(None);
    };
    let branch = seed::name(said)?;
    let (key, id) = (input.operation_key.clone(), input.project_id);
    let named = input.project.clone();
    let project = cx.read(move |read, actor| {
        if dispatch::replay(read, actor.tenant, key.as_deref().map(str::trim))?.is_some() {
            return Ok(None);
        }
        projects::resolve(read, actor, id, named.as_deref()).map(Some)
    });
    if let Some(project) = project.await? {
        seed::check(cx, &project, &branch).await?;
    }
    Ok(Some(branch))
}

/// Files the ticket. Says too whether it replaces another, so that what waited for that one
/// follows.
fn file(
    tx: &mut Tx<'_>,
    actor: &Actor,
    via: &str,
    input: Input,
    seed: Option<BranchName>,
) -> Result<(Output, bool), Fault> {
    // A replay is answered whatever else the call now says: the first call's ticket stands.
    if let Some(earlier) = dispatch::replay(tx, actor.tenant, input.operation_key.as_deref())? {
        if !actor.may_reach(earlier.project) {
            return Err(Fault::new(Code::Forbidden, "This key does not reach that project."));
        }
        return Ok((replayed(tx, &earlier)?, earlier.replaces.is_some()));
    }
    let project = projects::resolve(tx, actor, input.project_id, input.project.as_deref())?;
    let replaces = match input.replaces.as_deref().filter(|named| !named.trim().is_empty()) {
        Some(named) => Some(repoint::replaced(tx, actor, project.id, named)?.id),
        None => None,
    };
    let files = Files {
        job: input.job_id,
        given: input.attachments.as_deref().unwrap_or_default(),
        none_meant: input.confirm_no_attachments == Some(true),
    };
    let text = (&*input.title, input.description.as_deref().unwrap_or(""));
    let attached = attach::checked(tx, actor.tenant, project.id, &files, text)?;
    let seed_from_ref = seed.map(String::from);
    let asked = Dispatch { replaces, seed_from_ref, attached, ..checked(actor, via, input)? };
    for named in &asked.depends_on {
        // Whether it is there at all is told with its place in the list, by the domain.
        match super::find_in(tx, actor, Some(project.id), named) {
            Err(fault) if fault.code == Code::Forbidden => return Err(fault),
            _ => {}
        }
    }
    match dispatch::dispatch(tx, actor.tenant, &project, &asked)? {
        Dispatched::Filed(ticket) => {
            let ticket = wire::ticket(tx, &ticket)?;
            let output = Output { ticket, repointed_dependents: None, duplicate: None };
            Ok((output, replaces.is_some()))
        }
        Dispatched::Replayed(ticket) => Ok((replayed(tx, &ticket)?, ticket.replaces.is_some())),
    }
}

fn replayed(tx: &Tx<'_>, earlier: &crate::tickets::Ticket) -> Result<Output, Fault> {
    let duplicate = DuplicateInfo {
        existing_job_id: earlier.id,
        existing_ticket_ref: earlier.reference(),
        match_reason: "A dispatch with the same operation_key made this ticket.".to_owned(),
        source: "operation_key",
    };
    let ticket = wire::ticket(tx, earlier)?;
    Ok(Output { ticket, repointed_dependents: None, duplicate: Some(duplicate) })
}

/// A text as one line of what can be seen.
pub(super) fn one_line(said: &str) -> String {
    text::printable(said).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the schema cannot say: texts that hold only space, lengths in characters, addresses.
fn checked(actor: &Actor, via: &str, input: Input) -> Result<Dispatch, Fault> {
    let title = one_line(&input.title);
    if title.is_empty() {
        return Err(Fault::argument("title", "needs at least one visible character"));
    }
    let description = input.description.unwrap_or_default();
    if description.chars().count() > DESCRIPTION_MAX {
        let limit = format!("may have at most {DESCRIPTION_MAX} characters");
        return Err(Fault::argument("description", limit));
    }
    let operation_key = input.operation_key.map(|key| key.trim().to_owned());
    if operation_key.as_deref().is_some_and(str::is_empty) {
        let limit = format!("needs 1 to {OPERATION_KEY_MAX} visible characters");
        return Err(Fault::argument("operation_key", limit));
    }
    Ok(Dispatch {
        title,
        description: text::printable(&description),
        kind: input.kind,
        preset: input.preset.unwrap_or(Preset::Auto),
        pass_profile: input.pass_profile.unwrap_or(PassProfile::Auto),
        depends_on: input.depends_on.unwrap_or_default(),
        depends_on_reason: input.depends_on_reason.map(|reason| text::printable(&reason)),
        requester: requester(input.requester.unwrap_or_default())?,
        category: input.category,
        replaces: None,
        seed_from_ref: None,
        attached: None,
        operation_key,
        source: source(via).to_owned(),
        actor: actor.label(),
    })
}

pub(super) fn requester(input: RequesterInput) -> Result<Requester, Fault> {
    let said = |text: Option<String>| {
        text.map(|text| text::printable(&text).trim().to_owned()).filter(|text| !text.is_empty())
    };
    let avatar_url = said(input.avatar_url);
    if avatar_url.as_deref().is_some_and(|url| !url.starts_with("https://")) {
        return Err(Fault::argument("requester.avatar_url", "must begin with https://"));
    }
    let email = said(input.email);
    if email.as_deref().is_some_and(|email| !email.contains('@')) {
        return Err(Fault::argument("requester.email", "is no e-mail address"));
    }
    Ok(Requester {
        name: said(input.display_name),
        email,
        avatar_url,
        channel: input.channel.map(|channel| channel.word().to_owned()),
        external_ref: said(input.external_ref),
    })
}

/// How the contract names a door.
pub(super) fn source(via: &str) -> &str {
    match via {
        "invoke" => "api",
        "browser" => "dashboard",
        other => other,
    }
}
