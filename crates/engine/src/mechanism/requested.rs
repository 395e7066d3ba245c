//! A mechanism as a request holds it: one of the list, or a custom one with the facts from its file.

use std::sync::Arc;

use ipcperf_model::CustomKind;

use super::custom::CustomMechanism;
use crate::channel::Mechanism;

/// A mechanism that a request names.
#[derive(Clone, Debug)]
pub enum RequestedMechanism {
    /// A mechanism of the list.
    Listed(&'static Mechanism<'static>),
    /// A custom mechanism, with the facts known from its file.
    Custom(Arc<CustomMechanism>),
}

impl RequestedMechanism {
    /// Returns the mechanism's facts.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism<'_> {
        match self {
            Self::Listed(mechanism) => **mechanism,
            Self::Custom(custom) => custom.mechanism(),
        }
    }

    /// Returns the kind of a custom mechanism; `None` for a mechanism of the list.
    #[must_use]
    pub fn custom_kind(&self) -> Option<CustomKind> {
        match self {
            Self::Listed(_) => None,
            Self::Custom(custom) => Some(custom.kind()),
        }
    }

    /// Returns the mechanism's name, which includes the path of the file for a custom one.
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
