//! The description of the API, checked by a validator and by a client that makes its questions from it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::harness::{Runtape, stderr, stdout};
use crate::server::Server;

#[test]
fn the_description_is_sound_openapi() {
    let Some(packages) = std::env::var_os("RUNTAPE_CONSUMERS").map(PathBuf::from) else {
        println!("skipped: no validator of OpenAPI documents; .ci/consumers installs one");
        return;
    };
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let validate = |name: &str, document: &str| {
        let path = runtape.path(name);
        std::fs::write(&path, document).unwrap();
        let program = packages.join("python/bin/openapi-spec-validator");
        let mut command = Command::new(program);
        let output = command
            .args(["--schema", "3.1"])
            .arg(path)
            .output()
            .unwrap();
        let told = format!("{}{}", stdout(&output), stderr(&output));
        (output.status.success(), told)
    };
    // With the published schemas in it, so that every reference is followed.
    let document = server.api("openapi.json?bundled=1");
    let (is_sound, told) = validate("openapi.json", &document.to_string());
    assert!(is_sound, "{told}");
    // What is not sound is seen, in a document of one address that is sound otherwise.
    let mut small = document.clone();
    small["paths"] = json!({"/api/v1/head": document["paths"]["/api/v1/head"]});
    let kept = ["Problem", "SealHead"];
    let schemas = small["components"]["schemas"].as_object_mut().unwrap();
    schemas.retain(|name, _| kept.contains(&name.as_str()));
    let (is_sound, told) = validate("small.json", &small.to_string());
    assert!(is_sound, "{told}");
    small["paths"]["/api/v1/head"]["get"]["responses"]["200"]["description"] = 7.into();
    let (is_sound, told) = validate("broken.json", &small.to_string());
    assert!(!is_sound, "{told}");
    // The same addresses in the short one, which refers to them.
    let short = server.api("openapi.json");
    let names = |document: &serde_json::Value| -> Vec<String> {
        document["paths"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(names(&short), names(&document));
}

/// With `RUNTAPE_SCHEMATHESIS=DIR` (`.ci/schemathesis DIR` installs it): thousands of questions, made from the
/// description, sound ones and unsound ones; every answer must be one that it speaks of.
#[test]
fn a_client_that_makes_its_questions_from_the_description_finds_nothing() {
    let Some(packages) = std::env::var_os("RUNTAPE_SCHEMATHESIS").map(PathBuf::from) else {
        println!("skipped: it takes minutes; see CONTRIBUTING.md for RUNTAPE_SCHEMATHESIS");
        return;
    };
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suite/serve/schemathesis");
    let examples = std::env::var("RUNTAPE_EXAMPLES").unwrap_or_else(|_| "100".to_owned());
    let mut command = Command::new(packages.join("bin/schemathesis"));
    let output = command
        .arg("--config-file")
        .arg(settings.join("schemathesis.toml"))
        .arg("run")
        .arg(format!(
            "http://127.0.0.1:{}/api/v1/openapi.json?bundled=1",
            server.port
        ))
        .args(["--max-examples", &examples])
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", settings)
        .env("RUNTAPE_TOKEN", &server.token)
        .env("RUNTAPE_URL", format!("http://127.0.0.1:{}", server.port))
        .current_dir(runtape.directory.path())
        .output()
        .unwrap();
    println!("{}", stdout(&output));
    assert!(output.status.success(), "{}", stderr(&output));
}
