//! Which prices estimates are made with.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use runtape_core::prices::PriceTable;

use crate::error::CliError;

/// The longest file of prices that is read: the one that ships with the program has 40 KB.
const LONGEST: u64 = 16 << 20;

/// Where prices come from besides the table that ships with the program.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PriceArgs {
    /// Take the prices in this file before those of the table that ships with the program
    #[arg(long, value_name = "FILE", env = "RUNTAPE_PRICES")]
    prices: Option<PathBuf>,
}

impl PriceArgs {
    /// Returns the table to estimate with: the one place that decides which.
    pub(crate) fn table(&self) -> Result<Cow<'static, PriceTable>, CliError> {
        let built_in = PriceTable::built_in();
        match &self.prices {
            Some(path) => Ok(Cow::Owned(built_in.overridden_by(read(path)?))),
            None => Ok(Cow::Borrowed(built_in)),
        }
    }
}

fn read(path: &Path) -> Result<PriceTable, CliError> {
    let failed = |error| CliError::Read {
        path: path.into(),
        error,
    };
    let file = File::open(path).map_err(failed)?;
    let mut text = String::new();
    file.take(LONGEST)
        .read_to_string(&mut text)
        .map_err(failed)?;
    PriceTable::parse(&text).map_err(|error| CliError::Prices {
        path: path.into(),
        error,
    })
}
