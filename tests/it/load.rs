//! Many clients of several tenants at once, for so many calls: what `tests/load/run` does for
//! minutes.

use std::path::Path;

use crate::storm::{Ground, claims, storm};

#[test]
fn many_clients_of_several_tenants_get_what_is_theirs_and_each_key_files_one_ticket() {
    let ground = Ground::make(Path::new(env!("CARGO_BIN_EXE_assay")), 2);

    let mut outcome = storm(&ground, 16, &|calls| calls < 40);
    assert!(ground.memory() < 256 << 10, "{} KiB", ground.memory());
    claims(ground, &mut outcome);

    assert_eq!(outcome.problems, Vec::<String>::new());
    let calls: usize = outcome.took.values().map(Vec::len).sum();
    assert!(calls >= 16 * 40 && outcome.filed.len() > 16, "{calls} {}", outcome.filed.len());
    for what in ["dispatch", "dispatch again", "list", "get", "cancel_ticket", "retry_ticket"] {
        assert!(outcome.took.contains_key(what), "no client came to {what}");
    }
}
