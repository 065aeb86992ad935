//! Clients that hold a connection and say nothing, or too little. Others are served all the while.

use std::net::SocketAddr;
use std::time::Duration;

use assay::web::serve::Limits;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::{DEADLINE, House};

/// Connections that say nothing, where this process may open enough files for both ends of them
/// and for the tests beside this one. With `ulimit -n 65536` ten thousand were measured, too.
const IDLE: u64 = 3_000;

async fn health(at: SocketAddr) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    let ask = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    stream.write_all(ask).await.unwrap();
    let mut said = String::new();
    let reading = stream.read_to_string(&mut said);
    drop(tokio::time::timeout(DEADLINE, reading).await.expect("an answer"));
    said
}

/// Waits until the other side has ended the connection.
async fn ends(mut stream: TcpStream) {
    let mut rest = Vec::new();
    let reading = stream.read_to_end(&mut rest);
    drop(tokio::time::timeout(DEADLINE, reading).await.expect("the connection ends"));
}

#[tokio::test]
async fn a_head_that_comes_drop_by_drop_is_not_waited_for() {
    let house = House::start().await;
    let head_time = Duration::from_millis(300);
    let at = house.listen(Limits { head_time, ..Limits::default() }).await;
    let began = Instant::now();
    let mut slow = TcpStream::connect(at).await.unwrap();
    let silent = TcpStream::connect(at).await.unwrap();

    slow.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let dripping = async {
        while slow.write_all(b"X: y\r\n").await.is_ok() && began.elapsed() < DEADLINE {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ((), ()) = tokio::join!(dripping, ends(silent));

    assert!(began.elapsed() < DEADLINE / 2, "{:?}", began.elapsed());
    assert!(health(at).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn thousands_who_say_nothing_keep_nobody_out() {
    let house = House::start().await;
    let at = house.listen(Limits::default()).await;
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let idle = IDLE.min(files / 5);

    let mut connections = Vec::new();
    for _ in 0..idle {
        connections.push(TcpStream::connect(at).await.unwrap());
    }
    let began = Instant::now();
    let said = health(at).await;

    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(connections.len() as u64, idle);
}

#[tokio::test]
async fn where_there_is_no_room_a_newcomer_is_told_and_others_go_on() {
    let house = House::start().await;
    let head_time = Duration::from_secs(1);
    let at = house.listen(Limits { head_time, connections: 2 }).await;
    let mut held = TcpStream::connect(at).await.unwrap();
    let silent = TcpStream::connect(at).await.unwrap();

    // The first two have their places once the third is told that there is none.
    let mut newcomer = TcpStream::connect(at).await.unwrap();
    let mut told = String::new();
    drop(newcomer.read_to_string(&mut told).await);
    let ask = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    held.write_all(ask).await.unwrap();
    let mut said = String::new();
    held.read_to_string(&mut said).await.unwrap();
    ends(silent).await;

    assert!(told.starts_with("HTTP/1.1 503"), "{told}");
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(health(at).await.starts_with("HTTP/1.1 200"));
}
