//! What a secret may be called: the environment variable that its value is handed over in.

/// Characters of a name at most.
pub const NAME_MAX: usize = 100;

/// Variables that programs, shells and loaders read for themselves: with one of them, a value would
/// change what is run and not what it knows.
const TAKEN: &[&str] = &[
    "_",
    "ALL_PROXY",
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "CLASSPATH",
    "CURL_HOME",
    "EDITOR",
    "ENV",
    "EUID",
    "FTP_PROXY",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "HOME",
    "HOSTALIASES",
    "HOSTNAME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LANG",
    "LANGUAGE",
    "LOCALDOMAIN",
    "LOCPATH",
    "LOGNAME",
    "MAIL",
    "NLSPATH",
    "NO_PROXY",
    "OLDPWD",
    "OPENSSL_CONF",
    "OPTARG",
    "OPTIND",
    "PAGER",
    "PATH",
    "PPID",
    "PROMPT_COMMAND",
    "PS1",
    "PS2",
    "PS4",
    "PWD",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    "SHELL",
    "SHELLOPTS",
    "SHLVL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "TZDIR",
    "UID",
    "USER",
    "USERNAME",
    "VISUAL",
    "WGETRC",
    "_JAVA_OPTIONS",
];

/// How the names begin of which a program reads many.
const TAKEN_STARTS: &[&str] = &[
    "ASSAY_",
    "BASH_FUNC_",
    "CARGO_",
    "DYLD_",
    "GIT_",
    "JAVA_OPTS",
    "LC_",
    "LD_",
    "MALLOC_",
    "NODE_",
    "PERL",
    "PYTHON",
    "RUBY",
    "RUST",
    "SSH_",
    "XDG_",
];

/// Names that begin like those, and are the common names of secrets all the same.
const FREE: &[&str] = &["CARGO_REGISTRY_TOKEN", "GIT_PASSWORD", "GIT_TOKEN", "NODE_AUTH_TOKEN"];

/// Why a text is no name for a secret, as a sentence that follows the place of the name.
#[must_use]
pub fn problem(name: &str) -> Option<&'static str> {
    let usual = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(usual) || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return Some(
            "must be the name of an environment variable: letters, digits and underscores, such \
             as STRIPE_WEBHOOK_SECRET.",
        );
    }
    if name.len() > NAME_MAX {
        return Some("has more than 100 characters.");
    }
    let upper = name.to_ascii_uppercase();
    let is_taken = TAKEN.contains(&upper.as_str())
        || TAKEN_STARTS.iter().any(|start| upper.starts_with(start));
    (is_taken && !FREE.contains(&upper.as_str())).then_some(
        "names a variable that Assay, the shell or another program reads for itself; choose a \
         name of the secret's own.",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_secret_has_the_name_of_a_variable_that_nobody_else_reads() {
        for good in ["STRIPE_WEBHOOK_SECRET", "token", "_KEY2", "GITHUB_TOKEN", "NODE_AUTH_TOKEN"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in [
            "",
            "2FA",
            "A-B",
            "A B",
            "A=B",
            "É",
            "A\n",
            "PATH",
            "Path",
            "HOME",
            "LD_PRELOAD",
            "ld_library_path",
            "ASSAY_KEY",
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "BASH_ENV",
            "IFS",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "http_proxy",
            "LC_ALL",
            "DYLD_INSERT_LIBRARIES",
        ] {
            assert!(problem(bad).is_some(), "{bad}");
        }
        assert!(problem(&"A".repeat(NAME_MAX)).is_none());
        assert!(problem(&"A".repeat(NAME_MAX + 1)).is_some());
    }

    proptest! {
        #[test]
        fn whatever_is_taken_can_be_a_variable(name in "\\PC{0,12}") {
            if problem(&name).is_none() {
                prop_assert!(!name.is_empty() && !name.contains(['=', '\0']));
            }
        }
    }
}
