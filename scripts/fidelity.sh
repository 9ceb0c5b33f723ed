#!/usr/bin/env bash
# Starts a broker with the settings the recordings were made with, and compares
# its answers with them. Arguments: the folder of the comparing program, then its
# own flags. Without the folder there is nothing to compare with.
set -euo pipefail
# Not built yet: groups, transactions, message formats before 0.11.
skip='^(groups|consumergroup|txn)/|^produce/.* v[0-2]$'
least=97
folder=$1
shift
if [ ! -f "$folder/go.mod" ]; then
  echo "fidelity: $folder is not there: set FIDELITY to the folder of the comparing program and its recordings; nothing was compared"
  exit 0
fi
here=$(pwd)
work=$(mktemp -d)
broker=
cleanup() {
  [ -z "$broker" ] || { kill "$broker" 2>/dev/null || true; wait "$broker" 2>/dev/null || true; }
  rm -rf "$work"
}
trap cleanup EXIT

(cd "$folder" && CGO_ENABLED=0 GOFLAGS=-mod=mod GOWORK=off go build -o "$work/fidelity" .)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$here/bin/barnabas" serve \
  --override listeners=PLAINTEXT://127.0.0.1:"$port" --override log.dirs="$work/data"  --override zookeeper.connect= \
  --override broker.id=0 --override num.partitions=1 --override auto.create.topics.enable=true \
  --override group.initial.rebalance.delay.ms=0 --override offsets.topic.replication.factor=1 \
  --override transaction.state.log.replication.factor=1 --override transaction.state.log.min.isr=1 \
  --override log.retention.check.interval.ms=3600000 >"$work/log" 2>&1 &
broker=$!
for _ in $(seq 200); do
  (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  kill -0 "$broker" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.05
done
# The recordings were made with both internal topics there.
python3 - "$port" <<'PY'
import socket, struct, sys, time

def text(s):
    return struct.pack(">h", len(s)) + s

for kind in (0, 1):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    body = struct.pack(">hhi", 10, 1, 1) + text(b"warm") + text(b"warm") + struct.pack(">b", kind)  # FindCoordinator 1
    s.sendall(struct.pack(">i", len(body)) + body)
    s.recv(4)
    s.close()
time.sleep(0.5)
PY
"$work/fidelity" compare -b "127.0.0.1:$port" -golden "$folder/golden/kafka.json.gz" -skip "$skip" -min "$least" "$@" || { code=$?; tail -n 20 "$work/log" >&2; exit $code; }
