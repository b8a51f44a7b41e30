"""Questions about runs that exist, and which sound questions may be refused."""

import json
import os
import random
import urllib.request

import schemathesis


def ask(path):
    url = f"{os.environ['RUNTAPE_URL']}/api/v1/{path}"
    headers = {"Authorization": f"Bearer {os.environ['RUNTAPE_TOKEN']}"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return json.load(answer)


RUNS = ask("runs?children=1&limit=500")["items"]
CURSORS = [ask(f"{name}limit=1")["next"] for name in ("runs?", "jobs?", "tools?", "search?q=the&", "files?", "usage?by=model&")]
KNOWN = {
    "runtime": sorted({run["runtime"] for run in RUNS}),
    "model": sorted({run["model"] for run in RUNS if run["model"]}),
    "session": sorted({run["sessionId"] for run in RUNS if run["sessionId"]}),
    "job": sorted({run["jobId"] for run in RUNS}),
    "status": ["completed", "error", "open", "interrupted", "maxSteps", "NonZeroExit"],
    "since": ["2d", "2020-01-01", "2026-01-31T10:00:00Z", "99999d"],
    "until": ["1h", "2030-01-01", "2026-01-31 10:00"],
    "by": ["day", "week", "month", "runtime", "model", "job", "session", "cwd", "day,model", "cwd,week"],
    "part": ["/prompt", "/runId", "", "/message", "/text", "entry:0", "entry:0/text", "entry:1/input", "/stepsEnded/0"],
    "q": ["the", '"a phrase"', "pre*", "NOT x", "said:the", "input:ls OR output:the", '"', "(", "*"],
    "after": CURSORS,
    "from": [0, 1, 5, 2**63, 2**64 - 1],
    "seq": list(range(12)) + [2**63 - 1, 2**63, 2**64 - 1],
    "limit": [1, 3, 500],
}
KNOWN["run"] = [run["runId"] for run in RUNS] + ["last"]

# What a schema cannot say: that a cursor came from this list, that a time can be read, that a text has such a part.
REFUSED = (
    "bad page mark", "status: no run ended with", "since: expected", "until: expected", "by takes one or two different words",
    "from: no character begins there", "from: say of which part", "part: expected entry:0/text", "bad search", "search", "label: ",
)


def is_sound(case):
    """Tells whether a question was made to fit the description."""
    return case.meta is None or not case.meta.generation.mode.is_negative


def substitute(values):
    """Puts what exists in the place of what was made up, mostly."""
    for name in values or {}:
        if name in KNOWN and random.random() < 0.7:
            values[name] = random.choice(KNOWN[name])


@schemathesis.hook
def before_call(context, case, kwargs):
    if is_sound(case):
        substitute(case.path_parameters)
        substitute(case.query)


@schemathesis.check
def only_what_a_schema_cannot_say_is_refused(ctx, response, case):
    if response.status_code == 400 and is_sound(case):
        detail = response.json()["detail"]
        assert detail.startswith(REFUSED), f"refused, though it fits the description: {detail}"
