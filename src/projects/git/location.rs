//! Where a project's repository is: a directory of this machine or the address of a remote.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place that git can be sent to without it taking the text for anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A directory of this machine, by its absolute path.
    Local(PathBuf),
    /// A remote, by its address.
    Remote(RemoteUrl),
}

/// The address of a remote: `https://`, `ssh://`, `file:///` or `user@host:path`.
///
/// `Display` and `Debug` hide what stands before the host of an `https` address, as people put
/// tokens there.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl(String);

impl RemoteUrl {
    /// The address as git gets it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = self.0.strip_prefix("https://").and_then(|rest| {
            let (host, path) = rest.split_once('/')?;
            let (_, host) = host.rsplit_once('@')?;
            Some(format!("https://[redacted]@{host}/{path}"))
        });
        f.write_str(hidden.as_deref().unwrap_or(&self.0))
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteUrl({self})")
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => path.display().fmt(f),
            Self::Remote(url) => url.fmt(f),
        }
    }
}

impl Location {
    /// The location in `text`, or a sentence saying why it is none and what would be.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(format!("It is empty. {EXPECTED}"));
        }
        if text.chars().any(char::is_control) {
            return Err("It holds a line break or another control character.".to_owned());
        }
        if text.starts_with('-') {
            return Err("It starts with a hyphen, which git would take for an option.".to_owned());
        }
        if Path::new(text).is_absolute() {
            return Ok(Self::Local(PathBuf::from(text)));
        }
        match text.split_once("://") {
            Some((scheme, rest)) => check_url(scheme, rest)?,
            None => check_short(text)?,
        }
        Ok(Self::Remote(RemoteUrl(text.to_owned())))
    }
}

const EXPECTED: &str = "Give the absolute path of a repository on this machine, or an address \
    such as https://host/team/repo.git or git@host:team/repo.git.";

/// `scheme://rest`, with a scheme that starts no program of the address's own choosing.
fn check_url(scheme: &str, rest: &str) -> Result<(), String> {
    match scheme {
        "file" if rest.starts_with('/') && rest.len() > 1 => return Ok(()),
        "file" => return Err("A file:// address needs three slashes: file:///srv/r.git.".into()),
        "https" | "ssh" => {}
        "http" => return Err("Plain http shows the code to the network; use https.".to_owned()),
        _ => return Err(format!("Only https, ssh and file addresses are followed. {EXPECTED}")),
    }
    let Some((authority, path)) = rest.split_once('/') else {
        return Err(format!("It names a host and no repository. {EXPECTED}"));
    };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if user.contains(':') {
        return Err(
            "It holds a password, which git would show and store. Leave it out, and let a \
            git credential helper or an SSH key of the server's user answer for it."
                .to_owned(),
        );
    }
    check_parts(user, host, path)
}

/// `user@host:path`, the short form of an ssh address.
fn check_short(text: &str) -> Result<(), String> {
    let Some((authority, path)) = text.split_once(':') else {
        return Err(format!("It is a relative path. {EXPECTED}"));
    };
    if authority.contains('/') {
        return Err(format!("It is a relative path. {EXPECTED}"));
    }
    // `ext::sh -c …` and its like name a helper program rather than a host. Where git looks for the
    // two colons is its own affair: no path has them.
    if text.contains("::") {
        return Err(format!("It names a transport helper, and none is ever run. {EXPECTED}"));
    }
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    check_parts(user, host, path)
}

/// No part may be one that ssh or the remote's shell would take for an option.
fn check_parts(user: &str, host: &str, path: &str) -> Result<(), String> {
    if [user, host, path].iter().any(|part| part.starts_with('-')) {
        return Err("A part of it starts with a hyphen, which ssh would take for an option.".into());
    }
    let odd = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '$' | ';' | '|' | '&');
    if host.is_empty() || user.contains(odd) || host.contains(odd) {
        return Err(format!("It names no host. {EXPECTED}"));
    }
    if path.trim_matches('/').is_empty() {
        return Err(format!("It names a host and no repository. {EXPECTED}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_the_usual_addresses_are_taken() {
        assert_eq!(Location::parse("/srv/r"), Ok(Location::Local("/srv/r".into())));
        for text in [
            "https://host/team/repo.git",
            "https://bot@host:8443/team/repo.git",
            "ssh://git@host:2222/team/repo",
            "git@host:team/repo.git",
            "file:///srv/r.git",
        ] {
            assert!(matches!(Location::parse(text), Ok(Location::Remote(_))), "{text}");
        }
    }

    #[test]
    fn addresses_that_would_run_something_are_refused() {
        for text in [
            "",
            "ext::sh -c touch% /tmp/x",
            "fd::3",
            "ext:@::",
            "--upload-pack=touch /tmp/x",
            "-u",
            "ssh://-oProxyCommand=x/r",
            "ssh://git@-oProxyCommand=x/r",
            "-oProxyCommand=x@host:r",
            "git@-oProxyCommand=x:r",
            "git@host:-r",
            "https://host",
            "https://host/",
            "https://user:password@host/r",
            "http://host/r",
            "git://host/r",
            "file://host",
            "relative/path",
            "./relative:path",
            "~/r",
            "/srv/r\n--evil",
        ] {
            assert!(Location::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_token_in_an_address_is_not_shown() {
        let location = Location::parse("https://ghp_secret@host/r").expect("a remote");

        assert_eq!(location.to_string(), "https://[redacted]@host/r");
        assert!(!format!("{location:?}").contains("ghp_secret"));
    }
}
