//! Where a command gets a person's password: from standard input, or made up.

use std::io::{self, Read};

use clap::Args;

use crate::accounts::passwords::{self, PasswordHash};
use crate::base::{Entropy, Fault, Secret};

/// The most that is read of standard input, in bytes.
const READ_MAX: u64 = 16 * 1024;

/// How the password comes.
#[derive(Debug, Clone, Args)]
pub(super) struct PasswordArgs {
    /// Read the password from standard input; without this one is made up and printed
    #[arg(long)]
    password_stdin: bool,
}

/// A password with its hash.
pub(super) struct Password {
    pub(super) hash: PasswordHash,
    /// The text, where it was made up and somebody must be told.
    pub(super) made_up: Option<Secret>,
}

impl PasswordArgs {
    /// The password, hashed.
    pub(super) fn get(&self) -> anyhow::Result<Password> {
        let entropy = Entropy::system();
        let (text, made_up) = if self.password_stdin {
            (read()?, None)
        } else {
            let made = passwords::generate(&entropy);
            (made.clone(), Some(made))
        };
        Ok(Password { hash: passwords::hash(&text, &entropy)?, made_up })
    }
}

/// Standard input as it stands, but for the line's end that `echo` adds.
fn read() -> anyhow::Result<Secret> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(READ_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Fault::argument("password", "standard input is not UTF-8 text."))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.contains('\n') {
        return Err(Fault::argument("password", "standard input has several lines.").into());
    }
    Ok(Secret::new(text))
}
