//! One-time links by which people join a tenant. The link holds 256 random bits; the row holds
//! their SHA-256.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::actor::Actor;
use super::passwords::PasswordHash;
use super::users::{self, NewUser, Role, User};
use crate::base::{Code, Fault, Millis, Secret, TenantId};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// How long a link can be used.
pub const LINK_LIFE: Duration = Duration::from_hours(7 * 24);

/// An invitation that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Where it leads.
    pub tenant: TenantId,
    /// Whom it is for.
    pub email: String,
    /// What they will be.
    pub role: Role,
    /// Who invites them.
    pub invited_by: String,
    /// Since when.
    pub created_at: Millis,
    /// Until when.
    pub expires_at: Millis,
}

impl Invitation {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            tenant: row.get("tenant_id")?,
            email: row.get("email")?,
            role: row.word("role", Role::parse)?,
            invited_by: row.get("invited_by")?,
            created_at: row.get("created_at")?,
            expires_at: row.get("expires_at")?,
        })
    }
}

/// Invites somebody and returns the token of their link, which is kept nowhere. An earlier link for
/// the same address opens nothing any more.
///
/// # Errors
/// `Conflict` where the tenant has somebody with the address, `Forbidden` where the caller may not
/// make somebody of that role.
pub fn create(tx: &mut Tx<'_>, actor: &Actor, email: &str, role: Role) -> Result<Secret, Fault> {
    users::demand_standing(actor, role)?;
    let email = users::normal_email(email)?;
    if users::find_by_email(tx, actor.tenant, &email)?.is_some() {
        return Err(Fault::new(Code::Conflict, format!("{email} is in the team already.")));
    }
    let token = Secret::new(URL_SAFE_NO_PAD.encode(tx.entropy().bytes::<32>()));
    let (tenant, now) = (actor.tenant, tx.now());
    let dropped = params! { ":tenant": tenant, ":email": email, ":now": now };
    tx.run(sql!("accounts.sql", "drop_invitations"), dropped)?;
    let row = params! {
        ":token_hash": token.digest(),
        ":tenant": tenant,
        ":email": email,
        ":role": role.word(),
        ":invited_by": actor.label(),
        ":now": now,
        ":expires_at": now.plus(LINK_LIFE),
    };
    tx.run_one(sql!("accounts.sql", "create_invitation"), row)?;
    Ok(token)
}

/// The invitation of a link; `None` where the link is no longer good.
pub fn open(read: &Read<'_>, token: &Secret) -> Result<Option<Invitation>, Fault> {
    let params = params! { ":token_hash": token.digest(), ":now": read.now() };
    read.find(sql!("accounts.sql", "open_invitation"), params, Invitation::from_row)
}

/// A tenant's open invitations, by address; 200 at most.
pub fn list(read: &Read<'_>, tenant: TenantId) -> Result<Vec<Invitation>, Fault> {
    let params = params! { ":tenant": tenant, ":now": read.now() };
    read.list(sql!("accounts.sql", "list_invitations"), params, Invitation::from_row)
}

/// Takes an invitation back.
///
/// # Errors
/// `NotFound` where nobody of that address is invited, `Forbidden` where the caller may not make
/// somebody of its role.
pub fn withdraw(tx: &mut Tx<'_>, actor: &Actor, email: &str) -> Result<(), Fault> {
    let asked = params! { ":tenant": actor.tenant, ":email": email, ":now": tx.now() };
    let found = tx.find(sql!("accounts.sql", "find_invitation"), asked, Invitation::from_row)?;
    let none = || Fault::new(Code::NotFound, "There is no such invitation any more.");
    let invitation = found.ok_or_else(none)?;
    users::demand_standing(actor, invitation.role)?;
    end(tx, &invitation)
}

/// Uses a link up: its person joins.
///
/// # Errors
/// `NotFound` where the link is no longer good, `Conflict` where the address has a login already.
pub fn accept(
    tx: &mut Tx<'_>,
    token: &Secret,
    name: &str,
    password: &PasswordHash,
) -> Result<User, Fault> {
    let none = || Fault::new(Code::NotFound, "The invitation has been used, or is too old.");
    let invitation = open(tx, token)?.ok_or_else(none)?;
    let new = NewUser { email: &invitation.email, name, role: invitation.role, password };
    let user = users::create(tx, invitation.tenant, &new)?;
    end(tx, &invitation)?;
    Ok(user)
}

fn end(tx: &mut Tx<'_>, invitation: &Invitation) -> Result<(), Fault> {
    let params = params! { ":tenant": invitation.tenant, ":email": invitation.email };
    tx.run_one(sql!("accounts.sql", "end_invitation"), params)
}
