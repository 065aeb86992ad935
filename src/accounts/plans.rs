//! Plans: which features a tenant has. Every tenant has all of them unless somebody says otherwise.

use crate::words;

words! {
    /// Something that a plan may leave out. Reading never needs one.
    pub enum Feature {
        /// Filing tickets, cancelling them and trying them again.
        Tickets = "tickets",
        /// Creating projects and changing them.
        Projects = "projects",
    }
}

words! {
    /// A named set of features.
    #[derive(Default)]
    pub enum Plan {
        /// Everything there is.
        #[default]
        All = "all",
        /// Looking at what is there.
        ReadOnly = "read_only",
    }
}

impl Plan {
    /// What the plan includes.
    #[must_use]
    pub const fn features(self) -> &'static [Feature] {
        match self {
            Self::All => Feature::ALL,
            Self::ReadOnly => &[],
        }
    }

    /// Whether the plan includes the feature.
    #[must_use]
    pub fn allows(self, feature: Feature) -> bool {
        self.features().contains(&feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan_has_everything_and_another_has_less() {
        for feature in Feature::ALL {
            assert!(Plan::default().allows(*feature), "{feature}");
            assert!(!Plan::ReadOnly.allows(*feature), "{feature}");
        }
    }
}
