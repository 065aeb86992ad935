//! Style sheets, scripts and images, embedded in the program. Each has an address that names its
//! content (`/assets/app.<hash>.css`), so a browser may keep it for ever and never holds an old
//! one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use rust_embed::RustEmbed;

use super::page;

/// The parts of the style sheet in the order they apply. They are one file on the wire.
const STYLE: [&str; 11] = [
    "css/tokens.css",
    "css/base.css",
    "css/frame.css",
    "css/parts.css",
    "css/kit.css",
    "css/writing.css",
    "css/pages.css",
    "css/tickets.css",
    "css/projects.css",
    "css/changes.css",
    "css/house.css",
];

/// The shapes that pages refer to by `#i-…`, written into each page once. They are part of the
/// page and no file of their own, because browsers judge `use` across files by differing rules.
pub const ICONS: &str = include_str!("../../assets/icons.svg");

/// How long a browser may keep what its address names by content.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Files;

struct Asset {
    bytes: Bytes,
    content_type: HeaderValue,
    tag: HeaderValue,
    address: String,
}

/// Every asset by its plain name, and the plain name of each hashed one.
struct Shelf {
    by_name: BTreeMap<String, Asset>,
    by_hashed: BTreeMap<String, String>,
}

static SHELF: LazyLock<Shelf> = LazyLock::new(Shelf::stock);

impl Shelf {
    fn stock() -> Self {
        let mut shelf = Self { by_name: BTreeMap::new(), by_hashed: BTreeMap::new() };
        let sheets: Vec<u8> = STYLE.iter().flat_map(|name| embedded(name)).collect();
        shelf.put("app.css", sheets);
        for name in Files::iter().filter(|name| !name.contains('/')) {
            shelf.put(&name, embedded(&name));
        }
        shelf
    }

    fn put(&mut self, name: &str, bytes: Vec<u8>) {
        let hash = blake3::hash(&bytes).to_hex();
        let hash = &hash[..16];
        let (stem, kind) = name.rsplit_once('.').unwrap_or((name, ""));
        let hashed = format!("{stem}.{hash}.{kind}");
        let tag = HeaderValue::try_from(format!("\"{hash}\"")).expect("a hash is plain ASCII");
        let address = format!("/assets/{hashed}");
        let content_type = HeaderValue::from_static(content_type(kind));
        self.by_hashed.insert(hashed, name.to_owned());
        self.by_name
            .insert(name.to_owned(), Asset { bytes: bytes.into(), content_type, tag, address });
    }
}

fn embedded(name: &str) -> Vec<u8> {
    Files::get(name).map(|file| file.data.into_owned()).unwrap_or_default()
}

fn content_type(kind: &str) -> &'static str {
    match kind {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}

/// The address of an asset by its plain name: `app.css` gives `/assets/app.<hash>.css`.
///
/// # Panics
/// If no asset has the name. Templates name assets literally and a test renders each of them.
#[must_use]
pub fn url(name: &str) -> &'static str {
    match SHELF.by_name.get(name) {
        Some(asset) => &asset.address,
        None => panic!("assets/ holds no file named {name}"),
    }
}

/// `GET /assets/{name}`: one asset by its hashed name; 304 where the browser has it already.
pub async fn show(Path(name): Path<String>, asked: HeaderMap) -> Response {
    let found = SHELF.by_hashed.get(&name).and_then(|plain| SHELF.by_name.get(plain));
    let Some(asset) = found else {
        return (page::guards(), StatusCode::NOT_FOUND).into_response();
    };
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, asset.content_type.clone()),
        (header::ETAG, asset.tag.clone()),
        (header::CACHE_CONTROL, FOR_EVER),
    ];
    let known = asked.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let is_known = known.is_some_and(|tags| {
        tags.split(',').any(|tag| asset.tag == tag.trim().trim_start_matches("W/"))
    });
    if is_known {
        return (StatusCode::NOT_MODIFIED, page::guards(), headers).into_response();
    }
    (page::guards(), headers, asset.bytes.clone()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(name: &str, tag: Option<&HeaderValue>) -> Response {
        let mut asked = HeaderMap::new();
        if let Some(tag) = tag {
            asked.insert(header::IF_NONE_MATCH, tag.clone());
        }
        show(Path(name.trim_start_matches("/assets/").to_owned()), asked).await
    }

    #[tokio::test]
    async fn an_asset_is_kept_for_ever_under_the_name_of_its_content() {
        let reply = get(url("app.css"), None).await;

        assert_eq!(reply.status(), StatusCode::OK);
        assert_eq!(reply.headers()[header::CONTENT_TYPE], "text/css; charset=utf-8");
        assert_eq!(reply.headers()[header::CACHE_CONTROL], FOR_EVER);
        assert_eq!(reply.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    }

    #[tokio::test]
    async fn a_browser_that_has_the_asset_is_told_so() {
        let tag = get(url("live.js"), None).await.headers()[header::ETAG].clone();

        let again = get(url("live.js"), Some(&tag)).await;

        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    }

    #[tokio::test]
    async fn a_name_without_its_hash_is_not_found() {
        for name in ["app.css", "css/base.css", "../Cargo.toml", "app.0000000000000000.css"] {
            assert_eq!(get(name, None).await.status(), StatusCode::NOT_FOUND, "{name}");
        }
    }

    #[test]
    fn every_part_of_the_style_sheet_is_in_it() {
        let parts: Vec<_> = Files::iter().filter(|name| name.starts_with("css/")).collect();

        assert_eq!(parts.len(), STYLE.len());
        for name in STYLE {
            assert!(!embedded(name).is_empty(), "{name} is missing or empty");
        }
    }
}
