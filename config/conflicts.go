package config

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// A conflict is a rule about several settings. check says in Kafka's words
// what is wrong; empty if nothing is.
type conflict struct {
	key   string // the setting to name in the message
	check func(v view) string
}

// conflicts are held in the order in which Kafka looks for them.
var conflicts = []conflict{
	{"broker.id", brokerIDInRange},
	{"log.roll.ms", func(v view) string {
		return unless(v.rollMillis() >= 1, "log.roll.ms must be greater than or equal to 1")
	}},
	{"log.roll.jitter.ms", func(v view) string {
		return unless(v.rollJitterMillis() >= 0, "log.roll.jitter.ms must be greater than or equal to 0")
	}},
	{"log.retention.ms", func(v view) string {
		ms := v.retentionMillis()
		return unless(ms >= 1 || ms == -1, "log.retention.ms must be unlimited (-1) or, greater than or equal to 1")
	}},
	{"log.dirs", func(v view) string {
		return unless(len(logDirs(v)) > 0, "At least one log directory must be defined via log.dirs or log.dir.")
	}},
	{"log.cleaner.threads", func(v view) string {
		return unless(v.long("log.cleaner.threads") >= 1, "Value must be at least 1")
	}},
	{"log.cleaner.dedupe.buffer.size", func(v view) string {
		return unless(v.long("log.cleaner.dedupe.buffer.size")/max(v.long("log.cleaner.threads"), 1) > 1<<20,
			"log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.")
	}},
	{"replica.socket.timeout.ms", func(v view) string {
		return unless(v.long("replica.fetch.wait.max.ms") <= v.long("replica.socket.timeout.ms"),
			"replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent unnecessary socket timeouts")
	}},
	{"replica.fetch.wait.max.ms", func(v view) string {
		return unless(v.long("replica.fetch.wait.max.ms") <= v.long("replica.lag.time.max.ms"),
			"replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent changes in ISR")
	}},
	{"queued.max.request.bytes", func(v view) string {
		n := v.long("queued.max.request.bytes")
		return unless(n <= 0 || n >= v.long("socket.request.max.bytes"), "queued.max.request.bytes must be larger or equal to socket.request.max.bytes")
	}},
	{"max.connections.per.ip", func(v view) string {
		return unless(v.long("max.connections.per.ip") != 0 || v.string("max.connections.per.ip.overrides") != "",
			"max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.")
	}},
	{"max.connections.per.ip.overrides", func(v view) string {
		_, problem := ipOverrides(v.string("max.connections.per.ip.overrides"))
		return problem
	}},
	{"connection.failed.authentication.delay.ms", func(v view) string {
		delay, idle := v.long("connection.failed.authentication.delay.ms"), v.long("connections.max.idle.ms")
		return unless(idle < 0 || delay < idle, "connection.failed.authentication.delay.ms="+strconv.FormatInt(delay, 10)+
			" should always be less than connections.max.idle.ms="+strconv.FormatInt(idle, 10)+
			" to prevent failed authentication responses from timing out")
	}},
	{"group.coordinator.rebalance.protocols", func(v view) string {
		return unless(strings.Contains(v.string("group.coordinator.rebalance.protocols"), "classic"), "Disabling the 'classic' protocol is not supported.")
	}},
	{"log.cleaner.min.compaction.lag.ms", func(v view) string {
		return lagOrder(v.long("log.cleaner.min.compaction.lag.ms"), v.long("log.cleaner.max.compaction.lag.ms"))
	}},
}

func unless(ok bool, problem string) string {
	if ok {
		return ""
	}
	return problem
}

func lagOrder(least, most int64) string {
	return unless(least <= most, "conflict topic config setting min.compaction.lag.ms ("+strconv.FormatInt(least, 10)+
		") > max.compaction.lag.ms ("+strconv.FormatInt(most, 10)+")")
}

func brokerIDInRange(v view) string {
	id := v.long("broker.id")
	if v.boolean("broker.id.generation.enable") {
		return unless(id >= 0 && id <= v.long("reserved.broker.max.id"),
			"broker.id must be greater than or equal to -1 and not greater than reserved.broker.max.id")
	}
	return unless(id >= 0, "broker.id must be greater than or equal to 0")
}

func logDirs(v view) []string {
	text := v.string("log.dirs")
	if !v.get("log.dirs").set {
		text = v.string("log.dir")
	}
	var dirs []string
	for _, d := range splitList(text) {
		if d != "" {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// hostPattern is what Kafka takes for a host.
var hostPattern = regexp.MustCompile(`^(?i:[0-9a-z\-.%_:]+)$`)

// ipOverrides reads max.connections.per.ip.overrides.
func ipOverrides(text string) (limits map[string]int32, problem string) {
	const key = "max.connections.per.ip.overrides"
	limits = map[string]int32{}
	for _, pair := range splitList(text) {
		if pair == "" {
			continue
		}
		i := strings.LastIndexByte(pair, ':')
		if i < 0 {
			return nil, "Error parsing configuration property '" + key + "': " + pair + " is not of the form host:limit"
		}
		host := strings.Trim(trim(pair[:i]), "[]")
		n, err := strconv.ParseInt(trim(pair[i+1:]), 10, 32)
		if err != nil || n < 0 {
			return nil, "Error parsing configuration property '" + key + "': the limit of " + host + " is not a number"
		}
		if !hostPattern.MatchString(host) {
			return nil, key + " contains invalid addresses : " + host
		}
		if a, err := netip.ParseAddr(host); err == nil {
			host = a.String()
		}
		limits[host] = int32(n)
	}
	return limits, ""
}
