//! The configuration file: what is set once for every command.
//!
//! A key that nobody knows is an error that names it: a setting with a typing error must not be without effect in
//! silence. Commands that need a setting fail then; how things are shown is as by default. A new group of settings is a field of
//! [`Settings`].

use std::path::{Path, PathBuf};

use runtape_normalizer::redact::Tier;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::CliError;
use crate::platform::config_directory;

/// The variable that names the file.
const VARIABLE: &str = "RUNTAPE_CONFIG";

/// Everything that can be set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// What is taken out before anything is kept.
    pub(crate) redact: RedactSettings,
    /// How things are shown.
    pub(crate) show: ShowSettings,
    /// What costs are estimated with.
    pub(crate) prices: PriceSettings,
}

/// What costs are estimated with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PriceSettings {
    /// A file whose prices go before those of the table that ships with the program; beside the configuration file, if its
    /// path is not absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<PathBuf>,
}

/// How things are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ShowSettings {
    /// When to use colour.
    pub(crate) color: ColorChoice,
    /// The command that shows what is longer than the screen; empty for none. By default `$PAGER`, else `less`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pager: Option<String>,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ColorChoice {
    /// Where a person looks
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What is taken out before anything is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RedactSettings {
    /// How much is looked for.
    #[serde(deserialize_with = "read_tier", serialize_with = "write_tier")]
    pub(crate) tier: Tier,
    /// Whether markers tell the same secret from another.
    pub(crate) commitment: bool,
    /// Environment variables whose values are taken out, whatever they are called.
    pub(crate) env: Vec<String>,
    /// Texts that stay though a rule finds them; one that ends in `*` is a beginning.
    pub(crate) allow: Vec<String>,
    /// Rules of one's own.
    pub(crate) rules: Vec<OwnRule>,
}

impl Default for RedactSettings {
    fn default() -> Self {
        Self {
            tier: Tier::default(),
            commitment: true,
            env: Vec::new(),
            allow: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// A rule of one's own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnRule {
    /// What it is called in markers.
    pub(crate) name: String,
    /// What it finds: text, alphabets and lengths, such as `acme_[A-Za-z0-9]{32}`.
    pub(crate) pattern: String,
}

fn read_tier<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tier, D::Error> {
    let word = String::deserialize(deserializer)?;
    word.parse().map_err(serde::de::Error::custom)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn write_tier<S: Serializer>(tier: &Tier, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(tier.as_str())
}

/// Where the file is, if there is a place for it.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    path: Option<PathBuf>,
    /// Somebody named it, and means it to be there.
    is_named: bool,
}

impl SettingsFile {
    /// Finds the file: the one that `$RUNTAPE_CONFIG` names, else the one in the platform's directory.
    pub(crate) fn find() -> Self {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let is_named = named.is_some();
        let usual = || Some(config_directory()?.join("runtape").join("config.toml"));
        let path = named.map(PathBuf::from).or_else(usual);
        Self { path, is_named }
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Tells whether it is there.
    pub(crate) fn is_there(&self) -> bool {
        self.path().is_some_and(Path::exists)
    }

    /// Returns a path that the file names: one that is not absolute is beside it.
    pub(crate) fn beside(&self, path: &Path) -> PathBuf {
        let directory = self.path().and_then(Path::parent);
        directory.map_or_else(|| path.to_owned(), |directory| directory.join(path))
    }

    /// Reads the settings; without a file everything is as by default.
    pub(crate) fn read(&self) -> Result<Settings, CliError> {
        let Some(path) = self.path() else {
            return Ok(Settings::default());
        };
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !self.is_named => {
                return Ok(Settings::default());
            }
            read => read.map_err(|error| CliError::Read {
                path: path.into(),
                error,
            })?,
        };
        parse(&text).map_err(|fault| CliError::Settings {
            path: path.into(),
            fault,
        })
    }
}

/// Reads settings; what is wrong is told with its line.
fn parse(text: &str) -> Result<Settings, String> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or(text);
            1 + before.bytes().filter(|byte| *byte == b'\n').count()
        });
        // What it says may go over lines, with the faulty one quoted.
        let fault = error.message().replace('\n', " ");
        line.map_or_else(|| fault.clone(), |line| format!("line {line}: {fault}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_is_as_by_default() {
        let settings = parse("").unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.redact.tier, Tier::Definite);
        assert!(settings.redact.commitment);
        let settings = parse(
            "[redact]\ntier = \"broad\"\nenv = [\"A\"]\nallow = [\"x*\"]\ncommitment = false\n\
             [[redact.rules]]\nname = \"acme\"\npattern = \"acme_[a-z]{8}\"\n",
        );
        let redact = settings.unwrap().redact;
        assert_eq!((redact.tier, redact.commitment), (Tier::Broad, false));
        assert_eq!(
            (redact.env, redact.allow),
            (vec!["A".to_owned()], vec!["x*".to_owned()])
        );
        assert_eq!(redact.rules[0].pattern, "acme_[a-z]{8}");
    }

    #[test]
    fn a_key_that_nobody_knows_is_named_with_its_line() {
        for (text, line, word) in [
            ("\n[redcat]\n", "line 2", "redcat"),
            ("[redact]\nteir = \"off\"\n", "line 2", "teir"),
            ("[redact]\ntier = \"most\"\n", "line 2", "most"),
            (
                "[redact]\n[[redact.rules]]\nname = \"a\"\nregex = \"b\"\n",
                "line",
                "regex",
            ),
            ("[redact\n", "line 1", ""),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(
                fault.contains(line) && fault.contains(word),
                "{text}: {fault}"
            );
        }
    }

    #[test]
    fn what_is_shown_can_be_read_back() {
        let mut settings = Settings::default();
        settings.redact.rules.push(OwnRule {
            name: "acme".to_owned(),
            pattern: "acme_[a-z]{8}".to_owned(),
        });
        let text = toml::to_string(&settings).unwrap();
        assert_eq!(parse(&text).unwrap(), settings);
    }
}
