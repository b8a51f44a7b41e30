//! What `serve` says first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the page and the API are served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServeInfo {
    /// The address of the page, with the token after the `#`.
    pub url: String,
    /// The port.
    pub port: u16,
    /// What every request for data must have: `Authorization: Bearer TOKEN`.
    pub token: String,
}
