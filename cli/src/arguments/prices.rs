//! Which prices estimates are made with.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use runtape_core::prices::PriceTable;

use crate::error::CliError;
use crate::settings::SettingsFile;

/// The longest file of prices that is read: the one that ships with the program has 40 KB.
const LONGEST: u64 = 16 << 20;

/// The variable that names a file of prices.
const VARIABLE: &str = "RUNTAPE_PRICES";

/// Where prices come from besides the table that ships with the program.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PriceArgs {
    /// Take the prices in this file before those of the table that ships with the program; by default the one that the
    /// configuration names
    #[arg(long, value_name = "FILE", env = VARIABLE)]
    prices: Option<PathBuf>,
}

impl PriceArgs {
    /// Returns the table to estimate with.
    pub(crate) fn table(&self) -> Result<Cow<'static, PriceTable>, CliError> {
        table(self.prices.clone())
    }
}

/// Returns the table that commands without such an option estimate with.
pub(crate) fn usual_table() -> Result<Cow<'static, PriceTable>, CliError> {
    table(std::env::var_os(VARIABLE).map(PathBuf::from))
}

/// Returns the table to estimate with: the one place that decides which.
fn table(named: Option<PathBuf>) -> Result<Cow<'static, PriceTable>, CliError> {
    let built_in = PriceTable::built_in();
    let path = if named.is_some() {
        named
    } else {
        let file = SettingsFile::find();
        let set = file.read()?.prices.file;
        set.map(|path| file.beside(&path))
    };
    match path {
        Some(path) => Ok(Cow::Owned(built_in.overridden_by(read(&path)?))),
        None => Ok(Cow::Borrowed(built_in)),
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
