package handlers

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

// alterConfigs answers AlterConfigs (key 33), versions 0-2.
//
// It replaces all own settings of a topic, of this broker, or ("") of all
// brokers: what the request does not name goes back to its default. Version 2
// is flexible.
//
// Errors: INVALID_CONFIG for a topic's settings, INVALID_REQUEST for a
// broker's and for what cannot be altered, UNKNOWN_TOPIC_OR_PARTITION. The
// message of success is null.
//
// Where we differ: the same resource twice is INVALID_REQUEST for both; Kafka
// never answers. Settings that would be stored and then not honoured although
// security rests on them are refused (config.Static.ValidateBrokerChange).
func (h *Handlers) alterConfigs(ctx context.Context, _ *server.Call, req *kmsg.AlterConfigsRequest) server.Reply {
	return server.Now(h.configs().alter(ctx, req))
}

func (c *configResources) alter(ctx context.Context, req *kmsg.AlterConfigsRequest) *kmsg.AlterConfigsResponse {
	resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	resp.Resources = make([]kmsg.AlterConfigsResponseResource, len(req.Resources))
	all := make([]alteration, len(req.Resources))
	for i := range req.Resources {
		r := &req.Resources[i]
		all[i] = alteration{r.ResourceType, strings.Clone(r.ResourceName), req.ValidateOnly}
	}
	twice := repeatedResources(all)
	for i, a := range all {
		out := &resp.Resources[i]
		*out = kmsg.NewAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = a.kind, a.name
		var err error
		if twice[a] {
			err = invalidConfigRequest("Each resource must appear at most once.")
		} else {
			err = c.alterResource(ctx, a, req.Resources[i].Configs)
		}
		out.ErrorCode, out.ErrorMessage = c.outcome(err, "altering configs")
	}
	return resp
}

func (c *configResources) alterResource(ctx context.Context, a alteration, pairs []kmsg.AlterConfigsRequestResourceConfig) error {
	values := make(map[string]string, len(pairs))
	names := make([]string, len(pairs))
	var without []string
	for i := range pairs {
		names[i] = strings.Clone(pairs[i].Name)
		if v := pairs[i].Value; v == nil {
			without = append(without, names[i])
		} else {
			values[names[i]] = strings.Clone(*v)
		}
	}
	if err := checkPairs(names, without); err != nil {
		return err
	}
	if err := c.checkKind(a, false); err != nil {
		return err
	}
	return c.replace(ctx, a, values)
}
