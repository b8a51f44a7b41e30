use proptest::prelude::*;

use super::*;

/// A command, and what it reads, writes, deletes and reaches; then how many of its parts do with files
/// or hosts what they do not tell.
type Row = (&'static str, [&'static str; 4], u64, u64);

const fn row(
    command: &'static str,
    read: &'static str,
    written: &'static str,
    deleted: &'static str,
    hosts: &'static str,
) -> Row {
    (command, [read, written, deleted, hosts], 0, 0)
}

const fn untold(
    command: &'static str,
    [read, written, deleted, hosts]: [&'static str; 4],
    files: u64,
    untold_hosts: u64,
) -> Row {
    (
        command,
        [read, written, deleted, hosts],
        files,
        untold_hosts,
    )
}

const TABLE: &[Row] = &[
    // Redirections.
    row("echo hi > out.txt", "", "out.txt", "", ""),
    row("echo hi >> log/a.txt", "", "log/a.txt", "", ""),
    row("echo hi >| a", "", "a", "", ""),
    row("make &> build.log", "", "build.log", "", ""),
    row("make &>> build.log", "", "build.log", "", ""),
    row("make > out.log 2>&1", "", "out.log", "", ""),
    row("make >& both.log", "", "both.log", "", ""),
    row("make 2> err.log 1>/dev/null", "", "err.log", "", ""),
    row("sort < in.txt > out.txt", "in.txt", "out.txt", "", ""),
    row("> empty", "", "empty", "", ""),
    row("exec 3<> both", "", "both", "", ""),
    row("(echo a; echo b) > both.txt", "", "both.txt", "", ""),
    row("{ echo a; echo b; } > both.txt", "", "both.txt", "", ""),
    row(
        "for i in 1 2; do echo $i; done > n.txt",
        "",
        "n.txt",
        "",
        "",
    ),
    row("cat a 2>/dev/null || true", "a", "", "", ""),
    row("echo 'a > b' \"c > d\"", "", "", "", ""),
    row("echo a \\> b", "", "", "", ""),
    row("echo x > /dev/tcp/h.example/80", "", "", "", "h.example"),
    row("[[ 3 > 2 && a < b ]] && touch yes", "", "yes", "", ""),
    row("(( a > b )) || echo $(( 1 << 3 )) > n", "", "n", "", ""),
    row("diff <(sort a) <(sort b)", "a b", "", "", ""),
    row("ls # > not.txt\ntouch a", "", "a", "", ""),
    // Texts behind the line.
    row(
        "cat > a.txt <<EOF\nrm x > y\nEOF\ntouch b",
        "",
        "a.txt b",
        "",
        "",
    ),
    row("cat <<'EOF' > a.txt\n$(rm x)\nEOF", "", "a.txt", "", ""),
    row("cat <<EOF > a.txt\n$(cat b)\nEOF", "b", "a.txt", "", ""),
    row("cat <<-EOF | tee a\n\tx\n\tEOF\ntouch b", "", "a b", "", ""),
    row("cat <<A <<B > c\n1\nA\n2\nB\ntouch d", "", "c d", "", ""),
    row("bash <<'EOF'\nrm a\ntouch b\nEOF", "", "b", "a", ""),
    row("bash <<< 'rm a'", "", "", "a", ""),
    row("python3 - <<'EOF'\nopen('x','w')\nEOF", "", "", "", ""),
    row("cat > a <<EOF\nno end", "", "a", "", ""),
    row(
        "patch -p1 <<'EOF'\n--- a/src/x.c\n+++ b/src/x.c\n@@ -1 +1 @@\n-a\n+b\nEOF",
        "",
        "src/x.c",
        "",
        "",
    ),
    row(
        "git apply <<'EOF'\n--- a/x\n+++ /dev/null\nEOF",
        "",
        "",
        "x",
        "",
    ),
    row(
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n*** Delete File: b\n*** End Patch\nEOF",
        "",
        "a",
        "b",
        "",
    ),
    // Programs that do one thing with files.
    row("cat a.txt 'b c.txt'", "a.txt b\u{20}c.txt", "", "", ""),
    row("head -n 5 a | tail -n 2", "a", "", "", ""),
    row("tail -f /var/log/syslog", "/var/log/syslog", "", "", ""),
    row("grep -rn 'a b' src lib", "src lib", "", "", ""),
    row("grep -e x f", "f", "", "", ""),
    row("jq -r --arg a b '.x' data.json", "data.json", "", "", ""),
    row(
        "awk -F: '{print $1}' /etc/passwd",
        "/etc/passwd",
        "",
        "",
        "",
    ),
    row("sort -u a -o b", "a", "b", "", ""),
    row("echo x | tee -a log >/dev/null", "", "log", "", ""),
    row("echo x | sudo tee /etc/hosts", "", "/etc/hosts", "", ""),
    row("touch a b", "", "a b", "", ""),
    row("mkdir -p -m 700 a/b", "", "a/b", "", ""),
    row("chmod +x run.sh", "", "run.sh", "", ""),
    row("chmod -x run.sh", "", "run.sh", "", ""),
    row("chown -R me:me dir", "", "dir", "", ""),
    row("rm -rf build dist", "", "", "build dist", ""),
    row("rm -- -odd", "", "", "-odd", ""),
    row("\\rm -f a; command rm b; /bin/rm c", "", "", "a b c", ""),
    row("rmdir empty", "", "", "empty", ""),
    row("sed -n '1,5p' a", "a", "", "", ""),
    row("sed -i 's/a/b/' x.txt", "", "x.txt", "", ""),
    row("sed -i.bak -e 's/a/b/' -e 's/c/d/' x y", "", "x y", "", ""),
    row("sed -i '' 's/a/b/' x.txt", "", "x.txt", "", ""),
    row("perl -pi -e 's/a/b/' x.txt", "", "x.txt", "", ""),
    row("cp a b", "a", "b", "", ""),
    row("cp -r src/ /tmp/", "src/", "/tmp/src", "", ""),
    row("cp a b dir", "a b", "dir/a dir/b", "", ""),
    row("cp -t dir a", "a", "dir/a", "", ""),
    row("mv a b", "", "b", "a", ""),
    row("mv a ..", "", "../a", "a", ""),
    row("ln -sf /opt/x/bin/x bin/x", "", "bin/x", "", ""),
    row("ln -s ../lib", "", "lib", "", ""),
    row(
        "install -m 755 x /usr/local/bin/",
        "x",
        "/usr/local/bin/x",
        "",
        "",
    ),
    row("dd if=a of=b bs=1M", "a", "b", "", ""),
    row("tar czf x.tgz src", "src", "x.tgz", "", ""),
    untold("tar -xzf x.tgz", ["x.tgz", "", "", ""], 1, 0),
    untold("unzip x.zip", ["x.zip", "", "", ""], 1, 0),
    row("gzip a.log", "", "a.log.gz", "a.log", ""),
    row("patch -p0 old.c < fix.diff", "fix.diff", "old.c", "", ""),
    untold("patch -p1 < fix.diff", ["fix.diff", "", "", ""], 1, 0),
    row("truncate -s 0 log", "", "log", "", ""),
    row(
        "od -c a && nl -ba b && fold -s c && shasum -a 256 d",
        "a b c d",
        "",
        "",
        "",
    ),
    row(
        "sudo -u me rm a && nice -n 5 env X=1 touch b",
        "",
        "b",
        "a",
        "",
    ),
    row(
        "git commit -m \"$(cat <<'EOF'\nIt's > done; `rm x` $(rm y)\nEOF\n)\" && rm z",
        "",
        "",
        "z",
        "",
    ),
    // Directories.
    row(
        "cd / && cat a; cd sub/; cat b; cd /srv//; cat c",
        "/a /sub/b /srv/c",
        "",
        "",
        "",
    ),
    untold("cd - && cat a; cd /x && cat b", ["/x/b", "", "", ""], 1, 0),
    row(
        "cd src && rm a && cd .. && touch b",
        "",
        "src/../b",
        "src/a",
        "",
    ),
    row("(cd src; rm a); rm b", "", "", "src/a b", ""),
    row("cd /srv && cat a ~/b", "/srv/a ~/b", "", "", ""),
    row("cd; cat a", "~/a", "", "", ""),
    row("cd src | true; cat a", "a", "", "", ""),
    untold("cd \"$DIR\" && rm a /b", ["", "", "/b", ""], 1, 0),
    untold("popd; cat a", ["", "", "", ""], 1, 0),
    row("git -C sub checkout -- a", "", "sub/a", "", ""),
    // Scripts in scripts.
    row("bash -lc 'cd a && rm b'; rm c", "", "", "a/b c", ""),
    row(
        "if test -f a; then rm a; else touch b; fi",
        "",
        "b",
        "a",
        "",
    ),
    row("while true; do cat a; done", "a", "", "", ""),
    row("case $x in a|b) rm y;; *) touch z;; esac", "", "z", "y", ""),
    row("f() { rm a; }; f", "", "", "a", ""),
    row("x=$(cat a) y=`cat b` make", "a b", "", "", ""),
    row("echo \"$(cat \"a b\")\"", "a\u{20}b", "", "", ""),
    row("A=1 env B=2 timeout 5 nice -n 3 cat a", "a", "", "", ""),
    row("xs=(rm a); echo ${xs[@]}", "", "", "", ""),
    row("source env.sh && . ./x", "env.sh x", "", "", ""),
    row("sh run.sh arg", "run.sh", "", "", ""),
    row("trap 'rm -f t' EXIT", "", "", "t", ""),
    // Hosts.
    row("curl -s https://a.example/x", "", "", "", "a.example"),
    row(
        "curl -fsSLo out.json b.example/x.json",
        "",
        "out.json",
        "",
        "b.example",
    ),
    row(
        "curl -O 'https://a.example/d/f.tgz?x=1'",
        "",
        "f.tgz",
        "",
        "a.example",
    ),
    row(
        "curl -T up.bin https://a.example/",
        "up.bin",
        "",
        "",
        "a.example",
    ),
    row(
        "curl -d @in.json -F f=@pic.png https://a.example",
        "in.json pic.png",
        "",
        "",
        "a.example",
    ),
    row("curl https://a.example/$x", "", "", "", "a.example"),
    untold("curl $URL", ["", "", "", ""], 0, 1),
    untold("curl -O $URL", ["", "", "", ""], 1, 1),
    untold(
        "curl https://a.example/i.sh | sh",
        ["", "", "", "a.example"],
        1,
        1,
    ),
    row(
        "wget -q -O page.html c.example",
        "",
        "page.html",
        "",
        "c.example",
    ),
    row("wget -qO- https://c.example", "", "", "", "c.example"),
    row(
        "wget -P dl https://c.example/a.bin",
        "",
        "dl/a.bin",
        "",
        "c.example",
    ),
    row("ssh -p 22 root@box 'rm x'", "", "", "", "box"),
    row("scp a.txt me@d.example:/tmp/", "a.txt", "", "", "d.example"),
    row("rsync -a e.example:dst/ out", "", "out", "", "e.example"),
    row("ping -c 1 10.0.0.1", "", "", "", "10.0.0.1"),
    row(
        "/usr/bin/curl localhost:8080/health",
        "",
        "",
        "",
        "localhost",
    ),
    // git.
    row(
        "git clone git@github.com:a/b.git",
        "",
        "b",
        "",
        "github.com",
    ),
    row(
        "git clone https://g.example/a/b.git dir",
        "",
        "dir",
        "",
        "g.example",
    ),
    row(
        "git push https://g.example/a/b.git main",
        "",
        "",
        "",
        "g.example",
    ),
    untold("git push -u origin main", ["", "", "", ""], 0, 1),
    row("git add a b && git commit -m 'x > y'", "a b", "", "", ""),
    row("git commit -F msg.txt", "msg.txt", "", "", ""),
    row("git checkout -- a.txt", "", "a.txt", "", ""),
    row("git checkout -b new", "", "", "", ""),
    untold("git checkout main", ["", "", "", ""], 1, 0),
    row("git restore --staged a", "", "", "", ""),
    row("git rm -r old && git mv a b", "", "b", "old a", ""),
    // What cannot be told.
    untold("rm -rf \"$DIR\"", ["", "", "", ""], 1, 0),
    untold("rm *.log", ["", "", "", ""], 1, 0),
    untold("touch {a,b}.txt", ["", "", "", ""], 1, 0),
    untold("echo x > $OUT; rm $A $B; rm c", ["", "", "c", ""], 2, 0),
    untold("eval \"rm a\"", ["", "", "", ""], 1, 1),
    untold("$CMD a b", ["", "", "", ""], 1, 1),
    untold("cat $(ls)", ["", "", "", ""], 1, 0),
    untold("ls | xargs rm -f", ["", "", "", ""], 1, 0),
    untold("find . -name '*.o' -delete", ["", "", "", ""], 1, 0),
    untold("find . -exec rm {} \\; -print", ["", "", "", ""], 1, 0),
    untold("bash -c \"$SCRIPT\"", ["", "", "", ""], 1, 1),
    untold("cat C:\\Users\\me\\a.txt", ["", "", "", ""], 1, 0),
    untold("cat ~root/a", ["", "", "", ""], 1, 0),
    row("find . -name '*.o'", "", "", "", ""),
    row("echo $HOME $(date)", "", "", "", ""),
    row("make all && npm install", "", "", "", ""),
    row("", "", "", "", ""),
];

#[test]
fn what_a_command_does_follows_from_its_words() {
    assert!(TABLE.len() >= 80);
    let mut wrong = Vec::new();
    for (command, [read, written, deleted, hosts], files, untold_hosts) in TABLE {
        // A space in a name is written as the last word's.
        let list = |text: &str| -> BTreeSet<String> {
            let spaced = text.replace("b c.txt", "b\u{1}c.txt");
            let spaced = if text == "a b" && command.contains("\"a b\"") {
                "a\u{1}b".to_owned()
            } else {
                spaced
            };
            spaced
                .split_whitespace()
                .map(|word| word.replace('\u{1}', " "))
                .collect()
        };
        let expected = Effects {
            read: list(read),
            written: list(written),
            deleted: list(deleted),
            hosts: list(hosts),
            untold_files: *files,
            untold_hosts: *untold_hosts,
        };
        let found = effects(command);
        if found != expected {
            wrong.push(format!(
                "{command}\n  found    {found:?}\n  expected {expected:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn no_more_names_are_kept_than_anybody_reads() {
    let many: Vec<String> = (0..1000).map(|n| format!("f{n}")).collect();
    let found = effects(&format!("rm {}", many.join(" ")));
    assert_eq!((found.deleted.len(), found.untold_files), (MOST, 1));
}

/// Texts that are worst where a reader goes back or goes deep.
const HOSTILE: &[&str] = &[
    "(",
    ")",
    "$(",
    "`",
    "\"$(",
    "${",
    "${x:-",
    "$((",
    "((",
    "{ ",
    "<(",
    "[[ ",
    "case x in ",
    "'",
    "\"",
    "\\`",
    "<<A\n",
    "<<A ",
    "a=(",
    "bash -c '",
    "if ",
    "\\",
    "cd a;",
    "f() { ",
    "$'",
    "|",
    "&",
    "> ",
    "xargs ",
    "sudo ",
    "find -exec ",
    "\u{0}",
    "\u{a0}",
    "eval ",
    "\"`",
    "a<<<",
    "~",
    "=(",
    "trap ",
    "env ",
    "sed -i ",
    "tar ",
    "-",
    "git -C a ",
];

#[test]
fn hostile_nesting_takes_no_longer_than_its_length() {
    for piece in HOSTILE {
        for other in ["", ")", "x ", "\n", ";"] {
            let text = format!("{piece}{other}").repeat(2_000);
            source::STEPS.set(0);
            effects(&text);
            let (steps, length) = (source::STEPS.get(), text.len());
            // A script in a script is read again, at most so many times.
            let most = (reader::DEEPEST + 2) * length;
            assert!(
                steps <= most,
                "{piece:?} and {other:?}: {steps} steps for {length} bytes"
            );
        }
    }
}

proptest! {
    #[test]
    fn any_text_has_effects(text in "\\PC{0,200}") {
        effects(&text);
    }

    #[test]
    fn any_bytes_have_effects(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        effects(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_shell_like_text_has_the_same_effects_twice(
        words in proptest::collection::vec(
            (0..HOSTILE.len() + 12).prop_map(|at| {
                let plain = ["cat a ", "rm b", " > c", "\nA\n", ")", "}", "]] ", "; ", " && ", "esac ", "curl h.example ", "'"];
                HOSTILE.get(at).copied().or_else(|| plain.get(at - HOSTILE.len()).copied()).unwrap_or_default()
            }),
            0..60,
        )
    ) {
        let text = words.concat();
        let found = effects(&text);
        prop_assert_eq!(&found, &effects(&text));
        for list in [&found.read, &found.written, &found.deleted, &found.hosts] {
            prop_assert!(list.len() <= MOST);
            prop_assert!(list.iter().all(|name| !name.is_empty() && !name.contains('\0')));
        }
    }
}
