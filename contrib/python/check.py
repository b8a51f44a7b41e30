"""Holds the models to what runtape itself says of values.

Usage: python check.py SAMPLES; each line of SAMPLES is {"kind", "accepted", "value"}.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

from pydantic import ValidationError  # noqa: E402

from runtape_models import KINDS, parse  # noqa: E402


def main() -> int:
    lines = wrong = lost = 0
    for line in Path(sys.argv[1]).open(encoding="utf-8"):
        sample = json.loads(line)
        kind, value = sample["kind"], sample["value"]
        lines += 1
        try:
            model = parse(kind, json.dumps(value))
            accepted = True
        except ValidationError:
            accepted = False
        if accepted != sample["accepted"]:
            wrong += 1
            if wrong <= 20:
                print(f"{kind}: {'accepted' if accepted else 'refused'}, unlike by runtape: {line[:300]}", file=sys.stderr)
        elif accepted and hasattr(model, "to_json") and json.loads(model.to_json()) != value:
            lost += 1
            if lost <= 5:
                print(f"{kind}: written in another way than read: {line[:300]}", file=sys.stderr)
    print(f"{len(KINDS)} models, {lines} values; {wrong} judged in another way, {lost} written in another way")
    return 1 if wrong + lost else 0


if __name__ == "__main__":
    sys.exit(main())
