//! Settings of the server, from flags and `ASSAY_*` variables, checked once at the start.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use clap::builder::FalseyValueParser;
use http::Uri;

use crate::base::text::shell_word;
use crate::base::{Code, Endpoint, Fault, MailServer, Network, NextAction, RateLimit, Secret};

/// The data directory where nothing names another.
const DEFAULT_DATA: &str = "./assay-data";

/// Where everything is kept.
#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// The data directory; it is made where there is none
    #[arg(long, value_name = "DIR", env = "ASSAY_DATA", default_value = DEFAULT_DATA)]
    pub data: PathBuf,
}

/// What a command that somebody is told to run must say of the data directory: ` --data DIR`, or
/// nothing where it is the default one.
#[must_use]
pub fn data_flag(data: &Path) -> String {
    if data == Path::new(DEFAULT_DATA) {
        return String::new();
    }
    // Whoever runs the command may stand in another folder.
    let absolute = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    format!(" --data {}", shell_word(&absolute.to_string_lossy()))
}

/// The server that takes mails, as the flags name it.
#[derive(Debug, Clone, Args)]
pub struct MailArgs {
    /// A mail server by which those who asked for a ticket are told: `smtps://mail.example`, or
    /// `smtp://mail.example` with STARTTLS
    ///
    /// The variable `ASSAY_SMTP_URL` sets it too, and may hold user and password:
    /// `smtps://user:password@mail.example`. Towards this machine, smtp:// needs no TLS.
    #[arg(long, value_name = "URL")]
    pub smtp_url: Option<String>,
    /// Whom mails are from: `Assay <assay@example.com>`
    #[arg(long, value_name = "ADDRESS", env = "ASSAY_SMTP_FROM")]
    pub smtp_from: Option<String>,
}

impl MailArgs {
    /// The server, where one is named. Its password comes from a variable, for whoever lists
    /// processes sees their flags.
    pub fn server(&self) -> Result<Option<MailServer>, Fault> {
        if self.smtp_url.as_deref().is_some_and(|url| url.contains('@')) {
            let said = "whoever lists processes sees their flags. Leave user and password out, or \
                        set the variable ASSAY_SMTP_URL to the whole address instead.";
            return Err(Fault::argument("--smtp-url", said));
        }
        let url = self.smtp_url.clone().or_else(|| of_environment("ASSAY_SMTP_URL"));
        let is_set = |text: &String| !text.trim().is_empty();
        match (url.filter(is_set), self.smtp_from.as_ref().filter(|from| is_set(from))) {
            (Some(url), Some(from)) => MailServer::parse(&url, from).map(Some),
            (None, None) => Ok(None),
            (Some(_), None) => {
                let said = "is missing; ASSAY_SMTP_FROM sets it too. Mails are from somebody: \
                            `Assay <assay@example.com>`.";
                Err(Fault::argument("--smtp-from", said))
            }
            (None, Some(_)) => {
                let said = "is missing; ASSAY_SMTP_URL sets it too. Without a server there is no \
                            mail, whoever it is from.";
                Err(Fault::argument("--smtp-url", said))
            }
        }
    }
}

/// The flags of `assay serve`, as they were given.
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// Where everything is kept.
    #[command(flatten)]
    pub data: DataArgs,
    /// The address to listen on
    #[arg(
        long,
        value_name = "ADDR",
        env = "ASSAY_LISTEN",
        default_value = "127.0.0.1:7171",
        value_parser = parse_listen
    )]
    pub listen: SocketAddr,
    /// The address under which people and agents reach the server: `https://assay.example`
    #[arg(long, value_name = "URL", env = "ASSAY_PUBLIC_URL")]
    pub public_url: Option<PublicUrl>,
    /// One more host that requests may be addressed to: name, name:port or *.domain (repeatable)
    #[arg(
        long = "allowed-host",
        value_name = "HOST",
        env = "ASSAY_ALLOWED_HOST",
        value_delimiter = ','
    )]
    pub allowed_hosts: Vec<String>,
    /// A proxy in front that is believed about who calls: address or network (repeatable)
    ///
    /// Without it, and with a public URL, that is a proxy on this machine.
    #[arg(
        long = "trusted-proxy",
        value_name = "ADDR",
        env = "ASSAY_TRUSTED_PROXY",
        value_delimiter = ','
    )]
    pub trusted_proxies: Vec<Network>,
    /// Calls that one key may make in a minute, or `off`
    #[arg(
        long,
        value_name = "CALLS_PER_MINUTE|off",
        env = "ASSAY_RATE_LIMIT",
        default_value_t = RateLimit::default()
    )]
    pub rate_limit: RateLimit,
    /// A language model that drafts tickets from conversations: the address of an OpenAI-compatible
    /// endpoint, before /chat/completions
    #[arg(long, value_name = "URL", env = "ASSAY_LLM_URL", requires = "llm_model")]
    pub llm_url: Option<String>,
    /// The name of that model
    #[arg(long, value_name = "NAME", env = "ASSAY_LLM_MODEL", requires = "llm_url")]
    pub llm_model: Option<String>,
    /// A file with the key for it; the variable `ASSAY_LLM_KEY` may hold the key instead
    #[arg(long, value_name = "FILE", env = "ASSAY_LLM_KEY_FILE", requires = "llm_url")]
    pub llm_key_file: Option<PathBuf>,
    /// The server that takes mails.
    #[command(flatten)]
    pub mail: MailArgs,
    /// Let everybody read /metrics who reaches the server; otherwise it takes an admin's key
    #[arg(long, env = "ASSAY_OPEN_METRICS", value_parser = FalseyValueParser::new())]
    pub open_metrics: bool,
    /// Make a self-contained demonstration: a project, its repository, an agent and three tickets
    #[arg(long, env = "ASSAY_DEMO", value_parser = FalseyValueParser::new())]
    pub demo: bool,
}

/// The settings of a server that may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The data directory.
    pub data: PathBuf,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The address under which the server is reached, where it was named.
    pub public_url: Option<PublicUrl>,
    /// More hosts that requests may be addressed to.
    pub allowed_hosts: Vec<String>,
    /// The proxies that are believed about who calls; empty where none was named.
    pub trusted_proxies: Vec<Network>,
    /// How often one key may call.
    pub rate_limit: RateLimit,
    /// The language model that drafts, where there is one.
    pub model: Option<Endpoint>,
    /// The server that takes mails, where there is one.
    pub mail: Option<MailServer>,
    /// Whether everybody may read the metrics who reaches the server.
    pub open_metrics: bool,
    /// Whether to make the demonstration.
    pub demo: bool,
}

impl Config {
    /// The settings in the flags, or what is missing and why it is needed.
    pub fn new(args: ServeArgs) -> Result<Self, Fault> {
        if !args.listen.ip().is_loopback() && args.public_url.is_none() {
            return Err(no_public_url(args.listen, &data_flag(&args.data.data)));
        }
        if let Some(host) = args.allowed_hosts.iter().find(|host| !is_host(host)) {
            let said =
                format!("{host:?} is no host; give a name, a name with a port, or *.domain.");
            return Err(Fault::argument("--allowed-host", said));
        }
        let (model, mail) = (endpoint(&args)?, args.mail.server()?);
        Ok(Self {
            data: args.data.data,
            listen: args.listen,
            public_url: args.public_url,
            allowed_hosts: args.allowed_hosts,
            trusted_proxies: args.trusted_proxies,
            rate_limit: args.rate_limit,
            model,
            mail,
            open_metrics: args.open_metrics,
            demo: args.demo,
        })
    }

    /// The address under which the server is reached, without a slash at its end: the public URL,
    /// or the one that `listening` gives, which is where the server does listen.
    #[must_use]
    pub fn base_url(&self, listening: SocketAddr) -> String {
        match &self.public_url {
            Some(url) => url.to_string(),
            None => format!("http://{listening}"),
        }
    }
}

/// The language model that the flags name. Its key comes from a file or a variable, for whoever
/// lists processes sees their flags.
fn endpoint(args: &ServeArgs) -> Result<Option<Endpoint>, Fault> {
    let (Some(url), Some(model)) = (&args.llm_url, &args.llm_model) else { return Ok(None) };
    let uri: Option<Uri> = url.trim().parse().ok();
    let is_web =
        uri.as_ref().and_then(Uri::scheme_str).is_some_and(|s| s == "http" || s == "https");
    let names_user =
        uri.as_ref().and_then(Uri::authority).is_some_and(|a| a.as_str().contains('@'));
    if !is_web || names_user || model.trim().is_empty() {
        let said = "give a URL such as https://api.example.com/v1, without a user, and the model's \
                    name.";
        return Err(Fault::argument("--llm-url", said));
    }
    let key = match &args.llm_key_file {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
            let said = format!("{} cannot be read: {error}.", path.display());
            Fault::argument("--llm-key-file", said)
        })?),
        None => of_environment("ASSAY_LLM_KEY"),
    };
    let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    if key.as_deref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Fault::argument(
            "ASSAY_LLM_KEY",
            "the key holds a space or another odd character.",
        ));
    }
    let (url, model) = (url.trim().to_owned(), model.trim().to_owned());
    Ok(Some(Endpoint { url, model, key: key.map(Secret::new) }))
}

#[expect(clippy::disallowed_methods, reason = "what no flag may hold, and no help may show")]
fn of_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn no_public_url(listen: SocketAddr, data: &str) -> Fault {
    let message = format!(
        "Other machines can reach {listen}, and no public URL is set. Links, cookies and the check \
         of the host that requests are addressed to all need to know under which name the server \
         is reached; without it any web page could make a browser talk to it."
    );
    let port = listen.port();
    Fault::new(Code::InvalidArgument, message)
        .issue("--public-url", "is missing; ASSAY_PUBLIC_URL sets it too.")
        .next(NextAction::Run(format!(
            "assay serve --listen {listen} --public-url https://assay.example{data}"
        )))
        .next(NextAction::Run(format!("assay serve --listen 127.0.0.1:{port}{data}")))
}

fn is_host(text: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | '@' | '"');
    !text.is_empty() && text.len() <= 300 && !text.contains(odd)
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    match (text.parse(), local) {
        (Ok(address), _) => Ok(address),
        (_, Some(port)) => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        _ => Err("expected an address and a port, such as 127.0.0.1:7171 or [::]:7171".to_owned()),
    }
}

/// The address under which the server is reached: scheme, host and perhaps a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// The address, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether browsers reach the server over TLS, so that cookies may demand it.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let uri: Uri = text.parse().map_err(|_| "expected a URL such as https://assay.example")?;
        let scheme = uri.scheme_str().map(str::to_ascii_lowercase);
        let Some(scheme @ ("https" | "http")) = scheme.as_deref() else {
            return Err("expected a URL that starts with https:// or http://");
        };
        let authority = uri.authority().ok_or("the URL names no host")?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err("expected a host without a user name");
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.contains('#') {
            return Err("the server is at the root of its host; leave the path out");
        }
        Ok(Self(format!("{scheme}://{}", authority.as_str().to_ascii_lowercase())))
    }
}
#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn config(args: &[&str]) -> Result<Config, String> {
        let line = Line::try_parse_from([&["serve"], args].concat());
        let args = line.map_err(|error| error.to_string())?.serve;
        Config::new(args).map_err(|fault| format!("{:?}", fault.issues))
    }

    #[test]
    fn without_flags_the_server_is_for_this_machine() {
        let config = config(&[]).expect("no flag is needed");

        assert_eq!(config.listen.to_string(), "127.0.0.1:7171");
        assert_eq!(config.base_url(config.listen), "http://127.0.0.1:7171");
        assert_eq!(config.rate_limit.to_string(), "3000");
        assert!(!config.demo);
    }

    #[test]
    fn only_another_data_directory_needs_to_be_named() {
        assert_eq!(data_flag(Path::new("./assay-data")), "");
        assert_eq!(data_flag(Path::new("/srv/a")), " --data /srv/a");
        assert_eq!(data_flag(Path::new("/srv/my data")), " --data '/srv/my data'");
    }

    #[test]
    fn listening_beyond_this_machine_needs_a_public_url() {
        for listen in ["0.0.0.0:7171", "[::]:80", "192.168.1.5:7171"] {
            let refused = config(&["--listen", listen]).expect_err(listen);
            let allowed = config(&["--listen", listen, "--public-url", "https://a.example"]);

            assert!(refused.contains("--public-url"), "{refused}");
            assert!(allowed.is_ok(), "{allowed:?}");
        }
        for listen in ["127.0.0.2:1", "[::1]:7171", "localhost:0"] {
            assert!(config(&["--listen", listen]).is_ok(), "{listen}");
        }
    }

    #[test]
    fn a_mail_server_has_a_sender_and_no_password_in_a_flag() {
        let (url, from) = ("smtps://mail.example", "Assay <assay@example.com>");
        let named = config(&["--smtp-url", url, "--smtp-from", from]).unwrap().mail.unwrap();
        assert_eq!((named.host.as_str(), named.port), ("mail.example", 465));

        for (args, said) in [
            (vec!["--smtp-url", url], "--smtp-from"),
            (vec!["--smtp-from", from], "--smtp-url"),
            (vec!["--smtp-url", "mail.example", "--smtp-from", from], "smtps://HOST"),
            (vec!["--smtp-url", "smtps://u:hunter2@a.test", "--smtp-from", from], "ASSAY_SMTP_URL"),
        ] {
            let refused = config(&args).unwrap_err();

            assert!(refused.contains(said) && !refused.contains("hunter2"), "{refused}");
        }
    }

    #[test]
    fn a_public_url_is_an_origin() {
        for (text, shown) in [
            ("https://Assay.Example/", Some("https://assay.example")),
            ("http://10.0.0.1:7171", Some("http://10.0.0.1:7171")),
            ("assay.example", None),
            ("ftp://assay.example", None),
            ("https://u:p@assay.example", None),
            ("https://assay.example/path", None),
            ("https://assay.example/?q", None),
            ("https://", None),
        ] {
            let url: Option<PublicUrl> = text.parse().ok();

            assert_eq!(url.as_ref().map(PublicUrl::as_str), shown, "{text}");
        }
    }

    #[test]
    fn a_rate_limit_is_a_number_or_off() {
        for (text, limited) in [("off", Some("off")), ("1", Some("1")), ("0", None), ("-1", None)] {
            let limit: Option<RateLimit> = text.parse().ok();

            assert_eq!(limit.map(|limit| limit.to_string()).as_deref(), limited, "{text}");
        }
    }

    #[test]
    fn several_hosts_may_be_allowed_and_nonsense_may_not() {
        let config_of = |hosts| config(&["--allowed-host", hosts]);

        assert_eq!(config_of("a.example,*.b.example:80").map(|c| c.allowed_hosts.len()), Ok(2));
        assert!(config_of("a b").is_err());
        assert!(config_of("u@h").is_err());
    }
}
