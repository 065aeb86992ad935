//! Tenants: whose everything is.

use super::plans::Plan;
use crate::base::text::{or_list, slug};
use crate::base::{Code, Fault, Millis, TenantId, field};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// The most tenants that one list holds.
pub const LIST_MAX: usize = 200;

/// Whose everything is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// The id.
    pub id: TenantId,
    /// The name in addresses and commands.
    pub slug: String,
    /// The name for people.
    pub name: String,
    /// What the tenant has.
    pub plan: Plan,
    /// When it was made.
    pub created_at: Millis,
}

impl Tenant {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            slug: row.get("slug")?,
            name: row.get("name")?,
            plan: row.word("plan", Plan::parse)?,
            created_at: row.get("created_at")?,
        })
    }
}

/// Makes a tenant. Its slug comes from its name and must be free.
pub fn create(tx: &mut Tx<'_>, name: &str, plan: Plan) -> Result<Tenant, Fault> {
    let name = field::line("name", name, 100)?;
    let slug = match slug(&name) {
        slug if slug.is_empty() => {
            return Err(Fault::argument("name", "it has no Latin letter or digit."));
        }
        slug => slug,
    };
    let tenant = Tenant { id: tx.new_id(), slug, name, plan, created_at: tx.now() };
    let made = tx.insert_new(
        sql!("accounts.sql", "create_tenant"),
        params! {
            ":id": tenant.id,
            ":slug": tenant.slug,
            ":name": tenant.name,
            ":plan": tenant.plan.word(),
            ":now": tenant.created_at,
        },
    )?;
    if made {
        Ok(tenant)
    } else {
        Err(Fault::new(Code::Conflict, format!("There is a tenant {} already.", tenant.slug)))
    }
}

/// The tenant with an id.
pub fn find(read: &Read<'_>, tenant: TenantId) -> Result<Option<Tenant>, Fault> {
    let sql = sql!("accounts.sql", "find_tenant");
    read.find(sql, params! { ":tenant": tenant }, Tenant::from_row)
}

/// The tenant with a slug.
pub fn find_by_slug(read: &Read<'_>, slug: &str) -> Result<Option<Tenant>, Fault> {
    let sql = sql!("accounts.sql", "find_tenant_by_slug");
    read.find(sql, params! { ":slug": slug }, Tenant::from_row)
}

/// The tenant of whoever runs the server: the one that was there first. Its owners and admins see
/// what is the host's, and those of other tenants do not. `None` where there is no tenant yet.
pub fn host(read: &Read<'_>) -> Result<Option<Tenant>, Fault> {
    read.find(sql!("accounts.sql", "host_tenant"), params! {}, Tenant::from_row)
}

/// The tenants, by slug, [`LIST_MAX`] at most.
pub fn list(read: &Read<'_>) -> Result<Vec<Tenant>, Fault> {
    read.list(sql!("accounts.sql", "list_tenants"), params! {}, Tenant::from_row)
}

/// The tenant that somebody at the machine means: the one they name, or the only one there is.
/// `None` where they name none and none exists yet.
pub fn choose(read: &Read<'_>, slug: Option<&str>) -> Result<Option<Tenant>, Fault> {
    if let Some(slug) = slug {
        return match find_by_slug(read, slug)? {
            Some(tenant) => Ok(Some(tenant)),
            None => Err(Fault::new(Code::NotFound, format!("There is no tenant {slug:?}."))),
        };
    }
    let mut all = list(read)?;
    if all.len() < 2 {
        return Ok(all.pop());
    }
    let slugs: Vec<&str> = all.iter().take(10).map(|tenant| tenant.slug.as_str()).collect();
    let said = format!("There are several tenants; say which one: {}.", or_list(&slugs));
    Err(Fault::argument("tenant", said))
}

/// Gives a tenant another name for people.
pub(super) fn rename(tx: &mut Tx<'_>, tenant: TenantId, name: &str) -> Result<(), Fault> {
    let name = field::line("name", name, 100)?;
    let sql = sql!("accounts.sql", "rename_tenant");
    tx.run_one(sql, params! { ":tenant": tenant, ":name": name })
}

/// Gives a tenant another plan.
pub fn set_plan(tx: &mut Tx<'_>, tenant: TenantId, plan: Plan) -> Result<(), Fault> {
    let sql = sql!("accounts.sql", "set_tenant_plan");
    tx.run_one(sql, params! { ":tenant": tenant, ":plan": plan.word() })
}
