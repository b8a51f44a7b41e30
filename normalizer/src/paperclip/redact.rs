//! Environments for logs: names stay, secrets do not.

/// What stands for a secret.
pub const REDACTED: &str = "***REDACTED***";

/// Words in a variable's name that mark a secret, in lower case.
const SECRET_WORDS: [&str; 7] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "authorization",
    "cookie",
];

/// Tells whether a variable holds a secret, by its name.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Returns an environment that can be logged.
///
/// ```
/// use runtape_normalizer::paperclip::redact_environment;
///
/// let environment = [("PATH", "/bin"), ("MY_API_KEY", "sk-1")];
/// let logged: Vec<_> = redact_environment(environment).collect();
/// assert_eq!(logged, [("PATH", "/bin"), ("MY_API_KEY", "***REDACTED***")]);
/// ```
pub fn redact_environment<'a, I>(environment: I) -> impl Iterator<Item = (&'a str, &'a str)>
where
    I: IntoIterator<Item = (&'a str, &'a str)>,
{
    environment
        .into_iter()
        .map(|(name, value)| (name, if is_secret(name) { REDACTED } else { value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_any_part_of_the_name_in_any_case() {
        for name in [
            "ANTHROPIC_API_KEY",
            "github_token",
            "ClientSecret",
            "PGPASSWORD",
            "X_PASSWD",
            "HTTP_AUTHORIZATION",
            "SESSION_COOKIE",
            "SSH_PRIVATE_KEY_PATH",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "PAPERCLIP_RUN_ID", "", "LANG"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
