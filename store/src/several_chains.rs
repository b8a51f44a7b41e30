//! Tests: a store whose seals form several chains, as a server's do.

use std::collections::BTreeMap;
use std::path::Path;

use runtape_core::record::{CheckpointHead, RunOpened};
use runtape_core::{CheckpointStatus, JobId, Record, RecordKind, RunId, Runtime};
use serde_json::json;

use crate::format::chain::Hash;
use crate::format::codec;
use crate::format::seals::SealEntry;
use crate::read::runs::get_root;
use crate::read::sealed;
use crate::store::Store;
use crate::{BeginRun, FaultPlace, SealName, Trust, Unseen};

fn run_id(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

fn seal_name(chain: u32, number: u64) -> SealName {
    SealName { chain, number }
}

/// Writes a run that only has to be sealed.
pub(crate) fn open_run(store: &mut Store, name: &str) -> RunId {
    let (job_id, run_id) = (JobId::parse(format!("job-{name}")).unwrap(), run_id(name));
    let runtime = Runtime::Gemini;
    let begin = BeginRun {
        job_id: job_id.clone(),
        run_id: run_id.clone(),
        runtime: runtime.clone(),
        started_at: 0,
        context: json!({}),
    };
    let opened = RunOpened {
        job_id,
        runtime,
        delegated_by: None,
    };
    let head: CheckpointHead = serde_json::from_value(json!({
        "step": 1, "status": CheckpointStatus::Completed, "startedAt": 0, "messages": 0,
        "usage": {}, "stepUsage": {}, "pending": []
    }))
    .unwrap();
    let record = |seq, kind: RecordKind| Record {
        run_id: run_id.clone(),
        seq,
        at: 0,
        span: None,
        kind,
    };
    let records = [record(0, opened.into()), record(1, Box::new(head).into())];
    store.begin_run(&begin).unwrap();
    store.append(&run_id, &records, &[]).unwrap();
    run_id
}

/// A store, and the ends of its chains.
struct Chains {
    store: Store,
    ends: BTreeMap<u32, (u64, Hash)>,
}

impl Chains {
    fn new() -> Self {
        Self {
            store: Store::open_in_memory().unwrap(),
            ends: BTreeMap::new(),
        }
    }

    /// Adds a run that is sealed in a chain; `change` is what somebody did to the seal afterwards.
    fn add_changed(&mut self, name: &str, chain: u32, change: impl FnOnce(&mut SealEntry)) {
        let id = open_run(&mut self.store, name);
        let end = self.ends.get(&chain).copied();
        let written = self.store.write(|tables| {
            let key = get_root(tables, &id)?.key;
            tables.set_exit(&key, &codec::pack(b"{}"))?;
            let digest = sealed::digest(tables, &tables.tree(&key)?)?;
            let mut entry = SealEntry::seal(digest, 1);
            entry.follow(chain, end, &id);
            let end = (entry.name.number, entry.hash);
            change(&mut entry);
            tables.insert_seal(&entry)?;
            tables.set_seal(&key, Some(entry.name))?;
            Ok(end)
        });
        self.ends.insert(chain, written.unwrap());
    }

    fn add(&mut self, name: &str, chain: u32) {
        self.add_changed(name, chain, |_| ());
    }

    fn head(&self, chain: u32) -> String {
        crate::format::chain::hex(&self.ends[&chain].1)
    }

    fn places(&self) -> Vec<FaultPlace> {
        let faults = self.store.verify().unwrap().faults;
        faults.into_iter().map(|fault| fault.place).collect()
    }
}

fn two_chains() -> Chains {
    let mut chains = Chains::new();
    for (name, chain) in [("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", 0)] {
        chains.add(name, chain);
    }
    chains
}

#[test]
fn verify_follows_every_chain() {
    let chains = two_chains();
    let report = chains.store.verify().unwrap();
    assert_eq!((report.faults, report.runs), (vec![], 5));
    for (run, name) in [("c", seal_name(0, 2)), ("d", seal_name(5, 2))] {
        let run = chains.store.run(&run_id(run)).unwrap();
        assert_eq!(run.seal_name(), Some(name));
    }
}

#[test]
fn a_fault_in_one_chain_hides_none_in_another() {
    let mut chains = Chains::new();
    let spoil = |entry: &mut SealEntry| entry.hash[0] ^= 1;
    chains.add("a", 0);
    chains.add_changed("b", 0, spoil);
    chains.add("c", 0);
    chains.add("d", 5);
    chains.add_changed("e", 5, spoil);
    chains.add("f", 5);
    chains.add("g", 6);
    let wrong = [(0, 2), (5, 2)].map(|(chain, number)| FaultPlace::Seal(seal_name(chain, number)));
    assert_eq!(chains.places(), wrong);
}

#[test]
fn an_entry_belongs_to_its_own_chain() {
    let mut chains = Chains::new();
    chains.add("a", 0);
    chains.add_changed("b", 5, |entry| entry.name.chain = 6);
    assert_eq!(
        chains.places(),
        [FaultPlace::Seal(seal_name(6, 1))],
        "an entry was moved to another chain"
    );
    let mut chains = Chains::new();
    chains.add("a", 5);
    chains.add_changed("b", 5, |entry| entry.name.number = 3);
    assert_eq!(
        chains.places(),
        [FaultPlace::Seal(seal_name(5, 2))],
        "an entry is missing"
    );
}

#[test]
fn a_head_says_nothing_of_other_chains() {
    let chains = two_chains();
    for chain in [0, 5] {
        let report = chains.store.verify_head(&chains.head(chain)).unwrap();
        assert_eq!(report.faults, []);
        assert_eq!(report.unseen, [Unseen::CutOffTail, Unseen::NewHashes]);
    }
    let mut one = Chains::new();
    one.add("a", 5);
    let report = one.store.verify_head(&one.head(5)).unwrap();
    assert_eq!((report.faults, report.unseen), (vec![], vec![]));
}

fn bundle(chains: &Chains, path: &Path) -> Vec<SealName> {
    let runs = ["c", "d"].map(run_id);
    let seals = chains.store.write_bundle(&runs, path).unwrap();
    seals.into_iter().map(|seal| seal.name).collect()
}

#[test]
fn a_bundle_keeps_chain_and_number_of_its_seals() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bundle");
    let chains = two_chains();
    let names = [seal_name(0, 2), seal_name(5, 2)];
    assert_eq!(bundle(&chains, &path), names);

    let bundle = Store::open_bundle(&path).unwrap();
    let report = bundle.verify_bundle(None).unwrap();
    assert_eq!(report.faults, []);
    let told: Vec<SealName> = report.bundle.iter().flatten().map(|run| run.name).collect();
    assert_eq!(told, names);

    // The last entry of chain 5 is the seal of `d`, and no proof of `c`, which is in chain 0.
    let report = bundle.verify_bundle(Some(&chains.head(5))).unwrap();
    let places: Vec<_> = report.faults.into_iter().map(|fault| fault.place).collect();
    let run_id = run_id("c");
    assert_eq!(places, [FaultPlace::Run { run_id }]);
}

#[test]
fn a_run_that_is_taken_in_says_of_which_chain_its_seal_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bundle");
    bundle(&two_chains(), &path);
    let bundle = Store::open_bundle(&path).unwrap();
    let mut target = Store::open_in_memory().unwrap();
    let run = run_id("d");
    target.import_bundle(&bundle, Trust::Verified, 9).unwrap();
    let origin = target.origin(&run).unwrap().unwrap();
    assert_eq!(origin.seal.unwrap().name, seal_name(5, 2));
    assert_eq!(target.run(&run).unwrap().seal_name(), Some(seal_name(0, 2)));
    assert_eq!(target.verify().unwrap().faults, []);
}
