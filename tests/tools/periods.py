"""Scans session files of claude-code line by line, and says what happened in periods: the simplest way there is to ask
what `runtape … --since … --until …` answers. `periods.py PROJECTS` reads a JSON list of [since, until] in milliseconds
since 1970 from standard input, and prints a JSON list of what it found in each."""

import datetime
import json
import pathlib
import posixpath
import re
import sys

HOME = "/home/dev"
WORD = re.compile(r"\bneedle\b")
HOST = re.compile(r"https?://([^/\s:]+)")


def milliseconds(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(at.timestamp() * 1000)


def resolved(path, cwd):
    if path.startswith("~/"):
        path = HOME + path[1:]
    return posixpath.normpath(posixpath.join(cwd, path))


def scan(root):
    """Returns each thing that happened as (time, kind, what)."""
    happened = []
    for file in sorted(pathlib.Path(root).rglob("*.jsonl")):
        seen = set()
        for text in file.read_text().splitlines():
            line = json.loads(text)
            if line["type"] != "assistant":
                continue
            message, at, session = line["message"], milliseconds(line["timestamp"]), line["sessionId"]
            for block in message["content"]:
                if block["type"] == "text" and WORD.search(block["text"]):
                    happened.append((at, "search", message["id"]))
                if block["type"] != "tool_use":
                    continue
                asked = block["input"]
                happened.append((at, "tool", block["name"]))
                if "command" in asked:
                    happened.append((at, "command", asked["command"]))
                if "file_path" in asked:
                    happened.append((at, "file", resolved(asked["file_path"], line["cwd"])))
                for host in HOST.findall(asked.get("command", asked.get("url", ""))):
                    happened.append((at, "host", host))
            # Each line of a response repeats what it used.
            if message["id"] not in seen:
                seen.add(message["id"])
                used = message["usage"]
                tokens = [
                    used["input_tokens"] + used["cache_creation_input_tokens"],
                    used["output_tokens"],
                    used["cache_read_input_tokens"],
                ]
                day = datetime.datetime.fromtimestamp(at / 1000, datetime.timezone.utc).strftime("%Y-%m-%d")
                happened.append((at, "session", (session, tokens)))
                happened.append((at, "day", (day, tokens)))
    return happened


def tell(happened, since, until):
    told = {"commands": [], "tools": {}, "files": {}, "network": {}, "search": 0, "session": {}, "day": {}}
    counted = {"tool": "tools", "file": "files", "host": "network"}
    for at, kind, what in happened:
        if not since <= at < until:
            continue
        if kind == "command":
            told["commands"].append(what)
        elif kind == "search":
            told["search"] += 1
        elif kind in counted:
            group = told[counted[kind]]
            group[what] = group.get(what, 0) + 1
        else:
            name, tokens = what
            sum_ = told[kind].get(name, [0, 0, 0])
            told[kind][name] = [one + other for one, other in zip(sum_, tokens)]
    told["commands"].sort()
    return told


if __name__ == "__main__":
    everything = scan(sys.argv[1])
    json.dump([tell(everything, since, until) for since, until in json.load(sys.stdin)], sys.stdout)
