//! An agent's configuration as the host keeps it.

use serde_json::{Map, Value};

/// An agent's configuration. Forms, other agents and people wrote it, so nothing in it is trusted to
/// have its type: what has another one counts as missing.
#[derive(Clone, Copy, Debug)]
pub struct AgentConfig<'a>(pub &'a Map<String, Value>);

impl<'a> AgentConfig<'a> {
    /// Returns the first of these keys that holds a text, without the blanks around it.
    #[must_use]
    pub fn text(&self, keys: &[&str]) -> Option<&'a str> {
        keys.iter()
            .filter_map(|key| Some(self.0.get(*key)?.as_str()?.trim()))
            .find(|text| !text.is_empty())
    }

    /// Returns the first of these keys that is true or false, else what is usual.
    #[must_use]
    pub fn flag(&self, keys: &[&str], usual: bool) -> bool {
        let mut flags = keys.iter().filter_map(|key| self.0.get(*key)?.as_bool());
        flags.next().unwrap_or(usual)
    }

    /// Returns a number above zero, cut to a whole one.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        let number = self.0.get(key)?.as_f64()?;
        // Far below the numbers that a float cannot hold exactly.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "within the bounds of the line before"
        )]
        (1.0..1e9).contains(&number).then(|| number.floor() as u64)
    }

    /// Returns the words of a list; a text is cut at blanks.
    #[must_use]
    pub fn words(&self, key: &str) -> Vec<String> {
        match self.0.get(key) {
            Some(Value::Array(items)) => items
                .iter()
                .filter_map(Value::as_str)
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
            Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the arguments that are added to every command line.
    #[must_use]
    pub fn extra_arguments(&self) -> Vec<String> {
        let words = self.words("extraArgs");
        if words.is_empty() {
            self.words("args")
        } else {
            words
        }
    }

    /// Tells whether the agent may do everything without being asked; there is nobody to ask.
    #[must_use]
    pub fn skips_permissions(&self) -> bool {
        let keys = [
            "dangerouslySkipPermissions",
            "dangerouslyBypassApprovalsAndSandbox",
            "dangerouslyBypassSandbox",
        ];
        self.flag(&keys, true)
    }

    /// Returns the model, if one is named.
    #[must_use]
    pub fn model(&self) -> Option<&'a str> {
        self.text(&["model"])
    }

    /// Returns how hard the model is to think. The host's form writes one key for a new agent, and
    /// another when it is edited.
    #[must_use]
    pub fn effort(&self, own: &[&str]) -> Option<&'a str> {
        self.text(own)
            .or_else(|| self.text(&["effort", "thinkingEffort"]))
    }

    /// Returns the variables that were set for the agent: texts only.
    pub fn variables(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let variables = self.0.get("env").and_then(Value::as_object);
        let variables = variables.into_iter().flatten();
        variables.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_the_wrong_type_counts_as_missing() {
        let config = json!({
            "model": 5, "effort": " ", "thinkingEffort": " high ", "search": "yes", "turns": "9",
            "maxTurnsPerRun": 12.9, "below": -1, "extraArgs": [], "args": "--one  two",
            "env": {"A": "1", "B": 2, "C": {"type": "secret_ref"}},
        });
        let config = AgentConfig(config.as_object().unwrap());
        assert_eq!(config.model(), None);
        assert_eq!(config.effort(&["modelReasoningEffort"]), Some("high"));
        assert!(!config.flag(&["search"], false));
        assert_eq!(config.count("maxTurnsPerRun"), Some(12));
        assert_eq!(config.count("turns"), None);
        assert_eq!(config.count("below"), None);
        assert_eq!(config.extra_arguments(), ["--one", "two"]);
        assert_eq!(config.variables().collect::<Vec<_>>(), [("A", "1")]);
        assert!(config.skips_permissions(), "nobody is there to be asked");
    }
}
