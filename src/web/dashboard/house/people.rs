//! `/people`: who is in the team, and who is invited. For those who manage it.

use askama::Template;
use axum::extract::{Form, Query, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use super::note;
use crate::accounts::invitations::{self, Invitation};
use crate::accounts::users::{self, Member};
use crate::accounts::{Actor, Role, User};
use crate::base::{Code, Fault, Millis, UserId};
use crate::store::{Read, Tx};
use crate::web::auth::Visitor;
use crate::web::dashboard::login::wrong_with;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{Choice, Moment, plain_word};
use crate::web::dashboard::sheets::Sheets;
use crate::web::dashboard::shell::Shell;
use crate::web::fresh_keys::Made;
use crate::web::page::{Page, PageWith, go_to};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// People who are listed at once.
const PEOPLE_SHOWN: usize = 30;

/// The people, the invitations, and a form for another.
#[derive(Template)]
#[template(path = "people.html")]
pub(super) struct PeoplePage {
    shell: Shell,
    fresh: Option<FreshLink>,
    people: Vec<PersonRow>,
    sheets: Sheets,
    invited: Vec<InvitedRow>,
    form: InviteForm,
    roles: Vec<Choice>,
}

/// A link that was just made. It is shown on this one page and never again.
struct FreshLink {
    email: String,
    link: String,
}

/// Somebody of the team.
struct PersonRow {
    id: String,
    name: String,
    email: String,
    role: String,
    mark: Mark,
    is_active: bool,
    is_you: bool,
    joined: Moment,
    seen: Option<Moment>,
    /// The roles that the reader may give them; empty where the reader may not change them.
    roles: Vec<Choice>,
}

/// Somebody who has not joined yet.
struct InvitedRow {
    email: String,
    role: String,
    by: String,
    until: Moment,
    can_withdraw: bool,
}

/// The form, empty or as it was sent.
#[derive(Default)]
struct InviteForm {
    email: String,
    /// Why it was not taken; empty at first.
    wrong: String,
}

/// What the page is asked for.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    did: String,
    /// Which part of the people, from 1.
    #[serde(default)]
    page: String,
}

/// The form as it is sent.
#[derive(Deserialize)]
pub(super) struct Invited {
    csrf: String,
    email: String,
    role: String,
}

/// An invitation to take back.
#[derive(Deserialize)]
pub(super) struct Withdrawn {
    csrf: String,
    email: String,
}

/// Another role for somebody.
#[derive(Deserialize)]
pub(super) struct NewRole {
    csrf: String,
    user: String,
    role: String,
}

/// Whether somebody may sign in.
#[derive(Deserialize)]
pub(super) struct Standing {
    csrf: String,
    user: String,
    disabled: bool,
}

/// `GET /people`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(Asked { did, page }): Query<Asked>,
) -> Result<Page<PeoplePage>, Trouble> {
    visitor.demand_admin()?;
    let mut page = load(&site, &visitor, page.parse().unwrap_or(1)).await?;
    if did == "invited" {
        let made = site.fresh_links().take(&visitor.session().id, site.now());
        page.fresh = made.map(|made| FreshLink {
            link: format!("{}/join/{}", site.origin(), made.secret.reveal()),
            email: made.name,
        });
    }
    page.shell = page.shell.after(&did);
    Ok(Page(page))
}

async fn load(site: &Site, visitor: &Visitor, page: usize) -> Result<PeoplePage, Fault> {
    let now = site.now();
    visitor.read(site, move |read, visitor| PeoplePage::load(read, visitor, now, page)).await
}

/// `POST /people/invite`: makes a link and leads to the page that shows it, this once.
pub(super) async fn invite(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Invited>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let by = visitor.clone();
    let (email, named) = (sent.email.clone(), sent.role.clone());
    let made = site.db().write(move |tx| {
        let role = role(&named)?;
        let token = invitations::create(tx, by.actor(), &email, role)?;
        let email = users::normal_email(&email)?;
        note(tx, &by, "invite_user", &format!("{email} as {role}"))?;
        Ok((email, token))
    });
    match made.await {
        Ok((name, secret)) => {
            site.fresh_links().put(&visitor.session().id, Made { name, secret }, site.now());
            Ok(go_to("/people?did=invited"))
        }
        Err(fault) => {
            let form = InviteForm { email: sent.email, wrong: wrong_with(fault)? };
            let page = load(&site, &visitor, 1).await?;
            let roles = Choice::choose(page.roles, &sent.role);
            let page = PeoplePage { form, roles, ..page };
            Ok(PageWith(StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

/// `POST /people/invite/withdraw`.
pub(super) async fn withdraw(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Withdrawn>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let by = visitor.clone();
    let withdrawn = site.db().write(move |tx| {
        invitations::withdraw(tx, by.actor(), &sent.email)?;
        note(tx, &by, "withdraw_invitation", &sent.email)
    });
    withdrawn.await?;
    Ok(go_to("/people?did=withdrawn"))
}

/// `POST /people/role`.
pub(super) async fn set_role(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<NewRole>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let by = visitor.clone();
    let changed = site.db().write(move |tx| {
        let user = known(tx, by.actor(), &sent.user)?;
        let role = role(&sent.role)?;
        users::demand_standing(by.actor(), role)?;
        users::set_role(tx, &user, role)?;
        note(tx, &by, "set_role", &format!("{} as {role}", user.email))
    });
    changed.await?;
    Ok(go_to("/people?did=role"))
}

/// `POST /people/disabled`.
pub(super) async fn set_disabled(
    State(site): State<Site>,
    visitor: Visitor,
    Form(sent): Form<Standing>,
) -> Result<Response, Trouble> {
    visitor.check(&sent.csrf)?;
    visitor.demand_admin()?;
    let by = visitor.clone();
    let disabled = sent.disabled;
    let changed = site.db().write(move |tx| {
        let user = known(tx, by.actor(), &sent.user)?;
        if user.id == by.login().user.id {
            let said = "You cannot disable yourself. Ask another owner or admin to do it.";
            return Err(Fault::new(Code::Conflict, said));
        }
        users::set_disabled(tx, &user, disabled)?;
        note(tx, &by, if disabled { "disable_user" } else { "enable_user" }, &user.email)
    });
    changed.await?;
    Ok(go_to(if disabled { "/people?did=disabled" } else { "/people?did=enabled" }))
}

fn role(word: &str) -> Result<Role, Fault> {
    let said = "choose one of those that are listed.";
    Role::parse(word).ok_or_else(|| Fault::argument("role", said))
}

/// The person of a form, whom the caller may change.
fn known(tx: &Tx<'_>, actor: &Actor, id: &str) -> Result<User, Fault> {
    let none = || Fault::new(Code::NotFound, "There is no such person in the team.");
    let id = UserId::parse(id).ok_or_else(none)?;
    let user = users::find(tx, actor.tenant, id)?.ok_or_else(none)?;
    users::demand_standing(actor, user.role)?;
    Ok(user)
}

/// The roles that somebody may give, in plain words.
fn roles(actor: &Actor, chosen: Role) -> Vec<Choice> {
    let hint = |role| match role {
        Role::Owner => "Everything, owners included.",
        Role::Admin => "People, keys, projects and tickets.",
        Role::Member => "Filing tickets and working with them.",
        Role::Viewer => "Looking.",
    };
    let may_give = Role::ALL.iter().filter(|role| users::demand_standing(actor, **role).is_ok());
    let all = may_give.map(|role| Choice {
        hint: hint(*role),
        ..Choice::new(role.word(), plain_word(role.word()))
    });
    Choice::choose(all.collect(), chosen.word())
}

impl PeoplePage {
    fn load(read: &Read<'_>, visitor: &Visitor, now: Millis, page: usize) -> Result<Self, Fault> {
        let actor = visitor.actor();
        let own = visitor.login().user.id;
        let members = users::members(read, actor.tenant)?;
        let (members, sheets) = Sheets::of(members, page, PEOPLE_SHOWN, "/people?");
        let invited = invitations::list(read, actor.tenant)?;
        Ok(Self {
            shell: Shell::load(read, visitor, "/people")?.still(),
            fresh: None,
            people: members.iter().map(|one| PersonRow::of(one, actor, own, now)).collect(),
            sheets,
            invited: invited.iter().map(|one| InvitedRow::of(one, actor, now)).collect(),
            form: InviteForm::default(),
            roles: roles(actor, Role::Member),
        })
    }
}

impl PersonRow {
    fn of(member: &Member, actor: &Actor, own: UserId, now: Millis) -> Self {
        let user = &member.user;
        let may_change = users::demand_standing(actor, user.role).is_ok();
        let is_active = user.disabled_at.is_none();
        Self {
            id: user.id.to_string(),
            name: user.name.clone(),
            email: user.email.clone(),
            role: plain_word(user.role.word()),
            mark: Mark::person(is_active),
            is_active,
            is_you: user.id == own,
            joined: Moment::at(user.created_at, now),
            seen: member.last_login_at.map(|at| Moment::at(at, now)),
            roles: if may_change { roles(actor, user.role) } else { Vec::new() },
        }
    }
}

impl InvitedRow {
    fn of(invitation: &Invitation, actor: &Actor, now: Millis) -> Self {
        Self {
            email: invitation.email.clone(),
            role: plain_word(invitation.role.word()),
            by: invitation.invited_by.clone(),
            until: Moment::at(invitation.expires_at, now),
            can_withdraw: users::demand_standing(actor, invitation.role).is_ok(),
        }
    }
}

#[cfg(test)]
impl PeoplePage {
    pub(super) fn sample() -> Self {
        use crate::web::dashboard::parts::samples::minutes_ago;
        let roles = || vec![Choice::new("admin", "Admin"), Choice::new("member", "Member")];
        let person = |id: &str, name: &str, is_you, is_active| PersonRow {
            id: id.to_owned(),
            name: name.to_owned(),
            email: format!("{id}@example.com"),
            role: "Member".to_owned(),
            mark: Mark::person(is_active),
            is_active,
            is_you,
            joined: minutes_ago(9_000),
            seen: None,
            roles: roles(),
        };
        Self {
            shell: Shell::sample("/people"),
            fresh: Some(FreshLink {
                email: "cy@example.com".to_owned(),
                link: "http://127.0.0.1:7171/join/sample".to_owned(),
            }),
            people: vec![
                person("ada", "Ada Builder", true, true),
                person("ben", "Ben Reader", false, false),
            ],
            sheets: Sheets::default(),
            invited: vec![InvitedRow {
                email: "cy@example.com".to_owned(),
                role: "Member".to_owned(),
                by: "user ada@example.com".to_owned(),
                until: minutes_ago(-9_000),
                can_withdraw: true,
            }],
            form: InviteForm { email: "x".to_owned(), wrong: "It is no address.".to_owned() },
            roles: roles(),
        }
    }
}
