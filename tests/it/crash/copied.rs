//! The real program, killed while it copies its data directory.

use std::process::{Child, Stdio};

use assay::base::stops::Stop;

use super::house::{HELD, House, assay, until};

/// `assay backup`, held before the copy has its name.
fn held(house: &House) -> Child {
    let mut command = assay();
    command.env_clear().args(["backup", "--data"]).arg(house.path("data")).arg("copy");
    command.current_dir(house.path("")).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("ASSAY_STOP_AT", Stop::BackupWritten.word());
    command.env("ASSAY_STOP_MARK", house.path(HELD)).spawn().unwrap()
}

#[test]
fn killed_before_it_has_its_name_a_backup_is_none_and_the_next_one_is_whole() {
    let house = House::new("true");
    let mut child = held(&house);
    until("the stop", || house.path(HELD).exists().then_some(()));

    child.kill().unwrap();
    child.wait().unwrap();

    assert!(!house.path("copy").exists());
    let mut again = assay();
    again.env_clear().args(["backup", "--data"]).arg(house.path("data")).arg(house.path("copy"));
    let taken = again.output().unwrap();
    assert!(taken.status.success(), "{taken:?}");
    assert!(house.path("copy/assay.db").exists());
}
