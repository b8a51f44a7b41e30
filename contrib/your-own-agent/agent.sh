#!/bin/sh
# An agent in shell: runs a command (its arguments, `ls` without any) and says what came of it.
# Each line it prints is an entry of a transcript; see docs/your-own-agent.md.

# Prints an entry: its kind, and its other fields as JSON.
tell() { printf '{"ts":"%s","kind":"%s",%s}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "$2"; }
# Prints a text as JSON.
json() {
  printf '%s' "$1" | tr '\t\r' '  ' | sed 's/[\\"]/\\&/g' |
    awk 'BEGIN { printf "\"" } { printf "%s%s", (NR > 1 ? "\\n" : ""), $0 } END { printf "\"" }'
}

command=${*:-ls}
tell init '"model":"example-model","sessionId":"sh-'$$'"'
tell user '"text":'"$(json "Run $command")"
tell thinking '"text":"One call will do."'
tell assistant '"text":"I run it."'
tell tool_call '"name":"shell","toolUseId":"call-1","input":{"command":'"$(json "$command")"'}'
if output=$(sh -c "$command" 2>&1); then failed=false; else failed=true; fi
tell tool_result '"toolUseId":"call-1","content":'"$(json "$output")"',"isError":'$failed
if $failed; then answer="It failed."; else answer="It worked."; fi
tell assistant '"text":'"$(json "$answer")"
tell result '"text":'"$(json "$answer")"',"inputTokens":120,"outputTokens":34,"cachedTokens":80,'\
'"costUsd":0.002,"subtype":"completed","isError":false,"errors":[]'
