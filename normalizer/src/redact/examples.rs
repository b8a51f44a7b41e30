//! Made-up secrets, put together when they are asked for.

use super::rule_file::rows;
use super::tier::Tier;

/// A made-up secret of one rule, and a text that only looks like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The rule.
    pub rule: &'static str,
    /// The tier from which on the rule is in force.
    pub tier: Tier,
    /// A text with the secret in it, and what makes it known, such as a name before it.
    pub text: String,
    /// The secret alone.
    pub secret: String,
    /// A text that looks like it, and has no secret in it.
    pub near_miss: String,
}

/// Returns a made-up secret for every built-in rule. No file of ours holds one of them: they are put together
/// here, the same for the same seed.
#[must_use]
pub fn examples(seed: u64) -> Vec<Example> {
    let mut random = seed | 1;
    let made = rows().map(|row| {
        let text = fill(row.example, &mut random);
        let (text, secret) = match text.split_once('‹') {
            None => (text.clone(), text),
            Some((before, rest)) => {
                let (secret, after) = rest.split_once('›').unwrap_or((rest, ""));
                (format!("{before}{secret}{after}"), secret.to_owned())
            }
        };
        Example {
            rule: row.name,
            tier: row.tier,
            text,
            secret,
            near_miss: fill(row.near_miss, &mut random),
        }
    });
    made.collect()
}

/// Puts random characters where a template names an alphabet, and line ends for `\n`.
fn fill(template: &str, random: &mut u64) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(&before.replace("\\n", "\n"));
        let (inner, after) = after.split_once('>').unwrap_or((after, ""));
        rest = after;
        let (count, alphabet) = inner.split_once(' ').unwrap_or((inner, "alnum"));
        let alphabet = alphabet_named(alphabet);
        for _ in 0..count.parse::<usize>().unwrap_or_default() {
            // Marsaglia's xorshift: any numbers do.
            *random ^= *random << 13;
            *random ^= *random >> 7;
            *random ^= *random << 17;
            let index = usize::try_from(*random >> 33).unwrap_or_default() % alphabet.len();
            text.push(char::from(alphabet.get(index).copied().unwrap_or(b'a')));
        }
    }
    text.push_str(&rest.replace("\\n", "\n"));
    text
}

fn alphabet_named(name: &str) -> &'static [u8] {
    match name {
        "digit" => b"0123456789",
        "hex" => b"0123456789abcdef",
        "lower" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "alpha" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "base32" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "bech32" => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        "base64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "word" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    }
}
