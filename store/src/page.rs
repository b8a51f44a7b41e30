//! Lists a page at a time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};

/// Where the next page begins. Print it, keep it, give it back; what is in it is nobody's business.
///
/// It is made of a time and an id, so it stays true in a copy of the database, and whatever is added
/// or deleted meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PageMark {
    at: i64,
    id: String,
}

impl PageMark {
    pub(crate) fn new(at: i64, id: impl Into<String>) -> Self {
        Self { at, id: id.into() }
    }

    /// Returns when the last item of a page began, or how many came before.
    pub(crate) fn at(&self) -> i64 {
        self.at
    }

    /// Returns the id of the last item.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Display for PageMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at, self.id)
    }
}

impl FromStr for PageMark {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('.');
        let parts = parts.and_then(|(at, id)| Some((at.parse().ok()?, id)));
        let (at, id) = parts.ok_or_else(|| StoreError::BadPageMark {
            mark: text.chars().take(80).collect(),
        })?;
        Ok(Self::new(at, id))
    }
}

impl TryFrom<String> for PageMark {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PageMark> for String {
    fn from(mark: PageMark) -> Self {
        mark.to_string()
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// What is on the page.
    pub items: Vec<T>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<PageMark>,
}

impl<T> Page<T> {
    /// Makes a page of at most `limit` items from at most one more.
    pub(crate) fn new(mut found: Vec<T>, limit: usize, mark: impl Fn(&T) -> PageMark) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        Self {
            next: found.last().filter(|_| more).map(mark),
            items: found,
        }
    }
}
