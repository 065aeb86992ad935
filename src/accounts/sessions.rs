//! Logins. The cookie holds 256 random bits; the row holds their SHA-256, and a token of its own
//! for forms. A login ends after two weeks without use, and after ninety days in any case.

use std::fmt::Write;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::actor::Actor;
use super::plans::Plan;
use super::users::User;
use crate::base::secret::same;
use crate::base::text::{cut, printable};
use crate::base::{Fault, Millis, Secret, TenantId, UserId};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// How long a login lives without use: the age of its cookie.
pub const IDLE_MAX: Duration = Duration::from_hours(14 * 24);
/// How long a login lives however much it is used.
const AGE_MAX: Duration = Duration::from_hours(90 * 24);
/// How old the note of a login's last use may grow before it is renewed.
const USE_NOTED_EVERY: Duration = Duration::from_mins(5);

/// A login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The SHA-256 of its token in hexadecimal digits: a name for it that opens nothing.
    pub id: String,
    /// Who is logged in.
    pub user: UserId,
    /// Whose they are.
    pub tenant: TenantId,
    /// The token that forms of this login carry.
    pub csrf: String,
    /// What the browser called itself.
    pub user_agent: String,
    /// Where the login came from.
    pub address: String,
    /// When it began.
    pub created_at: Millis,
    /// When it was last used, to within five minutes.
    pub last_seen_at: Millis,
    /// When it ends unless it is used.
    pub expires_at: Millis,
}

impl Session {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: hex(&row.get("token_hash")?),
            user: row.get("user_id")?,
            tenant: row.get("session_tenant_id")?,
            csrf: row.get("csrf")?,
            user_agent: row.get("user_agent")?,
            address: row.get("address")?,
            created_at: row.get("session_created_at")?,
            last_seen_at: row.get("last_seen_at")?,
            expires_at: row.get("expires_at")?,
        })
    }

    /// Whether a form's token is this login's.
    #[must_use]
    pub fn csrf_matches(&self, token: &str) -> bool {
        same(self.csrf.as_bytes(), token.as_bytes())
    }
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing to a text cannot fail.
        write!(out, "{byte:02x}").unwrap_or_default();
        out
    })
}

/// Starts a login and returns it with its token, which goes into the cookie and nowhere else.
pub fn start(
    tx: &mut Tx<'_>,
    user: &User,
    user_agent: &str,
    address: &str,
) -> Result<(Session, Secret), Fault> {
    let token = Secret::new(URL_SAFE_NO_PAD.encode(tx.entropy().bytes::<32>()));
    let now = tx.now();
    let session = Session {
        id: hex(&token.digest()),
        user: user.id,
        tenant: user.tenant,
        csrf: URL_SAFE_NO_PAD.encode(tx.entropy().bytes::<32>()),
        user_agent: cut(&printable(user_agent), 300),
        address: cut(&printable(address), 100),
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus(IDLE_MAX),
    };
    tx.run_one(
        sql!("accounts.sql", "create_session"),
        params! {
            ":token_hash": token.digest(),
            ":user": session.user,
            ":tenant": session.tenant,
            ":csrf": session.csrf,
            ":user_agent": session.user_agent,
            ":address": session.address,
            ":now": now,
            ":expires_at": session.expires_at,
        },
    )?;
    let noted = params! { ":tenant": user.tenant, ":user": user.id, ":now": now };
    tx.run(sql!("accounts.sql", "note_login"), noted)?;
    Ok((session, token))
}

/// A login that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// The person as a caller.
    pub actor: Actor,
    /// The person.
    pub user: User,
    /// The login.
    pub session: Session,
    /// Whether the note of its last use is old enough to be renewed by [`note_use`].
    pub use_due: bool,
}

/// Who a cookie's token belongs to: `None` where it is unknown, has ended, or its person may not
/// log in any more.
pub fn authenticate(read: &Read<'_>, token: &Secret) -> Result<Option<LoggedIn>, Fault> {
    let now = read.now();
    let params = params! { ":token_hash": token.digest(), ":now": now };
    read.find(sql!("accounts.sql", "authenticate_session"), params, |row| {
        let user = User::from_row(row)?;
        let session = Session::from_row(row)?;
        let actor = user.actor(row.word("plan", Plan::parse)?);
        let use_due = now.since(session.last_seen_at) >= USE_NOTED_EVERY;
        Ok(LoggedIn { actor, user, session, use_due })
    })
}

/// Notes that a login is in use, and so moves its end away.
pub fn note_use(tx: &mut Tx<'_>, session: &Session, token: &Secret) -> Result<(), Fault> {
    let now = tx.now();
    let expires_at = now.plus(IDLE_MAX).min(session.created_at.plus(AGE_MAX));
    let params = params! {
        ":tenant": session.tenant,
        ":token_hash": token.digest(),
        ":now": now,
        ":expires_at": expires_at,
    };
    tx.run(sql!("accounts.sql", "note_session_use"), params)?;
    Ok(())
}

/// A person's logins that have not ended, newest first, 100 at most.
pub fn list(read: &Read<'_>, tenant: TenantId, user: UserId) -> Result<Vec<Session>, Fault> {
    let params = params! { ":tenant": tenant, ":user": user, ":now": read.now() };
    read.list(sql!("accounts.sql", "list_sessions"), params, Session::from_row)
}

/// Ends one login, by its [`Session::id`]. Nothing happens where the person has no such login.
pub fn end(tx: &mut Tx<'_>, tenant: TenantId, user: UserId, id: &str) -> Result<(), Fault> {
    let params = params! { ":tenant": tenant, ":user": user, ":id": id };
    tx.run(sql!("accounts.sql", "end_session"), params)?;
    Ok(())
}

/// Ends all logins of a person.
pub fn end_all(tx: &mut Tx<'_>, tenant: TenantId, user: UserId) -> Result<(), Fault> {
    let params = params! { ":tenant": tenant, ":user": user };
    tx.run(sql!("accounts.sql", "end_sessions_of_user"), params)?;
    Ok(())
}

/// Ends all logins of a person but one, which is named by its [`Session::id`].
pub fn end_others(tx: &mut Tx<'_>, tenant: TenantId, user: UserId, id: &str) -> Result<(), Fault> {
    let params = params! { ":tenant": tenant, ":user": user, ":id": id };
    tx.run(sql!("accounts.sql", "end_other_sessions"), params)?;
    Ok(())
}

/// Removes the rows of logins that have ended, 500 at most, and says how many.
pub fn sweep(tx: &mut Tx<'_>) -> Result<usize, Fault> {
    let now = tx.now();
    tx.run(sql!("accounts.sql", "sweep_sessions"), params! { ":now": now })
}
