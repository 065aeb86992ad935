//! A caller over one connection that is kept open, as an MCP client keeps its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest that an answer may take before it counts as lost.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection with one key.
pub(crate) struct Client {
    address: SocketAddr,
    key: String,
    stream: BufReader<TcpStream>,
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) took: Duration,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, key: &str) -> io::Result<Self> {
        let stream = BufReader::new(open(address)?);
        Ok(Self { address, key: key.to_owned(), stream })
    }

    /// Calls a tool. After an error the connection is made anew.
    pub(crate) fn call(&mut self, tool: &str, args: &Value) -> io::Result<Answer> {
        let answer = self.exchange(tool, args);
        if answer.is_err() {
            self.stream = BufReader::new(open(self.address)?);
        }
        answer
    }

    fn exchange(&mut self, tool: &str, args: &Value) -> io::Result<Answer> {
        let body = json!({ "tool": tool, "args": args }).to_string();
        let request = format!(
            "POST /api/mcp/v1/invoke HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.key,
            body.len()
        );
        let started = Instant::now();
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (status, length) = self.head()?;
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        let elapsed = started.elapsed();
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        Ok(Answer { status, text, took: elapsed })
    }

    /// Reads the head of an answer: its status and how long its body is.
    fn head(&mut self) -> io::Result<(u16, usize)> {
        let (mut status, mut length) = (None, None);
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if status.is_none() {
                status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok();
            }
        }
        status.zip(length).ok_or_else(|| io::Error::other("an answer without status or length"))
    }
}

fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}
