//! Names of mechanisms: a name of the list, or the kind and the file of a custom mechanism.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a custom mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomKind {
    /// A program that runs both peers' loops itself.
    Program,
    /// A library whose endpoints ipcperf's loops call.
    Library,
}

impl CustomKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Program, Self::Library];

    /// Returns the word before the colon, which is also the prefix of options that apply to every mechanism
    /// of the kind.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Program => "exec",
            Self::Library => "lib",
        }
    }

    /// Returns the form of a name of the kind, for help and errors.
    #[must_use]
    pub const fn form(self) -> &'static str {
        match self {
            Self::Program => "exec:PROGRAM",
            Self::Library => "lib:FILE.so",
        }
    }
}

/// Name of a custom mechanism, such as `lib:FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomName {
    kind: CustomKind,
    path: PathBuf,
}

impl CustomName {
    /// Creates the name of the mechanism of this kind in the file at `path`.
    #[must_use]
    pub fn new(kind: CustomKind, path: impl Into<PathBuf>) -> Self {
        Self { kind, path: path.into() }
    }

    /// Parses the name of a custom mechanism; `None` if `name` is not such a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (word, path) = name.split_once(':')?;
        let kind = CustomKind::ALL.into_iter().find(|kind| kind.word() == word)?;
        (!path.is_empty()).then(|| Self::new(kind, path))
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> CustomKind {
        self.kind
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for CustomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.word(), self.path.display())
    }
}

/// Name of a mechanism, parsed when it is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct MechanismName {
    text: String,
    custom: Option<CustomName>,
}

impl MechanismName {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the kind and the file of a custom mechanism; `None` for a mechanism of the list.
    #[must_use]
    pub const fn custom(&self) -> Option<&CustomName> {
        self.custom.as_ref()
    }
}

impl From<String> for MechanismName {
    fn from(text: String) -> Self {
        Self { custom: CustomName::parse(&text), text }
    }
}

impl From<&str> for MechanismName {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<MechanismName> for String {
    fn from(name: MechanismName) -> Self {
        name.text
    }
}

impl fmt::Display for MechanismName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_kind_and_the_file() {
        let library = CustomName::new(CustomKind::Library, "/a.b/c:d");
        assert_eq!(CustomName::parse("lib:/a.b/c:d"), Some(library.clone()));
        assert_eq!(library.to_string(), "lib:/a.b/c:d");
        let program = CustomName::new(CustomKind::Program, "x");
        assert_eq!(MechanismName::from("exec:x").custom(), Some(&program));
        for other in ["lib:", "exec:", "lib", "library:/x", "pipe", ""] {
            let name = MechanismName::from(other);
            assert_eq!((name.custom(), name.as_str()), (None, other));
        }
    }

    #[test]
    fn a_name_is_stored_as_text() {
        let name = MechanismName::from("lib:/x.so");
        let text = serde_json::to_string(&name).unwrap();
        assert_eq!(text, "\"lib:/x.so\"");
        assert_eq!(serde_json::from_str::<MechanismName>(&text).unwrap(), name);
    }
}
