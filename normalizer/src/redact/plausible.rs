//! Whether a value can be a secret, or only stands for one.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Parts of values that stand for a secret which is not there, in lower case.
const STAND_INS: [&str; 22] = [
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "your_",
    "your-",
    "yourkey",
    "yourtoken",
    "my_secret",
    "dummy",
    "notreal",
    "not-real",
    "not_real",
    "insert",
    "replace",
    "xxxx",
    "****",
    "....",
    "undefined",
    "sample",
];

/// Passwords that documentation and local set-ups use: they are known to everybody.
const KNOWN_PASSWORDS: [&str; 18] = [
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "postgres",
    "mysql",
    "root",
    "admin",
    "user",
    "username",
    "test",
    "guest",
    "token",
    "123456",
    "1234",
    "minioadmin",
    "rabbitmq",
];

/// Keys that services print in their documentation. They are put together here, so that nobody
/// finds them in this file.
const DOCUMENTED: [&str; 5] = [
    concat!("wJalrXUtnFEMI/K7MDENG", "/bPxRfiCY"),
    concat!("sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"),
    concat!("sk_test_", "BQokikJOvBiI2HlWgH4olfQ2"),
    concat!(
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI"
    ),
    concat!("AC", "1b2c3d4e5f60718293a4b5c6d7e8f901"),
];

/// Returns the logarithms of the counts that a character can have: to compute them each time is slow.
fn logarithms() -> &'static [f64; 257] {
    static LOGARITHMS: OnceLock<[f64; 257]> = OnceLock::new();
    LOGARITHMS.get_or_init(|| {
        let mut logarithms = [0.0; 257];
        for (count, logarithm) in (0_u16..).zip(&mut logarithms).skip(1) {
            *logarithm = f64::from(count).log2();
        }
        logarithms
    })
}

/// How often each character is in a text.
struct Frequencies {
    counts: [u16; 256],
    most: u16,
}

impl Frequencies {
    fn of(text: &[u8]) -> Self {
        let (mut counts, mut most) = ([0; 256], 0);
        for &byte in text {
            if let Some(count) = counts.get_mut(usize::from(byte)) {
                *count += 1;
                most = most.max(*count);
            }
        }
        Self { counts, most }
    }
}

/// Returns as much of a text as is judged by how often its characters are in it.
fn judged(text: &[u8]) -> &[u8] {
    text.get(..256).unwrap_or(text)
}

/// Returns how many bits a character of a text tells, by how often each is in it.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let text = judged(text);
    entropy_of(text, &Frequencies::of(text))
}

/// Tells whether a character of a text tells so many bits.
pub(super) fn has_entropy(text: &[u8], least: f64) -> bool {
    let text = judged(text);
    let frequencies = Frequencies::of(text);
    // A character that is most often there tells the least: mostly that is enough.
    let most = usize::from(frequencies.most);
    (least <= 2.0 && most * 4 <= text.len() && most > 0)
        || (least <= 3.0 && most * 8 <= text.len() && most > 0)
        || entropy_of(text, &frequencies) >= least
}

#[expect(
    clippy::cast_precision_loss,
    reason = "of the text only the first bytes count"
)]
fn entropy_of(text: &[u8], frequencies: &Frequencies) -> f64 {
    if text.is_empty() {
        return 0.0;
    }
    let logarithms = logarithms();
    let of = |count: usize| logarithms.get(count).copied().unwrap_or_default();
    let count_of = |byte: &u8| {
        let count = frequencies.counts.get(usize::from(*byte));
        usize::from(count.copied().unwrap_or(1))
    };
    // Each character once for every time that it is there.
    let sum: f64 = text.iter().map(|byte| of(count_of(byte))).sum();
    of(text.len()) - sum / text.len() as f64
}

/// A search for words in a text, whatever their case.
struct Words(OnceLock<Option<AhoCorasick>>);

impl Words {
    const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Tells whether one of the words is in a text. They are always the same.
    fn any_in(&self, words: &[&str], text: &[u8]) -> bool {
        let make = || {
            let builder = &mut AhoCorasick::builder();
            let builder = builder.ascii_case_insensitive(true);
            builder.kind(Some(AhoCorasickKind::DFA)).build(words).ok()
        };
        let search = self.0.get_or_init(make).as_ref();
        search.is_some_and(|search| search.is_match(text))
    }
}

static ANY_STAND_IN: Words = Words::new();

/// Tells whether a text with the shape of a secret only stands for one: all `x`, or a key that a
/// service's documentation has.
pub(super) fn is_stand_in(text: &[u8]) -> bool {
    // Whatever it is, there is a star or an x in it.
    let mut places = memchr::memchr3_iter(b'x', b'X', b'*', text);
    let is_word = |place: usize| {
        let rest = text.get(place..).unwrap_or_default();
        let has = |from: &[u8], word: &[u8]| {
            from.get(..word.len())
                .is_some_and(|beginning| beginning.eq_ignore_ascii_case(word))
        };
        let before = place.checked_sub(1).and_then(|from| text.get(from..));
        has(rest, b"xxxx") || has(rest, b"****") || before.is_some_and(|from| has(from, b"example"))
    };
    places.any(is_word) || is_documented(text)
}

/// Tells whether a value that is called a secret is one: not a name, not a path, not a word.
pub(super) fn is_secret_value(value: &[u8], least: usize) -> bool {
    if value.len() < least || !has_entropy(value, 3.0) || is_reference(value) {
        return false;
    }
    if value.starts_with(b"/") || value.starts_with(b"~") || value.starts_with(b".") {
        return false;
    }
    if memchr::memmem::find(value, b"://").is_some() {
        return false;
    }
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    has_digit && has_letter && !ANY_STAND_IN.any_in(&STAND_INS, value) && !is_documented(value)
}

fn is_documented(value: &[u8]) -> bool {
    DOCUMENTED
        .iter()
        .any(|known| value.starts_with(known.as_bytes()))
}

/// Tells whether a value is looked up elsewhere: a variable, a template, a call, a field.
fn is_reference(value: &[u8]) -> bool {
    let has = |byte| memchr::memchr(byte, value).is_some();
    if has(b'$') || has(b'{') || has(b'}') || has(b'<') || has(b'(') || has(b'*') {
        return true;
    }
    if value.starts_with(b"%") || value.starts_with(b"process.env") || value.starts_with(b"os.") {
        return true;
    }
    // `config.apiKey2`: words joined by dots, as in code.
    let is_name = |part: &[u8]| {
        part.first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.len() < 24
            && entropy(part) < 3.7
            && part
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    has(b'.') && value.split(|byte| *byte == b'.').all(is_name)
}

/// Tells whether the password of a URL is one.
pub(super) fn is_password(user: &[u8], password: &[u8]) -> bool {
    if password.len() < 4 || is_reference(password) || password == user {
        return false;
    }
    let is_known = KNOWN_PASSWORDS
        .iter()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(password));
    let is_one_letter = password.iter().all(|byte| Some(byte) == password.first());
    !is_known && !is_one_letter && !ANY_STAND_IN.any_in(&STAND_INS, password)
}

/// Tells whether a name is that of a secret, as variables are named: `DEPLOY_TOKEN`.
pub(super) fn is_secret_name(name: &[u8]) -> bool {
    let is_upper = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let ends = [
        "_TOKEN",
        "_SECRET",
        "_KEY",
        "_PASSWORD",
        "_PASSWD",
        "_CREDENTIAL",
    ];
    name.iter().all(is_upper)
        && ends.iter().any(|end| name.ends_with(end.as_bytes()))
        && !is_public_name(name)
}

/// Tells whether a name is that of a key that is no secret.
fn is_public_name(name: &[u8]) -> bool {
    let publics: [&[u8]; 6] = [
        b"PUBLIC_KEY",
        b"PUBLISHABLE_KEY",
        b"PRIMARY_KEY",
        b"FOREIGN_KEY",
        b"CACHE_KEY",
        b"SORT_KEY",
    ];
    publics.iter().any(|public| name.ends_with(public))
}
