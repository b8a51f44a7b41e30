//! Under which names a model is looked up.
//!
//! The same model is called many things: `claude-sonnet-4-5-20250929`, `anthropic/claude-sonnet-4.5`,
//! `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `claude-sonnet-4-5[1m]`. Each rule takes something away
//! that does not change the price; the first name that the table has is the model. What no rule takes
//! away makes another model, or one that nobody knows: an alias such as `sonnet` names none.

/// How much thinking a model was asked for: its price per token is the same.
const EFFORTS: [&str; 6] = ["-none", "-minimal", "-low", "-medium", "-high", "-xhigh"];

/// Those who sell models under their makers' names, in front of a dot.
const REGIONS: [&str; 5] = ["us.", "eu.", "apac.", "global.", "au."];

/// Calls `each` with the names that a model may have in the table, the most exact first, until one is known.
pub(super) fn find<T>(model: &str, each: impl Fn(&str) -> Option<T>) -> Option<T> {
    let model = model.trim().to_ascii_lowercase();
    let mut names = vec![model.clone()];
    let bare = without_mark(&model);
    // From the whole path to its last part: `openrouter/deepseek/x`, `deepseek/x`, `x`.
    let mut rest = Some(bare);
    while let Some(name) = rest {
        spellings(name, &mut names);
        rest = name.split_once('/').map(|(_, rest)| rest);
    }
    let last = bare.rsplit('/').next().unwrap_or(bare);
    if let Some(name) = of_reseller(last) {
        spellings(name, &mut names);
    }
    names.iter().find_map(|name| each(name))
}

/// Takes away what says how a model is run: `[1m]`.
fn without_mark(name: &str) -> &str {
    match name.split_once('[') {
        Some((name, mark)) if mark.ends_with(']') => name.trim_end(),
        _ => name,
    }
}

/// Takes away region and maker in front of a dot, and the revision behind: `us.anthropic.x-v1:0`.
fn of_reseller(name: &str) -> Option<&str> {
    let region = REGIONS.iter().find_map(|region| name.strip_prefix(region));
    let (maker, model) = region.unwrap_or(name).split_once('.')?;
    let is_maker = maker.bytes().all(|byte| byte.is_ascii_lowercase());
    let model = match model.rsplit_once("-v") {
        Some((model, revision)) if revision.split(':').all(is_number) => model,
        _ => model,
    };
    (is_maker && !model.is_empty()).then_some(model)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Adds a name as it is, then without its date, then without the effort that was asked for; each also with
/// dashes for the dots of its version, and the other way round.
fn spellings(name: &str, names: &mut Vec<String>) {
    let dashed = name.replace('@', "-");
    let undated = without_date(&dashed);
    let mut forms = vec![dashed.as_str(), undated];
    forms.extend(
        EFFORTS
            .iter()
            .find_map(|effort| undated.strip_suffix(effort)),
    );
    for form in forms {
        names.push(form.to_owned());
        names.extend(exchanged(form, '.', '-'));
        names.extend(exchanged(form, '-', '.'));
    }
}

/// Takes a date away: `-20250929`, `-2025-08-07`; and `-latest`, which is what has no date.
fn without_date(name: &str) -> &str {
    if let Some(name) = name.strip_suffix("-latest") {
        return name;
    }
    for (length, is_dash) in [(9, [0].as_slice()), (11, [0, 5, 8].as_slice())] {
        let Some((rest, date)) = name
            .len()
            .checked_sub(length)
            .and_then(|at| name.split_at_checked(at))
        else {
            continue;
        };
        let is_date = date.bytes().enumerate().all(|(at, byte)| {
            if is_dash.contains(&at) {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        });
        if is_date && !rest.is_empty() {
            return rest;
        }
    }
    name
}

/// Exchanges a character between two digits, where there is one.
fn exchanged(name: &str, from: char, to: char) -> Option<String> {
    let characters: Vec<char> = name.chars().collect();
    let digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let changed: String = characters
        .iter()
        .enumerate()
        .map(|(at, character)| {
            let is_between = at > 0 && digit(at - 1) && digit(at + 1);
            if *character == from && is_between {
                to
            } else {
                *character
            }
        })
        .collect();
    (changed != name).then_some(changed)
}
