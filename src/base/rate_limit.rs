//! How often a caller may call.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// How often one key may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimit {
    /// This many calls a minute.
    PerMinute(NonZeroU32),
    /// As often as it likes.
    Off,
}

impl Default for RateLimit {
    fn default() -> Self {
        const CALLS: NonZeroU32 = NonZeroU32::new(3_000).expect("it is not zero");
        Self::PerMinute(CALLS)
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerMinute(calls) => calls.fmt(f),
            Self::Off => f.write_str("off"),
        }
    }
}

impl FromStr for RateLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "off" => Ok(Self::Off),
            text => match text.parse() {
                Ok(calls) => Ok(Self::PerMinute(calls)),
                Err(_) => Err("expected a number of calls greater than 0, or off"),
            },
        }
    }
}
