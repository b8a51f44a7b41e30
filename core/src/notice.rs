//! Runtime events in one word and one sentence.

use crate::RuntimeEventKind;

/// Appends ` (a, b)` with what is there, nothing if nothing is.
fn with_details(mut text: String, details: &[Option<String>]) -> String {
    let details: Vec<&str> = details.iter().flatten().map(String::as_str).collect();
    if !details.is_empty() {
        text.push_str(" (");
        text.push_str(&details.join(", "));
        text.push(')');
    }
    text
}

fn join(pieces: &[Option<&str>]) -> String {
    let pieces: Vec<&str> = pieces
        .iter()
        .flatten()
        .copied()
        .filter(|p| !p.is_empty())
        .collect();
    pieces.join(": ")
}

impl RuntimeEventKind {
    /// Every kind of notice. The names are stable.
    pub const NOTICE_KINDS: &'static [&'static str] = &[
        "retry",
        "rateLimit",
        "permissionDenied",
        "compaction",
        "hook",
        "modelFallback",
        "task",
        "connection",
        "interaction",
        "warning",
        "result",
        "exitMismatch",
        "historyMismatch",
        "stderr",
        "stdout",
        "info",
    ];

    /// Returns the kind of notice this is, one of [`NOTICE_KINDS`](Self::NOTICE_KINDS), or `None` for
    /// what is no notice.
    #[must_use]
    pub fn notice_kind(&self) -> Option<&'static str> {
        Some(match self {
            Self::ApiRetry(_) => "retry",
            Self::RateLimit(_) => "rateLimit",
            Self::PermissionDenied(_) => "permissionDenied",
            Self::Compaction(_) => "compaction",
            Self::Hook(_) => "hook",
            Self::ModelFallback(_) => "modelFallback",
            Self::Task(_) => "task",
            Self::Connection(_) => "connection",
            Self::Interaction(_) => "interaction",
            Self::Warning(_) => "warning",
            Self::EarlierResult(_) => "result",
            Self::ExitMismatch(_) => "exitMismatch",
            Self::HistoryMismatch(_) => "historyMismatch",
            Self::StderrText(_) => "stderr",
            Self::StdoutText(_) => "stdout",
            Self::Info(_) => "info",
            _ => return None,
        })
    }

    /// Returns what a person should read, empty for what is no notice.
    #[must_use]
    pub fn notice_text(&self) -> String {
        match self {
            Self::ApiRetry(retry) => {
                let tries = match (retry.attempt, retry.max_attempts) {
                    (Some(n), Some(max)) => Some(format!("attempt {n} of {max}")),
                    (Some(n), None) => Some(format!("attempt {n}")),
                    _ => None,
                };
                with_details(
                    retry
                        .reason
                        .clone()
                        .unwrap_or_else(|| "retrying".to_owned()),
                    &[
                        retry.status_code.map(|code| format!("HTTP {code}")),
                        tries,
                        retry.delay_ms.map(|ms| format!("in {ms} ms")),
                    ],
                )
            }
            Self::RateLimit(limit) => with_details(
                limit.status.clone(),
                &[
                    limit.limit_type.clone(),
                    limit
                        .utilization
                        .map(|part| format!("{:.0} % used", part * 100.0)),
                ],
            ),
            Self::PermissionDenied(denied) => {
                join(&[Some(&denied.tool_name), denied.message.as_deref()])
            }
            Self::Compaction(compaction) => with_details(
                compaction
                    .message
                    .clone()
                    .unwrap_or_else(|| "conversation compacted".to_owned()),
                &[
                    compaction.trigger.clone(),
                    compaction.pre_tokens.map(|n| format!("{n} tokens before")),
                    compaction.post_tokens.map(|n| format!("{n} after")),
                ],
            ),
            Self::Hook(hook) => with_details(
                join(&[
                    Some(&hook.name),
                    hook.outcome.as_deref(),
                    hook.output.as_deref(),
                ]),
                &[
                    hook.event.clone(),
                    hook.exit_code.map(|code| format!("exit {code}")),
                ],
            ),
            Self::ModelFallback(fallback) => with_details(
                format!(
                    "{} -> {}",
                    fallback.from.as_deref().unwrap_or("?"),
                    fallback.to.as_deref().unwrap_or("?")
                ),
                std::slice::from_ref(&fallback.reason),
            ),
            Self::Task(task) => join(&[Some(&task.status), task.description.as_deref()]),
            Self::Connection(connection) => with_details(
                connection.state.clone(),
                &[connection.attempt.map(|n| format!("attempt {n}"))],
            ),
            Self::Interaction(interaction) => with_details(
                format!("{} {}", interaction.query_type, interaction.phase),
                &[interaction.payload.as_ref().map(ToString::to_string)],
            ),
            Self::Warning(warning) => warning.message.clone(),
            Self::EarlierResult(result) => {
                let verdict = if result.is_error { "error" } else { "success" };
                join(&[
                    result.subtype.as_deref().or(Some(verdict)),
                    result.text.as_deref(),
                ])
            }
            Self::ExitMismatch(mismatch) => {
                format!(
                    "the result says {}, the exit {}",
                    mismatch.reported, mismatch.exit
                )
            }
            Self::HistoryMismatch(mismatch) => {
                let (field, printed) = (&mismatch.field, &mismatch.printed);
                format!(
                    "{field}: printed {printed}, in the history {}",
                    mismatch.history
                )
            }
            Self::StderrText(text) => text.text.clone(),
            Self::StdoutText(text) => text.text.clone(),
            Self::Info(info) => join(&[info.topic.as_deref(), Some(&info.message)]),
            _ => String::new(),
        }
    }
}
