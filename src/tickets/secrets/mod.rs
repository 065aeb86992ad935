//! Secrets that people give for a ticket. A value comes through a link and nowhere else, lies in
//! its row sealed, and leaves it only as an environment variable of the ticket's agents. It is gone
//! once the ticket has ended: whoever tries the ticket again is asked again.

pub mod links;
pub mod name;

use crate::base::redact::Redactor;
use crate::base::sealed::Unopened;
use crate::base::{Fault, Secret, TenantId, TicketId};
use crate::store::{Read, Tx};
use crate::{params, sql};

/// Secrets of a ticket at most.
pub const SECRETS_MAX: u32 = 50;

/// Bytes of a value at most: what fits into one environment variable, with room to spare.
pub const VALUE_MAX: usize = 32 << 10;

/// Characters of a value at least. A shorter one could not be told from the words around it, and
/// so not be taken out of what an agent prints.
pub const VALUE_MIN: usize = 8;

/// What values are sealed for, before whose they are.
const PURPOSE: &[u8] = b"a ticket's secret";

/// A secret that was given for a ticket.
pub struct Given {
    /// Its name: the environment variable that it is handed over in.
    pub name: String,
    /// The value, or why it cannot be read any more.
    pub value: Result<Secret, Unopened>,
}

/// A secret that was given once and is no longer there.
pub struct Missing {
    /// Its name.
    pub name: String,
    /// The words in which it was first asked for.
    pub asked: String,
}

/// A value, sealed for one ticket and one name.
pub struct SealedValue(Vec<u8>);

/// What was given for a ticket.
pub fn of_ticket(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Given>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": SECRETS_MAX };
    let rows: Vec<(String, Vec<u8>)> = read
        .list(sql!("secrets.sql", "list"), of, |row| Ok((row.get("name")?, row.get("sealed")?)))?;
    let open = |(name, sealed): (String, Vec<u8>)| {
        let opened = read.vault().open(&purpose(&tenant, &ticket, &name), &sealed)?;
        let text = |bytes| String::from_utf8(bytes).map_err(|_| Unopened::Damaged);
        Ok(Given { value: opened.and_then(text).map(Secret::new), name })
    };
    rows.into_iter().map(open).collect()
}

/// The names of what was given for a ticket.
pub fn names(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<String>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": SECRETS_MAX };
    read.list(sql!("secrets.sql", "list"), of, |row| row.get("name"))
}

/// What was given for a ticket once, and is gone since the ticket ended.
pub fn missing(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Missing>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": SECRETS_MAX };
    read.list(sql!("secrets.sql", "missing"), of, |row| {
        Ok(Missing { name: row.get("name")?, asked: row.get("asked")? })
    })
}

/// The words in which a secret was first asked for.
pub fn first_asked(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    name: &str,
) -> Result<Option<String>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":name": name };
    read.find(sql!("secrets.sql", "first_asked"), of, |row| row.get("text"))
}

/// Takes the ticket's secrets out of texts, `more` ones, and whatever looks like a credential.
pub fn redactor(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    more: &[Secret],
) -> Result<Redactor, Fault> {
    let given = of_ticket(read, tenant, ticket)?.into_iter().filter_map(|given| given.value.ok());
    let known: Vec<Secret> = given.chain(more.iter().cloned()).collect();
    Ok(Redactor::new(&known))
}

/// The value as it was meant, or what is wrong with it. Line breaks at its ends come from copying.
pub fn value(sent: &str) -> Result<Secret, Fault> {
    let text = sent.replace("\r\n", "\n");
    let text = text.trim_matches('\n');
    let wrong = |said: String| Err(Fault::argument("value", said));
    if text.trim().is_empty() {
        return wrong("it is empty.".to_owned());
    }
    if text.chars().count() < VALUE_MIN {
        return wrong(format!(
            "it has fewer than {VALUE_MIN} characters. So short a value could not be kept out of \
             what the agent prints."
        ));
    }
    if text.len() > VALUE_MAX {
        return wrong(format!("it is larger than {} kB.", VALUE_MAX >> 10));
    }
    if text.contains('\0') {
        return wrong("it holds a byte that no environment variable can hold.".to_owned());
    }
    Ok(Secret::new(text))
}

/// Seals a value for a ticket under a name.
pub fn seal(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    name: &str,
    value: &Secret,
) -> Result<SealedValue, Fault> {
    let purpose = purpose(&tenant, &ticket, name);
    read.vault().seal(&purpose, value.reveal().as_bytes()).map(SealedValue)
}

/// Keeps a value in the place of an earlier one of the name.
pub(super) fn keep(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    name: &str,
    value: &SealedValue,
    by: &str,
) -> Result<(), Fault> {
    let now = tx.now();
    tx.run_one(
        sql!("secrets.sql", "keep"),
        params! { ":tenant": tenant, ":ticket": ticket, ":name": name, ":sealed": value.0,
        ":by": by, ":now": now },
    )
}

/// Forgets all that was given for a ticket, and its links.
pub(super) fn erase(tx: &mut Tx<'_>, tenant: TenantId, ticket: TicketId) -> Result<(), Fault> {
    // What is deleted stays in the file until its place is used again, so it is overwritten first.
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    tx.run(sql!("secrets.sql", "overwrite"), of)?;
    tx.run(sql!("secrets.sql", "erase"), of)?;
    tx.run(sql!("secrets.sql", "erase_links"), of)?;
    Ok(())
}

/// What a value is sealed for: nobody can put one tenant's, ticket's or name's in another's place.
const fn purpose<'a>(tenant: &'a TenantId, ticket: &'a TicketId, name: &'a str) -> [&'a [u8]; 4] {
    [PURPOSE, tenant.bytes(), ticket.bytes(), name.as_bytes()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_without_the_line_breaks_of_copying() {
        let taken = |sent: &str| value(sent).map(|value| value.reveal().to_owned());

        assert_eq!(taken("whsec_12345\r\n").unwrap(), "whsec_12345");
        assert_eq!(taken("\n-----BEGIN X\r\nabc\r\n-----END X\n").unwrap().lines().count(), 3);
        assert_eq!(taken(" two words ").unwrap(), " two words ");
        for bad in ["", " \n\t", "abc12", "\n\n", "with\0zero\0byte", &"x".repeat(VALUE_MAX + 1)] {
            let fault = value(bad).expect_err(bad);
            assert_eq!(fault.issues[0].path, "value");
            assert!(bad.trim().is_empty() || !fault.message.contains(bad), "{fault}");
        }
        assert!(value(&"x".repeat(VALUE_MAX)).is_ok());
    }
}
