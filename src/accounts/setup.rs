//! The first start: a one-time link by which somebody becomes the first owner. There is no default
//! password, and no link once anybody has a login.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::passwords::PasswordHash;
use super::plans::Plan;
use super::tenants::{self, Tenant};
use super::users::{self, NewUser, Role, User};
use crate::base::text::or_list;
use crate::base::{Code, Fault, Secret};
use crate::store::{Read, Tx};
use crate::{params, sql};

/// How long a link can be used.
pub const LINK_LIFE: Duration = Duration::from_hours(24);

/// Makes a link's token while nobody has a login, and makes any earlier link useless. `None` once
/// somebody has one.
pub fn mint(tx: &mut Tx<'_>) -> Result<Option<Secret>, Fault> {
    if users::any(tx)? {
        return Ok(None);
    }
    let token = Secret::new(URL_SAFE_NO_PAD.encode(tx.entropy().bytes::<32>()));
    let now = tx.now();
    tx.run(sql!("accounts.sql", "drop_setup_links"), params! {})?;
    let params = params! {
        ":token_hash": token.digest(),
        ":now": now,
        ":expires_at": now.plus(LINK_LIFE),
    };
    tx.run_one(sql!("accounts.sql", "create_setup_link"), params)?;
    Ok(Some(token))
}

/// Whether the link can still be used.
pub fn is_open(read: &Read<'_>, token: &Secret) -> Result<bool, Fault> {
    let params = params! { ":token_hash": token.digest(), ":now": read.now() };
    let found: Option<bool> =
        read.find(sql!("accounts.sql", "open_setup_link"), params, |row| row.get("found"))?;
    Ok(found.unwrap_or(false) && !users::any(read)?)
}

/// Who wants to be the first owner.
#[derive(Debug, Clone)]
pub struct FirstOwner<'a> {
    /// What their tenant is called.
    pub tenant: &'a str,
    /// Their address.
    pub email: &'a str,
    /// Their name.
    pub name: &'a str,
    /// Their password, hashed before the transaction.
    pub password: &'a PasswordHash,
}

/// Uses the link up: makes the first owner. A tenant that the command line made before gets the
/// name and the owner; of several, the one of that name or slug gets the owner; where there is
/// none, one is made.
pub fn consume(
    tx: &mut Tx<'_>,
    token: &Secret,
    owner: &FirstOwner<'_>,
) -> Result<(Tenant, User), Fault> {
    if !is_open(tx, token)? {
        let said = "This set-up link has been used or is too old. Start the server again for a \
                    new one; once somebody has a login there is none, and `assay user create` \
                    adds people.";
        return Err(Fault::new(Code::NotFound, said));
    }
    let now = tx.now();
    let params = params! { ":token_hash": token.digest(), ":now": now };
    tx.run_one(sql!("accounts.sql", "use_setup_link"), params)?;
    let tenant = tenant_of(tx, owner.tenant.trim())?;
    let new = NewUser {
        email: owner.email,
        name: owner.name,
        role: Role::Owner,
        password: owner.password,
    };
    let user = users::create(tx, tenant.id, &new)?;
    Ok((tenant, user))
}

/// The tenant whose first owner is made. People know a tenant as their team.
fn tenant_of(tx: &mut Tx<'_>, named: &str) -> Result<Tenant, Fault> {
    let mut all = tenants::list(tx)?;
    if all.len() > 1 {
        if let Some(tenant) = tenants::find_by_slug(tx, named)? {
            return Ok(tenant);
        }
        let is_meant = |tenant: &Tenant| tenant.name.to_lowercase() == named.to_lowercase();
        let slugs: Vec<&str> = all.iter().take(10).map(|tenant| tenant.slug.as_str()).collect();
        let said = format!("there are several; name the one that is yours: {}.", or_list(&slugs));
        let found = all.iter().find(|tenant| is_meant(tenant)).cloned();
        return found.ok_or_else(|| Fault::argument("team", said));
    }
    match all.pop() {
        None => tenants::create(tx, named, Plan::default()),
        Some(mut tenant) => {
            tenants::rename(tx, tenant.id, named)?;
            named.clone_into(&mut tenant.name);
            Ok(tenant)
        }
    }
}
