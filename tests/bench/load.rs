//! The load: a number of connections, each with one request under way at a time, as `wrk` does it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Requests as they go over the wire. Connections take them in turn.
pub(crate) type Requests = Arc<Vec<Vec<u8>>>;

/// What a load came to.
pub(crate) struct Ran {
    seconds: f64,
    /// What each call took, in microseconds, the shortest first.
    micros: Vec<u32>,
}

/// One answer, with its head.
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Ran {
    /// Calls a second.
    #[expect(clippy::cast_precision_loss, reason = "a count of calls is far below 2^52")]
    pub(crate) fn rate(&self) -> f64 {
        self.micros.len() as f64 / self.seconds
    }

    /// What a share of the calls stayed below, in milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let last = self.micros.len().saturating_sub(1);
        f64::from(self.micros.get(last * percent / 100).copied().unwrap_or(0)) / 1_000.0
    }
}

/// A POST of a JSON body.
pub(crate) fn post(path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers = lines(headers);
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A GET.
pub(crate) fn get(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", lines(headers)).into_bytes()
}

fn lines(headers: &[(&str, &str)]) -> String {
    headers.iter().fold(String::new(), |text, (name, value)| format!("{text}{name}: {value}\r\n"))
}

/// Keeps `connections` busy for a time. Every answer must have the status 200.
pub(crate) async fn run(
    address: SocketAddr,
    requests: &Requests,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Ran> {
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            let (requests, next) = (requests.clone(), next.clone());
            tokio::spawn(async move { keep_busy(address, &requests, &next, started + time).await })
        })
        .collect();
    let mut micros = Vec::new();
    for task in tasks {
        micros.extend(task.await??);
    }
    let seconds = started.elapsed().as_secs_f64();
    micros.sort_unstable();
    Ok(Ran { seconds, micros })
}

async fn keep_busy(
    address: SocketAddr,
    requests: &Requests,
    next: &AtomicUsize,
    until: Instant,
) -> anyhow::Result<Vec<u32>> {
    let mut connection = Connection::open(address).await?;
    let mut micros = Vec::new();
    loop {
        let sent = Instant::now();
        if sent >= until {
            return Ok(micros);
        }
        let turn = next.fetch_add(1, Ordering::Relaxed) % requests.len();
        connection.exchange(&requests[turn]).await?;
        micros.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
    }
}

/// One request and its answer, which must have the status 200.
pub(crate) async fn once(address: SocketAddr, request: &[u8]) -> anyhow::Result<Answer> {
    let mut connection = Connection::open(address).await?;
    let (head, body) = connection.exchange(request).await?;
    let head = String::from_utf8_lossy(&connection.read[..head]).into_owned();
    let start = connection.read.len() - body;
    Ok(Answer { head, body: connection.read[start..].to_vec() })
}

/// A connection that is kept open, and the bytes of its last answer.
struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request and reads its answer; gives the lengths of the head and of the body, as it
    /// came over the wire.
    async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<(usize, usize)> {
        self.stream.write_all(request).await?;
        self.read.clear();
        let (head, length) = loop {
            self.more().await?;
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break (end + 4, length_in(&self.read[..end])?);
            }
        };
        let length = match length {
            Some(length) => length,
            None => self.chunks(head).await?,
        };
        while self.read.len() < head + length {
            self.more().await?;
        }
        if !self.read.starts_with(b"HTTP/1.1 200 ") && !self.read.starts_with(b"HTTP/1.1 303 ") {
            bail!("an answer that was not expected: {}", String::from_utf8_lossy(&self.read));
        }
        Ok((head, length))
    }

    /// Reads a body that comes in chunks, and gives its length with theirs.
    async fn chunks(&mut self, head: usize) -> anyhow::Result<usize> {
        let mut at = head;
        loop {
            let end = loop {
                let rest = self.read.get(at..).unwrap_or_default();
                match rest.windows(2).position(|two| two == b"\r\n") {
                    Some(end) => break at + end,
                    None => self.more().await?,
                }
            };
            let size = usize::from_str_radix(std::str::from_utf8(&self.read[at..end])?, 16)?;
            at = end + 2 + size + 2;
            if size == 0 {
                return Ok(at - head);
            }
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        let read = self.stream.read_buf(&mut self.read).await?;
        ensure!(read > 0, "the server closed the connection");
        Ok(())
    }
}

/// The length that the head of an answer names; `None` where it comes in chunks.
fn length_in(head: &[u8]) -> anyhow::Result<Option<usize>> {
    let text = std::str::from_utf8(head)?;
    let value = |wanted: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    if value("transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked")) {
        return Ok(None);
    }
    let length = value("content-length");
    length
        .with_context(|| format!("an answer without a length: {text}"))?
        .parse()
        .map(Some)
        .map_err(Into::into)
}
