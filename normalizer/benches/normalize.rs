//! How fast output becomes records: `cargo bench -p runtape-normalizer`.
//!
//! Every number that is required is a ratio to something that any program reading the same bytes
//! would have to do, measured in the same process, turn by turn, in CPU time where the system tells
//! it, so that it holds on any machine and a busy one does not tip the scale. The exception is memory,
//! measured in a process of its own: this one, started again. Ends with a table, and with failure if a
//! requirement is missed.
//!
//! `-- --only WORD` measures what has the word in its name. `-- --profile WORD` normalizes it once
//! (or as often as `--rounds N` says) and measures nothing, for a profiler to watch; with `--long-lines`
//! also the captures that have them.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::env;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use memchr::memchr_iter;
use runtape_core::{JobId, RunId, Runtime, Stream};
use runtape_normalizer::redact::{Example, RedactionKey, RuleSet, Tier, examples};
use runtape_normalizer::{Context, Exit, Kept, Normalizer, Output, Redactor};
use runtape_tests::stopwatch::Stopwatch;
use runtape_tests::synthetic::{LongRun, Random, Replica, Replicator};
use serde_json::Value;

/// The one the binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How much is normalized at a time when speed is measured.
const BYTES: usize = 6_000_000;
/// How often each side is measured; the median counts.
const ROUNDS: usize = 9;
/// How often the baseline is repeated each time: the fastest of them takes milliseconds, and an
/// interruption must not count for more on one side than on the other.
const READS: u32 = 4;
/// What is read from a pipe at once.
const CHUNK: usize = 64 * 1024;
/// How long the run is whose memory is measured, and its longest lines.
const LONG_RUN: usize = 1 << 30;
const LONGEST_LINE: usize = 1 << 20;
/// Names the process that measures memory.
const PEAK_MEMORY: &str = "--peak-memory";

const RUNTIMES: &[Runtime] = &[
    Runtime::ClaudeCode,
    Runtime::Cursor,
    Runtime::Gemini,
    Runtime::Hermes,
    Runtime::Codex,
    Runtime::Opencode,
    Runtime::Openclaw,
    Runtime::Generic,
];
const SEED: u64 = 20;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One row of the closing table.
struct Row {
    what: String,
    required: String,
    measured: String,
    ok: bool,
}

fn main() -> Outcome<ExitCode> {
    if let Some(runtime) = argument(PEAK_MEMORY) {
        println!("{}", peak_memory(&runtime.parse()?)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(word) = argument("--profile") {
        profile(&word)?;
        return Ok(ExitCode::SUCCESS);
    }
    let only = argument("--only").unwrap_or_default();
    let mut rows = Vec::new();
    compare_throughput(&only, &mut rows)?;
    compare_redaction(&only, &mut rows)?;
    compare_steps(&only, &mut rows)?;
    measure_memory(&only, &mut rows)?;
    println!("\n{:64} {:>12} {:>12}  ok", "what", "required", "measured");
    for row in &rows {
        let ok = if row.ok { "yes" } else { "NO" };
        println!(
            "{:64} {:>12} {:>12}  {ok}",
            row.what, row.required, row.measured
        );
    }
    Ok(ExitCode::from(u8::from(rows.iter().any(|row| !row.ok))))
}

/// Returns the word after a flag on the command line.
fn argument(flag: &str) -> Option<String> {
    env::args().skip_while(|word| word != flag).nth(1)
}

/// The output of one run, and what is known of it.
struct Run {
    runtime: Runtime,
    argv: Option<Vec<String>>,
    stdout: Vec<u8>,
}

/// Returns replicas of one format, a known number of bytes in all.
fn some_runs(replicator: &Replicator, runtime: &str, format: &str) -> Vec<Run> {
    let mut size = 0;
    let replicas = replicator.replicas(runtime, format);
    let some = replicas.take_while(|replica| {
        size += replica.stdout.len();
        size < BYTES
    });
    let run = |replica: Replica| Run {
        runtime: Runtime::from_name(&replica.runtime),
        argv: replica.argv,
        stdout: replica.stdout,
    };
    some.map(run).collect()
}

/// Normalizes everything that has a word in its name, and reads it as the baseline does.
fn profile(word: &str) -> Outcome<()> {
    let rounds: usize = argument("--rounds").map_or(Ok(1), |rounds| rounds.parse())?;
    let replicator = if env::args().any(|word| word == "--long-lines") {
        Replicator::with_long_lines(SEED)
    } else {
        Replicator::new(SEED)
    };
    for (runtime, format) in replicator.formats() {
        if format!("{runtime} {format}").contains(word) {
            let runs = some_runs(&replicator, runtime, format);
            for _ in 0..rounds {
                normalize_all(&runs)?;
            }
            read_all(&runs, baseline(format));
        }
    }
    for runtime in RUNTIMES {
        if format!("{runtime} steps").contains(word) {
            let runs = [long_run(runtime, 1_000)?];
            for _ in 0..rounds {
                normalize_all(&runs)?;
            }
            read_all(&runs, baseline(format_of_long_run(runtime)));
        }
    }
    let rules = definite_rules();
    let all = Replicator::with_long_lines(SEED);
    for runtime in RUNTIMES {
        for input in RedactionInput::ALL {
            // A full stop ends the name, so that one that others begin with can be named alone.
            if format!("{runtime} {}.", input.name()).contains(word) {
                filter_rounds(&input.runs(runtime, &all)?, &rules, rounds)?;
            }
        }
    }
    Ok(())
}

/// Filters and normalizes runs as often as is said.
fn filter_rounds(runs: &[Run], rules: &Arc<RuleSet>, rounds: usize) -> Outcome<()> {
    for _ in 0..rounds {
        filter_all(runs, rules)?;
        normalize_all(runs)?;
    }
    Ok(())
}

/// Returns what is looked for unless somebody says otherwise.
fn definite_rules() -> Arc<RuleSet> {
    Arc::new(RuleSet::new(Tier::Definite).with_key(RedactionKey::new([7; 32])))
}

/// Returns a run of some steps.
fn long_run(runtime: &Runtime, steps: usize) -> Outcome<Run> {
    let run = LongRun::new(runtime.as_str(), SEED).ok_or("a runtime without long runs")?;
    Ok(Run {
        runtime: runtime.clone(),
        argv: None,
        stdout: run.write(steps),
    })
}

fn format_of_long_run(runtime: &Runtime) -> &'static str {
    match runtime {
        Runtime::Hermes => "chat",
        Runtime::Codex | Runtime::Opencode => "json",
        Runtime::Generic => "transcript",
        _ => "stream-json",
    }
}

/// Normalizes replicas of the corpus, against what reading the same lines takes at the least.
///
/// A capture with a line of half a megabyte outweighs the others, so these are also measured
/// without it: runs of a few lines, where beginning and ending a run counts most.
fn compare_throughput(only: &str, rows: &mut Vec<Row>) -> Outcome<()> {
    let all = Replicator::with_long_lines(SEED);
    let usual = Replicator::new(SEED);
    for (runtime, format) in all.formats() {
        let what = format!("{runtime} {format}");
        if !what.contains(only) {
            continue;
        }
        // Text for people is no JSON at all, and a line in a published shape is held to every rule of it.
        let is_other = format == "chat" || runtime == "generic";
        let least = if is_other { 0.10 } else { 1.0 };
        let ratio = compare(&what, format, &some_runs(&all, runtime, format))?;
        rows.push(Row {
            what: format!("{what}: speed"),
            required: format!(">= {least:.2} x"),
            measured: format!("{ratio:.2} x"),
            ok: ratio >= least,
        });
        let runs = some_runs(&usual, runtime, format);
        compare(&format!("{what}, no long lines"), format, &runs)?;
    }
    Ok(())
}

/// Compares normalizing with what reading a format takes at the least.
fn compare(what: &str, format: &str, runs: &[Run]) -> Outcome<f64> {
    let (ours, theirs) = interleave(
        || normalize_all(runs),
        || Ok(read_all(runs, baseline(format))),
    )?;
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    println!(
        "{what:48} {:7.1} MB/s, baseline {:7.1} MB/s, ratio {ratio:.2}",
        megabytes_a_second(runs, ours),
        megabytes_a_second(runs, theirs),
    );
    Ok(ratio)
}

/// What the filter of secrets is measured on.
#[derive(Clone, Copy)]
struct RedactionInput {
    /// Lines of long runs, mostly short pieces of a text, instead of replicas of the corpus in all formats of a runtime.
    is_short_pieces: bool,
    planted: Planted,
}

/// What is put into each line.
#[derive(Clone, Copy)]
enum Planted {
    Nothing,
    /// What the search hits, and no rule takes for a secret.
    NearMisses,
    Secrets,
}

impl RedactionInput {
    const ALL: [Self; 6] = [
        Self::new(false, Planted::Nothing),
        Self::new(false, Planted::NearMisses),
        Self::new(false, Planted::Secrets),
        Self::new(true, Planted::Nothing),
        Self::new(true, Planted::NearMisses),
        Self::new(true, Planted::Secrets),
    ];

    const fn new(is_short_pieces: bool, planted: Planted) -> Self {
        Self {
            is_short_pieces,
            planted,
        }
    }

    fn name(self) -> String {
        let pieces = if self.is_short_pieces {
            ", only short pieces"
        } else {
            ""
        };
        let planted = match self.planted {
            Planted::Nothing => "",
            Planted::NearMisses => ", a near miss in each line",
            Planted::Secrets => ", a secret in each line",
        };
        format!("redaction{pieces}{planted}")
    }

    fn least(self) -> f64 {
        match self.planted {
            Planted::Nothing => 0.9,
            Planted::NearMisses | Planted::Secrets => 0.5,
        }
    }

    fn runs(self, runtime: &Runtime, all: &Replicator) -> Outcome<Vec<Run>> {
        let runs = if self.is_short_pieces {
            vec![long_run(runtime, 2_000)?]
        } else {
            let formats = all.formats().into_iter();
            let formats = formats.filter(|(name, _)| *name == runtime.as_str());
            let runs = formats.flat_map(|(name, format)| some_runs(all, name, format));
            runs.collect()
        };
        let planted = match self.planted {
            Planted::Nothing => return Ok(runs),
            Planted::NearMisses => made_up(|example| example.near_miss),
            Planted::Secrets => made_up(|example| example.text),
        };
        let laden = runs.into_iter().map(|run| with_planted(run, &planted));
        Ok(laden.collect())
    }
}

/// Normalizes replicas of the corpus with the filter of secrets before them, against without: as they are, and with
/// something in every line that the filter looks at, or takes out. Each run has a filter of its own, as in the recorder.
///
/// Long runs that are nearly all short pieces of a text are what the filter has most to do with, and the
/// parsers least: these are told, and nothing is required of them.
fn compare_redaction(only: &str, rows: &mut Vec<Row>) -> Outcome<()> {
    let rules = definite_rules();
    let all = Replicator::with_long_lines(SEED);
    for runtime in RUNTIMES {
        if !format!("{runtime} redaction").contains(only) {
            continue;
        }
        for input in RedactionInput::ALL {
            let runs = input.runs(runtime, &all)?;
            let (with, without) =
                interleave(|| filter_all(&runs, &rules), || normalize_all(&runs))?;
            let ratio = without.as_secs_f64() / with.as_secs_f64();
            let name = input.name();
            println!(
                "{:60} {:7.1} MB/s, off {:7.1} MB/s, ratio {ratio:.2}",
                format!("{runtime} {name}"),
                megabytes_a_second(&runs, with),
                megabytes_a_second(&runs, without),
            );
            let least = input.least();
            rows.push(Row {
                what: format!("{runtime}: {name}"),
                required: if input.is_short_pieces {
                    "told".to_owned()
                } else {
                    format!(">= {least:.2} x")
                },
                measured: format!("{ratio:.2} x"),
                ok: input.is_short_pieces || ratio >= least,
            });
        }
    }
    Ok(())
}

/// Returns made-up secrets of the rules that are on, or what looks like them, each on one line.
fn made_up(text: fn(Example) -> String) -> Vec<String> {
    let definite = examples(SEED)
        .into_iter()
        .filter(|example| example.tier == Tier::Definite);
    let mut texts: Vec<String> = definite.map(text).collect();
    texts.retain(|text| !text.contains(['\n', '"', '\\']));
    texts.sort_unstable();
    texts
}

/// Puts something into the longest text of every line, or at the end of one that is no JSON: there it stands in what was printed, and
/// not in a word by which a line is understood, nor in an id, where it would not be looked for.
fn with_planted(mut run: Run, planted: &[String]) -> Run {
    let mut planted = planted.iter().cycle();
    let mut laden = Vec::new();
    let has_boxes = lines(&run.stdout).any(|line| line.starts_with(SAID));
    for line in lines(&run.stdout) {
        let place = if line.starts_with(b"{") {
            end_of_longest_text(line)
        } else if has_boxes && !line.starts_with(SAID) {
            None
        } else {
            Some(line.trim_ascii_end().len())
        };
        // A line with nothing but ids and words of the format stays as it is.
        let end = place.unwrap_or(line.len());
        let planted = place.and_then(|_| planted.next());
        let (before, after) = line.split_at(end);
        laden.extend_from_slice(before);
        if let Some(text) = planted {
            laden.push(b' ');
            laden.extend_from_slice(text.as_bytes());
        }
        laden.extend_from_slice(after);
        laden.push(b'\n');
    }
    run.stdout = laden;
    run
}

/// Returns where the longest text of a line ends, which is the value of a key that may have any; no string has a quote in it.
fn end_of_longest_text(line: &[u8]) -> Option<usize> {
    let quotes: Vec<usize> = memchr_iter(b'"', line).collect();
    let (strings, _) = quotes.as_chunks::<2>();
    let texts = strings.windows(2).filter_map(|pair| {
        let [[key, key_end], [start, end]] = *pair else {
            return None;
        };
        let key = line.get(key + 1..key_end)?;
        let is_value = line.get(key_end + 1..start) == Some(b":");
        (is_value && TEXTS.contains(&key)).then_some((end - start, end))
    });
    texts.max().map(|(_, end)| end)
}

/// Where text for people has boxes, what was said begins with this; lines that do not are known by all that is in them.
const SAID: &[u8] = b"    ";

/// The keys under which the formats have what was said, asked for or given back.
const TEXTS: &[&[u8]] = &[
    b"text",
    b"result",
    b"content",
    b"message",
    b"command",
    b"description",
    b"path",
    b"filePath",
    b"file_path",
    b"output",
    b"aggregated_output",
    b"title",
    b"meta",
    b"cwd",
];

/// Turns runs into records as [`normalize_all`] does, with a filter before it.
fn filter_all(runs: &[Run], rules: &Arc<RuleSet>) -> Outcome<Duration> {
    let mut output = Output::default();
    let contexts = contexts(runs)?;
    let start = Stopwatch::start();
    for (run, context) in runs.iter().zip(contexts) {
        normalize_filtered(run, context, rules, &mut output)?;
    }
    Ok(start.elapsed())
}

#[inline(never)]
fn normalize_filtered(
    run: &Run,
    context: Context,
    rules: &Arc<RuleSet>,
    output: &mut Output,
) -> Outcome<()> {
    let mut normalizer = Normalizer::new(run.runtime.clone(), context)?;
    let mut redactor = Redactor::new(rules, &run.runtime);
    for chunk in run.stdout.chunks(CHUNK) {
        redactor.push(Stream::Stdout, chunk, 0, |stream, kept, at| {
            normalizer.push_into(stream, kept, at, output);
        });
        black_box(&mut *output).clear();
    }
    redactor.finish(|stream, kept, at| normalizer.push_into(stream, kept, at, output));
    normalizer.finish_into(&Exit::with_code(0), output);
    black_box(output).clear();
    Ok(())
}

/// Compares a run of 10,000 steps with one of 1,000: the time must not grow faster than the run.
fn compare_steps(only: &str, rows: &mut Vec<Row>) -> Outcome<()> {
    for runtime in RUNTIMES {
        if !format!("{runtime} steps").contains(only) {
            continue;
        }
        // As many as fill the same time, so that a busy machine disturbs both alike.
        let short = (0..10).map(|_| long_run(runtime, 1_000));
        let short = short.collect::<Outcome<Vec<Run>>>()?;
        let long = [long_run(runtime, 10_000)?];
        let format = format_of_long_run(runtime);
        compare(&format!("{runtime} {format}, 1,000 steps"), format, &short)?;
        let (long_time, short_time) =
            interleave(|| normalize_all(&long), || normalize_all(&short))?;
        let ratio = 10.0 * long_time.as_secs_f64() / short_time.as_secs_f64();
        println!(
            "{:48} {:7.1} MB/s, to 1,000 steps ratio {ratio:.2}",
            format!("{runtime} {format}, 10,000 steps"),
            megabytes_a_second(&long, long_time),
        );
        rows.push(Row {
            what: format!("{runtime}: time for 10,000 steps to 1,000"),
            required: "<= 11.00 x".to_owned(),
            measured: format!("{ratio:.2} x"),
            ok: ratio <= 11.0,
        });
    }
    Ok(())
}

/// Measures the memory of a run that is far longer than it, in a process of its own.
fn measure_memory(only: &str, rows: &mut Vec<Row>) -> Outcome<()> {
    for runtime in RUNTIMES {
        if !format!("{runtime} memory").contains(only) {
            continue;
        }
        let mut command = Command::new(env::current_exe()?);
        let output = command.args([PEAK_MEMORY, runtime.as_str()]).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let kibibytes: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
        let mebibytes = kibibytes / 1024.0;
        println!(
            "{:48} {mebibytes:7.1} MiB at most, 1 GiB in one run",
            runtime.to_string()
        );
        rows.push(Row {
            what: format!("{runtime}: peak memory, 1 GiB in one run"),
            required: "<= 128 MiB".to_owned(),
            measured: format!("{mebibytes:.1} MiB"),
            ok: mebibytes <= 128.0,
        });
    }
    Ok(())
}

/// Normalizes a run of 1 GiB and returns the most memory this process ever held, in KiB.
fn peak_memory(runtime: &Runtime) -> Outcome<u64> {
    let mut normalizer = Normalizer::new(runtime.clone(), context(None)?)?;
    let mut run = LongRun::new(runtime.as_str(), SEED).ok_or("a runtime without long runs")?;
    let mut random = Random::new(SEED);
    let mut buffer = Vec::new();
    let mut written = 0;
    run.opening(&mut buffer);
    while written < LONG_RUN {
        // Lines of every length: as many below a kilobyte as above a hundred.
        let longest = 64 << random.below(15);
        run = run.with_result_bytes(longest / 2..longest.min(LONGEST_LINE - 1_000));
        run.step(&mut buffer);
        written += buffer.len();
        for chunk in buffer.chunks(CHUNK) {
            black_box(normalizer.push(Stream::Stdout, Kept::as_given(chunk), 0));
        }
        buffer.clear();
    }
    run.ending(&mut buffer);
    black_box(normalizer.push(Stream::Stdout, Kept::as_given(&buffer), 0));
    black_box(normalizer.finish(&Exit::with_code(0)));
    let status = fs::read_to_string("/proc/self/status")?;
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|rest| rest.trim().strip_suffix(" kB"));
    Ok(peak
        .ok_or("no VmHWM in /proc/self/status")?
        .trim()
        .parse()?)
}

/// Turns runs into records, and drops them. What a caller knows of a run beforehand is at hand.
fn normalize_all(runs: &[Run]) -> Outcome<Duration> {
    let mut output = Output::default();
    let contexts = contexts(runs)?;
    let start = Stopwatch::start();
    for (run, context) in runs.iter().zip(contexts) {
        normalize(run, context, &mut output)?;
    }
    Ok(start.elapsed())
}

// A function of its own, so that a profiler can tell it from what is around it.
#[inline(never)]
fn normalize(run: &Run, context: Context, output: &mut Output) -> Outcome<()> {
    let mut normalizer = Normalizer::new(run.runtime.clone(), context)?;
    for chunk in run.stdout.chunks(CHUNK) {
        normalizer.push_into(Stream::Stdout, Kept::as_given(chunk), 0, output);
        black_box(&mut *output).clear();
    }
    normalizer.finish_into(&Exit::with_code(0), output);
    black_box(output).clear();
    Ok(())
}

/// Does what any reader of the runs' output has to do, often enough to be measured.
fn read_all(runs: &[Run], read: fn(&[u8])) -> Duration {
    let start = Stopwatch::start();
    for _ in 0..READS {
        for run in runs {
            read(&run.stdout);
        }
    }
    start.elapsed() / READS
}

/// Returns what a caller knows of runs beforehand.
fn contexts(runs: &[Run]) -> Outcome<Vec<Context>> {
    runs.iter().map(|run| context(run.argv.clone())).collect()
}

fn context(argv: Option<Vec<String>>) -> Outcome<Context> {
    let mut context = Context::new(JobId::parse("bench")?, RunId::parse("bench")?);
    context.argv = argv;
    Ok(context)
}

fn lines(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr_iter(b'\n', output).filter_map(move |end| {
        let line = output.get(start..end);
        start = end + 1;
        line
    })
}

/// Returns what any reader of a format has to do.
fn baseline(format: &str) -> fn(&[u8]) {
    if format == "chat" {
        check_lines
    } else {
        parse_lines
    }
}

/// The baseline for JSON lines: parse each, keep nothing.
fn parse_lines(output: &[u8]) {
    for line in lines(output) {
        let _ = black_box(serde_json::from_slice::<Value>(line));
    }
}

/// The baseline for text: find the lines, check that they are text.
fn check_lines(output: &[u8]) {
    for line in lines(output) {
        let _ = black_box(std::str::from_utf8(line));
    }
}

/// Measures two things in turn and returns the median time of each.
fn interleave(
    mut one: impl FnMut() -> Outcome<Duration>,
    mut other: impl FnMut() -> Outcome<Duration>,
) -> Outcome<(Duration, Duration)> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    one()?; // The first round pays for cold caches and fresh memory; it does not count.
    for _ in 0..ROUNDS {
        others.push(other()?);
        ones.push(one()?);
    }
    Ok((median(ones), median(others)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
fn megabytes_a_second(runs: &[Run], time: Duration) -> f64 {
    let bytes: usize = runs.iter().map(|run| run.stdout.len()).sum();
    bytes as f64 / 1e6 / time.as_secs_f64()
}
