//! Somebody on loopback who is told things over HTTP, and may answer as badly as anybody does.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long something may take to be told.
const PATIENCE: Duration = Duration::from_mins(1);

/// What one request said.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    /// The head's first line.
    pub(crate) line: String,
    /// The headers, their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body, as it came.
    pub(crate) body: Vec<u8>,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// How a request is answered.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A status and some words.
    Says(u16, String),
    /// A status with one more header.
    With(u16, String),
    /// Nothing, for as long as the other side waits.
    Nothing,
    /// A gigabyte.
    Flood,
}

impl Answer {
    pub(crate) fn status(status: u16) -> Self {
        Self::Says(status, String::new())
    }
}

type Rule = dyn Fn(usize) -> Answer + Send + Sync;

/// Somebody who is told things.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    flooded: Arc<Mutex<u64>>,
}

impl Receiver {
    /// One who takes everything.
    pub(crate) fn start() -> Self {
        Self::answering(|_| Answer::status(204))
    }

    /// One who answers the request of each number, the first is 0, as the rule says.
    pub(crate) fn answering(rule: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (heard, flooded) = (Arc::<Mutex<Vec<Heard>>>::default(), Arc::<Mutex<u64>>::default());
        let (all, taken, rule) = (heard.clone(), flooded.clone(), Arc::new(rule) as Arc<Rule>);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (all, taken, rule) = (all.clone(), taken.clone(), rule.clone());
                std::thread::spawn(move || {
                    let Some(said) = read(&stream) else { return };
                    let number = {
                        let mut all = all.lock().unwrap();
                        all.push(said);
                        all.len() - 1
                    };
                    answer(stream, &rule(number), &taken);
                });
            }
        });
        Self { address, heard, flooded }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook?key=k", self.address)
    }

    /// Everything that was said so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    /// Bytes of a flood that somebody took.
    pub(crate) fn flooded(&self) -> u64 {
        *self.flooded.lock().unwrap()
    }

    /// Waits until what was said is enough.
    pub(crate) fn until(&self, enough: impl Fn(&[Heard]) -> bool) -> Vec<Heard> {
        let since = Instant::now();
        loop {
            let heard = self.heard();
            if enough(&heard) {
                return heard;
            }
            assert!(since.elapsed() < PATIENCE, "not enough was said: {heard:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn read(stream: &TcpStream) -> Option<Heard> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut text = String::new();
        reader.read_line(&mut text).ok()?;
        let Some((name, value)) = text.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Heard { line: line.trim_end().to_owned(), headers, body })
}

fn answer(mut stream: TcpStream, answer: &Answer, flooded: &Mutex<u64>) {
    let said = match answer {
        Answer::Says(status, words) => {
            format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{words}", words.len())
        }
        Answer::With(status, header) => {
            format!("HTTP/1.1 {status} X\r\n{header}\r\nContent-Length: 0\r\n\r\n")
        }
        Answer::Nothing => {
            // Until the other side goes away.
            drop(std::io::copy(&mut stream, &mut std::io::sink()));
            return;
        }
        Answer::Flood => {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 1_u64 << 30);
            let mut write = stream.write_all(head.as_bytes());
            while write.is_ok() && *flooded.lock().unwrap() < 1 << 30 {
                write = stream.write_all(&[b'x'; 16_384]);
                *flooded.lock().unwrap() += 16_384;
            }
            return;
        }
    };
    // Whoever has hung up does not want to know.
    drop(stream.write_all(said.as_bytes()));
}
