//! Paths in JSON: a string if valid UTF-8, else an array of bytes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serialized form of a path.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SerializedPath {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for SerializedPath {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }
}

impl From<SerializedPath> for PathBuf {
    fn from(written: SerializedPath) -> Self {
        match written {
            SerializedPath::Text(text) => text.into(),
            SerializedPath::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

/// For `#[serde(with)]` on a path.
pub(crate) mod one {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serialize, SerializedPath, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        SerializedPath::from(path).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        SerializedPath::deserialize(from).map(PathBuf::from)
    }
}

/// For `#[serde(with)]` on a list of paths.
pub(super) mod list {
    use super::{Deserialize, Deserializer, PathBuf, Serialize, SerializedPath, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        let written: Vec<SerializedPath> = paths.iter().map(|path| path.as_path().into()).collect();
        written.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let written: Vec<SerializedPath> = Vec::deserialize(from)?;
        Ok(written.into_iter().map(PathBuf::from).collect())
    }
}

/// For `#[serde(with)]` on an optional path.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, PathBuf, Serialize, SerializedPath, Serializer};

    #[allow(clippy::ref_option, reason = "what serde passes")]
    pub(crate) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_deref().map(SerializedPath::from).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let written: Option<SerializedPath> = Option::deserialize(from)?;
        Ok(written.map(PathBuf::from))
    }
}
