//! Hands one mail to the mail server that the settings name. Every header is written by a library
//! that knows their form, so no title or name can make another one.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;
use rustls::CertificateError;

use crate::base::mail_server::{Cover, MailServer};
use crate::base::{MailId, Millis};
use crate::notices::mails::Outcome;

/// How long a goodbye may take. The mail is taken by then.
const GOODBYE_MAX: Duration = Duration::from_secs(1);

/// A mail as it is handed over.
#[derive(Debug)]
pub struct Outgoing {
    /// The mail: the same at each try, so that one that comes twice is known as one.
    pub id: MailId,
    /// Whom it is for.
    pub to: String,
    /// Its subject.
    pub subject: String,
    /// Its text.
    pub text: String,
    /// What mails that belong together share.
    pub thread: Option<String>,
    /// When it was written.
    pub at: Millis,
}

/// Hands over a mail, and says how that went.
pub async fn send(server: &MailServer, mail: Outgoing) -> Outcome {
    let message = match write(server, mail) {
        Ok(message) => message,
        Err(said) => return Outcome::Refused(said),
    };
    let handing = hand_over(server, &message);
    tokio::time::timeout(server.try_max, handing).await.unwrap_or_else(|_| {
        let seconds = server.try_max.as_secs_f32();
        Outcome::Failed(format!("The mail server gave no answer within {seconds} seconds."))
    })
}

/// The mail in its form.
fn write(server: &MailServer, mail: Outgoing) -> Result<Message, String> {
    let to = mail.to.trim().parse().map_err(|error| {
        format!("The address of whoever asked is none that mail can be sent to: {error}.")
    })?;
    let domain = server.from.email.domain();
    let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
    let mut message = Message::builder()
        .from(server.from.clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject)
        .date(std::time::UNIX_EPOCH + mail.at.since(Millis(0)))
        .message_id(Some(format!("<{}@{domain}>", mail.id)))
        .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()))
        .header(ContentType::TEXT_PLAIN);
    if let Some(thread) = mail.thread {
        message = message.references(format!("<{thread}@{domain}>"));
    }
    message.body(mail.text).map_err(|error| format!("The mail cannot be written: {error}."))
}

async fn hand_over(server: &MailServer, message: &Message) -> Outcome {
    let mut connection = match open(server).await {
        Ok(connection) => connection,
        // Whatever it says against a connection or a login is not about this mail.
        Err(error) => return Outcome::Failed(in_words(&error)),
    };
    match connection.send(message.envelope(), &message.formatted()).await {
        Ok(response) => {
            // It is taken, however the goodbye goes.
            drop(tokio::time::timeout(GOODBYE_MAX, connection.quit()).await);
            Outcome::Sent(said(&response))
        }
        Err(error) if error.is_permanent() || error.is_client() => {
            Outcome::Refused(in_words(&error))
        }
        Err(error) => Outcome::Failed(in_words(&error)),
    }
}

async fn open(server: &MailServer) -> Result<AsyncSmtpConnection, Error> {
    let hello = ClientId::Domain(server.from.email.domain().to_owned());
    let tls = match server.cover {
        Cover::Tls | Cover::StartTls => Some(TlsParameters::new(server.host.clone())?),
        Cover::Loopback => None,
    };
    let at_once = tls.clone().filter(|_| server.cover == Cover::Tls);
    let (place, limit) = ((server.host.as_str(), server.port), Some(server.try_max));
    let mut connection =
        AsyncSmtpConnection::connect_tokio1(place, limit, &hello, at_once, None).await?;
    if let (Cover::StartTls, Some(tls)) = (server.cover, tls) {
        connection.starttls(tls, &hello).await?;
    }
    if let Some((user, password)) = &server.login {
        let login = Credentials::new(user.clone(), password.reveal().to_owned());
        connection.auth(&[Mechanism::Plain, Mechanism::Login], &login).await?;
    }
    Ok(connection)
}

fn said(response: &Response) -> String {
    let words: Vec<&str> = response.message().collect();
    format!("{} {}", response.code(), words.join(" "))
}

/// Why a mail was not taken.
fn in_words(error: &Error) -> String {
    if let Some(said) = distrust(error) {
        return said;
    }
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    match error.status() {
        Some(code) => format!("The mail server said {code} {cause}"),
        None => format!("The mail server cannot be told: {error}."),
    }
}

/// Why the server is not believed to be who it should be, where that is the trouble.
fn distrust(error: &Error) -> Option<String> {
    let mut cause = error.source();
    while let Some(one) = cause {
        let inner = one.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let found = inner.and_then(|inner| inner.downcast_ref()).or_else(|| one.downcast_ref());
        if let Some(rustls::Error::InvalidCertificate(why)) = found {
            return Some(in_words_of_certificate(why));
        }
        cause = one.source();
    }
    None
}

fn in_words_of_certificate(why: &CertificateError) -> String {
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("The mail server's certificate is for another name: {why}.")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("The mail server's certificate has expired: {why}.")
        }
        _ => format!(
            "The mail server's certificate is not trusted: {why}. Where an authority of your own \
             vouches for it, add that one's certificate to those of the system, or name a file \
             of all that you trust in the variable SSL_CERT_FILE, for the server too."
        ),
    }
}
