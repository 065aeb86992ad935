//! Mail servers behind TLS: who vouches for them decides whether they are told anything.

use std::path::Path;

use assert_cmd::Command;

use crate::harness::{Authority, Covered, Postbox};

/// Sends a test mail to that server. `trusted` is a file of authorities beside the system's own.
fn send(url: &str, trusted: Option<&Path>) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["mail", "test", "ada@example.com"]);
    command.env("ASSAY_SMTP_URL", url).env("ASSAY_SMTP_FROM", "Assay <assay@example.com>");
    command.env_remove("SSL_CERT_DIR").env_remove("SSL_CERT_FILE");
    if let Some(file) = trusted {
        command.env("SSL_CERT_FILE", file);
    }
    let output = command.output().unwrap();
    let said = [output.stderr, output.stdout].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// Both ways of TLS: a server's address as the settings name it, and the server. A name that is no
/// other word for this machine asks for STARTTLS, and leads here all the same.
fn servers(named: &str, other: &str) -> [(String, Postbox, Authority); 2] {
    let at_once = Authority::vouching_for(named);
    let once_asked = Authority::vouching_for(other);
    let first = Postbox::covered(Covered::AtOnce(at_once.server.clone()));
    let second = Postbox::covered(Covered::OnceAsked(once_asked.server.clone()));
    [
        (format!("smtps://ada:hunter2@127.0.0.1:{}", first.port()), first, at_once),
        (format!("smtp://ada:hunter2@0.0.0.0:{}", second.port()), second, once_asked),
    ]
}

#[test]
fn a_server_for_which_nobody_vouches_is_told_nothing_and_the_error_says_what_to_do() {
    for (url, postbox, _) in servers("127.0.0.1", "0.0.0.0") {
        let (is_sent, said) = send(&url, None);

        assert!(!is_sent && postbox.posted().is_empty(), "{url}: {said}");
        assert!(postbox.calls() == 1 && !said.contains("hunter2"), "{url}: {said}");
        assert!(said.contains("certificate is not trusted"), "{url}: {said}");
        assert!(said.contains("SSL_CERT_FILE"), "{url}: {said}");
    }
}

#[test]
fn a_server_of_an_authority_that_is_named_takes_the_mail() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("authority.pem");
    for (url, postbox, authority) in servers("127.0.0.1", "0.0.0.0") {
        std::fs::write(&file, authority.pem).unwrap();

        let (is_sent, said) = send(&url, Some(&file));

        assert!(is_sent && said.contains("250 Taken as 4711"), "{url}: {said}");
        let posted = postbox.posted();
        assert_eq!(posted.len(), 1, "{url}");
        assert_eq!(posted[0].to, ["RCPT TO:<ada@example.com>"], "{url}");
    }
}

#[test]
fn a_certificate_of_another_server_is_refused_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("authority.pem");
    for (url, postbox, authority) in servers("mail.example.com", "mail.example.com") {
        std::fs::write(&file, authority.pem).unwrap();

        let (is_sent, said) = send(&url, Some(&file));

        assert!(!is_sent && postbox.posted().is_empty(), "{url}: {said}");
        assert!(said.contains("certificate is for another name"), "{url}: {said}");
        assert!(!said.contains("SSL_CERT_FILE"), "{url}: {said}");
    }
}

#[test]
fn a_server_that_offers_no_tls_is_told_nothing() {
    let postbox = Postbox::start();

    let (is_sent, said) = send(&format!("smtp://0.0.0.0:{}", postbox.port()), None);

    assert!(!is_sent && postbox.posted().is_empty(), "{said}");
    assert!(said.to_lowercase().contains("starttls"), "{said}");
}
