//! The settings of dispatching: when two briefs are the same ticket, and when one is several.

use serde::{Deserialize, Serialize};

/// How a brief is judged before it becomes a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Dispatching {
    /// From which likeness on a brief counts as a ticket that is there: 0 compares nothing, 1
    /// takes equal words alone.
    pub duplicate_threshold: Likeness,
    /// A brief in parts whose graph would have more nodes than this becomes a chain of tickets.
    pub split_above: u32,
}

impl Default for Dispatching {
    fn default() -> Self {
        Self { duplicate_threshold: Likeness(700), split_above: 10 }
    }
}

/// A share from 0 to 1, kept in thousandths, so that settings can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Likeness(u16);

impl Likeness {
    /// The share.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

impl TryFrom<f64> for Likeness {
    type Error = &'static str;

    fn try_from(share: f64) -> Result<Self, Self::Error> {
        if !(0.0..=1.0).contains(&share) {
            return Err("duplicateThreshold must be between 0 and 1");
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a thousand"
        )]
        let thousandths = (share * 1_000.0).round() as u16;
        Ok(Self(thousandths))
    }
}

impl From<Likeness> for f64 {
    fn from(likeness: Likeness) -> Self {
        likeness.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_reads_back_as_it_was_written() {
        for share in [0.0, 0.7, 0.725, 1.0] {
            let read = Likeness::try_from(share).map(f64::from);
            assert_eq!(read.map(|read| (read - share).abs() < 1e-9), Ok(true), "{share}");
        }
        for share in [-0.1, 1.01, f64::NAN] {
            assert!(Likeness::try_from(share).is_err(), "{share}");
        }
    }
}
