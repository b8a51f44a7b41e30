//! What is taken out before anything is kept: by arguments, configuration and environment.

use std::path::PathBuf;
use std::sync::Arc;

use runtape_normalizer::redact::{RedactionKey, RuleSet, Tier};
use runtape_recorder::{read_or_make_redaction_key, read_redaction_key};

use crate::commands::Invocation;
use crate::database::Database;
use crate::error::CliError;
use crate::server::Server;
use crate::settings::{RedactSettings, SettingsFile};

/// The variable that names the file of the key.
const KEY_VARIABLE: &str = "RUNTAPE_REDACTION_KEY_FILE";

/// The least number of characters of a server's password that is looked for wherever it stands.
const SHORTEST_PASSWORD: usize = 12;

/// What is taken out before anything is kept.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Redaction")]
pub(crate) struct RedactionArgs {
    /// What is taken out before anything is kept: off, definite (what shows by itself to be a secret; the default),
    /// or broad (also what is only called one)
    #[arg(long, value_name = "TIER")]
    redact: Option<Tier>,
    /// Also take out the value of this environment variable (can be repeated)
    #[arg(long, value_name = "NAME")]
    redact_env: Vec<String>,
    /// Let markers only name the rule: the same secret cannot be told from another
    #[arg(long)]
    no_commitment: bool,
}

/// How much is looked for in what is stored.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TierArgs {
    /// How much to look for: definite or broad; by default as configured, and definite if that is off
    #[arg(long, value_name = "TIER")]
    tier: Option<Tier>,
    /// Also look for the value of this environment variable (can be repeated)
    #[arg(long, value_name = "NAME")]
    redact_env: Vec<String>,
    /// Let markers only name the rule: the same secret cannot be told from another
    #[arg(long)]
    no_commitment: bool,
}

/// Whether a key may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewKey {
    /// Something is about to be kept: it needs one.
    Make,
    /// Nothing is kept.
    Never,
}

impl RedactionArgs {
    /// Returns the rules for what is about to be kept.
    pub(crate) fn rules(
        &self,
        invocation: &mut Invocation<'_>,
        new_key: NewKey,
    ) -> Result<Arc<RuleSet>, CliError> {
        let database = invocation.database.clone();
        self.rules_for(&database, invocation, new_key)
    }

    /// Returns the rules for what is about to be kept in another database than the one of the command: its key is that
    /// of the markers.
    pub(crate) fn rules_for(
        &self,
        database: &Database,
        invocation: &mut Invocation<'_>,
        new_key: NewKey,
    ) -> Result<Arc<RuleSet>, CliError> {
        let mut settings = SettingsFile::find().read()?.redact;
        settings.tier = self.redact.unwrap_or(settings.tier);
        settings.commitment &= !self.no_commitment;
        rules(&settings, &self.redact_env, database, invocation, new_key)
    }
}

impl TierArgs {
    /// Returns the rules for what is stored. To look for nothing would be no help.
    pub(crate) fn rules(
        &self,
        invocation: &mut Invocation<'_>,
        new_key: NewKey,
    ) -> Result<Arc<RuleSet>, CliError> {
        let mut settings = SettingsFile::find().read()?.redact;
        if self.tier == Some(Tier::Off) {
            let message = "--tier: off looks for nothing; expected definite or broad".to_owned();
            return Err(CliError::Usage { message });
        }
        let configured = Some(settings.tier).filter(|tier| *tier != Tier::Off);
        settings.tier = self.tier.or(configured).unwrap_or(Tier::Definite);
        settings.commitment &= !self.no_commitment;
        let database = invocation.database.clone();
        rules(&settings, &self.redact_env, &database, invocation, new_key)
    }
}

fn rules(
    settings: &RedactSettings,
    named: &[String],
    database: &Database,
    invocation: &mut Invocation<'_>,
    new_key: NewKey,
) -> Result<Arc<RuleSet>, CliError> {
    let mut rules = RuleSet::new(settings.tier);
    if settings.tier == Tier::Off {
        return Ok(Arc::new(rules));
    }
    for rule in &settings.rules {
        rules = rules.with_rule(&rule.name, &rule.pattern)?;
    }
    for text in &settings.allow {
        rules = rules.with_allowed(text);
    }
    for name in settings.env.iter().chain(named) {
        // A variable that is not set has no value to be found.
        if let Some(value) = std::env::var_os(name).and_then(|value| value.into_string().ok())
            && !value.is_empty()
        {
            rules = rules.with_value(name, &value)?;
        }
    }
    // An agent that prints its environment must not have it recorded. A short one may be a word.
    let password = database.server().and_then(Server::password);
    if let Some(password) = password.filter(|text| text.chars().count() >= SHORTEST_PASSWORD) {
        rules = rules.with_value("RUNTAPE_DB", password)?;
    }
    let variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    rules = rules.with_environment(
        variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    if settings.commitment {
        // Nothing is made beside what can be no database.
        database.check()?;
        let path = key_path(database);
        match key(database, new_key) {
            Ok(Some(key)) => rules = rules.with_key(key),
            Ok(None) => {}
            // Recording goes on: without a key the secrets are taken out all the same.
            Err(error) => invocation.warn(&format!(
                "no key for markers, which only name their rules now: {}: {error}",
                path.display()
            )),
        }
    }
    Ok(Arc::new(rules))
}

/// Returns where the key is: the file that `$RUNTAPE_REDACTION_KEY_FILE` names, else beside the database.
pub(crate) fn key_path(database: &Database) -> PathBuf {
    let named = std::env::var_os(KEY_VARIABLE).filter(|path| !path.is_empty());
    named.map_or_else(|| database.beside("redaction-key"), PathBuf::from)
}

/// Returns the key, if there is one or it may be made.
pub(crate) fn key(database: &Database, new_key: NewKey) -> std::io::Result<Option<RedactionKey>> {
    let path = key_path(database);
    let bytes = match new_key {
        NewKey::Never => read_redaction_key(&path)?,
        NewKey::Make => {
            if let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
                runtape_recorder::create_private_directory(directory, true)?;
            }
            Some(read_or_make_redaction_key(&path)?)
        }
    };
    Ok(bytes.map(RedactionKey::new))
}
