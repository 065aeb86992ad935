//! What every call of git starts with: its options, and the whole of its environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// What every call starts with.
pub(super) const ALWAYS: &[&str] = &[
    "--no-pager",
    "--literal-pathspecs",
    "--no-optional-locks",
    // A replaced object would show another history than the one that is landed.
    "--no-replace-objects",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.alternateRefsCommand=true",
    "-c",
    "core.quotePath=false",
    "-c",
    "protocol.ext.allow=never",
    // Each of these would start the program that a repository names for signatures.
    "-c",
    "commit.gpgSign=false",
    "-c",
    "tag.gpgSign=false",
    "-c",
    "push.gpgSign=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "merge.verifySignatures=false",
    "-c",
    "merge.autoStash=false",
    "-c",
    "rebase.autoStash=false",
    "-c",
    "submodule.recurse=false",
    "-c",
    "fetch.recurseSubmodules=false",
    "-c",
    "push.recurseSubmodules=no",
    // Cleaning up is for the owner of a repository to start, not for a passer-by.
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
];

/// What git, ssh and credential helpers need to find themselves, the person's settings and the
/// network. Nothing else of the server's environment reaches them: it may hold secrets, and
/// variables of a surrounding git would redirect a call.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "TZ",
    "LD_LIBRARY_PATH",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_EXEC_PATH",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "SSH_AUTH_SOCK",
    "GNUPGHOME",
    "PASSWORD_STORE_DIR",
    "GPG_AGENT_INFO",
    "KRB5CCNAME",
    "DBUS_SESSION_BUS_ADDRESS",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

/// What every call's environment says.
const SET: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_ALLOW_PROTOCOL", "file:https:ssh"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_ADVICE", "0"),
    // Without this ssh would ask for a passphrase on the terminal the server was started from.
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
];

/// The environment of a call, out of the server's.
pub(super) fn environment(
    server: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let is_inherited = |name: &OsStr| INHERITED.iter().any(|inherited| name == *inherited);
    let mut out: Vec<_> = server.filter(|(name, _)| is_inherited(name)).collect();
    out.extend(SET.iter().map(|(name, value)| (name.into(), value.into())));
    out
}

/// The file of a program that is named, where a call's `PATH` leads to it. A file is started
/// without a copy of this process, which takes the longer the larger it is; a name would have to be
/// looked for in such a copy, with the `PATH` of the call.
pub(super) fn file_of(program: &OsStr, environment: &[(OsString, OsString)]) -> OsString {
    let is_path = Path::new(program).components().count() > 1;
    let path = environment.iter().find(|(name, _)| name == "PATH").filter(|_| !is_path);
    let folders = path.map(|(_, path)| env::split_paths(path)).into_iter().flatten();
    // What is relative would be looked for from the call's own folder.
    let mut files =
        folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(program));
    let is_program = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    files.find(is_program).map_or_else(|| program.to_owned(), PathBuf::into_os_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_on_the_path_and_anything_else_stays_as_it_is() {
        let with = |path: &str| vec![("PATH".into(), path.into())];
        for (program, path, file) in [
            ("sh", "/nowhere:/bin", "/bin/sh"),
            ("sh", "bin:.", "sh"),
            ("sh", "", "sh"),
            ("passwd", "/etc", "passwd"),
            ("/bin/sh", "/usr/bin", "/bin/sh"),
            ("./sh", "/bin", "./sh"),
        ] {
            assert_eq!(file_of(program.as_ref(), &with(path)), file, "{program} on {path}");
        }
        assert_eq!(file_of("sh".as_ref(), &[]), "sh");
    }

    #[test]
    fn git_sees_what_it_needs_and_nothing_else_of_the_server() {
        let server = ["PATH", "HOME", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "GIT_DIR"]
            .into_iter()
            .chain(["GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF", "ASSAY_KEY", "SSH_ASKPASS"])
            .map(|name| (OsString::from(name), OsString::from("server's")));

        let seen = environment(server);

        let inherited: Vec<_> = seen.iter().filter(|(_, value)| value == "server's").collect();
        let names: Vec<_> = inherited.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["PATH", "HOME", "SSH_AUTH_SOCK"]);
        assert!(seen.contains(&("GIT_TERMINAL_PROMPT".into(), "0".into())));
    }
}
