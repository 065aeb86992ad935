//! Names of branches and refs: what is taken for one is what git takes, and nothing that git would
//! read as something else.

use assay::projects::git::{BranchName, Location};
use proptest::prelude::*;

use crate::git::run_in;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_branch_name_is_never_an_option_a_range_or_a_path(
        name in "[-a./@{}~^:?*\\[\\\\ \u{1}\u{7f}é]{0,12}"
    ) {
        let Ok(parsed) = BranchName::parse(&name) else { return Ok(()) };
        prop_assert_eq!(parsed.as_str(), &name);
        let reads_as_more = name.starts_with('-') || name.contains("..") || name.contains("@{");
        prop_assert!(!reads_as_more);
        let odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
        prop_assert!(!name.contains(odd));
        for part in name.split('/') {
            let is_lock = part.strip_suffix(".lock").is_some();
            prop_assert!(!part.is_empty() && !part.starts_with('.') && !is_lock);
        }
    }

    #[test]
    fn a_location_never_begins_like_an_option_or_names_a_helper(
        text in "(ext|file|https|ssh|git|-u|--x|a)?(::|://|:|)[-a@:/$;%. \n]{0,16}"
    ) {
        let Ok(Location::Remote(url)) = Location::parse(&text) else { return Ok(()) };
        let url = url.as_str();
        prop_assert!(!url.starts_with('-') && !url.contains('\n'));
        prop_assert!(!url.contains("::") || url.contains("://"), "{}", url);
        let known = ["https://", "ssh://", "file:///"].iter().any(|known| url.starts_with(known));
        prop_assert!(known || !url.contains("://"), "{}", url);
    }
}

#[test]
fn what_is_taken_for_a_branch_is_taken_by_git() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), &["init", "--quiet"]);
    let parts = ["a", "-a", "a.b", "a.lock", ".a", "a..b", "a@{b", "@", "é", "a/b", "a//b", "a/"];

    let mut taken = 0;
    for one in parts {
        for two in parts {
            let name = format!("{one}{two}");
            if BranchName::parse(&name).is_ok() {
                // It fails where git does not take it.
                run_in(dir.path(), &["check-ref-format", "--branch", &name]);
                taken += 1;
            }
        }
    }
    assert!(taken > 20, "{taken}");
}
