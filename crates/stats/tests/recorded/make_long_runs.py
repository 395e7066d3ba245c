"""Makes long_runs.json from results files of long runs on a quiet machine:

    ipcperf run -m pipe,unix-stream,tcp,shm-ring -w stream,round-trip -b 64KiB --placement same \\
        --repetitions 400 --out long.jsonl
    python3 make_long_runs.py long.jsonl > long_runs.json

A series holds the figure of each repetition that counts, in the order in which they were measured:
bytes per second, or ns there and back on average.
"""

import json
import sys

series = {}
for path in sys.argv[1:]:
    for line in open(path):
        sample = json.loads(line)
        if sample["kind"] == "header":
            environment = sample["environment"]
            release = ".".join(environment["kernel"].split(".")[:2])
            made_with = f"ipcperf {environment['version']}, {release}"
        if sample["kind"] != "sample" or sample["excluded"] is not None:
            continue
        figure = sample["round_trip_ns_mean"]
        figure = sample["bandwidth_bytes_per_s"] if figure is None else round(figure, 1)
        series.setdefault(sample["case_id"], []).append(figure)

cases = [{"case": case, "figures": figures} for case, figures in sorted(series.items())]
print("{\n  \"made_with\": " + json.dumps(made_with) + ",\n  \"series\": [")
print(",\n".join("    " + json.dumps(case) for case in cases))
print("  ]\n}")
