//! Who bills for a run, in the host's words.

use super::calling::{Variables, first_set};

/// Who bills for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Billing {
    /// The model's maker.
    pub provider: Option<String>,
    /// Who sends the bill.
    pub biller: Option<String>,
    /// `api`, `subscription`, `metered_api` or `unknown`. The host books nothing for a
    /// subscription, whatever a run says that it cost.
    pub billing_type: Option<&'static str>,
}

impl Billing {
    /// Bills of one company, by use where one of these variables holds a key, else by subscription.
    #[must_use]
    pub fn by_key(provider: &str, variables: &Variables, keys: &[&str]) -> Self {
        let has_key = first_set(variables, keys).is_some();
        Self {
            provider: Some(provider.to_owned()),
            biller: Some(provider.to_owned()),
            billing_type: Some(if has_key { "api" } else { "subscription" }),
        }
    }
}

/// Guesses the maker of a model from its name.
#[must_use]
pub fn maker(model: &str) -> Option<&'static str> {
    let name = model
        .rsplit('/')
        .next()
        .unwrap_or(model)
        .to_ascii_lowercase();
    let makers = [
        ("claude", "anthropic"),
        ("sonnet", "anthropic"),
        ("opus", "anthropic"),
        ("haiku", "anthropic"),
        ("gpt", "openai"),
        ("codex", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini", "google"),
        ("grok", "xai"),
        ("kimi", "moonshot"),
        ("composer", "cursor"),
    ];
    let found = makers.iter().find(|(start, _)| name.starts_with(start));
    found.map(|(_, maker)| *maker)
}
