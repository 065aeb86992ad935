//! Somebody on loopback who takes mails over SMTP, and may refuse, hang or go away as anybody does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::base::MailServer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A mail as it came.
#[derive(Debug, Clone)]
pub(crate) struct Posted {
    /// The addresses of its envelope.
    pub(crate) to: Vec<String>,
    /// Its headers, unfolded, and its text, decoded from quoted-printable.
    pub(crate) headers: Vec<String>,
    /// Its text.
    pub(crate) text: String,
}

impl Posted {
    /// A header's value; empty where there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        let found = self.headers.iter().find_map(|line| line.strip_prefix(&start));
        found.unwrap_or_default()
    }
}

/// How a connection is treated.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Manner {
    /// The mail is taken.
    Takes,
    /// The one it is for is answered with this status.
    Says(u16),
    /// Nothing is ever said.
    Hangs,
    /// It ends before a word.
    Drops,
}

/// How what is said is kept from others.
#[derive(Clone)]
pub(crate) enum Covered {
    /// Not at all.
    No,
    /// By TLS from the first byte.
    AtOnce(Arc<ServerConfig>),
    /// By TLS once the other asks for it. Nothing but that is done before.
    OnceAsked(Arc<ServerConfig>),
}

const HELLO: &[u8] = b"220 postbox\r\n";

type Rule = dyn Fn(usize) -> Manner + Send + Sync;

/// Somebody who takes mails.
pub(crate) struct Postbox {
    address: SocketAddr,
    posted: Arc<Mutex<Vec<Posted>>>,
    calls: Arc<Mutex<usize>>,
}

impl Postbox {
    /// One who takes everything.
    pub(crate) fn start() -> Self {
        Self::treating(|_| Manner::Takes)
    }

    /// One who treats the connection of each number, the first is 0, as the rule says.
    pub(crate) fn treating(rule: impl Fn(usize) -> Manner + Send + Sync + 'static) -> Self {
        Self::with(Covered::No, rule)
    }

    /// One who takes everything behind TLS.
    pub(crate) fn covered(covered: Covered) -> Self {
        Self::with(covered, |_| Manner::Takes)
    }

    fn with(covered: Covered, rule: impl Fn(usize) -> Manner + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let posted = Arc::<Mutex<Vec<Posted>>>::default();
        let calls = Arc::<Mutex<usize>>::default();
        let (all, count, rule) = (posted.clone(), calls.clone(), Arc::new(rule) as Arc<Rule>);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = {
                    let mut count = count.lock().unwrap();
                    *count += 1;
                    *count - 1
                };
                let (all, manner, covered) = (all.clone(), rule(number), covered.clone());
                // Whoever hangs up in the middle has said what there was.
                std::thread::spawn(move || drop(meet(stream, &covered, manner, &all)));
            }
        });
        Self { address, posted, calls }
    }

    /// The server as the program is told of it, with less patience than people need.
    pub(crate) fn server(&self) -> MailServer {
        let server = MailServer::parse(&self.url(), "Assay <assay@example.com>").unwrap();
        MailServer { try_max: Duration::from_secs(2), ..server }
    }

    pub(crate) fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// Every mail that was taken.
    pub(crate) fn posted(&self) -> Vec<Posted> {
        self.posted.lock().unwrap().clone()
    }

    /// Its port, at every address of this machine's own.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there were.
    pub(crate) fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }
}

/// A conversation from its first byte.
fn meet(
    mut stream: TcpStream,
    covered: &Covered,
    manner: Manner,
    all: &Mutex<Vec<Posted>>,
) -> std::io::Result<()> {
    match manner {
        Manner::Drops => return Ok(()),
        Manner::Hangs => {
            std::io::copy(&mut stream, &mut std::io::sink())?;
            return Ok(());
        }
        Manner::Takes | Manner::Says(_) => {}
    }
    let behind = |config: &Arc<ServerConfig>, stream| {
        let connection = ServerConnection::new(config.clone()).map_err(std::io::Error::other)?;
        Ok::<_, std::io::Error>(StreamOwned::new(connection, stream))
    };
    match covered {
        Covered::No => {
            stream.write_all(HELLO)?;
            talk(stream, manner, all)
        }
        Covered::AtOnce(config) => {
            let mut stream = behind(config, stream)?;
            stream.write_all(HELLO)?;
            talk(stream, manner, all)
        }
        Covered::OnceAsked(config) => {
            stream.write_all(HELLO)?;
            if wants_cover(&stream)? { talk(behind(config, stream)?, manner, all) } else { Ok(()) }
        }
    }
}

/// Hears no more than a greeting before TLS is asked for.
fn wants_cover(mut stream: &TcpStream) -> std::io::Result<bool> {
    for line in BufReader::new(stream.try_clone()?).lines() {
        match line?.to_uppercase().as_str() {
            "STARTTLS" => {
                stream.write_all(b"220 Go on\r\n")?;
                return Ok(true);
            }
            hello if hello.starts_with("EHLO") => {
                stream.write_all(b"250-postbox\r\n250 STARTTLS\r\n")?;
            }
            _ => break,
        }
    }
    Ok(false)
}

fn talk(
    stream: impl Read + Write,
    manner: Manner,
    all: &Mutex<Vec<Posted>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut to = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let verb = line.trim_end().split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let said = match (verb.as_str(), manner) {
            ("EHLO" | "HELO", _) => "250-postbox\r\n250 AUTH PLAIN LOGIN\r\n".to_owned(),
            ("RCPT", Manner::Says(status)) => format!("{status} No such mailbox\r\n"),
            ("RCPT", _) => {
                to.push(line.trim_end().to_owned());
                "250 Fine\r\n".to_owned()
            }
            ("DATA", _) => {
                reader.get_mut().write_all(b"354 Go on\r\n")?;
                let mail = read_mail(&mut reader, std::mem::take(&mut to))?;
                all.lock().unwrap().push(mail);
                "250 Taken as 4711\r\n".to_owned()
            }
            ("QUIT", _) => {
                reader.get_mut().write_all(b"221 Bye\r\n")?;
                return Ok(());
            }
            _ => "250 Fine\r\n".to_owned(),
        };
        reader.get_mut().write_all(said.as_bytes())?;
    }
}

fn read_mail(reader: &mut impl BufRead, to: Vec<String>) -> std::io::Result<Posted> {
    let (mut headers, mut text, mut in_text) = (Vec::<String>::new(), String::new(), false);
    loop {
        let mut line = String::new();
        let read = reader.read_line(&mut line)?;
        let line = line.trim_end_matches(['\r', '\n']);
        if read == 0 || line == "." {
            break;
        }
        if in_text {
            text.push_str(line);
            text.push('\n');
        } else if line.is_empty() {
            in_text = true;
        } else if let (true, Some(last)) = (line.starts_with([' ', '\t']), headers.last_mut()) {
            last.push_str(line);
        } else {
            headers.push(line.to_owned());
        }
    }
    // Enough of quoted-printable for what these tests look for.
    let text = text.replace("=\n", "").replace("=3D", "=");
    Ok(Posted { to, headers, text })
}
