//! `run-setting.json`: what a run was asked to do.

use runtape_core::record::Initialize;
use runtape_core::{JobId, RunId, Runtime};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::plan::EventTimes;

/// What the model is called where the runtime did not name it.
fn default_model(runtime: &Runtime) -> String {
    format!("{runtime}:default")
}

/// The settings of a run, as Perstack's `runSettingSchema` wants them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunSetting {
    model: String,
    provider_config: Value,
    job_id: JobId,
    run_id: RunId,
    expert_key: String,
    input: Map<String, Value>,
    experts: Map<String, Value>,
    /// Required until 2025-12-22, ignored since.
    temperature: u8,
    max_retries: u64,
    timeout: u64,
    started_at: i64,
    updated_at: i64,
    perstack_api_base_url: &'static str,
    env: Map<String, Value>,
}

impl RunSetting {
    pub(super) fn new(
        job: &JobId,
        run: &RunId,
        runtime: &Runtime,
        initialize: Option<&Initialize>,
        times: EventTimes,
    ) -> Self {
        let model = initialize.and_then(|initialize| initialize.model.clone());
        let expert = initialize.map_or(runtime.as_str(), |initialize| &initialize.expert.key);
        let query = initialize.and_then(|initialize| initialize.query.clone());
        let text = query.map(|query| ("text".to_owned(), query.into()));
        Self {
            model: model.unwrap_or_else(|| default_model(runtime)),
            // Who serves the model is the agent CLI's business. Of the providers that Perstack
            // knows this is the one that takes no credentials.
            provider_config: json!({ "providerName": "ollama" }),
            job_id: job.clone(),
            run_id: run.clone(),
            expert_key: accepted_expert_key(expert),
            input: text.into_iter().collect(),
            experts: Map::new(),
            temperature: 0,
            max_retries: 0,
            timeout: 0,
            started_at: times.first,
            updated_at: times.last,
            perstack_api_base_url: "https://api.perstack.ai",
            env: Map::new(),
        }
    }
}

/// Makes a key of an expert's that Perstack's rule for keys accepts; most are it already.
///
/// The checkpoints have the key as it is: there Perstack takes any text.
fn accepted_expert_key(key: &str) -> String {
    if is_expert_key(key) {
        return key.to_owned();
    }
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
    let lower = key.to_lowercase();
    let plain = lower.chars().map(|c| if is_plain(c) { c } else { '-' });
    let plain: String = plain.collect();
    match plain.trim_start_matches(['_', '.', '-']) {
        "" => "unknown".to_owned(),
        key => key.to_owned(),
    }
}

/// Tells whether a key is `[@scope/]name[@version or @tag]`.
fn is_expert_key(key: &str) -> bool {
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(is_alphanumeric)
            && bytes.all(|byte| is_alphanumeric(byte) || b"_.-".contains(&byte))
    };
    let rest = match key.strip_prefix('@') {
        Some(scoped) => match scoped.split_once('/') {
            Some((scope, rest)) if is_name(scope) => rest,
            _ => return false,
        },
        None => key,
    };
    match rest.split_once('@') {
        // A version may hold capitals and a plus sign as well; a tag reads like a name.
        Some((name, tag)) => is_name(name) && is_name(tag),
        None => is_name(rest),
    }
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// What an import takes from a run's settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KnownSetting {
    pub(super) model: Option<String>,
    pub(super) query: Option<String>,
    pub(super) started_at: Option<i64>,
}

impl KnownSetting {
    /// Reads what is of use, and checks that the settings belong to the run.
    ///
    /// The rest is Perstack's: keys and environment variables in it are not read at all.
    pub(super) fn read(setting: &Value, job: &JobId, run: &RunId) -> Result<Self, String> {
        let text = |key: &str| setting.get(key).and_then(Value::as_str);
        for (key, expected) in [("jobId", job.as_str()), ("runId", run.as_str())] {
            match text(key) {
                Some(found) if found == expected => {}
                Some(found) => return Err(format!("/{key}: {found:?} is not {expected:?}")),
                None => return Err(format!("/{key}: expected string, found none")),
            }
        }
        let model = text("model").ok_or("/model: expected string, found none")?;
        let query = setting.pointer("/input/text").and_then(Value::as_str);
        Ok(Self {
            model: (!model.is_empty()).then(|| model.to_owned()),
            query: query.map(str::to_owned),
            started_at: setting.get("startedAt").and_then(Value::as_i64),
        })
    }

    /// Returns the model, unless it says no more than which runtime it was.
    pub(super) fn model(&self, runtime: &Runtime) -> Option<String> {
        self.model
            .clone()
            .filter(|model| *model != default_model(runtime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expert_keys_are_made_acceptable() {
        for key in [
            "claude-code",
            "@org/name",
            "name@1.2.3",
            "a.b_c@latest",
            "@o/n@1.0.0-rc.1",
        ] {
            assert_eq!(accepted_expert_key(key), key);
        }
        for (key, expected) in [
            ("Test Expert", "test-expert"),
            ("", "unknown"),
            ("../../x", "x"),
            ("@Org/Name", "org-name"),
            ("Ä", "unknown"),
        ] {
            let accepted = accepted_expert_key(key);
            assert_eq!(accepted, expected);
            assert!(is_expert_key(&accepted));
        }
    }

    #[test]
    fn settings_of_another_run_are_refused() {
        let (job, run) = (JobId::parse("j").unwrap(), RunId::parse("r").unwrap());
        let setting = RunSetting::new(
            &job,
            &run,
            &Runtime::Hermes,
            None,
            EventTimes { first: 5, last: 6 },
        );
        let setting = serde_json::to_value(setting).unwrap();
        let known = KnownSetting::read(&setting, &job, &run).unwrap();
        assert_eq!(
            (known.started_at, known.model(&Runtime::Hermes)),
            (Some(5), None)
        );
        let other = RunId::parse("other").unwrap();
        let fault = KnownSetting::read(&setting, &job, &other).unwrap_err();
        assert_eq!(fault, r#"/runId: "r" is not "other""#);
    }
}
