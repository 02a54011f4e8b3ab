# SPDX-License-Identifier: MIT
"""Validates vramtrace's JSON with doc/schema: `import schemas` and fault(text), or `tests/schemas.py FILE...`, which
prints each fault and fails. Keys missing in a schema are faults here, although users must accept them, so every
new key needs a row. Uses fastjsonschema; if it is not installed (tests/setup.sh, make_checkers), nothing is
checked."""

import glob
import hashlib
import importlib.util
import json
import os
import re
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("BUILD", f"{SRC}/build")
SCHEMA = re.compile(r'\{\s*"schema": "(vramtrace-[a-z]+)/1"')
_validators = {}


def strict(schema):
    """The schema, but without additional keys in any object."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            strict(part)
    elif isinstance(schema, list):
        for part in schema:
            strict(part)
    return schema


def available():
    sys.path[:0] = [p for p in glob.glob(f"{SRC}/build/checkers/lib/python3.*/site-packages") if p not in sys.path]
    return importlib.util.find_spec("fastjsonschema") is not None


def _load(name):
    """The validator of a schema. Generating one takes a second, so its code is kept in the build folder."""
    path = f"{SRC}/doc/schema/{name}-1.json"
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        text = file.read()
    made = f"{BUILD}/schemas/{name}-{hashlib.sha256(text).hexdigest()[:16]}.py"
    if not os.path.exists(made):
        import fastjsonschema
        os.makedirs(os.path.dirname(made), exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(made), delete=False, encoding="utf-8") as file:
            file.write(fastjsonschema.compile_to_code(strict(json.loads(text))))
        os.replace(file.name, made)  # other cases, and other threads of this one, may make it, too
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), made)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.validate


def fault(text):
    """The fault of a document, or None. Text that is not our JSON is accepted; unknown schemas of ours are faults."""
    found = SCHEMA.match(text[:100])
    if not found or not available():
        return None
    name = found.group(1)
    if name not in _validators:
        _validators[name] = _load(name)
    if not _validators[name]:
        return f"no schema doc/schema/{name}-1.json"
    try:
        _validators[name](json.loads(text))
    except Exception as wrong:  # fastjsonschema's own kind is known only where it is installed
        return f"{name}/1: {str(wrong)[:300]}"
    return None


if __name__ == "__main__":
    faults = [f"{name}: {said}" for name in sys.argv[1:] for said in [fault(open(name, encoding="utf-8", errors="replace").read())] if said]
    print(*faults, sep="\n")
    sys.exit(1 if faults else 0)
