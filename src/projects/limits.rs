//! What may be used up, as a project's settings say it. What is left out is not limited.

use serde::{Deserialize, Serialize};

/// An amount of US dollars, kept in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Usd(u64);

impl Usd {
    /// Millionths of a dollar.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }
}

impl TryFrom<f64> for Usd {
    type Error = &'static str;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it was seen to lie between nothing and a billion dollars"
    )]
    fn try_from(dollars: f64) -> Result<Self, Self::Error> {
        if (0.0..=1e9).contains(&dollars) {
            Ok(Self((dollars * 1e6).round() as u64))
        } else {
            Err("an amount of dollars lies between 0 and 1000000000")
        }
    }
}

impl From<Usd> for f64 {
    #[expect(clippy::cast_precision_loss, reason = "a billion dollars in millionths fit exactly")]
    fn from(amount: Usd) -> Self {
        amount.0 as Self / 1e6
    }
}

/// What a node or a ticket may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Bounds {
    /// Minutes that nodes run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_minutes: Option<u64>,
    /// Agent turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Tokens read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Usd>,
}

/// What a project's tickets may use in a month.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MonthBounds {
    /// Tokens read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Usd>,
}

impl Bounds {
    /// The names of those that allow nothing.
    pub(super) fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let cost = self.cost_usd.map(Usd::micros);
        let all = [
            ("wallMinutes", self.wall_minutes),
            ("turns", self.turns),
            ("tokens", self.tokens),
            ("costUsd", cost),
        ];
        all.into_iter().filter(|(_, bound)| *bound == Some(0)).map(|(name, _)| name)
    }
}

impl MonthBounds {
    /// The names of those that allow nothing.
    pub(super) fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let all = [("tokens", self.tokens), ("costUsd", self.cost_usd.map(Usd::micros))];
        all.into_iter().filter(|(_, bound)| *bound == Some(0)).map(|(name, _)| name)
    }
}
