//! The questions of an auditor, each answered by one command: `docs/audit.md` asks them, and what is known of the captures
//! says what the answers must hold.

use std::fs;
use std::path::Path;

/// What an answer must tell: the question, and what is known to be true of the captures that it is asked about.
const ANSWERS: [(&str, &[&str]); 22] = [
    (
        "Which shell commands ran?",
        &["make lint", "echo partial output", "cat /etc/shadow"],
    ),
    (
        "Which files were written?",
        &["/home/dev/proj/notes.md", "write_file", "replace"],
    ),
    (
        "Who touched a file?",
        &["notes.md", "read_file", "write_file", "gemini"],
    ),
    (
        "Which hosts were used?",
        &["example.com", "127.0.0.1", "fetch"],
    ),
    (
        "What failed this week?",
        &["failed: ApiError", "error_during_execution", "HTTP 429"],
    ),
    (
        "Which tool calls failed?",
        &["cat /etc/shadow", "rm -rf build", "failed"],
    ),
    (
        "What did it cost, day by day?",
        &["2026-12-01", "total", "cost $"],
    ),
    (
        "What did each job cost?",
        &["nightly-tests", "docs", "total"],
    ),
    (
        "What did each model cost, day by day?",
        &["claude-s", "gemini-2", "2026-12-01", "total"],
    ),
    (
        "Which run was the dearest, and which took longest?",
        &["0.0096", "Write the file.", "12.0s", "hermes"],
    ),
    (
        "What was asked in each run?",
        &["Write the file.", "Keep going."],
    ),
    (
        "With which flags and permissions did it run?",
        &["--output-format stream-json", "permission"],
    ),
    (
        "Who ran it, on which host, at which commit?",
        &[r#""user":"dev""#, r#""host":"#, r#""git_commit":"5f1c0de"#],
    ),
    (
        "Which permissions were denied?",
        &["permissionDenied", "Write", "webFetch"],
    ),
    ("Where was it retried or slowed down?", &["retry", "529"]),
    (
        "What did one command print?",
        &["boom: bad thing", "partial output"],
    ),
    (
        "Was the record altered?",
        &["head", "intact: all is as it was written"],
    ),
    (
        "How can one run be given away, provably?",
        &["blake3", "seal", "intact: all is as it was written"],
    ),
    (
        "What changed between two steps?",
        &["/stepNumber: 1 -> 2", "/usage/outputTokens"],
    ),
    ("Are there secrets in the record?", &["github-pat"]),
    (
        "Which kinds of failures were there?",
        &["process", "unknownSession", "turnLimit", "rateLimit"],
    ),
    ("Has the format of a CLI changed?", &["cursor", "not JSON"]),
];

/// Returns the questions of the page with the first command of each and what it prints.
fn answered(page: &str) -> Vec<(String, Vec<String>, String)> {
    let mut questions = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let (heading, rest) = section.split_once('\n').unwrap();
        let heading = heading.split_once(". ").map_or(heading, |(_, words)| words);
        let block = rest.split("```console\n").nth(1).unwrap_or_default();
        let block = block.split("```").next().unwrap_or_default();
        let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
        let commands = commands.map(str::to_owned).collect();
        questions.push((heading.to_owned(), commands, block.to_owned()));
    }
    questions
}

#[test]
fn every_question_of_an_auditor_is_answered_by_one_command() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/audit.md");
    let page = fs::read_to_string(page).unwrap();
    let answered = answered(&page);
    let asked: Vec<&str> = answered
        .iter()
        .map(|(question, ..)| question.as_str())
        .collect();
    assert_eq!(asked, ANSWERS.map(|(question, _)| question));
    // What the commands print there is held to the binary by `documentation`.
    for ((question, commands, block), (_, facts)) in answered.iter().zip(ANSWERS) {
        let pipes = commands.iter().filter(|command| command.contains('|'));
        assert_eq!(
            pipes.count(),
            0,
            "{question}: one command, no other program"
        );
        assert!(!commands.is_empty(), "{question}");
        assert!(commands[0].starts_with("runtape "), "{question}");
        let first = block.split("\n$ ").next().unwrap();
        let whole = if commands.len() > 1 {
            block.as_str()
        } else {
            first
        };
        for fact in facts {
            assert!(whole.contains(fact), "{question}: {fact} is not in {whole}");
        }
    }
}
