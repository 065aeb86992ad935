//! Which server takes mails, and whom they are from.

use std::net::IpAddr;
use std::time::Duration;

use http::Uri;
use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;

use super::fault::Fault;
use super::secret::Secret;

/// How long one try to hand over a mail may take.
const TRY_MAX: Duration = Duration::from_secs(20);

const FORM: &str = "expected smtps://HOST or smtp://HOST, with a port where it is another than 465 \
                    or 587, and nothing after that.";

/// How a connection is kept from others' eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// TLS from its first byte.
    Tls,
    /// TLS before anything is said that matters, or nothing is.
    StartTls,
    /// None: it does not leave this machine.
    Loopback,
}

/// A server that takes mails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailServer {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection to it is covered.
    pub cover: Cover,
    /// User and password, where it wants them.
    pub login: Option<(String, Secret)>,
    /// Whom mails are from.
    pub from: Mailbox,
    /// How long one try may take.
    pub try_max: Duration,
}

impl MailServer {
    /// The server that an address names: `smtps://user:password@mail.example.com`.
    ///
    /// # Errors
    /// Says what is wrong, and never repeats the address, which may hold a password.
    pub fn parse(url: &str, from: &str) -> Result<Self, Fault> {
        let wrong = |said: &str| Fault::argument("--smtp-url", said);
        let uri: Uri = url.trim().parse().map_err(|_| wrong(FORM))?;
        let authority = uri.authority().ok_or_else(|| wrong(FORM))?;
        let name = authority.host();
        let (login, place) = match authority.as_str().rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority.as_str()),
        };
        let named_port = place.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
        let is_plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
        if name.is_empty() || !is_plain || named_port.is_some() != authority.port_u16().is_some() {
            return Err(wrong(FORM));
        }
        let host = name.trim_matches(['[', ']']).to_ascii_lowercase();
        let scheme = uri.scheme_str().unwrap_or_default().to_ascii_lowercase();
        let (cover, port) = match scheme.as_str() {
            "smtps" => (Cover::Tls, 465),
            "smtp" if is_loopback(&host) => (Cover::Loopback, 587),
            "smtp" => (Cover::StartTls, 587),
            _ => return Err(wrong(FORM)),
        };
        let port = authority.port_u16().unwrap_or(port);
        let login = login.map(parse_login).transpose()?;
        let from = from.trim().parse().map_err(|_| {
            let said = "expected an address such as `Assay <assay@example.com>`.";
            Fault::argument("--smtp-from", said)
        })?;
        Ok(Self { host, port, cover, login, from, try_max: TRY_MAX })
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

fn parse_login(text: &str) -> Result<(String, Secret), Fault> {
    let wrong = || {
        let said = "expected a user and a password before the @, with a colon between; write what \
                    is no letter, digit, dot or hyphen in them as %XX.";
        Fault::argument("ASSAY_SMTP_URL", said)
    };
    let decoded = |text: &str| {
        let text = percent_decode_str(text).decode_utf8().map_err(|_| wrong())?;
        if text.is_empty() || text.contains(char::is_control) {
            return Err(wrong());
        }
        Ok(text.into_owned())
    };
    let (user, password) = text.split_once(':').ok_or_else(wrong)?;
    Ok((decoded(user)?, Secret::new(decoded(password)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Option<(String, u16, Cover)> {
        let server = MailServer::parse(url, "Assay <assay@example.com>").ok()?;
        Some((server.host, server.port, server.cover))
    }

    #[test]
    fn the_scheme_says_how_it_is_covered_and_only_this_machine_may_go_without() {
        for (url, host, port, cover) in [
            ("smtps://mail.example.com", "mail.example.com", 465, Cover::Tls),
            ("smtps://Mail.Example.com:4650/", "mail.example.com", 4650, Cover::Tls),
            ("smtp://mail.example.com", "mail.example.com", 587, Cover::StartTls),
            ("smtp://10.0.0.1:25", "10.0.0.1", 25, Cover::StartTls),
            ("smtp://localhost.example.com", "localhost.example.com", 587, Cover::StartTls),
            ("smtp://localhost:25", "localhost", 25, Cover::Loopback),
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, Cover::Loopback),
            ("smtp://[::1]:2525", "::1", 2525, Cover::Loopback),
        ] {
            assert_eq!(parsed(url), Some((host.to_owned(), port, cover)), "{url}");
        }
        for url in [
            "",
            "mail.example.com",
            "http://mail.example.com",
            "smtps://",
            "smtps://mail.example.com:99999",
            "smtps://mail.example.com:",
            "smtps://mail.example.com/path",
            "smtps://mail.example.com?tls=none",
            "smtps://user@mail.example.com",
            "smtps://:password@mail.example.com",
            "smtps://user:%0d%0aQUIT@mail.example.com",
        ] {
            assert_eq!(parsed(url), None, "{url}");
        }
    }

    #[test]
    fn a_password_is_decoded_and_never_shown() {
        let server = MailServer::parse("smtps://ada%40a.test:p%3Aw%2f1@mail.test", "a@b.test");
        let server = server.unwrap();

        let (user, password) = server.login.clone().unwrap();
        assert_eq!((user.as_str(), password.reveal()), ("ada@a.test", "p:w/1"));
        assert!(!format!("{server:?}").contains("p:w"), "{server:?}");
        let refused = MailServer::parse("smtps://ada:hunter2@mail.test/path", "a@b.test");
        assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
    }

    #[test]
    fn who_mails_are_from_is_an_address() {
        for from in ["", "assay", "a@b.test\r\nBcc: c@d.test", "@b.test"] {
            let refused = MailServer::parse("smtps://mail.test", from).unwrap_err();

            assert!(refused.message.contains("--smtp-from"), "{refused}");
        }
    }
}
