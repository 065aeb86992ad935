//! What the demonstration agent can do to a small web page.

use std::fs;
use std::io;
use std::path::Path;

use crate::base::text::{cut, slug};
use crate::tickets::runner::report::{Assertion, Check};

/// One kind of edit, chosen from a ticket's title.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Work {
    DarkMode,
    Footer,
    Accent(String),
    Section { title: String, text: String },
}

const PAGE: &str = "index.html";
const STYLE: &str = "style.css";

const TOGGLE: &str = "  <button id=\"theme-toggle\" type=\"button\" aria-pressed=\"false\">\
    Dark mode</button>\n  <script src=\"theme.js\" defer></script>\n";
const DARK_STYLE: &str = "
:root {
  --ground: #ffffff;
  --ink: #1a1a1a;
}

:root[data-theme=\"dark\"] {
  --ground: #14161a;
  --ink: #e8e8e8;
  color-scheme: dark;
}

body {
  background: var(--ground);
  color: var(--ink);
}
";
const DARK_SCRIPT: &str = "\
const toggle = document.getElementById(\"theme-toggle\");
const show = (dark) => {
  document.documentElement.dataset.theme = dark ? \"dark\" : \"light\";
  toggle.setAttribute(\"aria-pressed\", String(dark));
};
show(window.matchMedia(\"(prefers-color-scheme: dark)\").matches);
toggle.addEventListener(\"click\", () => {
  show(toggle.getAttribute(\"aria-pressed\") !== \"true\");
});
";
const FOOTER: &str = "  <footer id=\"footer\">\n    <p>&copy; <span id=\"year\"></span></p>\n  \
    </footer>\n  <script src=\"year.js\" defer></script>\n";
const YEAR_SCRIPT: &str =
    "document.getElementById(\"year\").textContent = new Date().getFullYear();\n";

impl Work {
    /// The work that a title asks for, and an answer where one was given.
    pub(super) fn of(title: &str, answer: Option<&str>) -> Self {
        let words = title.to_lowercase();
        match answer {
            Some(answer) if words.contains("colour") || words.contains("color") => {
                let name: String = answer.chars().filter(char::is_ascii_alphabetic).collect();
                Self::Accent(if name.is_empty() { "blue".to_owned() } else { name.to_lowercase() })
            }
            _ if words.contains("dark mode") => Self::DarkMode,
            _ if words.contains("footer") => Self::Footer,
            _ => {
                let text = answer.map_or("Added by the demonstration agent.", |answer| answer);
                Self::Section { title: cut(title, 120), text: cut(text, 500) }
            }
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::DarkMode => "the dark mode toggle".to_owned(),
            Self::Footer => "the footer".to_owned(),
            Self::Accent(colour) => format!("the accent colour {colour}"),
            Self::Section { title, .. } => format!("the section “{title}”"),
        }
    }

    pub(super) fn intent(&self) -> String {
        match self {
            Self::DarkMode => {
                "Add a button that switches between a light and a dark theme.".to_owned()
            }
            Self::Footer => "Add a footer that shows the present year.".to_owned(),
            Self::Accent(colour) => format!("Make {colour} the accent colour."),
            Self::Section { title, .. } => format!("Add a section “{title}”."),
        }
    }

    pub(super) fn follow_up(&self) -> Option<String> {
        (*self == Self::DarkMode).then(|| "Remember the chosen theme between visits.".to_owned())
    }

    pub(super) fn files(&self, place: &Path) -> Vec<&'static str> {
        match self {
            Self::DarkMode => vec![PAGE, STYLE, "theme.js"],
            Self::Footer => vec![PAGE, "year.js"],
            Self::Accent(_) => vec![STYLE],
            Self::Section { .. } => vec![document(place)],
        }
    }

    /// What must hold after the edit, each with a command that checks it.
    pub(super) fn assertions(&self, place: &Path) -> Vec<Assertion> {
        let checks = match self {
            Self::DarkMode => vec![
                ("The page has a theme toggle.", "grep -q 'id=\"theme-toggle\"' index.html".into()),
                ("There is a dark palette.", "grep -q 'data-theme=\"dark\"' style.css".into()),
                ("The toggle does something.", "grep -q addEventListener theme.js".into()),
            ],
            Self::Footer => vec![
                ("The page has a footer.", "grep -q '<footer' index.html".into()),
                ("The year is filled in.", "grep -q getFullYear year.js".into()),
            ],
            Self::Accent(colour) => {
                vec![("The accent colour is set.", format!("grep -q 'accent: {colour}' style.css"))]
            }
            Self::Section { title, .. } => {
                let mark = section_mark(title);
                vec![("The section is there.", format!("grep -q '{mark}' {}", document(place)))]
            }
        };
        let assertion = |(text, command): (&str, String)| Assertion {
            text: text.to_owned(),
            check: Some(Check::Command(command)),
        };
        checks.into_iter().map(assertion).collect()
    }

    /// Does the edit. Gives the files that changed: none where it was there already.
    pub(super) fn apply(&self, place: &Path) -> io::Result<Vec<&'static str>> {
        let mut edits = Edits { place, changed: Vec::new() };
        match self {
            Self::DarkMode => {
                edits.insert(PAGE, "id=\"theme-toggle\"", TOGGLE)?;
                edits.insert(STYLE, "data-theme=\"dark\"", DARK_STYLE)?;
                edits.insert("theme.js", "theme-toggle", DARK_SCRIPT)?;
            }
            Self::Footer => {
                edits.insert(PAGE, "<footer", FOOTER)?;
                edits.insert("year.js", "getFullYear", YEAR_SCRIPT)?;
            }
            Self::Accent(colour) => {
                let rule = format!(
                    "\n:root {{\n  --accent: {colour};\n}}\n\na,\nbutton {{\n  \
                     accent-color: var(--accent);\n  color: var(--accent);\n}}\n"
                );
                if !edits.set(STYLE, "--accent: ", colour)? {
                    edits.insert(STYLE, &format!("--accent: {colour};"), &rule)?;
                }
            }
            Self::Section { title, text } => {
                let mark = section_mark(title);
                let section = if document(place) == PAGE {
                    format!(
                        "  <section {mark}>\n    <h2>{}</h2>\n    <p>{}</p>\n  </section>\n",
                        escaped(title),
                        escaped(text)
                    )
                } else {
                    format!("\n<!-- {mark} -->\n## {}\n\n{}\n", escaped(title), escaped(text))
                };
                edits.insert(document(place), &mark, &section)?;
            }
        }
        Ok(edits.changed)
    }
}

/// The file that a section goes into: the page, or the read-me of a repository without one.
fn document(place: &Path) -> &'static str {
    if place.join(PAGE).exists() { PAGE } else { "README.md" }
}

fn section_mark(title: &str) -> String {
    let slug = slug(title);
    format!("id=\"{}\"", if slug.is_empty() { "section" } else { &slug })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

struct Edits<'a> {
    place: &'a Path,
    changed: Vec<&'static str>,
}

impl Edits<'_> {
    /// Gives a declaration that is there another value; `false` where it is not there.
    fn set(&mut self, file: &'static str, name: &str, value: &str) -> io::Result<bool> {
        let path = self.place.join(file);
        let old = fs::read_to_string(&path).unwrap_or_default();
        let Some((before, after)) = old.split_once(name) else { return Ok(false) };
        let Some((was, rest)) = after.split_once(';') else { return Ok(false) };
        if was != value {
            fs::write(&path, [before, name, value, ";", rest].concat())?;
            self.changed.push(file);
        }
        Ok(true)
    }

    /// Puts `text` at the end of the file, within the body of a page, unless `mark` is in the
    /// file already.
    fn insert(&mut self, file: &'static str, mark: &str, text: &str) -> io::Result<()> {
        let path = self.place.join(file);
        let old = match fs::read_to_string(&path) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        if old.contains(mark) {
            return Ok(());
        }
        let goes_before =
            if text == TOGGLE && old.contains("</header>") { "</header>" } else { "</body>" };
        let end = if file == PAGE { old.rfind(goes_before) } else { None };
        let (before, after) = old.split_at(end.unwrap_or(old.len()));
        // The closing tag keeps its indentation.
        let (before, indent) = before.split_at(before.trim_end_matches([' ', '\t']).len());
        let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        let text = if before.is_empty() { text.trim_start_matches('\n') } else { text };
        fs::write(&path, [before, gap, text, indent, after].concat())?;
        self.changed.push(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_goes_into_the_body_and_leaves_the_rest_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let page = place.path().join(PAGE);
        fs::write(&page, "<html>\n <body>\n  <h1>Hi</h1>\n </body>\n</html>\n").unwrap();
        let work = Work::of("Say <hello> & more", None);

        assert_eq!(work.apply(place.path()).unwrap(), [PAGE]);

        let expected = "<html>\n <body>\n  <h1>Hi</h1>\n  <section id=\"say-hello-more\">\n    \
                        <h2>Say &lt;hello&gt; &amp; more</h2>\n    <p>Added by the demonstration \
                        agent.</p>\n  </section>\n </body>\n</html>\n";
        assert_eq!(fs::read_to_string(page).unwrap(), expected);
    }

    #[test]
    fn a_repository_without_a_page_gets_its_section_in_the_read_me() {
        let place = tempfile::tempdir().unwrap();
        let work = Work::of("Say hello", Some("the short version"));

        assert_eq!(work.apply(place.path()).unwrap(), ["README.md"]);

        let text = fs::read_to_string(place.path().join("README.md")).unwrap();
        assert_eq!(text, "<!-- id=\"say-hello\" -->\n## Say hello\n\nthe short version\n");
    }

    #[test]
    fn an_answer_cannot_write_more_css_than_a_colour() {
        let work = Work::of("Which colour?", Some("red; } body { display: none"));

        assert_eq!(work, Work::Accent("redbodydisplaynone".to_owned()));
    }
}
