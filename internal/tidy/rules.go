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

// floor is one storey of the house. why completes "may not import a floor that is
// not below, since …".
type floor struct {
	why      string
	packages []string
}

// floors are the packages from the ground up, as docs/architecture.md draws them;
// a test holds the two together. An import goes to a lower floor only.
var floors = []floor{
	{"the ground knows nothing of Kafka's nouns, so that everybody can stand on it", []string{
		"config", "protocol/wire", "storage/vfs", "internal/clock", "internal/invariants", "internal/metrics", "internal/timer",
	}},
	{"formats and interfaces are what both sides of a boundary share: they take no side", []string{
		"protocol/record", "protocol/api", "coordinator/schema", "metadata/image", "metadata/znode", "metadata/store", "metadata/store/tree",
	}},
	{"engines and machines are driven: whom they need they name by an interface, and package broker connects", []string{
		"storage", "broker/security", "broker/quota", "broker/fetchsession", "broker/peer",
		"metadata/store/embedded", "metadata/store/zookeeper", "replication/partition",
		"coordinator/group", "coordinator/txn", "metadata/controller",
	}},
	{"drivers own goroutines, connections and timers, each its own: two that know each other cannot be stopped in an order", []string{
		"broker/server", "broker/observe", "replication", "coordinator", "metadata", "storage/compaction",
	}},
	{"handlers translate between the wire and the drivers; nothing below may know that there is a wire", []string{"broker/handlers"}},
	{"wiring knows everything, so that nothing else has to", []string{"broker"}},
	{"the command line is one of several ways in", []string{"cmd/barnabas"}},
}

// sameFloor are the imports between packages of one floor that are meant, with
// the reason.
var sameFloor = map[[2]string]string{
	{"internal/timer", "internal/clock"}:      "the wheel is driven by the clock",
	{"metadata/store/tree", "metadata/store"}: "the tree speaks the interface's errors and types",
}

// outside are the packages that stand outside of the floors and may see all, with
// the reason.
var outside = map[string]string{
	"internal/sim":  "simulates the whole house",
	"internal/tidy": "reads source, and is in no binary",
	"bench":         "measures from the outside",
	"compat-tests":  "runs the binary as a black box",
	"scripts":       "what make runs, in no binary",
}

// pure packages hold logic only: time and random values come in as arguments. The
// value is the reason.
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

// impure are the imports that a pure package may not have, with all below them.
// The value says what would leak in.
var impure = map[string]string{
	"sync":              "locks: its driver serialises it",
	"os":                "the machine",
	"io/ioutil":         "the machine",
	"syscall":           "the machine",
	"golang.org/x/sys":  "the machine",
	"net":               "the network",
	"context":           "cancellation: a decision is never half made",
	"math/rand":         "chance that a seed cannot repeat",
	"crypto/rand":       "chance that a seed cannot repeat",
	"log":               "output: what happened is in the decision",
	"go.uber.org/zap":   "output: what happened is in the decision",
	"runtime":           "the scheduler",
	"golang.org/x/sync": "goroutines",
}

// harmless are packages below an impure one that only compute.
var harmless = map[string]bool{"net/netip": true, "net/url": true}

// wallClock are the functions of package time that only internal/clock calls.
var wallClock = map[string]bool{
	"Now": true, "Sleep": true, "After": true, "AfterFunc": true, "NewTimer": true, "NewTicker": true, "Tick": true, "Since": true, "Until": true,
}

// clients are the Kafka clients that only those who speak to a broker from the
// outside may import: a broker that asks itself over TCP has lost its structure.
var clients = []string{"github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kadm", "github.com/twmb/franz-go/pkg/kfake", "github.com/IBM/sarama"}

// configUsers are the only packages that know config; the others take a small
// Options struct, so that their tests need no configuration.
var configUsers = []string{"cmd/barnabas", "broker", "broker/handlers", "metadata"}

// badNames say nothing about what a package holds.
var badNames = []string{"utils", "util", "common", "helpers", "helper", "misc"}

func floorOf(pkg string) int {
	for i, f := range floors {
		for _, p := range f.packages {
			if p == pkg {
				return i
			}
		}
	}
	return -1
}

func standsOutside(pkg string) bool { return reasonFor(outside, pkg) != "" }

// reasonFor finds the reason kept for name or for a folder that it is in.
func reasonFor(reasons map[string]string, name string) string {
	for {
		if why := reasons[name]; why != "" {
			return why
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return ""
		}
		name = name[:i]
	}
}
