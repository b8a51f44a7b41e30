//! Tokens in reports: null where none are known, and so is each counter.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{SummaryUsage, TokenCounts};

pub(crate) fn serialize<S: Serializer>(
    counts: &TokenCounts,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    SummaryUsage::known(*counts).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<TokenCounts, D::Error> {
    let usage = Option::<SummaryUsage>::deserialize(deserializer)?;
    Ok(
        usage.map_or_else(TokenCounts::default, |usage| TokenCounts {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            ..TokenCounts::default()
        }),
    )
}
