//! The file: head, outline, the run, and the runs that it started.

use std::io::{self, Write};

use runtape_core::prices::PriceTable;
use runtape_core::report::RunInfo;
use runtape_core::{RunId, TranscriptBuilder};
use runtape_recorder::Estimates;
use runtape_store::{Store, StoreError};

use super::entry::{EntryWriter, gist};
use super::escape::{attribute, text};
use crate::attachment;

const STYLE: &str = include_str!("../../assets/style.css");

/// What a file has that the page has not: it scrolls as a whole.
const OWN_STYLE: &str = "html, body { height: auto; } body { display: block; max-width: 100ch; margin: 0 auto; padding: 1rem; } \
     .entry { position: relative; padding: .2rem .4rem; overflow-x: clip; } .entry .entry-head { min-height: 0; } \
     .fold::before { content: \"▸\"; width: .8rem; color: var(--faint); flex: none; } details[open] > .fold::before { content: \"▾\"; } .fold { cursor: pointer; color: inherit; font-size: inherit; padding-right: 3rem; } .fold::-webkit-details-marker { display: none; } \
     section.run-part { border-top: 2px solid var(--line); margin-top: 1.5rem; padding-top: .5rem; } .entry:target { background: var(--accent-soft); } \
     .outline-list { columns: 14rem; padding: 0; list-style: none; font-size: .88rem; } .entry .seq { float: right; position: relative; margin-left: .6rem; color: var(--faint); font-size: .75rem; opacity: 1; z-index: 2; }";

/// Nothing may be loaded or run, whatever got into the file.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// How large a file may become.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HtmlBounds {
    /// Bytes of one text.
    pub longest_text: usize,
    /// Bytes of all entries, about.
    pub all: usize,
}

impl Default for HtmlBounds {
    fn default() -> Self {
        Self {
            longest_text: 64 << 10,
            all: 16 << 20,
        }
    }
}

/// Writes one file.
struct PageWriter<'a> {
    out: &'a mut dyn Write,
    bounds: HtmlBounds,
    written: usize,
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HtmlError {
    /// The run cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error("failed to write")]
    Write(#[from] io::Error),
}

/// Writes a run, and the runs that it started, as one HTML file. Costs that no runtime reported are estimated by a table of
/// prices.
pub fn write_html(
    store: &Store,
    run: &RunId,
    prices: &PriceTable,
    bounds: HtmlBounds,
    out: &mut dyn Write,
) -> Result<(), HtmlError> {
    let mut root = store.run(run)?;
    let mut tree = store.tree(run)?;
    let estimates = Estimates::by(prices);
    estimates.of_runs(store, std::slice::from_mut(&mut root))?;
    estimates.of_runs(store, &mut tree)?;
    let mut writer = PageWriter {
        out,
        bounds,
        written: 0,
    };
    // What stands in a title is no markup, not even ours.
    let title = attribute(&format!("{} {}", root.runtime, root.run_id));
    writer.put(&format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
         <title>{title}</title><style>{STYLE}\n{OWN_STYLE}</style></head><body>\n"
    ))?;
    writer.run(store, &root)?;
    let members = tree.iter().filter(|member| member.run_id != root.run_id);
    for child in members {
        writer.run(store, child)?;
    }
    writer.put("</body></html>\n")
}

impl PageWriter<'_> {
    fn put(&mut self, html: &str) -> Result<(), HtmlError> {
        self.written += html.len();
        Ok(self.out.write_all(html.as_bytes())?)
    }

    fn run(&mut self, store: &Store, run: &RunInfo) -> Result<(), HtmlError> {
        let id = &run.run_id;
        self.head(run)?;
        self.outline(store, run)?;
        let command = format!("runtape transcript {id} --full");
        let mut entries = EntryWriter {
            longest_text: self.bounds.longest_text,
            room_for_images: 0,
            rest: &command,
        };
        let mut builder = TranscriptBuilder::new();
        let mut failed = Ok(());
        let mut left_out = 0_u64;
        let mut step = 0;
        store.each_record(id, 0, |record| {
            if self.written > self.bounds.all {
                left_out += 1;
                return true;
            }
            if let runtape_core::RecordKind::Message(message) = &record.kind
                && message.step > step
            {
                step = message.step;
                failed = self.put(&format!("<a id=\"{id}-step-{step}\"></a>"));
            }
            for (number, entry) in builder.push(&record).iter().enumerate() {
                let seq = record.seq;
                let attachments = attachment::of_entry(&record, number);
                entries.room_for_images = self.bounds.all.saturating_sub(self.written);
                let shown = entries.entry(&entry.kind, &attachments);
                let anchor = if number == 0 { format!(" id=\"{id}-{seq}\"") } else { String::new() };
                let (class, html) = (shown.class, shown.html);
                let time = attribute(&entry.ts);
                if failed.is_ok() {
                    failed = self.put(&format!(
                        "<article class=\"{class}\"{anchor}><a class=\"seq\" href=\"#{id}-{seq}\" title=\"{time}\">#{seq}</a>{html}</article>\n"
                    ));
                }
            }
            failed.is_ok()
        })?;
        failed?;
        if left_out > 0 {
            let command = text(&command);
            self.put(&format!("<p class=\"faint\">{left_out} more records are not in this file: <code>{command}</code></p>"))?;
        }
        self.put("</section>\n")
    }

    fn head(&mut self, run: &RunInfo) -> Result<(), HtmlError> {
        let id = &run.run_id;
        let facts = [
            ("run", Some(id.to_string())),
            ("job", Some(run.job_id.to_string())),
            (
                "started by",
                run.parent_run_id.as_ref().map(ToString::to_string),
            ),
            ("runtime", Some(run.runtime.to_string())),
            ("version", run.cli_version.clone()),
            ("model", run.model.clone()),
            ("directory", run.cwd.clone()),
            ("session", run.session_id.clone()),
            ("started", Some(runtape_core::iso_time(run.started_at))),
            ("ended", run.finished_at.map(runtape_core::iso_time)),
            ("outcome", Some(run.outcome_label().into_owned())),
            ("steps", Some(run.steps.to_string())),
            ("cost $", Some(run.cost.short_text())),
            ("seal", run.seal_name().map(|seal| seal.to_string())),
        ];
        let facts = facts.into_iter().filter_map(|(name, value)| {
            let value = text(&value.filter(|value| !value.is_empty())?);
            Some(format!("<div><dt>{name}</dt><dd>{value}</dd></div>"))
        });
        let facts: String = facts.collect();
        let error = run.error.as_ref().map(|error| {
            let (name, message) = (text(&error.name), text(&error.message));
            let outcome = run.outcome.as_str();
            format!(
                "<div class=\"error-box {outcome}\"><strong>{name}</strong><p>{message}</p></div>"
            )
        });
        let error = error.unwrap_or_default();
        let name = gist(run.title.as_deref().unwrap_or(id.as_str()));
        self.put(&format!(
            "<section class=\"run-part\" id=\"run-{id}\"><h1>{name}</h1>{error}<dl class=\"facts\">{facts}</dl>\n"
        ))
    }

    fn outline(&mut self, store: &Store, run: &RunInfo) -> Result<(), HtmlError> {
        let id = &run.run_id;
        let steps = store.steps(id, 0, 500)?;
        let steps = steps.iter().map(|step| {
            let number = step.step;
            let calls = step.tool_calls;
            format!("<li><a href=\"#{id}-step-{number}\">step {number}</a> <span class=\"faint\">{calls} calls</span></li>")
        });
        let steps: String = steps.collect();
        let children = store.tree(id)?;
        let children = children
            .iter()
            .filter(|child| child.parent_run_id.as_ref() == Some(id));
        let children = children.map(|child| {
            let name = child.title.as_deref().or(child.expert_key.as_deref());
            let (child, name) = (&child.run_id, gist(name.unwrap_or("sub-agent")));
            format!("<li><a href=\"#run-{child}\">↳ {name}</a></li>")
        });
        let children: String = children.collect();
        self.put(&format!(
            "<details><summary>Outline</summary><ol class=\"outline-list\">{children}{steps}</ol></details>\n"
        ))
    }
}
