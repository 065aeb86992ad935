//! Bodies that are too large, said to be, or sent without saying so. The limit is named, and a body
//! over it is not read.

use std::net::SocketAddr;

use assay::web::serve::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{DEADLINE, FORM, House};

/// The doors that take a body, with what they call it and the limit they name.
const DOORS: [(&str, &str, &str); 5] = [
    ("/mcp", "application/json", "4 MiB"),
    ("/api/mcp", "application/json", "4 MiB"),
    ("/api/mcp/v1/invoke", "application/json", "4 MiB"),
    ("/login", FORM, "1 MiB"),
    ("/keys", FORM, "1 MiB"),
];

fn head(house: &House, path: &str, kind: &str, key: &str, length: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nCookie: {}\r\n\
         Authorization: Bearer {key}\r\n{length}\r\n\r\n",
        house.cookie
    )
}

/// The whole of what comes back until the other side ends or has said enough.
async fn answer(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    let reading = async {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            said.extend_from_slice(&buffer[..count]);
            let text = String::from_utf8_lossy(&said);
            let whole = text.split_once("\r\n\r\n").is_some_and(|(_, body)| {
                body.ends_with('}') || body.trim_end().ends_with("</html>")
            });
            if whole {
                return;
            }
        }
    };
    drop(tokio::time::timeout(DEADLINE, reading).await);
    String::from_utf8_lossy(&said).into_owned()
}

/// Sends the head alone.
async fn declares(house: &House, at: SocketAddr, path: &str, kind: &str, length: u64) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    let length = format!("Content-Length: {length}");
    stream.write_all(head(house, path, kind, &house.key, &length).as_bytes()).await.unwrap();
    answer(&mut stream).await
}

#[tokio::test]
async fn a_body_said_to_be_too_large_is_refused_before_a_byte_of_it_came() {
    let house = House::start().await;
    let at = house.listen(Limits::default()).await;

    for (path, kind, limit) in DOORS {
        for length in [10 << 20, 1 << 30, u64::MAX / 2] {
            let said = declares(&house, at, path, kind, length).await;

            assert!(said.starts_with("HTTP/1.1 413"), "{path} {length}: {said}");
            assert!(said.contains(limit), "{path}: {said}");
            let speaks = match kind {
                FORM => "<!doctype html>",
                _ if path.ends_with("invoke") => "\"ok\":false",
                _ => "\"jsonrpc\":\"2.0\"",
            };
            assert!(said.contains(speaks), "{path}: {said}");
        }
    }
}

#[tokio::test]
async fn a_body_of_a_gibibyte_in_pieces_is_refused_after_the_limit() {
    let house = House::start().await;
    let at = house.listen(Limits::default()).await;
    let piece = vec![b' '; 1 << 20];

    for (path, kind, limit) in DOORS {
        let stream = TcpStream::connect(at).await.unwrap();
        let (mut from, mut to) = stream.into_split();
        let chunked = "Transfer-Encoding: chunked";
        to.write_all(head(&house, path, kind, &house.key, chunked).as_bytes()).await.unwrap();
        let piece = piece.clone();
        let sending = tokio::spawn(async move {
            let mut sent = 0;
            while sent < 1024 {
                let whole = [b"100000\r\n", &*piece, b"\r\n"].concat();
                if to.write_all(&whole).await.is_err() {
                    break;
                }
                sent += 1;
            }
            sent
        });
        let mut said = vec![0; 512];
        let read = tokio::time::timeout(DEADLINE, from.read(&mut said)).await.unwrap().unwrap();
        drop(from);
        let sent = sending.await.unwrap();

        let said = String::from_utf8_lossy(&said[..read]).into_owned();
        assert!(said.starts_with("HTTP/1.1 413"), "{path} ({limit}): {said}");
        assert!(sent < 512, "{path} took {sent} MiB");
    }
}

#[tokio::test]
async fn nobody_without_a_key_is_read_at_length() {
    let house = House::start().await;
    let at = house.listen(Limits::default()).await;

    for path in ["/mcp", "/api/mcp/v1/invoke"] {
        for length in ["Content-Length: 3000000", "Transfer-Encoding: chunked"] {
            let mut stream = TcpStream::connect(at).await.unwrap();
            let head = head(&house, path, "application/json", "alch_wrong", length);
            stream.write_all(head.as_bytes()).await.unwrap();
            let said = answer(&mut stream).await;

            assert!(said.starts_with("HTTP/1.1 401"), "{path} {length}: {said}");
        }
    }
}
