//! API keys: 256 random bits, shown once and kept as their SHA-256, by which they are looked up.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::actor::{Actor, KeyScope, Reach, Who};
use super::plans::Plan;
use super::users;
use crate::base::{
    Code, Fault, Issue, KeyId, Millis, ProjectId, Secret, TenantId, TicketId, field,
};
use crate::store::{Read, Row, Tx};
use crate::{params, sql, words};

/// How old the note of a key's last use may grow before it is renewed.
const USE_NOTED_EVERY: Duration = Duration::from_mins(1);

/// No key of ours is longer; a longer text is not looked up.
const LENGTH_MAX: usize = 100;

words! {
    /// What a key's text starts with. Clients of the contracts that we speak look for these.
    #[derive(Default)]
    pub enum Prefix {
        /// A key of the tickets contract, and the usual one.
        #[default]
        Alch = "alch_",
        /// An agent key of a whole organisation.
        VqOrgLive = "vq_org_live_",
        /// The key of one project.
        VqLive = "vq_live_",
    }
}

/// A key, without the text that only its holder has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The id.
    pub id: KeyId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What its maker called it.
    pub name: String,
    /// What it may do.
    pub scope: KeyScope,
    /// Its prefix and its last four characters, by which its holder knows it.
    pub shown: String,
    /// The project that is meant where a call names none.
    pub default_project: Option<ProjectId>,
    /// The projects it may touch.
    pub reach: Reach,
    /// The ticket of the agent that holds it. Such a key ends with its ticket.
    pub ticket: Option<TicketId>,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Millis,
    /// When it stops working by itself.
    pub expires_at: Option<Millis>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Millis>,
    /// When it was revoked.
    pub revoked_at: Option<Millis>,
}

impl Key {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            name: row.get("name")?,
            scope: row.word("scope", KeyScope::parse)?,
            shown: row.get("shown")?,
            default_project: row.get("default_project_id")?,
            reach: reach(row)?,
            ticket: row.get("ticket_id")?,
            created_by: row.get("created_by")?,
            created_at: row.get("created_at")?,
            expires_at: row.get("expires_at")?,
            last_used_at: row.get("last_used_at")?,
            revoked_at: row.get("revoked_at")?,
        })
    }

    /// Whether it opens anything at that moment.
    #[must_use]
    pub fn works_at(&self, now: Millis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    fn actor(&self, plan: Plan) -> Actor {
        let who = match self.ticket {
            Some(ticket) => Who::Agent { key: self.id, ticket },
            None => Who::Key { id: self.id, name: self.name.clone() },
        };
        Actor {
            tenant: self.tenant,
            plan,
            who,
            scope: self.scope,
            reach: self.reach.clone(),
            default_project: self.default_project,
        }
    }
}

/// The projects of a limited key stand in one column, as hexadecimal digits with commas between.
fn reach(row: &Row<'_>) -> Result<Reach, Fault> {
    if !row.get::<bool>("limited")? {
        return Ok(Reach::All);
    }
    let text: Option<String> = row.get("project_ids")?;
    let ids = text.iter().flat_map(|text| text.split(','));
    let read = ids.map(|id| uuid::Uuid::try_parse(id).map(ProjectId::from_uuid));
    let read: Result<Vec<_>, _> = read.collect();
    read.map(Reach::Only).map_err(Fault::internal)
}

/// Whether the caller came with a key that somebody made who manages the tenant, and still does: an
/// owner, an admin, or whoever is at the machine.
pub fn is_of_admin(read: &Read<'_>, actor: &Actor) -> Result<bool, Fault> {
    let Who::Key { id, .. } = &actor.who else { return Ok(false) };
    let of = params! { ":tenant": actor.tenant, ":id": *id };
    let made_by =
        read.find(sql!("accounts.sql", "key_maker"), of, |row| row.get::<String>("created_by"))?;
    let Some(made_by) = made_by else { return Ok(false) };
    let local = Actor::local(actor.tenant, actor.plan).label();
    if made_by == local {
        return Ok(true);
    }
    let Some(email) = made_by.strip_prefix("user ") else { return Ok(false) };
    let maker = users::find_by_email(read, actor.tenant, email)?;
    Ok(maker.is_some_and(|user| user.role.is_admin() && user.disabled_at.is_none()))
}

/// A key to make.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// What to call it.
    pub name: &'a str,
    /// What it may do.
    pub scope: KeyScope,
    /// What its text starts with.
    pub prefix: Prefix,
    /// The project that is meant where a call names none.
    pub default_project: Option<ProjectId>,
    /// The projects it may touch.
    pub reach: Reach,
    /// The ticket of the agent that gets it.
    pub ticket: Option<TicketId>,
    /// When it stops working by itself.
    pub expires_at: Option<Millis>,
    /// Who makes it, as [`Actor::label`] says it.
    pub created_by: &'a str,
}

impl<'a> NewKey<'a> {
    /// A key for all that its tenant has, of the usual form and without an end.
    #[must_use]
    pub const fn plain(name: &'a str, scope: KeyScope, created_by: &'a str) -> Self {
        Self {
            name,
            scope,
            prefix: Prefix::Alch,
            default_project: None,
            reach: Reach::All,
            ticket: None,
            expires_at: None,
            created_by,
        }
    }
}

/// Makes a key. The text is returned here and never again.
pub fn create(tx: &mut Tx<'_>, tenant: TenantId, new: &NewKey<'_>) -> Result<(Key, Secret), Fault> {
    let name = field::line("name", new.name, 100)?;
    check(new)?;
    let random = URL_SAFE_NO_PAD.encode(tx.entropy().bytes::<32>());
    let secret = Secret::new(format!("{}{random}", new.prefix));
    let shown = format!("{}…{}", new.prefix, &random[random.len() - 4..]);
    let key = Key {
        id: tx.new_id(),
        tenant,
        name,
        scope: new.scope,
        shown,
        default_project: new.default_project,
        reach: new.reach.clone(),
        ticket: new.ticket,
        created_by: new.created_by.to_owned(),
        created_at: tx.now(),
        expires_at: new.expires_at,
        last_used_at: None,
        revoked_at: None,
    };
    insert(tx, &key, &secret)?;
    Ok((key, secret))
}

fn check(new: &NewKey<'_>) -> Result<(), Fault> {
    let limited = matches!(new.reach, Reach::Only(_));
    if new.prefix == Prefix::VqOrgLive && new.scope == KeyScope::Ci {
        let said = "a vq_org_live_ key is mcp_read or mcp_full; use another prefix for ci.";
        return Err(Fault::argument("scope", said));
    }
    if new.prefix == Prefix::VqLive && !limited {
        let said = "a vq_live_ key belongs to one project; name it.";
        return Err(Fault::argument("project", said));
    }
    if new.default_project.is_some_and(|project| !new.reach.includes(project)) {
        let said = "the default project is not among those that the key may reach.";
        return Err(Fault::argument("project", said));
    }
    Ok(())
}

fn insert(tx: &mut Tx<'_>, key: &Key, secret: &Secret) -> Result<(), Fault> {
    // The statements take a project only from the key's tenant, so that another tenant's project
    // and an absent one end alike: no row.
    let params = params! {
        ":id": key.id,
        ":tenant": key.tenant,
        ":name": key.name,
        ":scope": key.scope.word(),
        ":hash": secret.digest(),
        ":shown": key.shown,
        ":default_project": key.default_project,
        ":limited": matches!(key.reach, Reach::Only(_)),
        ":ticket": key.ticket,
        ":created_by": key.created_by,
        ":now": key.created_at,
        ":expires_at": key.expires_at,
    };
    if tx.run(sql!("accounts.sql", "create_key"), params)? == 0 {
        return Err(no_such_project());
    }
    let Reach::Only(projects) = &key.reach else { return Ok(()) };
    for project in projects {
        let params = params! { ":tenant": key.tenant, ":key": key.id, ":project": project };
        if tx.run(sql!("accounts.sql", "add_key_project"), params)? == 0 {
            return Err(no_such_project());
        }
    }
    Ok(())
}

fn no_such_project() -> Fault {
    Fault::new(Code::ProjectNotFound, "There is no such project.")
}

/// What came of a key that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// The caller.
    pub actor: Actor,
    /// The key.
    pub key: KeyId,
    /// Whether the note of its last use is old enough to be renewed by [`note_use`].
    pub use_due: bool,
}

/// Who holds this key: `None` where the text is no key, or one that is revoked, past its time, or
/// given to an agent whose ticket has ended.
pub fn authenticate(read: &Read<'_>, text: &Secret) -> Result<Option<Recognised>, Fault> {
    if text.reveal().len() > LENGTH_MAX {
        return Ok(None);
    }
    let by_hash = sql!("accounts.sql", "authenticate_key");
    let hash = text.digest();
    let found = read.again("key", hash, || {
        read.find(by_hash, params! { ":hash": hash }, |row| {
            Ok((Key::from_row(row)?, row.word("plan", Plan::parse)?, row.get("ticket_ended")?))
        })
    })?;
    let now = read.now();
    Ok(found.and_then(|(key, plan, ticket_ended): (Key, Plan, bool)| {
        let usable = key.works_at(now) && !ticket_ended;
        let use_due = key.last_used_at.is_none_or(|at| now.since(at) >= USE_NOTED_EVERY);
        usable.then(|| Recognised { actor: key.actor(plan), key: key.id, use_due })
    }))
}

/// Notes that a key is in use, unless that was noted within the last minute.
pub fn note_use(tx: &mut Tx<'_>, tenant: TenantId, key: KeyId) -> Result<(), Fault> {
    let now = tx.now();
    let before = now.minus(USE_NOTED_EVERY);
    let params = params! { ":tenant": tenant, ":id": key, ":now": now, ":before": before };
    tx.run(sql!("accounts.sql", "note_key_use"), params)?;
    Ok(())
}

/// A tenant's keys, newest first, 500 at most. Those of agents are left out.
pub fn list(read: &Read<'_>, tenant: TenantId) -> Result<Vec<Key>, Fault> {
    read.list(sql!("accounts.sql", "list_keys"), params! { ":tenant": tenant }, Key::from_row)
}

/// A tenant's key with an id.
pub fn find(read: &Read<'_>, tenant: TenantId, key: KeyId) -> Result<Option<Key>, Fault> {
    let params = params! { ":tenant": tenant, ":id": key };
    read.find(sql!("accounts.sql", "find_key"), params, Key::from_row)
}

/// The key that somebody means by its id, or by its name where one working key has it.
pub fn choose(read: &Read<'_>, tenant: TenantId, text: &str) -> Result<Key, Fault> {
    let none = || Fault::new(Code::NotFound, format!("There is no key {text:?}."));
    if let Some(id) = KeyId::parse(text) {
        return find(read, tenant, id)?.ok_or_else(none);
    }
    let now = read.now();
    let named = |key: &Key| key.name == text.trim() && key.works_at(now);
    let mut keys: Vec<Key> = list(read, tenant)?.into_iter().filter(named).collect();
    if keys.len() < 2 {
        return keys.pop().ok_or_else(none);
    }
    let mut fault = Fault::new(Code::Conflict, format!("Several keys are called {text:?}."));
    for Issue { path, message } in keys.iter().map(candidate) {
        fault = fault.issue(path, message);
    }
    Err(fault)
}

fn candidate(key: &Key) -> Issue {
    let message = format!("{} ends with {}", key.id, &key.shown);
    Issue { path: "key".to_owned(), message }
}

/// Revokes a key; from the next call on it opens nothing. `false` where it was revoked before.
pub fn revoke(tx: &mut Tx<'_>, tenant: TenantId, key: KeyId) -> Result<bool, Fault> {
    let now = tx.now();
    let params = params! { ":tenant": tenant, ":id": key, ":now": now };
    if tx.run(sql!("accounts.sql", "revoke_key"), params)? == 1 {
        return Ok(true);
    }
    match find(tx, tenant, key)? {
        Some(_) => Ok(false),
        None => Err(Fault::new(Code::NotFound, format!("There is no key {key}."))),
    }
}

/// Revokes every key that was made for the agents of a ticket.
pub fn revoke_of_ticket(tx: &mut Tx<'_>, tenant: TenantId, ticket: TicketId) -> Result<(), Fault> {
    let now = tx.now();
    let params = params! { ":tenant": tenant, ":ticket": ticket, ":now": now };
    tx.run(sql!("accounts.sql", "revoke_keys_of_ticket"), params)?;
    Ok(())
}
