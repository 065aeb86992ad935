//! `assay mail`: whether mails arrive.

use anyhow::Context;
use clap::Subcommand;

use super::Done;
use super::output;
use crate::base::{Clock, Code, Entropy, Fault};
use crate::config::MailArgs;
use crate::notices::mails::Outcome;
use crate::work::smtp::{self, Outgoing};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Send a test mail by the server that is set, and say what came of it
    Test {
        /// Whom it is for
        address: String,
        #[command(flatten)]
        mail: MailArgs,
    },
}

pub(super) fn run(command: Command) -> Done {
    let Command::Test { address, mail } = command;
    let server = mail.server()?.ok_or_else(|| {
        let said = "is missing; ASSAY_SMTP_URL sets it too: smtps://user:password@mail.example. \
                    And --smtp-from or ASSAY_SMTP_FROM says whom mails are from.";
        Fault::argument("--smtp-url", said)
    })?;
    let at = Clock::system().now();
    let test = Outgoing {
        id: Entropy::system().id(at),
        to: address.clone(),
        subject: "A test of Assay's mails".to_owned(),
        text: "This is a test. Whoever asked for a ticket is told like this.\n".to_owned(),
        thread: None,
        at,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("the test cannot be run")?;
    let place = format!("{}:{}", server.host, server.port);
    match runtime.block_on(smtp::send(&server, test)) {
        Outcome::Sent(said) => {
            output::note(&format!("{place} took the mail to {address}: {said}"));
            Ok(())
        }
        Outcome::Refused(said) => Err(not_taken(&place, "for good", &said)),
        Outcome::Failed(said) => Err(not_taken(&place, "for now", &said)),
        Outcome::Outdated | Outcome::NoServer => Err(not_taken(&place, "for now", "")),
    }
}

fn not_taken(place: &str, how: &str, said: &str) -> anyhow::Error {
    Fault::new(Code::Upstream, format!("{place} did not take the mail, {how}. {said}")).into()
}
