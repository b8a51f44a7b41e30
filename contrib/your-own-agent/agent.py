#!/usr/bin/env python3
"""An agent in Python: runs a command (its arguments, `ls` without any) and says what came of it.

Each line it prints is an entry of a transcript; see docs/your-own-agent.md.
"""
import json
import os
import subprocess
import sys
from datetime import datetime, timezone


def tell(kind, **fields):
    ts = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    print(json.dumps({"ts": ts, "kind": kind, **fields}), flush=True)


command = " ".join(sys.argv[1:]) or "ls"
tell("init", model="example-model", sessionId=f"py-{os.getpid()}")
tell("user", text=f"Run {command}")
tell("thinking", text="One call will do.")
tell("assistant", text="I run it.")
tell("tool_call", name="shell", toolUseId="call-1", input={"command": command})
done = subprocess.run(command, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
failed = done.returncode != 0
tell("tool_result", toolUseId="call-1", content=done.stdout, isError=failed)
answer = "It failed." if failed else "It worked."
tell("assistant", text=answer)
tell("result", text=answer, inputTokens=120, outputTokens=34, cachedTokens=80, costUsd=0.002,
     subtype="completed", isError=False, errors=[])
