package handlers

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/config"
)

// incrementalAlterConfigs answers IncrementalAlterConfigs (key 44), versions
// 0-1 (KIP-339).
//
// It sets, deletes, appends to and subtracts from single settings of a topic,
// of this broker or ("") of all brokers; the others stay. It also changes the
// levels of this broker's loggers (KIP-412), which are not stored. Version 1
// is flexible.
//
// Errors are those of AlterConfigs; appending to or subtracting from what is
// no list is INVALID_CONFIG, and to an unknown setting UNKNOWN_SERVER_ERROR, as
// Kafka has it.
//
// Where we differ: see alterConfigs and loggers.
func (h *Handlers) incrementalAlterConfigs(ctx context.Context, _ *server.Call, req *kmsg.IncrementalAlterConfigsRequest) server.Reply {
	return server.Now(h.configs().change(ctx, req))
}

func (c *configResources) change(ctx context.Context, req *kmsg.IncrementalAlterConfigsRequest) *kmsg.IncrementalAlterConfigsResponse {
	resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	resp.Resources = make([]kmsg.IncrementalAlterConfigsResponseResource, len(req.Resources))
	all := make([]alteration, len(req.Resources))
	for i := range req.Resources {
		r := &req.Resources[i]
		all[i] = alteration{r.ResourceType, strings.Clone(r.ResourceName), req.ValidateOnly}
	}
	twice := repeatedResources(all)
	for i, a := range all {
		out := &resp.Resources[i]
		*out = kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = a.kind, a.name
		var err error
		if twice[a] {
			err = invalidConfigRequest("Each resource must appear at most once.")
		} else {
			err = c.changeResource(ctx, a, req.Resources[i].Configs)
		}
		out.ErrorCode, out.ErrorMessage = c.outcome(err, "altering configs")
	}
	return resp
}

func (c *configResources) changeResource(ctx context.Context, a alteration, changes []kmsg.IncrementalAlterConfigsRequestResourceConfig) error {
	names := make([]string, len(changes))
	var without []string
	for i := range changes {
		names[i] = strings.Clone(changes[i].Name)
		changes[i].Name = names[i]
		if v := changes[i].Value; v != nil {
			changes[i].Value = kmsg.StringPtr(strings.Clone(*v))
		} else if changes[i].Op != kmsg.IncrementalAlterConfigOpDelete {
			without = append(without, names[i])
		}
	}
	if err := checkPairs(names, without); err != nil {
		return err
	}
	if err := c.checkKind(a, true); err != nil {
		return err
	}
	if a.kind == kmsg.ConfigResourceTypeBrokerLogger {
		return c.changeLoggers(a, changes)
	}
	values, err := applyChanges(a.kind, c.before(a), changes)
	if err != nil {
		return err
	}
	return c.replace(ctx, a, values)
}

// before gives the settings that a resource has of its own.
func (c *configResources) before(a alteration) map[string]string {
	switch {
	case a.kind == kmsg.ConfigResourceTypeTopic:
		own, _ := c.topic(a.name)
		return own
	case a.name == "":
		return c.dynamic().Default
	default:
		return c.dynamic().Broker
	}
}

// applyChanges gives the settings after the changes.
func applyChanges(kind kmsg.ConfigResourceType, before map[string]string, changes []kmsg.IncrementalAlterConfigsRequestResourceConfig) (map[string]string, error) {
	values := maps.Clone(before)
	if values == nil {
		values = make(map[string]string, len(changes))
	}
	declared := config.BrokerSetting
	if kind == kmsg.ConfigResourceTypeTopic {
		declared = config.TopicSetting
	}
	for i := range changes {
		ch := &changes[i]
		switch ch.Op {
		case kmsg.IncrementalAlterConfigOpSet:
			values[ch.Name] = *ch.Value
		case kmsg.IncrementalAlterConfigOpDelete:
			delete(values, ch.Name)
		case kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract:
			s := declared(ch.Name)
			if s == nil {
				return nil, &configRefusal{code: kerr.UnknownServerError}
			}
			if s.Type != config.List {
				return nil, &configRefusal{kerr.InvalidConfig, "Config value " + strings.ToLower(ch.Op.String()) + " is not allowed for config key: " + ch.Name}
			}
			values[ch.Name] = changeList(s, ch, values)
		default:
			if kind == kmsg.ConfigResourceTypeTopic {
				return nil, &configRefusal{code: kerr.UnknownServerError}
			}
			return nil, invalidConfigRequest("Unknown operations type %d", ch.Op)
		}
	}
	return values, nil
}

// changeList appends to a list or subtracts from it. A list that is not set
// starts as the setting's default.
func changeList(s *config.Setting, ch *kmsg.IncrementalAlterConfigsRequestResourceConfig, values map[string]string) string {
	list, ok := values[ch.Name]
	if !ok && s.HasDefault() {
		list = s.Default
	}
	if ch.Op == kmsg.IncrementalAlterConfigOpAppend {
		return config.AppendTo(list, *ch.Value)
	}
	return config.SubtractFrom(list, *ch.Value)
}

// changeLoggers changes the levels of this broker's loggers.
func (c *configResources) changeLoggers(a alteration, changes []kmsg.IncrementalAlterConfigsRequestResourceConfig) error {
	if err := c.checkLoggerOwner(a.name); err != nil {
		return err
	}
	return c.loggers.apply(changes, a.validateOnly)
}

// checkLoggerOwner refuses loggers of other brokers. Kafka's message names this
// broker twice.
func (c *configResources) checkLoggerOwner(name string) error {
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return invalidConfigRequest("Node id must be an integer, but it is: %s", name)
	case int32(id) != c.brokerID:
		return invalidConfigRequest("Unexpected node id. Expected %d, but received %d", c.brokerID, c.brokerID)
	}
	return nil
}
