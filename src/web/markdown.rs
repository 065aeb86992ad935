//! Markdown that agents and people wrote, as HTML that is safe to show. The text is hostile until
//! shown otherwise: raw HTML is cleaned away, links leave no trace, images come from nowhere.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

use ammonia::Builder;
use askama::filters::HtmlSafe;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use crate::base::text;

/// Characters of a text that are rendered; what is longer is cut, and its log or file has the rest.
pub const MAX_CHARS: usize = 200_000;

/// Headings of a text start below those of the page.
const HEADING_OFFSET: usize = 2;

/// HTML that was cleaned. Templates write it as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prose(String);

impl Prose {
    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Prose {}

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut cleaner = Builder::empty();
    cleaner
        .tags(HashSet::from([
            "a",
            "blockquote",
            "br",
            "code",
            "del",
            "em",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "li",
            "ol",
            "p",
            "pre",
            "strong",
            "sup",
            "table",
            "tbody",
            "td",
            "th",
            "thead",
            "tr",
            "ul",
        ]))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("ol", HashSet::from(["start"])),
        ]))
        // Wide ones scroll, and who has no mouse must get there.
        .set_tag_attribute_value("pre", "tabindex", "0")
        .clean_content_tags(HashSet::from(["script", "style", "title", "textarea", "noscript"]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("nofollow noopener noreferrer"))
        .strip_comments(true);
    cleaner
});

/// The Markdown as safe HTML.
#[must_use]
pub fn render(markdown: &str) -> Prose {
    let markdown = text::cut(markdown, MAX_CHARS);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(&markdown, options).map(plain);
    let mut written = String::new();
    html::push_html(&mut written, events);
    Prose(CLEANER.clean(&written).to_string())
}

/// One event without what a report may not bring: images become their descriptions, boxes of task
/// lists become characters, headings go down to their place.
fn plain(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Start(Tag::Image { .. }) => Event::Text("[image: ".into()),
        Event::End(TagEnd::Image) => Event::Text("]".into()),
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        other => other,
    }
}

fn lower(level: pulldown_cmark::HeadingLevel) -> pulldown_cmark::HeadingLevel {
    let down = (level as usize + HEADING_OFFSET).min(6);
    pulldown_cmark::HeadingLevel::try_from(down).unwrap_or(level)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_markdown_can_say_is_shown() {
        let shown = render("# Done\n\n- [x] `a < b`\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |\n");

        let shown = shown.to_string();
        assert!(shown.contains("<h3>Done</h3>"), "{shown}");
        assert!(shown.contains("☑ <code>a &lt; b</code>"), "{shown}");
        assert!(shown.contains("<td><del>2</del></td>"), "{shown}");
    }

    #[test]
    fn a_link_leads_out_without_a_trace() {
        let shown = render("[site](https://example.com/?a=1&b=2)").to_string();

        assert!(shown.contains("href=\"https://example.com/?a=1&amp;b=2\""), "{shown}");
        assert!(shown.contains("rel=\"nofollow noopener noreferrer\""), "{shown}");
    }

    #[test]
    fn an_image_is_its_description() {
        let shown = render("![a dark page](https://evil.test/pixel.png)").to_string();

        assert_eq!(shown, "<p>[image: a dark page]</p>\n");
    }

    #[test]
    fn hostile_markdown_does_nothing() {
        for hostile in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[a](javascript:alert(1))",
            "[a](java\nscript:alert(1))",
            "[a](data:text/html,<script>alert(1)</script>)",
            "<a href=\"/tickets/ACME-1/cancel\">x</a>",
            "<form action=/x><input name=csrf></form>",
            "<style>body{display:none}</style>",
            "<p style=\"position:fixed\" class=\"notice\" id=\"main\">x</p>",
            "<iframe src=https://evil.test></iframe><svg onload=alert(1)>",
            "</div></main><base href=https://evil.test>",
        ] {
            let shown = render(hostile).to_string().to_lowercase();
            for bad in [
                "<script",
                "<img",
                "<form",
                "<input",
                "<style",
                "<iframe",
                "<svg",
                "<base",
                "</main",
                "href=\"java",
                "href=\"data",
                "href=\"/",
                "style=",
                "class=",
                "id=",
            ] {
                let harmless = shown.contains("&lt;");
                assert!(harmless || !shown.contains(bad), "{hostile}: {shown}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_brings_a_tag_of_its_own(
            text in "(<[a-z/!]{1,6}|[\\[\\]()!`*_ a-z\"'=>&;:\n]){0,60}"
        ) {
            let shown = render(&text).to_string();
            for bad in ["<script", "<img", "<svg", "<style", "<form", "<iframe", "<div", "<input"] {
                prop_assert!(!shown.contains(bad), "{shown}");
            }
        }
    }
}
