//! The page's modules are what their comments say: `tsc` checks them, if it is there (`.ci/consumers`).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::stdout;

#[test]
fn the_modules_of_the_page_have_the_types_that_they_state() {
    let Some(packages) = std::env::var_os("RUNTAPE_CONSUMERS").map(PathBuf::from) else {
        println!("skipped: no TypeScript to check the page with; .ci/consumers installs it");
        return;
    };
    let compiler = packages.join("node_modules/typescript/bin/tsc");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../serve/assets/app.js");
    let options = "--noEmit --allowJs --checkJs --strict --target es2022 --module es2022 \
         --moduleResolution bundler --lib es2023,dom,dom.iterable";
    let mut command = Command::new("node");
    let output = command
        .arg(compiler)
        .args(options.split_whitespace())
        .arg(page)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stdout(&output));
}
