//! How large a brief is, told from its form alone, and how one in parts is split. Pure. A brief
//! without parts is never split: where it would part is a guess.
//!
//! Parts are, in this order of preference: lines that begin with `Phase 1`, `Part 2` and the like,
//! headings with a number, and entries of a numbered list that say more than a line. They must be
//! numbered from 1 without a gap. What stands before the first part, and what follows the last one
//! under a heading of its own, belongs to all.

mod lines;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use crate::base::text;
use lines::{Line, Mark};

/// Nodes of any graph: plan, contract, verification and land.
const NODES_ALWAYS: usize = 4;

/// Nodes of a part: implement and review.
const NODES_OF_A_PART: usize = 2;

/// Acceptance points, or steps that are no parts, that make another node.
const POINTS_OF_A_NODE: usize = 5;

/// Nodes that areas add at most.
const NODES_OF_AREAS_MAX: usize = 6;

/// Parts that a chain has at most; a brief with more is left whole.
pub const PHASES_MAX: usize = 20;

/// Characters of a title that a phase takes from its part.
const PHASE_TITLE_MAX: usize = 200;

/// Characters from which on an entry of a list is a part and not a step.
const FULL_ENTRY: usize = 120;

/// What a brief asks for, by its form.
#[derive(Debug)]
pub struct Scope<'t> {
    /// How many nodes a graph for the whole would have.
    pub nodes: usize,
    lines: Vec<Line<'t>>,
    parts: Vec<Range<usize>>,
}

/// A ticket of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// `Phase N: ` and what the part is called.
    pub title: String,
    /// What is common to all phases, and the part.
    pub description: String,
}

impl<'t> Scope<'t> {
    /// The scope of a description.
    #[must_use]
    pub fn of(description: &'t str) -> Self {
        let lines = lines::read(description);
        let parts = parts(&lines);
        let (points, steps) = points_and_steps(&lines, &parts);
        let areas = areas(&lines).len().saturating_sub(1).min(NODES_OF_AREAS_MAX);
        let nodes = NODES_ALWAYS
            + NODES_OF_A_PART * parts.len().max(1)
            + (points + steps) / POINTS_OF_A_NODE
            + areas;
        Self { nodes, lines, parts }
    }

    /// The phases of a brief with that title, the root first; none where it has no parts, or more
    /// than a chain may have.
    #[must_use]
    pub fn phases(&self, title: &str) -> Vec<Phase> {
        if !(2..=PHASES_MAX).contains(&self.parts.len()) {
            return Vec::new();
        }
        let names: Vec<String> = self.parts.iter().map(|part| self.name(part, title)).collect();
        let shared = self.shared();
        let phase = |(at, part): (usize, &Range<usize>)| Phase {
            title: text::cut(&format!("Phase {}: {}", at + 1, names[at]), 500),
            description: self.brief(title, &names, at, &shared, part),
        };
        self.parts.iter().enumerate().map(phase).collect()
    }

    /// What a part is called: the words of its first line, or of the next that has some.
    fn name(&self, part: &Range<usize>, title: &str) -> String {
        let first = lines::title_of(&self.lines[part.start]);
        let named = Some(first).filter(|name| !name.is_empty()).or_else(|| {
            let rest = self.lines[part.start + 1..part.end].iter();
            rest.map(|line| lines::bare(line.text)).find(|line| !line.is_empty())
        });
        text::cut(named.unwrap_or(title), PHASE_TITLE_MAX)
    }

    /// The lines that belong to all phases: before the first part and behind the last.
    fn shared(&self) -> String {
        let first = self.parts.first().map_or(0, |part| part.start);
        let last = self.parts.last().map_or(0, |part| part.end);
        let (before, behind) = (self.text(0..first), self.text(last..self.lines.len()));
        [before, behind]
            .iter()
            .map(|text| text.trim_matches('\n'))
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    fn text(&self, lines: Range<usize>) -> String {
        self.lines[lines].iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
    }

    fn brief(
        &self,
        title: &str,
        names: &[String],
        at: usize,
        shared: &str,
        part: &Range<usize>,
    ) -> String {
        let mut out = format!(
            "This is phase {} of {} of “{}”. Each phase is a ticket of its own, and each begins \
             when the one before it has landed. Do this phase only.\n",
            at + 1,
            names.len(),
            text::first_line(title)
        );
        for (other, name) in names.iter().enumerate() {
            let here = if other == at { " (this one)" } else { "" };
            write!(out, "\n- Phase {}: {name}{here}", other + 1).expect("writing to a string");
        }
        if !shared.is_empty() {
            write!(out, "\n\n## For all phases\n\n{shared}").expect("writing to a string");
        }
        let own = self.text(part.clone());
        write!(out, "\n\n## This phase\n\n{}\n", own.trim_matches('\n'))
            .expect("writing to a string");
        out
    }
}

/// The lines of each part; none where there are fewer than two.
fn parts(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let starts = phase_starts(lines)
        .or_else(|| heading_starts(lines))
        .or_else(|| entry_starts(lines))
        .unwrap_or_default();
    let Some(last) = starts.last().copied() else { return Vec::new() };
    let end = end_of_last(lines, &starts, last);
    let ends = starts.iter().skip(1).copied().chain([end]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Positions whose numbers run from 1 without a gap, if there are two or more.
fn counted(found: Vec<(usize, u32)>) -> Option<Vec<usize>> {
    let runs = found.iter().zip(1..).all(|((_, number), expected)| *number == expected);
    (found.len() >= 2 && runs).then(|| found.into_iter().map(|(at, _)| at).collect())
}

fn phase_starts(lines: &[Line<'_>]) -> Option<Vec<usize>> {
    let word = lines.iter().find_map(|line| match line.mark {
        Mark::Phase { word, .. } => Some(word),
        _ => None,
    })?;
    let of = |(at, line): (usize, &Line<'_>)| match line.mark {
        Mark::Phase { word: other, number, .. } if other == word => Some((at, number)),
        _ => None,
    };
    counted(lines.iter().enumerate().filter_map(of).collect())
}

fn heading_starts(lines: &[Line<'_>]) -> Option<Vec<usize>> {
    let first = lines.iter().find_map(|line| match line.mark {
        Mark::Heading { level, number: Some(_) } => Some(level),
        _ => None,
    })?;
    let of = |(at, line): (usize, &Line<'_>)| match line.mark {
        Mark::Heading { level, number: Some(number) } if level == first => Some((at, number)),
        _ => None,
    };
    counted(lines.iter().enumerate().filter_map(of).collect())
}

/// Entries of the one numbered list of the brief, where half of them or more say more than a line.
fn entry_starts(lines: &[Line<'_>]) -> Option<Vec<usize>> {
    let of = |(at, line): (usize, &Line<'_>)| match line.mark {
        Mark::Entry { number: Some(number) } if !line.is_acceptance => Some((at, number)),
        _ => None,
    };
    let starts = counted(lines.iter().enumerate().filter_map(of).collect())?;
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let is_full = |(start, end): (usize, usize)| {
        let own = &lines[start..end];
        let more = own[1..].iter().take_while(|line| line.is_inside || line.is_blank());
        let is_long = own[0].text.chars().count() >= FULL_ENTRY;
        is_long || more.filter(|line| !line.is_blank()).count() > 0
    };
    let full = starts.iter().copied().zip(ends).filter(|span| is_full(*span)).count();
    (full * 2 >= starts.len()).then_some(starts)
}

/// Where the last part ends: at a heading or a label that the parts before it have no like of.
fn end_of_last(lines: &[Line<'_>], starts: &[usize], last: usize) -> usize {
    let before = &lines[starts[0]..last];
    let level_of = |line: &Line<'_>| match line.mark {
        Mark::Heading { level, .. } => Some(level),
        Mark::Phase { level, .. } => level,
        _ => None,
    };
    let part_level = level_of(&lines[last]);
    let is_in_list = matches!(lines[last].mark, Mark::Entry { .. });
    let ends = |line: &Line<'_>| match line.mark {
        Mark::Heading { level, .. } => part_level.is_none_or(|part| level <= part),
        Mark::Label => !before.iter().any(|line| line.mark == Mark::Label),
        Mark::Text => is_in_list && !line.is_inside && !line.is_blank(),
        _ => false,
    };
    let found = lines[last + 1..].iter().position(ends);
    found.map_or(lines.len(), |at| last + 1 + at)
}

/// Points under an acceptance heading, and numbered entries that are no parts.
fn points_and_steps(lines: &[Line<'_>], parts: &[Range<usize>]) -> (usize, usize) {
    let is_entry = |line: &&Line<'_>| matches!(line.mark, Mark::Entry { .. });
    let points = lines.iter().filter(is_entry).filter(|line| line.is_acceptance).count();
    let is_step = |(at, line): &(usize, &Line<'_>)| {
        matches!(line.mark, Mark::Entry { number: Some(_) })
            && !line.is_acceptance
            && !parts.iter().any(|part| part.start == *at)
    };
    (points, lines.iter().enumerate().filter(is_step).count())
}

/// The areas of the repository that are named: the first folder of each path.
fn areas<'t>(lines: &[Line<'t>]) -> BTreeSet<&'t str> {
    let words = lines.iter().flat_map(|line| line.text.split_whitespace());
    let area = |word: &'t str| {
        let path = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '.');
        let (folder, rest) = path.trim_start_matches("./").split_once('/')?;
        let is_path = !path.contains("://") && rest.contains(['.', '/']) && !folder.is_empty();
        is_path.then_some(folder)
    };
    words.filter_map(area).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PHASED: &str = "The header needs a theme.\n\n## Phase 1: Add the toggle\n\nIn \
        web/src/Header.svelte.\n\n## Phase 2: Keep the choice\n\nIn localStorage.\n\n\
        ## Phase 3 - Test it\n\nWith tests/e2e/theme.mjs.\n\n## Acceptance\n\n- It stays.\n";

    #[test]
    fn phases_carry_what_is_common_and_their_own() {
        let phases = Scope::of(PHASED).phases("Dark mode");

        let titles: Vec<&str> = phases.iter().map(|phase| phase.title.as_str()).collect();
        let expected = ["Phase 1: Add the toggle", "Phase 2: Keep the choice", "Phase 3: Test it"];
        assert_eq!(titles, expected);
        let second = &phases[1].description;
        for said in ["phase 2 of 3 of “Dark mode”", "needs a theme", "localStorage", "It stays."]
        {
            assert!(second.contains(said), "{said}: {second}");
        }
        assert!(!second.contains("Header.svelte"), "{second}");
    }

    #[test]
    fn a_brief_without_parts_is_never_split() {
        for brief in [
            "",
            "Do one thing.\n\nThen another. First the toggle, second the store, third the tests.",
            "## Background\n\nx\n\n## Interface\n\ny\n\n## Storage\n\nz",
            "- one\n- two\n- three",
            "1. Open the file\n2. Add a button\n3. Commit",
            "## Phase 1: alone\n\nOne part.",
            "Phase 2: it begins late\n\nPhase 3: and goes on",
            "```\nPhase 1: a\nPhase 2: b\n```",
            "Acceptance:\n1. It works on phones, and it goes on to work after everything was \
             loaded anew by somebody else.\n2. It works on desks\n   and elsewhere.",
        ] {
            assert_eq!(Scope::of(brief).phases("T"), [], "{brief}");
        }
        let many: Vec<String> = (1..30).map(|n| format!("Phase {n}: x")).collect();
        assert_eq!(Scope::of(&many.join("\n")).phases("T"), []);
    }

    #[test]
    fn parts_are_told_in_every_form_and_in_french() {
        for (brief, names) in [
            ("**Phase 1: one**\na\n**Phase 2: two**\nb", ["one", "two"]),
            ("Étape 1 : un\na\nÉtape 2 : deux\nb", ["un", "deux"]),
            ("Part I. one\na\nPart II. two\nb", ["one", "two"]),
            ("## 1. one\na\n## 2. two\nb", ["one", "two"]),
            ("1. one\n   with more\n2. two\n   with more", ["one", "two"]),
            ("# Phase 1\n\none\n\n# Phase 2\n\ntwo", ["one", "two"]),
        ] {
            let titles: Vec<String> =
                Scope::of(brief).phases("T").into_iter().map(|phase| phase.title).collect();
            let expected = [format!("Phase 1: {}", names[0]), format!("Phase 2: {}", names[1])];
            assert_eq!(titles, expected, "{brief}");
        }
    }

    #[test]
    fn the_estimate_grows_with_parts_points_steps_and_areas() {
        let nodes = |brief: &str| Scope::of(brief).nodes;

        assert_eq!(nodes(""), 6);
        assert_eq!(nodes("Phase 1: a\nPhase 2: b"), 8);
        assert_eq!(nodes(PHASED), 11);
        assert_eq!(nodes("Acceptance:\n- a\n- b\n- c\n- d\n- e"), 7);
        assert_eq!(nodes("1. a\n2. b\n3. c\n4. d\n5. e"), 7);
        assert_eq!(nodes("See src/a.rs, web/b.ts and src/c.rs."), 7);
    }

    #[test]
    fn each_phase_may_have_acceptance_points_of_its_own() {
        let brief = "Phase 1: a\nAcceptance:\n- x\nPhase 2: b\nAcceptance:\n- y";

        let phases = Scope::of(brief).phases("T");

        assert!(!phases[0].description.contains("- y") && !phases[1].description.contains("- x"));
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z ]{0,20}",
            "(## )?(Phase|Step) [1-4]:? [a-z]{0,6}",
            "## [1-3]\\. [a-z]{1,6}",
            "[1-4][.)] [a-z]{1,6}",
            "   [a-z]{1,8}",
            "#{1,3} [A-Z][a-z]{1,8}",
            "(Acceptance|Constraints):",
            "- (\\[ \\] )?[a-z]{1,8}",
            "```",
            "\\PC{0,20}",
        ]
    }

    proptest! {
        #[test]
        fn no_line_is_lost_or_told_twice(lines in proptest::collection::vec(line(), 0..30)) {
            let brief = lines.join("\n");
            let scope = Scope::of(&brief);
            let phases = scope.phases("T");

            if let (Some(first), Some(last)) = (scope.parts.first(), scope.parts.last()) {
                let whole: Vec<&str> = scope.lines.iter().map(|line| line.text).collect();
                prop_assert_eq!(whole.join("\n"), brief.lines().collect::<Vec<_>>().join("\n"));
                let next = scope.parts.windows(2).all(|two| two[0].end == two[1].start);
                prop_assert!(next && first.start < first.end && last.end <= whole.len());
                for (phase, part) in phases.iter().zip(&scope.parts) {
                    for (at, line) in whole.iter().enumerate() {
                        let is_own = part.contains(&at);
                        let is_shared = at < first.start || at >= last.end;
                        if is_own || is_shared {
                            prop_assert!(phase.description.contains(line), "{line}");
                        }
                    }
                }
            } else {
                prop_assert!(phases.is_empty());
            }
        }
    }
}
