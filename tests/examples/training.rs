//! Writes what the store's dictionaries were trained on: replicas of the captures, and the records
//! that they become, one file each.
//!
//!     cargo run -p runtape-tests --example training -- DIRECTORY 3000
//!     zstd --train DIRECTORY/tapes/* --maxdict=65536 -o store/dictionaries/N.zdict
//!     zstd --train DIRECTORY/records/* --maxdict=65536 -o store/dictionaries/M.zdict

use std::fs;
use std::path::Path;

use runtape_core::{JobId, RunId, Runtime, Stream};
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use runtape_tests::synthetic::{Random, Replica, Replicator};

/// Other words than any benchmark draws: a dictionary must not know what it will be tried with.
const SEED: u64 = 7;

/// Letters of an id, so that no id gets into a dictionary.
fn id(random: &mut Random) -> String {
    const DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let digit = |sides: usize, random: &mut Random| DIGITS.get(random.below(sides)).copied();
    let rest = (0..23).filter_map(|_| digit(DIGITS.len(), random));
    let rest: Vec<u8> = rest.collect();
    let first = digit(26, random).into_iter();
    first.chain(rest).map(char::from).collect()
}

fn records(replica: Replica, random: &mut Random) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut context = Context::new(JobId::parse(id(random))?, RunId::parse(id(random))?);
    context.argv = replica.argv;
    let mut normalizer = Normalizer::new(Runtime::from_name(&replica.runtime), context)?;
    let at = 1_700_000_000_000 + i64::try_from(random.below(100_000_000))?;
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(&replica.stdout), at)
        .records;
    records.extend(
        normalizer
            .push(Stream::Stderr, Kept::as_given(&replica.stderr), at)
            .records,
    );
    let exit = replica
        .exit_code
        .map_or_else(Exit::unknown, Exit::with_code);
    records.extend(normalizer.finish(&exit).records);
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, &record)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("expected a directory and how many runs to write".into());
    };
    let folder = |name: &str| Path::new(&directory).join(name);
    for name in ["tapes", "records"] {
        fs::create_dir_all(folder(name))?;
    }
    let replicator = Replicator::new(SEED);
    let mut random = Random::new(SEED);
    for (number, replica) in replicator.mix().take(count.parse()?).enumerate() {
        let name = format!("{number:06}");
        let tape = [&replica.stdout[..], &replica.stderr[..]].concat();
        fs::write(folder("tapes").join(&name), tape)?;
        fs::write(
            folder("records").join(&name),
            records(replica, &mut random)?,
        )?;
    }
    Ok(())
}
