//! Somebody on loopback who takes mails over SMTP, and may refuse, hang or go away as anybody does.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::base::MailServer;

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
                let (all, manner) = (all.clone(), rule(number));
                // Whoever hangs up in the middle has said what there was.
                std::thread::spawn(move || drop(talk(stream, manner, &all)));
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

    /// How many connections there were.
    pub(crate) fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }
}

fn talk(stream: TcpStream, manner: Manner, all: &Mutex<Vec<Posted>>) -> std::io::Result<()> {
    let (mut reader, mut out) = (BufReader::new(stream.try_clone()?), stream);
    match manner {
        Manner::Drops => return Ok(()),
        Manner::Hangs => {
            std::io::copy(&mut reader, &mut std::io::sink())?;
            return Ok(());
        }
        Manner::Takes | Manner::Says(_) => out.write_all(b"220 postbox\r\n")?,
    }
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
                out.write_all(b"354 Go on\r\n")?;
                let mail = read_mail(&mut reader, std::mem::take(&mut to))?;
                all.lock().unwrap().push(mail);
                "250 Taken as 4711\r\n".to_owned()
            }
            ("QUIT", _) => {
                out.write_all(b"221 Bye\r\n")?;
                return Ok(());
            }
            _ => "250 Fine\r\n".to_owned(),
        };
        out.write_all(said.as_bytes())?;
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
