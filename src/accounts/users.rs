//! People with a login.

use super::actor::{Actor, KeyScope, Reach, Who};
use super::passwords::PasswordHash;
use super::plans::Plan;
use super::sessions;
use crate::base::{Code, Fault, Millis, TenantId, UserId, field};
use crate::store::{Read, Row, Tx};
use crate::{params, sql, words};

words! {
    /// What a person may do in their tenant.
    pub enum Role {
        /// Everything.
        Owner = "owner",
        /// Everything but removing owners.
        Admin = "admin",
        /// Filing tickets and working with them.
        Member = "member",
        /// Looking.
        Viewer = "viewer",
    }
}

impl Role {
    /// Whether the role manages people, keys and projects.
    #[must_use]
    pub const fn is_admin(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    /// What a key of the same power would have.
    #[must_use]
    pub const fn scope(self) -> KeyScope {
        match self {
            Self::Owner | Self::Admin | Self::Member => KeyScope::McpFull,
            Self::Viewer => KeyScope::McpRead,
        }
    }
}

/// A person with a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The id.
    pub id: UserId,
    /// Whose they are.
    pub tenant: TenantId,
    /// Their address, in lower case; one login an address.
    pub email: String,
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// When they were added.
    pub created_at: Millis,
    /// Since when they may not log in.
    pub disabled_at: Option<Millis>,
}

impl User {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            email: row.get("email")?,
            name: row.get("name")?,
            role: row.word("role", Role::parse)?,
            created_at: row.get("created_at")?,
            disabled_at: row.get("disabled_at")?,
        })
    }

    /// The person as a caller.
    #[must_use]
    pub fn actor(&self, plan: Plan) -> Actor {
        let who = Who::User {
            id: self.id,
            name: self.name.clone(),
            email: self.email.clone(),
            role: self.role,
        };
        Actor {
            tenant: self.tenant,
            plan,
            who,
            scope: self.role.scope(),
            reach: Reach::All,
            default_project: None,
        }
    }
}

/// A person to add.
#[derive(Debug, Clone)]
pub struct NewUser<'a> {
    /// Their address; case does not matter.
    pub email: &'a str,
    /// Their name; where it is blank, what stands before the `@`.
    pub name: &'a str,
    /// What they may do.
    pub role: Role,
    /// Their password, hashed before the transaction.
    pub password: &'a PasswordHash,
}

/// An address as it is kept and compared, or a fault that names `email`.
pub fn normal_email(text: &str) -> Result<String, Fault> {
    let email = field::line("email", text, 254)?.to_lowercase();
    let usable = email.rsplit_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !email.contains(char::is_whitespace)
    });
    if usable { Ok(email) } else { Err(Fault::argument("email", "it is not an e-mail address.")) }
}

/// Adds a person.
pub fn create(tx: &mut Tx<'_>, tenant: TenantId, new: &NewUser<'_>) -> Result<User, Fault> {
    let email = normal_email(new.email)?;
    let before_at = email.split('@').next().unwrap_or_default().to_owned();
    let name = field::optional_line("name", new.name, 100)?.unwrap_or(before_at);
    let user = User {
        id: tx.new_id(),
        tenant,
        email,
        name,
        role: new.role,
        created_at: tx.now(),
        disabled_at: None,
    };
    let made = tx.insert_new(
        sql!("accounts.sql", "create_user"),
        params! {
            ":id": user.id,
            ":tenant": tenant,
            ":email": user.email,
            ":name": user.name,
            ":role": user.role.word(),
            ":password_hash": new.password.0,
            ":now": user.created_at,
        },
    )?;
    if made {
        Ok(user)
    } else {
        Err(Fault::new(Code::Conflict, format!("{} has a login already.", user.email)))
    }
}

/// Whether anybody has a login yet, in any tenant.
pub fn any(read: &Read<'_>) -> Result<bool, Fault> {
    let any = read.find(sql!("accounts.sql", "any_user"), params! {}, |row| row.get("found"))?;
    Ok(any.unwrap_or(false))
}

/// A tenant's people, by address; 500 at most.
pub fn list(read: &Read<'_>, tenant: TenantId) -> Result<Vec<User>, Fault> {
    read.list(sql!("accounts.sql", "list_users"), params! { ":tenant": tenant }, User::from_row)
}

/// Somebody of a tenant, and when they were last there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The person.
    pub user: User,
    /// When they last signed in.
    pub last_login_at: Option<Millis>,
}

/// A tenant's people with their last sign-ins, by address; 500 at most.
pub fn members(read: &Read<'_>, tenant: TenantId) -> Result<Vec<Member>, Fault> {
    read.list(sql!("accounts.sql", "list_members"), params! { ":tenant": tenant }, |row| {
        Ok(Member { user: User::from_row(row)?, last_login_at: row.get("last_login_at")? })
    })
}

/// A tenant's person with an id.
pub fn find(read: &Read<'_>, tenant: TenantId, user: UserId) -> Result<Option<User>, Fault> {
    let params = params! { ":tenant": tenant, ":id": user };
    read.find(sql!("accounts.sql", "find_user"), params, User::from_row)
}

/// A tenant's person with an address.
pub fn find_by_email(
    read: &Read<'_>,
    tenant: TenantId,
    email: &str,
) -> Result<Option<User>, Fault> {
    let params = params! { ":tenant": tenant, ":email": email.trim().to_lowercase() };
    read.find(sql!("accounts.sql", "find_user_by_email"), params, User::from_row)
}

/// The login of an address, of whatever tenant: the person and what their password must match.
/// `None` for somebody who may not log in. Verify the password even then, with no hash.
pub fn login(read: &Read<'_>, email: &str) -> Result<Option<(User, PasswordHash)>, Fault> {
    let email = email.trim().to_lowercase();
    read.find(sql!("accounts.sql", "login"), params! { ":email": email }, |row| {
        Ok((User::from_row(row)?, PasswordHash(row.get("password_hash")?)))
    })
}

/// Gives a person another password and ends all their logins.
pub fn set_password(tx: &mut Tx<'_>, user: &User, password: &PasswordHash) -> Result<(), Fault> {
    keep_password(tx, user, password)?;
    sessions::end_all(tx, user.tenant, user.id)
}

/// Gives a person another password and ends all their logins but the one where they chose it.
pub fn change_password(
    tx: &mut Tx<'_>,
    user: &User,
    password: &PasswordHash,
    session: &str,
) -> Result<(), Fault> {
    keep_password(tx, user, password)?;
    sessions::end_others(tx, user.tenant, user.id, session)
}

fn keep_password(tx: &mut Tx<'_>, user: &User, password: &PasswordHash) -> Result<(), Fault> {
    let params = params! { ":tenant": user.tenant, ":id": user.id, ":password_hash": password.0 };
    tx.run_one(sql!("accounts.sql", "set_password"), params)
}

/// Refuses who may not make, change or remove somebody of a role.
pub fn demand_standing(actor: &Actor, role: Role) -> Result<(), Fault> {
    let said = match role {
        _ if !actor.is_admin() => "Only an owner or an admin of the team may do this.",
        Role::Owner if !actor.is_owner() => {
            "Only an owner may make somebody an owner, or change one."
        }
        _ => return Ok(()),
    };
    Err(Fault::new(Code::Forbidden, said))
}

/// Stops a person from logging in, at once, or lets them again. A tenant keeps one owner who can.
pub fn set_disabled(tx: &mut Tx<'_>, user: &User, disabled: bool) -> Result<(), Fault> {
    let at = disabled.then(|| tx.now());
    let params = params! { ":tenant": user.tenant, ":id": user.id, ":at": at };
    tx.run_one(sql!("accounts.sql", "set_user_disabled"), params)?;
    if disabled {
        sessions::end_all(tx, user.tenant, user.id)?;
    }
    demand_an_owner(tx, user)
}

/// Gives a person another role. A tenant keeps one owner.
pub fn set_role(tx: &mut Tx<'_>, user: &User, role: Role) -> Result<(), Fault> {
    let params = params! { ":tenant": user.tenant, ":id": user.id, ":role": role.word() };
    tx.run_one(sql!("accounts.sql", "set_role"), params)?;
    demand_an_owner(tx, user)
}

/// After a change to `user`, who was as given before it.
fn demand_an_owner(read: &Read<'_>, user: &User) -> Result<(), Fault> {
    let sql = sql!("accounts.sql", "has_owner");
    let has = read.find(sql, params! { ":tenant": user.tenant }, |row| row.get("found"))?;
    if user.role != Role::Owner || has.unwrap_or(false) {
        return Ok(());
    }
    let said = "This is the tenant's last owner. Make somebody else an owner first.";
    Err(Fault::new(Code::Conflict, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_in_lower_case() {
        assert_eq!(normal_email(" Ada@Example.ORG ").ok().as_deref(), Some("ada@example.org"));
        for bad in ["", "ada", "@example.org", "ada@", "a b@example.org", "a@b\nc"] {
            assert!(normal_email(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_viewer_reads_and_everybody_else_writes() {
        for role in Role::ALL {
            let writes = role.scope() == KeyScope::McpFull;

            assert_eq!(writes, *role != Role::Viewer, "{role}");
        }
    }
}
