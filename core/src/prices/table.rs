//! The price table: what ships with the binary, and a file over it.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use super::amount::Picodollars;
use super::estimate::CacheWrite;
use super::name;

/// The facts that ship with the binary.
const MODELS: &str = include_str!("models.json");

static BUILT_IN: LazyLock<PriceTable> = LazyLock::new(|| {
    PriceTable::parse(MODELS).expect("a test reads the table that ships with the binary")
});

/// Those who sell the models of others, too: of two prices for one name theirs is the second.
const RESELLERS: [&str; 2] = ["dashscope", "mistral"];

/// What is wrong with a file of prices.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriceFault {
    /// It is not JSON of the right form.
    #[error("it is no price table: {0}")]
    Form(#[from] serde_json::Error),
    /// A price is none.
    #[error("model {model:?}: {field} is {value}, expected US dollars per token")]
    Price {
        /// The model.
        model: String,
        /// Which price.
        field: &'static str,
        /// What stands there.
        value: f64,
    },
    /// It counts in another unit.
    #[error("its unit is {0:?}, expected \"USD per token\"")]
    Unit(String),
}

/// What a model costs per token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Who sells it.
    pub provider: String,
    /// A prompt token that was not read from a cache.
    pub input: Picodollars,
    /// A generated token.
    pub output: Picodollars,
    /// A prompt token that was read from a cache; the price of input where there is no other.
    pub cache_read: Option<Picodollars>,
    /// A prompt token that was written to a cache for some minutes.
    pub cache_write: Option<Picodollars>,
    /// One that was written for an hour.
    pub cache_write_1h: Option<Picodollars>,
    /// Input of a response with a long prompt.
    pub long_input: Option<Picodollars>,
    /// Output of a response with a long prompt.
    pub long_output: Option<Picodollars>,
    /// Cached input of a response with a long prompt.
    pub long_cache_read: Option<Picodollars>,
}

impl Price {
    /// Returns the prices of input, cached input and output.
    #[must_use]
    pub fn per_token(&self, is_long: bool) -> [Picodollars; 3] {
        let cache_read = self.cache_read.unwrap_or(self.input);
        if !is_long {
            return [self.input, cache_read, self.output];
        }
        [
            self.long_input.unwrap_or(self.input),
            self.long_cache_read.unwrap_or(cache_read),
            self.long_output.unwrap_or(self.output),
        ]
    }
}

impl Price {
    /// Returns the price of input, also of such that was written to a cache. Where only the price of input is another for
    /// long prompts, writing costs as many times that price as it does otherwise.
    #[must_use]
    pub fn of_input(&self, is_long: bool, write: CacheWrite) -> Picodollars {
        let written = match write {
            CacheWrite::None => None,
            CacheWrite::Minutes => self.cache_write,
            CacheWrite::Hour => self.cache_write_1h.or(self.cache_write),
        };
        let [input, ..] = self.per_token(is_long);
        match written {
            Some(written) if is_long && self.input.0 > 0 => {
                Picodollars(written.0.saturating_mul(input.0) / self.input.0)
            }
            Some(written) => written,
            None => input,
        }
    }
}

/// A file of prices.
#[derive(Deserialize)]
struct PriceFile {
    #[serde(default)]
    source: String,
    #[serde(default)]
    taken: String,
    #[serde(default)]
    unit: Option<String>,
    models: BTreeMap<String, PriceLine>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PriceLine {
    #[serde(default)]
    provider: String,
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    #[serde(rename = "cacheWrite1h")]
    cache_write_1h: Option<f64>,
    #[serde(rename = "inputAbove200k")]
    long_input: Option<f64>,
    #[serde(rename = "outputAbove200k")]
    long_output: Option<f64>,
    #[serde(rename = "cacheReadAbove200k")]
    long_cache_read: Option<f64>,
}

impl PriceLine {
    fn read(self, model: &str) -> Result<Price, PriceFault> {
        let price = |field: &'static str, value: f64| {
            Picodollars::of_price(value).ok_or_else(|| PriceFault::Price {
                model: model.to_owned(),
                field,
                value,
            })
        };
        let maybe = |field: &'static str, value: Option<f64>| {
            value.map(|value| price(field, value)).transpose()
        };
        Ok(Price {
            input: price("input", self.input)?,
            output: price("output", self.output)?,
            cache_read: maybe("cacheRead", self.cache_read)?,
            cache_write: maybe("cacheWrite", self.cache_write)?,
            cache_write_1h: maybe("cacheWrite1h", self.cache_write_1h)?,
            long_input: maybe("inputAbove200k", self.long_input)?,
            long_output: maybe("outputAbove200k", self.long_output)?,
            long_cache_read: maybe("cacheReadAbove200k", self.long_cache_read)?,
            provider: self.provider,
        })
    }
}

/// Prices of models by name.
#[derive(Clone, Debug)]
pub struct PriceTable {
    /// Where the prices come from.
    pub source: String,
    /// When they were taken, as a date.
    pub taken: String,
    prices: BTreeMap<String, Price>,
    /// The models by the last part of their names, in lower case.
    bare: HashMap<String, String>,
}

impl PriceTable {
    /// Returns the table that ships with the binary; it is read when it is first asked for.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Reads a table: `{"source": …, "taken": …, "models": {"name": {"input": …, "output": …}}}`, in US dollars
    /// per token.
    pub fn parse(json: &str) -> Result<Self, PriceFault> {
        let file: PriceFile = serde_json::from_str(json)?;
        if let Some(unit) = file.unit.filter(|unit| unit != "USD per token") {
            return Err(PriceFault::Unit(unit));
        }
        let mut prices = BTreeMap::new();
        for (model, line) in file.models {
            let price = line.read(&model)?;
            prices.insert(model, price);
        }
        Ok(Self::of(file.source, file.taken, prices))
    }

    fn of(source: String, taken: String, prices: BTreeMap<String, Price>) -> Self {
        let mut bare: HashMap<String, String> = HashMap::new();
        // The maker's own price, also where others sell the same model.
        let rank = |model: &str| {
            (
                prices.get(model).is_some_and(is_resold),
                model.contains('/'),
            )
        };
        for model in prices.keys() {
            let last = model.rsplit('/').next().unwrap_or(model);
            let known = bare
                .entry(last.to_ascii_lowercase())
                .or_insert_with(|| model.clone());
            if rank(model) < rank(known) {
                known.clone_from(model);
            }
        }
        Self {
            source,
            taken,
            prices,
            bare,
        }
    }

    /// Returns this table with the models of another one over it.
    #[must_use]
    pub fn overridden_by(&self, other: Self) -> Self {
        let mut prices = self.prices.clone();
        // What is named without a seller stands for all of that name.
        for model in other.prices.keys().filter(|model| !model.contains('/')) {
            prices.retain(|known, _| known.rsplit('/').next() != Some(model.as_str()));
        }
        prices.extend(other.prices);
        let both = |ours: &str, theirs: &str| match theirs {
            "" => ours.to_owned(),
            theirs => format!("{theirs}, over {ours}"),
        };
        Self::of(
            both(&self.source, &other.source),
            both(&self.taken, &other.taken),
            prices,
        )
    }

    /// Returns the models in order.
    pub fn models(&self) -> impl Iterator<Item = (&str, &Price)> {
        self.prices
            .iter()
            .map(|(model, price)| (model.as_str(), price))
    }

    /// Finds a model under any name that a runtime gives it; returns its name here.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<(&str, &Price)> {
        let named = |name: &str| {
            let name = match self.prices.get_key_value(name) {
                Some((name, _)) => name,
                None => self.bare.get(name)?,
            };
            let price = self.prices.get(name)?;
            Some((name.as_str(), price))
        };
        name::find(model, named)
    }

    /// Returns a hash of all names and prices: it tells which table an estimate was made with.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (model, price) in &self.prices {
            let numbers = [
                Some(price.input),
                Some(price.output),
                price.cache_read,
                price.cache_write,
                price.cache_write_1h,
                price.long_input,
                price.long_output,
                price.long_cache_read,
            ];
            let numbers =
                numbers.map(|number| number.map_or_else(|| "-".to_owned(), |n| n.0.to_string()));
            hasher.update(format!("{model:?} {}\n", numbers.join(" ")).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

fn is_resold(price: &Price) -> bool {
    RESELLERS.contains(&price.provider.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_ships_is_sound_and_says_where_it_comes_from() {
        let table = PriceTable::parse(MODELS).unwrap();
        assert_eq!(table.models().count(), 355);
        assert!(table.source.contains("litellm 1.108.4"));
        assert_eq!(table.taken, "2026-11-16");
        assert_eq!(table.digest(), PriceTable::built_in().digest());
    }

    #[test]
    fn models_are_found_under_the_names_that_runtimes_give_them() {
        let table = PriceTable::built_in();
        let cases = [
            // As claude-code, gemini, codex and hermes print them.
            (
                "claude-sonnet-4-5-20250929",
                Some("claude-sonnet-4-5-20250929"),
            ),
            (
                "claude-haiku-4-5-20251001",
                Some("claude-haiku-4-5-20251001"),
            ),
            ("claude-haiku-5-5", Some("claude-haiku-5-5")),
            ("claude-haiku-5-5-20261103", Some("claude-haiku-5-5")),
            ("claude-sonnet-4-5[1m]", Some("claude-sonnet-4-5")),
            ("gemini-2.5-flash", Some("gemini/gemini-2.5-flash")),
            ("gemini-2.5-pro", Some("gemini/gemini-2.5-pro")),
            ("gpt-5.5", Some("gpt-5.5")),
            ("gpt-5.1-codex-high", Some("gpt-5.1-codex")),
            ("grok-4.7-medium", Some("xai/grok-4.7")),
            ("mistral-medium", Some("mistral/mistral-medium")),
            // As routers and clouds call them.
            ("anthropic/claude-sonnet-4.5", Some("claude-sonnet-4-5")),
            (
                "openrouter/anthropic/claude-sonnet-4.5",
                Some("claude-sonnet-4-5"),
            ),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                Some("claude-sonnet-4-5-20250929"),
            ),
            (
                "anthropic.claude-haiku-4-5-20251001-v1:0",
                Some("claude-haiku-4-5-20251001"),
            ),
            (
                "vertex_ai/claude-sonnet-4-5@20250929",
                Some("claude-sonnet-4-5-20250929"),
            ),
            ("models/gemini-2.5-pro", Some("gemini/gemini-2.5-pro")),
            ("openai/gpt-5", Some("gpt-5")),
            ("moonshotai/kimi-k2.5", Some("moonshot/kimi-k2.5")),
            ("z-ai/glm-5.2", Some("zai/glm-5.2")),
            ("deepseek-v4-pro", Some("deepseek-v4-pro")),
            (
                "dashscope/deepseek-v4-pro",
                Some("dashscope/deepseek-v4-pro"),
            ),
            ("MiniMax-M2.5", Some("minimax/MiniMax-M2.5")),
            // What is not known has no price.
            ("haiku", None),
            ("Auto", None),
            ("Composer 2.5 Fast", None),
            ("Sonnet 4.6 1M", None),
            ("<synthetic>", None),
            ("gateway-injected", None),
            ("custom:fake-model", None),
            ("m1", None),
            ("gpt-5.5-fast", None),
            ("claude", None),
            ("", None),
            ("/", None),
            ("-20250929", None),
            ("é[", None),
        ];
        for (model, expected) in cases {
            let found = table.find(model).map(|(name, _)| name);
            assert_eq!(found, expected, "{model:?}");
        }
    }

    #[test]
    fn a_file_overrides_models_and_a_faulty_one_is_refused_by_name() {
        let file = r#"{"source": "ours", "models": {"gpt-5": {"input": 1e-6, "output": 2e-6},
            "kimi-k2.5": {"input": 3e-6, "output": 3e-6}, "m1": {"input": 0, "output": 0}}}"#;
        let table = PriceTable::built_in().overridden_by(PriceTable::parse(file).unwrap());
        assert_eq!(
            table.find("openai/gpt-5").unwrap().1.input,
            Picodollars(1_000_000)
        );
        assert_eq!(table.find("kimi-k2.5").unwrap().0, "kimi-k2.5");
        assert!(table.find("m1").is_some() && table.find("claude-opus-5").is_some());
        assert!(table.source.starts_with("ours, over "));
        assert_ne!(table.digest(), PriceTable::built_in().digest());
        let cases = [
            (
                r#"{"models": {"a": {"input": -1, "output": 0}}}"#,
                "model \"a\": input is -1",
            ),
            (
                r#"{"models": {"a": {"input": 0}}}"#,
                "missing field `output`",
            ),
            (
                r#"{"models": {"a": {"input": 0, "output": 0, "inptu": 1}}}"#,
                "unknown field `inptu`",
            ),
            (r#"{"unit": "EUR", "models": {}}"#, "its unit is \"EUR\""),
            ("[]", "it is no price table"),
        ];
        for (file, expected) in cases {
            let error = PriceTable::parse(file).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
