//! Requests whose end two readers could see in two places. Whatever is hidden in one is never
//! answered as a request of its own.

use std::net::SocketAddr;

use assay::web::serve::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{DEADLINE, House};

/// What is hidden. It would be answered with the word `alive`.
const HIDDEN: &str = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

async fn exchange(at: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut said = Vec::new();
    let reading = stream.read_to_end(&mut said);
    drop(tokio::time::timeout(DEADLINE, reading).await.expect("the connection ends"));
    String::from_utf8_lossy(&said).into_owned()
}

fn post(headers: &str, body: &str) -> String {
    format!("POST /api/mcp/v1/invoke HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n\r\n{body}")
}

#[tokio::test]
async fn what_is_hidden_in_a_body_is_never_answered() {
    let house = House::start().await;
    let head_time = std::time::Duration::from_secs(1);
    let at = house.listen(Limits { head_time, ..Limits::default() }).await;
    let in_chunks = format!("0\r\n\r\n{HIDDEN}");
    let plain = exchange(at, HIDDEN.as_bytes()).await;
    assert!(plain.starts_with("HTTP/1.1 200"), "{plain}");

    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding:\tchunked",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\r\n : chunked",
        "X: y\r\n Transfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 6",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 5 5",
        "Content-Length : 5",
        "Content-Length:\r\n 5",
        "Content-Length: 99999999999999999999999999",
        "X: a\0b",
        "X: a\rTransfer-Encoding: chunked",
        "\x0bContent-Length: 5",
        ": x",
        "Content-Length: 5\nTransfer-Encoding: chunked",
    ] {
        let said = exchange(at, post(headers, &in_chunks).as_bytes()).await;

        assert!(!said.contains("200 OK"), "{headers:?}: {said}");
        assert!(said.matches("HTTP/1.1 ").count() <= 1, "{headers:?}: {said}");
        assert!(!said.contains("HTTP/1.1 5"), "{headers:?}: {said}");
    }
}

#[tokio::test]
async fn chunks_that_are_none_end_the_connection() {
    let house = House::start().await;
    let at = house.listen(Limits::default()).await;

    for chunks in [
        "0x1\r\nA\r\n0\r\n\r\n",
        "-1\r\nA\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFFF\r\nA\r\n0\r\n\r\n",
        "1\r\nAB\r\n0\r\n\r\n",
        "1 \r\rA\r\n0\r\n\r\n",
        "\r\n\r\n",
    ] {
        let body = format!("{chunks}{HIDDEN}");
        let headers = format!("Authorization: Bearer {}\r\nTransfer-Encoding: chunked", house.key);
        let said = exchange(at, post(&headers, &body).as_bytes()).await;

        assert!(!said.contains("200 OK"), "{chunks:?}: {said}");
        assert!(!said.contains("HTTP/1.1 5"), "{chunks:?}: {said}");
    }
}

#[tokio::test]
async fn heads_that_are_none_are_refused_and_nothing_breaks() {
    let house = House::start().await;
    let at = house.listen(Limits::default()).await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "a".repeat(100_000));
    let wide = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\n", "X: y\r\n".repeat(500));

    for head in [
        "\r\n\r\n\0\0\0\0\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        "CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        "\x16\x03\x01\x02\0\x01\0\x01\r\n\r\n",
        long.as_str(),
        &wide,
        &many,
    ] {
        let mut stream = TcpStream::connect(at).await.unwrap();
        // A server that has seen enough may end the connection while this side still writes.
        drop(stream.write_all(head.as_bytes()).await);
        drop(stream.shutdown().await);
        let mut said = Vec::new();
        let reading = stream.read_to_end(&mut said);
        drop(tokio::time::timeout(DEADLINE, reading).await.expect("the connection ends"));
        let said = String::from_utf8_lossy(&said);
        let shown: String = head.chars().take(60).collect();

        assert!(said.is_empty() || said.starts_with("HTTP/1."), "{shown:?}: {said}");
        assert!(!said.contains("200 OK") && !said.contains("HTTP/1.1 5"), "{shown:?}: {said}");
    }
}
