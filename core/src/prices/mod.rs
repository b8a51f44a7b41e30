//! What models cost, for runs whose runtime does not say.
//!
//! The table that ships with the binary is a list of facts: US dollars per token, with their source and
//! date. A file of the same form overrides it, model by model. An estimate is tokens times prices, added
//! up in millionths of a millionth of a dollar: whole numbers, so that every way to group the same tokens
//! comes to the same sum.
//!
//! ```
//! use runtape_core::TokenCounts;
//! use runtape_core::prices::{ModelTokens, PriceTable};
//!
//! let table = PriceTable::built_in();
//! let counts = TokenCounts {
//!     input_tokens: Some(1_000_000),
//!     output_tokens: Some(100_000),
//!     ..TokenCounts::default()
//! };
//! let tokens = ModelTokens { model: Some("anthropic/claude-sonnet-4.5".to_owned()), counts, ..ModelTokens::default() };
//! let estimate = table.estimate([&tokens]);
//! assert_eq!(estimate.dollars(), Some(4.5));
//! assert!(estimate.unpriced_models.is_empty());
//! ```

mod amount;
mod estimate;
mod name;
mod table;

pub use amount::Picodollars;
pub use estimate::{CacheWrite, Estimate, ModelTokens, PricedTokens};
pub use table::{Price, PriceFault, PriceTable};

/// The prompt tokens of one response from which on a model's long-context prices hold.
pub const LONG_PROMPT: i64 = 200_000;
