# SPDX-License-Identifier: MIT
"""Do all commands report the same leaks? `import same_leaks` in a case, then compare(logs).

For each log, the JSON report's leaks are compared with the text report's, check's (exit status, sites, bytes),
diff's of the log with itself, `watch --once`, the page's data, a merged file and `export --value leaked`, by call
site if a format names them."""

import gzip
import json
import os
import re
import subprocess
import sys

VRAMTRACE = os.environ.get("VRAMTRACE", "vramtrace")


def call(*argv, status=(0,)):
    done = subprocess.run([VRAMTRACE, *map(str, argv)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False)
    if status and done.returncode not in status:
        raise SystemExit(f"FAIL: vramtrace {' '.join(map(str, argv))}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.returncode, done.stdout


def page_data(log):
    call("report", "--format", "html", "-o", "same.html", log)
    with open("same.html", encoding="utf-8") as page:
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read(), re.S)[1])
    os.unlink("same.html")
    return data


def merged(log):
    call("merge", "-o", "same.jsonl.gz", log)
    with gzip.open("same.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    os.unlink("same.jsonl.gz")
    return rows


def differences(log):
    """Contradictions about the leaks of one log, as sentences."""
    process = json.loads(call("report", "--format", "json", log)[1])["processes"][0]
    process["leaks"] = [leak for leak in process["leaks"] if leak["grade"] == "leak"]
    leaks = {site for leak in process["leaks"] for site in leak["sites"]}
    status, text = call("check", "--format", "json", log, status=(0, 2, 23))
    gate = json.loads(text)
    failed = {f["site"] for p in gate["processes"] for f in p["findings"] if f["outcome"] == "failed" and f.get("site")}
    suppressed = {f["site"] for p in gate["processes"] for f in p["findings"] if f["outcome"] == "suppressed"}
    found = []

    def same(what, expected, seen):
        if expected != seen:
            found.append(f"{log}: {what}: the JSON report has {expected}, it {seen}")

    same("check's failing sites", sorted(leaks), sorted(failed))
    same("check's exit status", bool(leaks), status == 23)
    same("leaks that check suppresses", [], sorted(leaks & suppressed))
    same("not judged: sites, bytes", process["unjudged"], gate["unjudged"])
    _, text = call("report", "--top", 100000, log)
    same("LEAK of the text", len(process["leaks"]), len(re.findall(r"^LEAK ", text, re.M)))
    difference = json.loads(call("diff", "--format", "json", log, log)[1])
    same("diff's leaked bytes", gate["leaked_bytes"], difference["after"]["leaked_bytes"])
    same("diff's leaks", bool(leaks), any(row["leak"] for row in difference["sites"]))
    # for a running process, watch has only growing leaks: other memory may still be freed
    live = json.loads(call("watch", "--once", "--format", "json", log)[1])["processes"][0]
    running = process["exit"]["kind"] == "running"
    same("watch's leaks", sum(1 for leak in process["leaks"] if leak["growth"] or not running), len(live["leaks"]))
    one = page_data(log)["processes"][0]
    same("the page's leaks", len(process["leaks"]), one["page"]["leak_count"])
    same("the page's leaked sites", sorted(leaks), sorted(s["site"] for s, leaked in zip(one["sites"], one["page"]["site_leaks"]) if leaked))
    rows = [row for row in merged(log) if row["row"] == "leak"]
    same("the merged file's leaks", len(process["leaks"]), len(rows))
    same("the merged file's leaked bytes", gate["leaked_bytes"], sum(row["bytes"] for row in rows))
    folded = call("export", "--format", "folded", "--value", "leaked", log)[1] if leaks else ""
    same("export --value leaked", gate["leaked_bytes"], sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()))
    return found


def compare(logs):
    found = [sentence for log in logs for sentence in differences(log)]
    for sentence in found:
        print(f"FAIL: {sentence}")
    if found:
        sys.exit(1)


if __name__ == "__main__":
    compare(sys.argv[1:])
    print(f"{len(sys.argv) - 1} logs, no difference")
