"""A matrix product and the ten largest: what the machine can do without a store. Speaks as vector-peer.ts does."""
import json
import sys
import time

import numpy

file, rows, dims, queries = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
data = numpy.fromfile(file, dtype=numpy.float32).reshape(rows + queries, dims)
vectors, asked = data[:rows], data[rows:]
print("ready", flush=True)
for _ in sys.stdin:
    times, found = [], []
    for query in asked:
        started = time.perf_counter()
        scores = vectors @ query
        best = numpy.argpartition(scores, -10)[-10:]
        best = best[numpy.argsort(-scores[best])]
        times.append((time.perf_counter() - started) * 1000)
        found.append(best.tolist())
    print(json.dumps({"ms": times, "rows": found}), flush=True)
