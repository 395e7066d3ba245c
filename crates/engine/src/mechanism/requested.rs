//! A mechanism as a request holds it: one of the list, or a custom one with what its file said.

use std::sync::Arc;

use super::custom::CustomMechanism;
use crate::channel::Mechanism;

/// A mechanism that a request names.
#[derive(Clone, Debug)]
pub enum RequestedMechanism {
    /// One of the list.
    Listed(&'static Mechanism<'static>),
    /// A custom one, with what is known of its file.
    Custom(Arc<CustomMechanism>),
}

impl RequestedMechanism {
    /// Returns its facts.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism<'_> {
        match self {
            Self::Listed(mechanism) => **mechanism,
            Self::Custom(custom) => custom.mechanism(),
        }
    }

    /// Returns its name: of a custom one, with the path of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Listed(mechanism) => mechanism.name,
            Self::Custom(custom) => custom.mechanism().name,
        }
    }
}

impl From<&'static Mechanism<'static>> for RequestedMechanism {
    fn from(mechanism: &'static Mechanism<'static>) -> Self {
        Self::Listed(mechanism)
    }
}

impl From<CustomMechanism> for RequestedMechanism {
    fn from(custom: CustomMechanism) -> Self {
        Self::Custom(Arc::new(custom))
    }
}
