package handlers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/config"
)

// configResources is what the three APIs about configs work on: the settings
// of topics and brokers, and the levels of loggers.
type configResources struct {
	static   *config.Static
	brokerID int32
	// topic gives a topic's own settings; ok is false if there is no such topic.
	topic func(name string) (own map[string]string, ok bool)
	// dynamic is what the metadata says about brokers.
	dynamic func() config.Dynamic
	// set stores all settings of an entity and returns once they are in force
	// here.
	set func(ctx context.Context, kind, name string, values map[string]string) error
	// code maps what set reports.
	code    func(err error, doing string) int16
	loggers loggers
}

// configs connects the three APIs to this broker's rooms.
func (h *Handlers) configs() *configResources {
	return &configResources{
		static:   h.static,
		brokerID: h.brokerID,
		topic: func(name string) (map[string]string, bool) {
			img := h.meta.Image()
			return img.TopicConfig(name), img.Topic(name) != nil
		},
		dynamic: func() config.Dynamic {
			img := h.meta.Image()
			return config.Dynamic{Broker: img.BrokerConfig(strconv.Itoa(int(h.brokerID))), Default: img.BrokerConfig("")}
		},
		set:     h.meta.SetConfig,
		code:    h.errorCode,
		loggers: loggers{h.logLevel},
	}
}

// configRefusal is an answer to a resource that is not served.
type configRefusal struct {
	code    *kerr.Error
	message string // empty: none is told
}

func (r *configRefusal) Error() string { return r.code.Message + ": " + r.message }

func invalidConfigRequest(format string, args ...any) error {
	return &configRefusal{kerr.InvalidRequest, fmt.Sprintf(format, args...)}
}

// outcome is the error code and message of a resource.
func (c *configResources) outcome(err error, doing string) (code int16, message *string) {
	if err == nil {
		return 0, nil
	}
	var r *configRefusal
	if !errors.As(err, &r) {
		return c.code(err, doing), nil
	}
	if r.message != "" {
		message = &r.message
	}
	return r.code.Code, message
}

// alteration is one resource of AlterConfigs or IncrementalAlterConfigs.
type alteration struct {
	kind         kmsg.ConfigResourceType
	name         string
	validateOnly bool
}

// repeatedResources tells which of the resources stand in a request more than once.
func repeatedResources(all []alteration) map[alteration]bool {
	seen := make(map[alteration]bool, len(all))
	for _, a := range all {
		_, again := seen[a]
		seen[a] = again
	}
	return seen
}

// checkPairs refuses keys that are there twice, and values that are missing
// where one is needed.
func checkPairs(names, without []string) error {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return invalidConfigRequest("Error due to duplicate config keys")
		}
		seen[n] = true
	}
	if len(without) > 0 {
		return invalidConfigRequest("Null value not supported for : %s", strings.Join(without, ", "))
	}
	return nil
}

// checkKind refuses resources that cannot be altered. Loggers can only by
// IncrementalAlterConfigs.
func (c *configResources) checkKind(a alteration, incremental bool) error {
	switch a.kind {
	case kmsg.ConfigResourceTypeTopic:
		if a.name == "" {
			return invalidConfigRequest("Default topic resources are not allowed.")
		}
	case kmsg.ConfigResourceTypeBroker:
		return c.checkBrokerName(a.name)
	case kmsg.ConfigResourceTypeBrokerLogger:
		if !incremental {
			return invalidConfigRequest("Unknown resource type %d", a.kind)
		}
	case clientMetrics:
		return invalidConfigRequest("AlterConfigs is only supported for topics and brokers, but resource type is CLIENT_METRICS")
	default:
		return invalidConfigRequest("Unknown resource type %d", a.kind)
	}
	return nil
}

// clientMetrics is the resource of client telemetry subscriptions (KIP-714).
const clientMetrics kmsg.ConfigResourceType = 16

func (c *configResources) checkBrokerName(name string) error {
	if name == "" {
		return nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return invalidConfigRequest("Node id must be an integer, but it is: %s", name)
	case int32(id) != c.brokerID:
		return invalidConfigRequest("Unexpected broker id, expected %d, but received %s", c.brokerID, name)
	}
	return nil
}

// replace sets all own settings of a topic, of this broker, or of all brokers.
func (c *configResources) replace(ctx context.Context, a alteration, values map[string]string) error {
	if a.kind == kmsg.ConfigResourceTypeTopic {
		return c.replaceTopic(ctx, a, values)
	}
	d := c.dynamic()
	if err := c.static.ValidateBrokerChange(config.BrokerChange{Dynamic: d, PerBroker: a.name != "", Values: values}); err != nil {
		return invalidConfigRequest("%s", err.Error())
	}
	if a.validateOnly {
		return nil
	}
	name := config.DefaultEntity
	if a.name != "" {
		name = strconv.Itoa(int(c.brokerID))
	}
	return c.set(ctx, "brokers", name, values)
}

func (c *configResources) replaceTopic(ctx context.Context, a alteration, values map[string]string) error {
	if _, ok := c.topic(a.name); !ok {
		return &configRefusal{kerr.UnknownTopicOrPartition, fmt.Sprintf("The topic '%s' does not exist.", a.name)}
	}
	if err := c.static.ValidateTopic(c.dynamic(), values); err != nil {
		message := err.Error()
		var invalid *config.Invalid
		if errors.As(err, &invalid) && !invalid.Standalone {
			message = fmt.Sprintf("Invalid config value for resource ConfigResource(type=TOPIC, name='%s'): %s", a.name, message)
		}
		return &configRefusal{kerr.InvalidConfig, message}
	}
	if a.validateOnly {
		return nil
	}
	return c.set(ctx, "topics", a.name, values)
}
