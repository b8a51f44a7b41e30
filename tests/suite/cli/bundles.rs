//! What leaves the store and comes back: private, whole, provable, and never through a link.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout, without_times};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Exports the last run as a bundle; returns where it is and what was said of it.
fn bundle(runtape: &Runtape, name: &str) -> (PathBuf, Value) {
    let path = runtape.path(name);
    let said = runtape.json(&["export", "last", "--format", "bundle", "-o", text(&path)]);
    assert_eq!(said.len(), 1, "{said:?}");
    (path, said[0].clone())
}

/// A database with two runs, the last of which is a copy of a capture.
fn two_runs() -> Runtape {
    let runtape = Runtape::new();
    for name in ["first", "last"] {
        let copy = runtape.path(&format!("{name}.stdout"));
        let printed = fs::read_to_string(capture()).unwrap();
        fs::write(&copy, without_times(&printed)).unwrap();
        let output = runtape.run(&["ingest", "--exit-code", "0", text(&copy)]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    runtape
}

fn refused(output: &Output, code: i32, expected: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{said}{}", stdout(output));
    assert!(said.contains(expected), "{said}");
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_export_tells_its_digest_by_which_it_is_known_again() {
    let runtape = two_runs();
    let (path, said) = bundle(&runtape, "run.bundle");
    let lines = runtape.path("run.jsonl");
    let said_of_lines = &runtape.json(&["export", "last", "-o", text(&lines)])[0];
    for (path, said) in [(&path, &said), (&lines, said_of_lines)] {
        let digest = blake3::hash(&fs::read(path).unwrap()).to_hex().to_string();
        assert_eq!(said["digest"], digest.as_str());
        #[cfg(unix)]
        assert_eq!(mode(path), 0o600);
    }
    // The seal is the one in the chain that it was taken from.
    let head = &runtape.json(&["verify"])[0]["head"];
    assert_eq!(said["seals"][0]["hash"], head["hash"]);
    let shown = runtape.run(&["export", "last", "--format", "bundle", "-o", "/dev/null/no"]);
    assert_eq!(shown.status.code(), Some(1));
    let digest = said["digest"].as_str().unwrap();
    let verify = ["verify", "--bundle", text(&path), "--digest"];
    let output = runtape.run(&[&verify[..], &[digest]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains(head["hash"].as_str().unwrap()));
    let other = "0".repeat(64);
    refused(&runtape.run(&[&verify[..], &[&other]].concat()), 3, digest);
    refused(
        &runtape.run(&[&verify[..], &["abc"]].concat()),
        2,
        "64 hexadecimal",
    );
    let elsewhere = Runtape::new();
    let import = ["import", text(&path), "--digest"];
    refused(
        &elsewhere.run(&[&import[..], &[&other]].concat()),
        3,
        "another digest",
    );
    let output = elsewhere.run(&[&import[..], &[digest]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn an_export_that_is_killed_leaves_no_bundle() {
    let runtape = two_runs();
    let path = runtape.path("run.bundle");
    let mut left = 0;
    for round in 0..8 {
        let mut child = runtape
            .command(&["export", "last", "--format", "bundle", "-o", text(&path)])
            .spawn()
            .unwrap();
        let staging = runtape.path(&format!(".run.bundle.writing-{}", child.id()));
        while !staging.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_millis(round * 4));
        child.kill().unwrap();
        child.wait().unwrap();
        if staging.exists() {
            left += 1;
            assert_eq!(mode(&staging), 0o600);
        }
        // It may have been done before it was killed: then it is whole.
        if path.exists() {
            let output = runtape.run(&["verify", "--bundle", text(&path)]);
            assert!(output.status.success(), "{}", stdout(&output));
            fs::remove_file(&path).unwrap();
        }
    }
    assert!(left > 0, "none was killed midway");
    // What was left behind is in nobody's way.
    let (path, _) = bundle(&runtape, "run.bundle");
    assert!(
        runtape
            .run(&["verify", "--bundle", text(&path)])
            .status
            .success()
    );
    let again = runtape.run(&["export", "last", "--format", "bundle", "-o", text(&path)]);
    refused(&again, 1, "exists");
}

#[test]
fn import_refuses_what_verify_refuses_unless_it_is_told_to_mark_it() {
    let runtape = two_runs();
    let (path, said) = bundle(&runtape, "run.bundle");
    let elsewhere = Runtape::new();
    assert!(elsewhere.run(&["import", text(&path)]).status.success());
    let shown = &elsewhere.json(&["show", "last"])[0];
    assert_eq!(shown["origin"]["isVerified"], true);
    assert_eq!(shown["origin"]["seal"]["hash"], said["seals"][0]["hash"]);
    assert!(runtape.json(&["show", "last"])[0]["origin"].is_null());

    let session = shown["sessionId"].as_str().unwrap();
    let other = session.replace(|c: char| c.is_ascii_hexdigit(), "0");
    let mut bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() - session.len() {
        if bytes[at..].starts_with(session.as_bytes()) {
            bytes[at..at + session.len()].copy_from_slice(other.as_bytes());
        }
    }
    let forged = runtape.path("forged.bundle");
    fs::write(&forged, bytes).unwrap();
    let verified = runtape.run(&["verify", "--bundle", text(&forged)]);
    refused(&verified, 3, "not what was written");
    let doubtful = Runtape::new();
    refused(
        &doubtful.run(&["import", text(&forged)]),
        3,
        "forged.bundle: refused",
    );
    assert!(doubtful.json(&["runs"]).is_empty());
    let output = doubtful.run(&["import", "--unverified", text(&forged)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&doubtful.run(&["show", "last"])).contains("not verified"));
    let shown = &doubtful.json(&["show", "last"])[0];
    assert_eq!(shown["origin"]["isVerified"], false);
    assert_eq!(shown["sessionId"], session);
    assert!(doubtful.run(&["verify"]).status.success());
    // A bundle is asked like any database, and is no whole one.
    assert_eq!(runtape.json(&["--db", text(&path), "runs"]).len(), 1);
    let whole = runtape.run(&["--db", text(&path), "verify"]);
    assert_eq!(whole.status.code(), Some(3));
    assert!(stdout(&whole).contains("--bundle"), "{}", stdout(&whole));
}

#[test]
fn lines_are_taken_in_only_if_all_of_them_fit() {
    let runtape = two_runs();
    let path = runtape.path("runs.jsonl");
    let runs: Vec<Value> = runtape.json(&["runs"]);
    let ids: Vec<&str> = runs
        .iter()
        .map(|run| run["runId"].as_str().unwrap())
        .collect();
    let arguments = [&["export"], &ids[..], &["-o", text(&path)]].concat();
    assert!(runtape.run(&arguments).status.success());
    let lines = fs::read_to_string(&path).unwrap();
    let records: Vec<&str> = lines.lines().collect();

    // The same again, here where it has a tape and there where it has none.
    let elsewhere = Runtape::new();
    for (runtape, expected) in [
        (&runtape, "0 runs stored, 2 known"),
        (&elsewhere, "2 runs stored, 0 known"),
        (&elsewhere, "0 runs stored, 2 known"),
    ] {
        let output = runtape.run(&["import", text(&path)]);
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let events = runtape.path("events.jsonl");
    let arguments = [
        &["export", "--as", "events"],
        &ids[..],
        &["-o", text(&events)],
    ]
    .concat();
    assert!(runtape.run(&arguments).status.success());
    let output = runtape.run(&["import", text(&events)]);
    assert!(stderr(&output).contains("2 known"), "{}", stderr(&output));

    let changed = |at: usize, change: &dyn Fn(&mut Value)| {
        let mut records: Vec<String> = records.iter().map(ToString::to_string).collect();
        let mut record: Value = serde_json::from_str(&records[at]).unwrap();
        change(&mut record);
        records[at] = record.to_string();
        records.join("\n")
    };
    let last = records.len() - 1;
    let later = |record: &mut Value| record["at"] = (record["at"].as_i64().unwrap() + 1).into();
    let gap = |record: &mut Value| record["seq"] = 99.into();
    let cases = [
        (
            "other content",
            changed(last, &later),
            &runtape,
            3,
            "other content",
        ),
        (
            "other content there",
            changed(last, &later),
            &elsewhere,
            3,
            "other content",
        ),
        ("a gap", changed(last, &gap), &Runtape::new(), 1, "99"),
        (
            "no end",
            records[..last].join("\n"),
            &Runtape::new(),
            1,
            "has not ended",
        ),
        (
            "no record",
            format!("{lines}{{\"seq\":1}}"),
            &Runtape::new(),
            1,
            "line",
        ),
    ];
    for (name, lines, into, code, expected) in cases {
        let path = into.path("changed.jsonl");
        fs::write(&path, lines).unwrap();
        let before = into.run(&["runs"]).stdout;
        refused(&into.run(&["import", text(&path)]), code, expected);
        // Nothing of the file was stored, its first run neither.
        assert_eq!(into.run(&["runs"]).stdout, before, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn an_export_follows_no_link() {
    use std::os::unix::fs::symlink;
    let runtape = two_runs();
    let job = runtape.json(&["show", "last"])[0]["jobId"].clone();
    let job = job.as_str().unwrap();
    let outside = runtape.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "kept").unwrap();
    for (name, target) in [("to-file", "outside/kept"), ("to-nothing", "outside/none")] {
        let link = runtape.path(name);
        symlink(runtape.path(target), &link).unwrap();
        for format in ["jsonl", "bundle"] {
            let output = runtape.run(&["export", "last", "--format", format, "-o", text(&link)]);
            assert_eq!(output.status.code(), Some(1), "{name} {format}");
        }
    }
    let places = [
        "",
        "perstack",
        "perstack/jobs",
        &format!("perstack/jobs/{job}"),
    ];
    for (number, place) in places.iter().enumerate() {
        let base = runtape.path(&format!("tree{number}"));
        let link = if place.is_empty() {
            base.clone()
        } else {
            base.join(place)
        };
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        for replace in [&[][..], &["--replace"]] {
            let arguments = ["export", "--format", "perstack", "--job", job, text(&base)];
            let output = runtape.run(&[&arguments[..], replace].concat());
            assert_eq!(
                output.status.code(),
                Some(1),
                "{place}: {}",
                stderr(&output)
            );
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{place}");
    }
    let there: Vec<_> = fs::read_dir(&outside).unwrap().collect();
    assert_eq!(there.len(), 1, "{there:?}");
    assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "kept");
}

#[cfg(unix)]
#[test]
fn only_a_tree_that_an_export_wrote_and_nobody_changed_is_replaced() {
    fn each(path: &Path, look: &mut dyn FnMut(&Path)) {
        look(path);
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                each(&entry.unwrap().path(), look);
            }
        }
    }
    let runtape = two_runs();
    let job = runtape.json(&["show", "last"])[0]["jobId"].clone();
    let job = job.as_str().unwrap();
    let base = runtape.path("tree");
    let arguments = ["export", "--format", "perstack", "--job", job, text(&base)];
    let replace = [&arguments[..], &["--replace"]].concat();
    assert!(runtape.run(&replace).status.success());
    assert!(runtape.run(&replace).status.success());
    let mut files = 0;
    each(&base, &mut |path| {
        files += 1;
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), expected, "{}", path.display());
    });
    assert!(files > 10);
    // Nothing else is there, and the marker is no file that an import wonders about.
    let jobs = base.join("perstack/jobs");
    assert_eq!(fs::read_dir(&jobs).unwrap().count(), 1);
    let output = runtape.run(&["import", text(&base)]);
    assert!(output.status.success() && !stderr(&output).contains("ignored"));

    let tree = jobs.join(job);
    let marker = tree.join(".runtape-export.json");
    let kept = fs::read(&marker).unwrap();
    let added = tree.join("checkpoints/another.json");
    let changes: [(&str, &dyn Fn()); 4] = [
        ("a file added", &|| fs::write(&added, "{}").unwrap()),
        ("a file removed", &|| {
            fs::remove_file(&added).unwrap();
            fs::remove_file(tree.join("job.json")).unwrap();
        }),
        ("a file changed", &|| {
            fs::write(tree.join("job.json"), "{}").unwrap();
        }),
        ("no marker", &|| fs::remove_file(&marker).unwrap()),
    ];
    for (name, change) in changes {
        change();
        let mut before = Vec::new();
        each(&base, &mut |path| before.push(path.to_owned()));
        let output = runtape.run(&replace);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", stderr(&output));
        assert!(
            stderr(&output).contains("was not replaced"),
            "{}",
            stderr(&output)
        );
        let mut after = Vec::new();
        each(&base, &mut |path| after.push(path.to_owned()));
        assert_eq!(before, after, "{name}");
    }
    fs::write(&marker, kept).unwrap();
    refused(&runtape.run(&replace), 1, "since it was exported");
}

#[cfg(unix)]
#[test]
fn a_report_is_for_its_owner() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", &format!("cat {}", capture().display()));
    let report = runtape.path("report.json");
    let arguments = [
        "record",
        "--show",
        "none",
        "--report",
        text(&report),
        "--",
        &script,
    ];
    assert!(runtape.run(&arguments).status.success());
    assert_eq!(mode(&report), 0o600);
}
