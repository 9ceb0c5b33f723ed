package tidy

import "strings"

// Limits on what one reader can hold in the head.
const (
	maxFile      = 500
	maxTestFile  = 1000
	maxFunc      = 70
	maxTestFunc  = 150
	maxParams    = 5 // beside a context
	modulePrefix = "barnabas/"
)

// floors are the packages from the ground up: an import goes to a lower floor
// only. Siblings meet through interfaces that the user of the interface declares
// and package broker connects.
var floors = [][]string{
	{"config", "protocol/wire", "storage/vfs", "internal/clock", "internal/invariants", "internal/metrics", "internal/timer"},
	{"protocol/record", "protocol/api", "coordinator/schema", "metadata/image", "metadata/znode", "metadata/store", "metadata/store/tree"},
	{
		"storage", "broker/security", "broker/quota", "broker/fetchsession", "broker/peer",
		"metadata/store/embedded", "metadata/store/zookeeper", "replication/partition",
		"coordinator/group", "coordinator/txn", "metadata/controller",
	},
	{"broker/server", "broker/observe", "replication", "coordinator", "metadata", "storage/compaction"},
	{"broker/handlers"},
	{"broker"},
	{"cmd/barnabas"},
}

// sameFloor are the imports between packages of one floor that are meant, with
// the reason.
var sameFloor = map[[2]string]string{
	{"internal/timer", "internal/clock"}:      "the wheel is driven by the clock",
	{"metadata/store/tree", "metadata/store"}: "the tree speaks the interface's errors and types",
	{"protocol/api", "protocol/wire"}:         "headers are chosen by the table",
}

// outside are the packages that stand outside of the floors and may see all.
var outside = []string{"internal/sim", "internal/tidy", "bench", "compat-tests"}

// pure packages hold logic only: time and random values come in as arguments.
var pure = map[string]string{
	"replication/partition": "simulated by seed",
	"coordinator/group":     "simulated by seed",
	"coordinator/txn":       "simulated by seed",
	"coordinator/schema":    "codecs",
	"metadata/controller":   "simulated by seed",
	"metadata/image":        "an immutable snapshot",
	"metadata/znode":        "codecs",
	"metadata/store/tree":   "simulated by seed",
}

// impure are the imports that a pure package may not have.
var impure = []string{"sync", "os", "net", "context", "math/rand", "math/rand/v2", "go.uber.org/zap", "log", "io/ioutil", "syscall"}

// wallClock are the functions of package time that only internal/clock calls.
var wallClock = map[string]bool{
	"Now": true, "Sleep": true, "After": true, "AfterFunc": true, "NewTimer": true, "NewTicker": true, "Tick": true, "Since": true, "Until": true,
}

// clients are the Kafka clients that only those who speak to a broker from the
// outside may import.
var clients = []string{"github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kadm", "github.com/twmb/franz-go/pkg/kfake", "github.com/IBM/sarama"}

// configUsers are the only packages that know config; the others take a small
// Options struct.
var configUsers = []string{"cmd/barnabas", "broker", "broker/handlers", "metadata"}

// badNames say nothing about what a package holds.
var badNames = []string{"utils", "util", "common", "helpers", "helper", "misc"}

func floorOf(pkg string) int {
	for i, f := range floors {
		for _, p := range f {
			if p == pkg {
				return i
			}
		}
	}
	return -1
}

func standsOutside(pkg string) bool {
	for _, o := range outside {
		if pkg == o || strings.HasPrefix(pkg, o+"/") {
			return true
		}
	}
	return false
}
