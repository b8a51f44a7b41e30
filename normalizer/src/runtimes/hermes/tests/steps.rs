//! Which lines open a step.

use super::{answer, chat, panel, reasoning, summary};

/// A call that is prepared, and one that is done.
fn prepared(tool: &str) -> String {
    format!("  ┊ 💻 preparing {tool}…\n")
}

fn done(detail: &str) -> String {
    format!("  ┊ 💻 $         {detail}  0.1s\n")
}

#[test]
fn a_message_is_a_step_whether_it_is_said_or_only_called() {
    let call = format!("{}{}", prepared("terminal"), done("ls"));
    let pair = format!(
        "{}{}{}{}",
        prepared("terminal"),
        prepared("terminal"),
        done("a"),
        done("b")
    );
    let end = answer(&["Done."]);
    let thought = reasoning(&["Hm."]);
    let read = "  ┊ 📖 preparing read_file…\n  ┊ 📖 read      x  0.1s\n";
    let diff = "  ┊ ✍️ preparing write_file…\n  ┊ ✍️  write     x  0.1s\n  ┊ review diff\na/x → b/x\n@@ -0,0 +1,1 @@\n+a\n";
    let mcp = "  ┊ ⚡ preparing mcp__fake__echo…\n  ┊ ⚡ mcp__fake x  0.1s\n";
    // What was printed, how many steps it is, and the steps of its calls.
    let table: [(&str, String, u64, &[u64]); 13] = [
        ("an answer", end.clone(), 1, &[]),
        ("a call and an answer", format!("{call}{end}"), 2, &[1]),
        (
            "calls one by one",
            format!("{call}{call}{call}{end}"),
            4,
            &[1, 2, 3],
        ),
        ("calls at once", format!("{pair}{end}"), 2, &[1, 1]),
        (
            "calls at once, twice",
            format!("{pair}{pair}{end}"),
            3,
            &[1, 1, 2, 2],
        ),
        (
            "different tools",
            format!("{call}{read}{mcp}{end}"),
            4,
            &[1, 2, 3],
        ),
        (
            "files that are written",
            format!("{diff}{diff}{call}{end}"),
            4,
            &[1, 2, 3],
        ),
        ("a text before a call", format!("{end}{call}{end}"), 2, &[1]),
        (
            "reasoning before a call",
            format!("{thought}{call}{thought}{call}{end}"),
            3,
            &[1, 2],
        ),
        (
            "reasoning and text",
            format!("{thought}{end}{call}{thought}{end}"),
            2,
            &[1],
        ),
        (
            "one that is still open",
            format!(
                "{}{}{}{end}",
                prepared("terminal"),
                done("a"),
                prepared("mystery")
            ),
            3,
            &[1, 2],
        ),
        (
            "one that is never done keeps the step open",
            format!("{}{call}{call}{end}", prepared("mystery")),
            2,
            &[1, 1, 1],
        ),
        (
            "without streaming calls are not told apart",
            format!("{}{}{}", done("a"), done("b"), panel(&["Done."])),
            2,
            &[1, 1],
        ),
    ];
    for (name, body, steps, calls) in table {
        for output in [chat(&body), chat(&body).replace("\r\n", "\n")] {
            let summary = summary(&output);
            let found: Vec<u64> = summary.tool_calls.iter().map(|call| call.step).collect();
            assert_eq!((summary.steps, found.as_slice()), (steps, calls), "{name}");
        }
    }
}

#[test]
fn arguments_that_are_printed_late_stay_with_their_step() {
    let first = "  ┊ 💻 preparing terminal…\n  ┊ 💻 $         one  0.1s\n";
    let second = "  ┊ 💻 preparing terminal…\n  ┊ 💻 $         two  0.1s\n";
    let report = |command: &str| {
        format!(
            "\u{1}  📞 Tool 1: terminal(['command'])\n\u{1}     Args: {{\n\u{1}       \"command\": \"{command}\"\n\u{1}     }}\n\u{1}  ✅ Tool 1 completed in 0.13s\n\u{1}     Result: {command}\n"
        )
    };
    let start = "\u{1}🤖 AI Agent initialized with model: m\n";
    let end = answer(&["Done."]);
    let (one, two) = (report("one"), report("two"));
    // The results of a step come before the next one, or after it has begun.
    for body in [
        format!("{start}{first}{one}{second}{two}{end}"),
        format!(
            "{start}{first}  ┊ 💻 preparing terminal…\n{one}  ┊ 💻 $         two  0.1s\n{two}{end}"
        ),
    ] {
        let summary = summary(&chat(&body));
        let calls: Vec<_> = summary
            .tool_calls
            .iter()
            .map(|call| {
                (
                    call.step,
                    call.input["command"].as_str(),
                    call.output.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            calls,
            [(1, Some("one"), Some("one")), (2, Some("two"), Some("two"))]
        );
        assert_eq!(summary.steps, 3);
    }
}

#[test]
fn an_answer_alone_is_one_step_also_an_empty_one() {
    for text in [
        "Done.\n",
        "\n",
        "⚠️ No reply: the model returned empty content after retries.\n",
        "One.\r\nTwo.\r\n",
    ] {
        assert_eq!(summary(text).steps, 1, "{text:?}");
    }
}
