//! What proves a run that left the database it was recorded in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SealHead;
use crate::iso::{self, Time};

/// Where a run was before it was imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunOrigin {
    /// The seal that covered it there, whose hash can be compared with one kept elsewhere; null if
    /// none did.
    pub seal: Option<SealHead>,
    /// When it was sealed there.
    #[serde(with = "iso::maybe")]
    #[schemars(with = "Option<Time>")]
    pub sealed_at: Option<i64>,
    /// Whether all of it was proved to be as it was sealed there, before it was taken in.
    pub is_verified: bool,
    /// When it was taken in.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub imported_at: i64,
}
