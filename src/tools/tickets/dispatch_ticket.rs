//! `dispatch_ticket`: files a ticket and starts it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::attach::{self, AttachmentInput, Files};
use super::dispatched::{self, Output};
use super::repoint;
use super::{conversation, seed};
use crate::accounts::{Actor, Feature};
use crate::base::{Code, Fault, ProjectId, TicketId, text};
use crate::projects;
use crate::projects::git::BranchName;
use crate::store::Tx;
use crate::tickets::Ticket;
use crate::tickets::dispatch::{self, DESCRIPTION_MAX, Dispatch, Dispatched, OPERATION_KEY_MAX};
use crate::tickets::draft::model::{Draft, Said};
use crate::tickets::duplicates::{self, Look};
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
    /// What was said before this call, oldest first; 200,000 characters in all at most. Title, kind
    /// and description are drafted from it, by the language model where the server has one that
    /// answers, and else by rule: the title is what was asked last, where it says
    /// itself what it is about, and else the title that was sent; the description begins with the
    /// one that was sent and adds what was asked and agreed, constraints, acceptance points and
    /// files. System turns are never quoted, secrets are taken out, and the conversation is kept
    /// on the ticket's page.
    #[schemars(length(max = 200))]
    conversation: Option<Vec<conversation::TurnInput>>,
    /// True files title and description as they are: nothing is drafted and nothing is split.
    predrafted: Option<bool>,
    /// True files one ticket, however large its brief is.
    no_split: Option<bool>,
    /// True files the ticket although one like it is open or ended within the last 14 days. The
    /// audit log and the ticket's timeline say so. A repeated `operation_key` is answered with its
    /// first ticket all the same.
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

impl Tool for DispatchTicket {
    const NAME: &'static str = "dispatch_ticket";
    const TITLE: &'static str = "Dispatch a ticket";
    const ABOUT: &'static str = "Files a ticket for one of your projects and starts it: an agent \
        does the work on a branch of its own, the result is checked, and only then it lands.\n\n\
        Write the description as a complete brief with acceptance criteria; the agent sees nothing \
        else. Follow the ticket with `get_ticket`. A ticket with `depends_on` waits as `blocked` \
        until its parents have landed. Send an `operation_key` if the call may be repeated.\n\n\
        A call that asks for what an open ticket of the project asks for, or one that ended within \
        the last 14 days and was not cancelled, files nothing: the answer is that ticket, and \
        `duplicate` says why. Texts with another number, another file name or another word in the \
        same place of the title are different tickets.\n\n\
        A brief in numbered parts (`Phase 1`, numbered headings, a numbered list with more than a \
        line an entry) whose graph would have more nodes than the project allows becomes a chain \
        of tickets, one a part, each waiting for the one before; `ticket` is the first, `chain` \
        lists all, and the `operation_key` names the first. What stands before the parts and after \
        them is in each. Text without such parts is never split.";
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
        let look = look(cx, &input).await;
        let draft = by_model(cx, &input).await?;
        let before = Before { seed, look, draft };
        let (mut output, replaces) =
            cx.write(move |tx, actor| file(tx, actor, via, input, before)).await?;
        if replaces {
            output.repointed_dependents = Some(repoint::all(cx, output.ticket.id).await?);
        }
        let named = output.ticket.ticket_ref.clone();
        let summary = output.summary();
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

/// What the project has that is like the brief; none where the brief is yet to be drafted, or where
/// no project can be seen, which the writer then says.
async fn look(cx: &Cx, input: &Input) -> Option<Look> {
    if input.conversation.is_some() {
        return None;
    }
    let (title, description) = brief(input);
    let (id, named) = (input.project_id, input.project.clone());
    let look = cx.read(move |read, actor| {
        let project = projects::resolve(read, actor, id, named.as_deref())?;
        duplicates::look(read, actor.tenant, &project, &title, &description)
    });
    look.await.ok()
}

/// What the language model drafts from the conversation, where there are both. Nobody is asked for
/// what will not be filed: a replay, or a call that the writer refuses.
async fn by_model(cx: &Cx, input: &Input) -> Result<Option<Draft>, Fault> {
    let (Some(drafter), Some(turns)) = (cx.drafter(), input.conversation.clone()) else {
        return Ok(None);
    };
    let Ok(turns) = conversation::checked(turns) else { return Ok(None) };
    let (title, description) = brief(input);
    let said = Said::of(&title, &description, &turns).filter(|_| input.predrafted != Some(true));
    let Some(said) = said else { return Ok(None) };
    let (key, id, named) = (input.operation_key.clone(), input.project_id, input.project.clone());
    let is_new = cx.read(move |read, actor| {
        let key = key.as_deref().map(str::trim);
        let is_known = dispatch::replay(read, actor.tenant, key)?.is_some();
        Ok(!is_known && projects::resolve(read, actor, id, named.as_deref()).is_ok())
    });
    if !is_new.await? {
        return Ok(None);
    }
    Ok(drafter.draft(said).await)
}

/// What was found out before the write.
struct Before {
    seed: Option<BranchName>,
    look: Option<Look>,
    draft: Option<Draft>,
}

/// The title and the description as they are filed.
fn brief(input: &Input) -> (String, String) {
    let description = input.description.as_deref().unwrap_or_default();
    (one_line(&input.title), text::printable(description))
}

/// Files the ticket. Answers with the output, whether what waited for another ticket is to follow,
/// and with what the audit log says it was done to.
fn file(
    tx: &mut Tx<'_>,
    actor: &Actor,
    via: &str,
    input: Input,
    before: Before,
) -> Result<((Output, bool), String), Fault> {
    let Before { seed, look, draft: by_model } = before;
    // A replay is answered whatever else the call now says: the first call's ticket stands.
    if let Some(earlier) = dispatch::replay(tx, actor.tenant, input.operation_key.as_deref())? {
        if !actor.may_reach(earlier.project) {
            return Err(Fault::new(Code::Forbidden, "This key does not reach that project."));
        }
        return replayed(tx, &earlier);
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
    let checked = checked(actor, via, input)?;
    let asked = Dispatch { by_model, replaces, seed_from_ref, attached, ..checked };
    for named in &asked.depends_on {
        // Whether it is there at all is told with its place in the list, by the domain.
        match super::find_in(tx, actor, Some(project.id), named) {
            Err(fault) if fault.code == Code::Forbidden => return Err(fault),
            _ => {}
        }
    }
    match dispatch::dispatch(tx, actor.tenant, &project, &asked, look)? {
        Dispatched::Filed { ticket, despite } => {
            let named = ticket.reference();
            let subject = despite
                .map_or(named.clone(), |like| format!("{named} (override_duplicate of {like})"));
            Ok(((dispatched::filed(tx, &ticket)?, replaces.is_some()), subject))
        }
        Dispatched::Replayed(ticket) => replayed(tx, &ticket),
        Dispatched::Folded(same) => {
            let (output, subject) = dispatched::near(tx, &same)?;
            Ok(((output, false), subject))
        }
    }
}

fn replayed(tx: &Tx<'_>, earlier: &Ticket) -> Result<((Output, bool), String), Fault> {
    let (output, subject) = dispatched::replayed(tx, earlier)?;
    Ok(((output, earlier.replaces.is_some()), subject))
}

/// A text as one line of what can be seen.
pub(super) fn one_line(said: &str) -> String {
    text::printable(said).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the schema cannot say: texts that hold only space, lengths in characters, addresses.
fn checked(actor: &Actor, via: &str, input: Input) -> Result<Dispatch, Fault> {
    let (title, description) = brief(&input);
    if title.is_empty() {
        return Err(Fault::argument("title", "needs at least one visible character"));
    }
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
        description,
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
        override_duplicate: input.override_duplicate.unwrap_or(false),
        no_split: input.no_split.unwrap_or(false),
        predrafted: input.predrafted.unwrap_or(false),
        conversation: conversation::checked(input.conversation.unwrap_or_default())?,
        by_model: None,
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
