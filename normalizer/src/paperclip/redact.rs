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

/// Tells whether a value is a URL with a password in it.
#[must_use]
pub fn has_password(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let end = rest.find(['/', '?', '#', ' ']).unwrap_or(rest.len());
        let user = rest.get(..end).and_then(|place| place.rsplit_once('@'));
        user.is_some_and(|(user, _)| user.contains(':'))
    })
}

/// Returns arguments that can be logged: values of options that hold secrets are replaced, and so is
/// the prompt.
#[must_use]
pub fn redact_arguments(arguments: &[String], prompt: &str) -> Vec<String> {
    let mut is_value_secret = false;
    let redacted = arguments.iter().map(|argument| {
        let is_secret_value = std::mem::take(&mut is_value_secret);
        if !prompt.is_empty() && argument == prompt {
            return format!("<prompt, {} characters>", prompt.chars().count());
        }
        if is_secret_value && !argument.starts_with('-') || has_password(argument) {
            return REDACTED.to_owned();
        }
        match argument.split_once('=') {
            Some((name, _)) if is_secret(name) => format!("{name}={REDACTED}"),
            Some(_) => argument.clone(),
            None => {
                is_value_secret = argument.starts_with('-') && is_secret(argument);
                argument.clone()
            }
        }
    });
    redacted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_with_passwords_are_secrets() {
        for value in [
            "postgres://user:pw@host/db",
            "redis://:pw@host",
            "a https://u:p@h/ b",
        ] {
            assert!(has_password(value), "{value}");
        }
        for value in [
            "",
            "https://host/a:b@c",
            "git@github.com:me/it.git",
            "https://user@host/",
            "http://[::1]:3100",
        ] {
            assert!(!has_password(value), "{value}");
        }
    }

    #[test]
    fn arguments_are_logged_without_secrets_and_prompt() {
        let words = [
            "--api-key",
            "sk-1",
            "--token=t",
            "-c",
            "key=\"v\"",
            "--model",
            "m",
            "Do it.",
            "--secret",
            "--flag",
        ];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let expected = [
            "--api-key",
            REDACTED,
            "--token=***REDACTED***",
            "-c",
            "key=***REDACTED***",
            "--model",
            "m",
            "<prompt, 6 characters>",
            "--secret",
            "--flag",
        ];
        assert_eq!(redact_arguments(&words, "Do it."), expected);
    }

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
