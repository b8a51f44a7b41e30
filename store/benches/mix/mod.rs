//! What both benches of ingesting store: captures of real runs, again and again with other ids.

use std::env;
use std::sync::Arc;

use runtape_core::{JobId, RunId, Runtime, Stream};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit};
use runtape_recorder::{Capture, RecordError, store_captures};
use runtape_store::Store;
use runtape_tests::synthetic::Replica;

/// What one transaction of the baseline holds, as one of ours does.
pub(crate) const BATCH: usize = 256 * 1024;
pub(crate) const SEED: u64 = 20;
pub(crate) const AT: i64 = 1_700_000_000_000;

pub(crate) struct Run {
    runtime: Runtime,
    context: Context,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    exit: Exit,
}

impl Run {
    pub(crate) fn new(number: usize, replica: Replica) -> Self {
        let id = format!("run{number:08}");
        let mut context = Context::new(JobId::parse(&*id).unwrap(), RunId::parse(&*id).unwrap());
        context.argv = replica.argv;
        Self {
            runtime: Runtime::from_name(&replica.runtime),
            context,
            stdout: replica.stdout,
            stderr: replica.stderr,
            exit: Exit::with_code(replica.exit_code.unwrap_or(0)),
        }
    }

    pub(crate) fn capture(&self) -> Capture {
        let streams = [
            (Stream::Stdout, &self.stdout),
            (Stream::Stderr, &self.stderr),
        ];
        let output = streams.map(|(stream, bytes)| (stream, AT, bytes.clone()));
        Capture {
            runtime: self.runtime.clone(),
            context: self.context.clone(),
            started_at: AT,
            output: output.into(),
            exit: self.exit.clone(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.stdout.len() + self.stderr.len()
    }
}

/// Returns the word after a flag on the command line.
pub(crate) fn argument(flag: &str) -> Option<String> {
    env::args().skip_while(|word| word != flag).nth(1)
}

pub(crate) fn number(flag: &str, usual: usize) -> usize {
    argument(flag).map_or(usual, |number| number.parse().unwrap())
}

pub(crate) fn some_runs(replicas: impl Iterator<Item = Replica>, bytes: usize) -> Vec<Run> {
    let (mut size, most) = (0, number("--bytes", bytes));
    let some = replicas.take_while(|replica| {
        size += replica.stdout.len() + replica.stderr.len();
        size < most
    });
    (0..)
        .zip(some)
        .map(|(number, replica)| Run::new(number, replica))
        .collect()
}

/// Returns the lines of all runs with the number of their run and their own.
pub(crate) fn lines(runs: &[Run]) -> impl Iterator<Item = (usize, usize, &[u8])> {
    runs.iter().enumerate().flat_map(|(run, made)| {
        [&made.stdout, &made.stderr]
            .into_iter()
            .flat_map(move |stream| {
                let lines = stream.split_inclusive(|byte| *byte == b'\n');
                lines
                    .enumerate()
                    .map(move |(number, line)| (run, number, line))
            })
    })
}

/// Stores captures after a filter of secrets.
pub(crate) fn store_all(store: &mut Store, captures: Vec<Capture>, rules: &Arc<RuleSet>) {
    let captures = captures.into_iter().map(|capture| ((), Some(capture)));
    store_captures::<_, RecordError>(
        store,
        captures,
        rules,
        || AT,
        |_, (), stored| stored.unwrap().map(drop),
    )
    .unwrap();
}
