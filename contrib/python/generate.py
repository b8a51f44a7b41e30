"""Writes src/runtape_models/models.py from schemas/v1/runtape.bundle.schema.json, or with --check compares.

The work is datamodel-code-generator's. Before it, the schema is given what that reads and other readers do not
need (which key tells the variants of a union apart); after it, a table of the kinds is added.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMAS = Path(os.environ.get("RUNTAPE_SCHEMAS", HERE.parent.parent / "schemas" / "v1"))
OUTPUT = HERE / "src" / "runtape_models" / "models.py"
HEAD = '"""Generated from schemas/v1 by `.ci/generate python`; changes are lost."""\n'

EVENT = '''

Event = TypeAliasType(
    "Event",
    Annotated[
        Annotated[RunEvent, Tag("run-event")] | Annotated[RuntimeEvent, Tag("runtime-event")],
        Discriminator(event_kind),
    ],
)
'''

OPTIONS = [
    "--input-file-type=jsonschema",
    "--output-model-type=pydantic_v2.BaseModel",
    "--target-python-version=3.11",
    "--base-class=runtape_models.base.Model",
    "--use-type-alias",
    "--disable-timestamp",
    "--enum-field-as-literal=all",
    "--field-constraints",
    "--formatters=black",
    "--use-annotated",
    "--use-schema-description",
    "--use-standard-collections",
    "--use-union-operator",
    "--wrap-string-literal",
]


def tag_of(schema: dict) -> tuple[str, str] | None:
    """Returns the key whose value a variant fixes, and the value."""
    for key, rule in schema.get("properties", {}).items():
        if "const" in rule:
            return key, rule["const"]
    return None


def hoist(definitions: dict) -> dict[str, list[str]]:
    """Gives objects within others a name, and returns which optional fields of these take null."""
    nullable = {}
    for owner, schema in list(definitions.items()):
        for key, rule in schema.get("properties", {}).items():
            if "properties" in rule:
                name = owner + key[0].upper() + key[1:]
                definitions[name] = {**rule, "title": name}
                schema["properties"][key] = {"description": rule.get("description", ""), "allOf": [{"$ref": f"#/$defs/{name}"}]}
                required = rule.get("required", [])
                nullable[name] = [
                    field
                    for field, inner in rule["properties"].items()
                    if field not in required and {"type": "null"} in inner.get("oneOf", [])
                ]
    return {name: fields for name, fields in nullable.items() if fields}


def prepare(bundle: dict) -> tuple[dict, dict[str, str]]:
    """Returns the schema as the generator reads it best, and the definition of each kind."""
    definitions = bundle["$defs"]
    kinds = {}
    for name, schema in definitions.items():
        kind = schema.pop("$dynamicAnchor", None)
        if kind is not None:
            kinds[kind] = name
        schema.pop("dependentSchemas", None)
        variants = [definitions.get(branch.get("$ref", "").removeprefix("#/$defs/")) for branch in schema.get("oneOf", [])]
        tags = [tag_of(variant) for variant in variants if variant is not None]
        if len(tags) > 1 and None not in tags:
            schema["discriminator"] = {"propertyName": tags[0][0]}
    for schema in definitions.values():
        for rule in schema.get("properties", {}).values():
            if "const" in rule:
                # A constant says it all.
                rule.pop("pattern", None)
    bundle.pop("anyOf")
    return bundle, dict(sorted(kinds.items()))


def unknown_types(bundle: dict) -> dict[str, tuple[str, list[str]]]:
    """Returns what the models of unknown types must not be: the key, and the known types."""
    found = {}
    for name, schema in bundle["$defs"].items():
        for key, rules in schema.get("dependentSchemas", {}).items():
            if f"Unknown{name}" in bundle["$defs"]:
                decisions = [rule["if"]["properties"][key] for rule in rules["allOf"]]
                found[f"Unknown{name}"] = (key, [rule["const"] for rule in decisions if "const" in rule])
    return found


def without(text: str, name: str) -> str:
    """Takes the definition of an alias out of the generated text."""
    start = text.index(f"\n{name} = TypeAliasType(") + 1
    return text[:start] + text[text.index("\n)\n", start) + 3 :].lstrip("\n")


def generate() -> str:
    bundle = json.loads((SCHEMAS / "runtape.bundle.schema.json").read_text())
    unknown = unknown_types(bundle)
    nullable = hoist(bundle["$defs"])
    schema, kinds = prepare(bundle)
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory, "runtape.json"), Path(directory, "models.py")
        source.write_text(json.dumps(schema))
        command = [sys.executable, "-m", "datamodel_code_generator", "--input", source, "--output", target, *OPTIONS]
        subprocess.run(command, check=True, cwd=directory)
        lines = target.read_text().splitlines()
    # The generator's own head names a file in a directory that is gone.
    while lines and (lines[0].startswith("#") or not lines[0]):
        lines.pop(0)
    text = without("\n".join(lines) + "\n", "Runtape")
    # The type of an event tells of which kind it is, which no discriminator of a schema can say.
    text = without(text, "Event").replace("from pydantic import ", "from pydantic import Discriminator, Tag, ", 1)
    text = HEAD + "\n" + text.replace("import Model\n", "import Model, event_kind\n", 1) + EVENT
    text += "\n\n#: The model of each kind, by the name that `runtape schema` lists.\nKINDS: dict[str, Any] = {\n"
    text += "".join(f'    "{kind}": {name},\n' for kind, name in kinds.items()) + "}\n"
    text += "\n#: For each model of unknown types: the key that names the type, and the types that are known.\n"
    text += "KNOWN: dict[str, tuple[str, frozenset[str]]] = {\n"
    for name, (key, tags) in unknown.items():
        text += f'    "{name}": (\n        "{key}",\n        frozenset(\n            {{\n'
        text += "".join(f'                "{tag}",\n' for tag in tags) + "            }\n        ),\n    ),\n"
    text += "}\n\n#: The optional fields that may be null, where others may only be absent.\n"
    text += "NULLABLE: dict[str, frozenset[str]] = {\n"
    for name, fields in nullable.items():
        text += f'    "{name}": frozenset(\n        {{\n' + "".join(f'            "{field}",\n' for field in fields) + "        }\n    ),\n"
    return text + "}\n"


def main() -> int:
    text = generate()
    if OUTPUT.exists() and OUTPUT.read_text() == text:
        return 0
    if "--check" in sys.argv:
        print("contrib/python: src/runtape_models/models.py differs from the schemas: .ci/generate python")
        return 1
    OUTPUT.write_text(text)
    print(f"wrote {OUTPUT.relative_to(HERE)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
