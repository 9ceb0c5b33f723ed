package handlers

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// loggers are the broker's loggers as the resource BROKER_LOGGER shows them.
// Kafka has one for every class, each with its own level. Here they share the
// one level of the process: setting any of them sets all.
type loggers struct{ shared zap.AtomicLevel }

const rootLogger = "root"

// loggerNames are those of Kafka's loggers that operators and runbooks name,
// sorted.
var loggerNames = []string{
	"kafka.controller.KafkaController", "kafka.log.LogCleaner", "kafka.log.LogManager", "kafka.log.UnifiedLog", "kafka.network.SocketServer",
	"kafka.request.logger", "kafka.server.KafkaApis", "kafka.server.ReplicaManager", rootLogger, "state.change.logger",
}

// logLevels are the levels that Kafka knows, in the order of its messages, and
// what they are here.
var logLevels = []struct {
	name  string
	level zapcore.Level
}{
	{"DEBUG", zapcore.DebugLevel},
	{"ERROR", zapcore.ErrorLevel},
	{"FATAL", zapcore.FatalLevel},
	{"INFO", zapcore.InfoLevel},
	{"TRACE", zapcore.DebugLevel},
	{"WARN", zapcore.WarnLevel},
}

// level is the level in Kafka's words.
func (l loggers) level() string {
	if l.shared == (zap.AtomicLevel{}) {
		return "INFO"
	}
	at := l.shared.Level()
	for _, k := range logLevels {
		if k.level == at {
			return k.name
		}
	}
	return "FATAL" // zap's levels for panics
}

// apply checks all changes first, and then makes them. A logger whose level is
// deleted goes back to the shared one, which it never left.
func (l loggers) apply(changes []kmsg.IncrementalAlterConfigsRequestResourceConfig, validateOnly bool) error {
	for i := range changes {
		if err := checkLoggerChange(&changes[i]); err != nil {
			return err
		}
	}
	if validateOnly || l.shared == (zap.AtomicLevel{}) {
		return nil
	}
	for i := range changes {
		if changes[i].Op != kmsg.IncrementalAlterConfigOpSet {
			continue
		}
		for _, k := range logLevels {
			if k.name == *changes[i].Value {
				l.shared.SetLevel(k.level)
			}
		}
	}
	return nil
}

func checkLoggerChange(c *kmsg.IncrementalAlterConfigsRequestResourceConfig) error {
	switch c.Op {
	case kmsg.IncrementalAlterConfigOpSet, kmsg.IncrementalAlterConfigOpDelete:
	case kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract:
		return invalidConfigRequest("%s operation is not allowed for the BROKER_LOGGER resource", c.Op)
	default:
		return invalidConfigRequest("Unknown operation type %d is not allowed for the BROKER_LOGGER resource", c.Op)
	}
	if !slices.Contains(loggerNames, c.Name) {
		return &configRefusal{kerr.InvalidConfig, "Logger " + c.Name + " does not exist!"}
	}
	if c.Op == kmsg.IncrementalAlterConfigOpDelete {
		if c.Name == rootLogger {
			return invalidConfigRequest("Removing the log level of the %s logger is not allowed", rootLogger)
		}
		return nil
	}
	var names []string
	for _, k := range logLevels {
		if k.name == *c.Value {
			return nil
		}
		names = append(names, k.name)
	}
	return &configRefusal{kerr.InvalidConfig, "Cannot set the log level of " + c.Name + " to " + *c.Value +
		" as it is not a supported log level. Valid log levels are " + strings.Join(names, ", ")}
}
