//! Slows down guessing: how many times one account, and one address, may try a password. Kept in
//! memory, since a restart is rarer than anybody who guesses needs.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::base::text::cut;
use crate::base::{Code, Fault, Millis};

/// The time over which attempts are counted.
const WINDOW: Duration = Duration::from_mins(15);
/// Attempts on one account within the window.
const PER_ACCOUNT: u32 = 10;
/// Attempts from one address within the window: people share addresses.
const PER_ADDRESS: u32 = 50;
/// Accounts and addresses that are remembered at once.
const REMEMBERED_MAX: usize = 10_000;
/// Characters of an e-mail address that tell it from others.
const EMAIL_MAX: usize = 320;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Subject {
    Account(String),
    Address(String),
}

#[derive(Debug, Clone, Copy)]
struct Attempts {
    since: Millis,
    count: u32,
}

/// The attempts of the last minutes.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<HashMap<Subject, Attempts>>);

impl Throttle {
    /// Counts an attempt, or refuses it and says when to try again. Called before the password is
    /// looked at, so that attempts made all at once are counted too.
    pub fn admit(&self, email: &str, address: &str, now: Millis) -> Result<(), Fault> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let account = account(email);
        let address = place(address);
        for (subject, most) in [(&address, PER_ADDRESS), (&account, PER_ACCOUNT)] {
            if let Some(attempts) = current(&known, subject, now)
                && attempts.count >= most
            {
                return Err(refused(attempts, now));
            }
        }
        for subject in [account, address] {
            let attempts =
                current(&known, &subject, now).unwrap_or(Attempts { since: now, count: 0 });
            make_room(&mut known, now);
            known.insert(subject, Attempts { count: attempts.count + 1, ..attempts });
        }
        Ok(())
    }

    /// The password was right: the account's count begins anew.
    pub fn succeeded(&self, email: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&account(email));
    }
}

/// No address is longer, and what somebody sends must not fill the memory.
fn account(email: &str) -> Subject {
    Subject::Account(cut(&email.trim().to_lowercase(), EMAIL_MAX))
}

/// Who has one address of version 6 has a whole network of them.
fn place(address: &str) -> Subject {
    let place = match address.parse() {
        Ok(IpAddr::V6(address)) => network(address),
        _ => cut(address, EMAIL_MAX),
    };
    Subject::Address(place)
}

fn network(address: Ipv6Addr) -> String {
    Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).to_string()
}

fn current(known: &HashMap<Subject, Attempts>, subject: &Subject, now: Millis) -> Option<Attempts> {
    known.get(subject).copied().filter(|attempts| now.since(attempts.since) < WINDOW)
}

/// Forgets what is over, and where that is not enough, all: forgetting lets somebody guess again,
/// and keeping would let somebody fill the memory.
fn make_room(known: &mut HashMap<Subject, Attempts>, now: Millis) {
    if known.len() >= REMEMBERED_MAX {
        known.retain(|_, attempts| now.since(attempts.since) < WINDOW);
    }
    if known.len() >= REMEMBERED_MAX {
        known.clear();
    }
}

fn refused(attempts: Attempts, now: Millis) -> Fault {
    let wait = attempts.since.plus(WINDOW).since(now);
    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    let minutes = wait_ms.div_ceil(60_000);
    let said = format!("Too many attempts to log in. Try again in {minutes} min.");
    Fault::new(Code::RateLimited, said).retry_after_ms(wait_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_times(throttle: &Throttle, times: u32, email: &str, address: &str, now: Millis) {
        for n in 0..times {
            assert!(throttle.admit(email, address, now).is_ok(), "attempt {n}");
        }
    }

    #[test]
    fn an_account_is_closed_for_a_while_after_many_attempts_from_anywhere() {
        let throttle = Throttle::default();
        let now = Millis(0);
        for n in 0..PER_ACCOUNT {
            try_times(&throttle, 1, "ada@example.org", &format!("10.0.0.{n}"), now);
        }

        let fault = throttle.admit(" Ada@example.org", "10.0.1.1", now).expect_err("it is closed");

        assert_eq!(fault.code, Code::RateLimited);
        assert_eq!(fault.retry_after_ms, Some(900_000));
        assert!(throttle.admit("ada@example.org", "10.0.1.1", now.plus(WINDOW)).is_ok());
    }

    #[test]
    fn an_address_is_closed_for_a_while_after_many_attempts_on_any_account() {
        let throttle = Throttle::default();
        for n in 0..PER_ADDRESS {
            try_times(&throttle, 1, &format!("{n}@example.org"), "10.0.0.1", Millis(0));
        }

        assert!(throttle.admit("ada@example.org", "10.0.0.1", Millis(1)).is_err());
        assert!(throttle.admit("ada@example.org", "10.0.0.2", Millis(1)).is_ok());
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
        let throttle = Throttle::default();
        for n in 0..PER_ADDRESS {
            let (email, address) = (format!("{n}@example.org"), format!("2001:db8:0:1::{n:x}"));
            try_times(&throttle, 1, &email, &address, Millis(0));
        }

        assert!(throttle.admit("a@example.org", "2001:db8:0:1:ffff::1", Millis(1)).is_err());
        assert!(throttle.admit("a@example.org", "2001:db8:0:2::1", Millis(1)).is_ok());
    }

    #[test]
    fn a_right_password_begins_the_count_anew() {
        let throttle = Throttle::default();
        try_times(&throttle, PER_ACCOUNT, "ada@example.org", "10.0.0.1", Millis(0));

        throttle.succeeded("Ada@example.org");

        try_times(&throttle, PER_ACCOUNT, "ada@example.org", "10.0.0.1", Millis(0));
    }

    #[test]
    fn memory_is_bounded_whoever_tries() {
        let throttle = Throttle::default();
        for n in 0..12_000 {
            try_times(&throttle, 1, &format!("{n}@x"), &format!("{n}"), Millis(0));
        }

        let known = throttle.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(known.len() <= REMEMBERED_MAX);
    }
}
