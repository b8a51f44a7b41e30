//! Labels of runs.

use std::collections::BTreeMap;

use runtape_normalizer::Context;

/// Labels that runs are given.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LabelArgs {
    /// Give the run a label, as NAME=VALUE; repeatable
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = parse_label)]
    labels: Vec<(String, String)>,
}

impl LabelArgs {
    /// Notes the labels with what is known of a run. Given twice, the last one counts.
    pub(crate) fn note(&self, context: &mut Context) {
        if self.labels.is_empty() {
            return;
        }
        let labels: BTreeMap<&str, &str> = self
            .labels
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        context.metadata.set("labels", serde_json::json!(labels));
    }
}

fn parse_label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or_default();
    if name.is_empty() {
        return Err("expected NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}
