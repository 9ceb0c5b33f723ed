package handlers

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/config"
)

// describeConfigs answers DescribeConfigs (key 32), versions 0-4.
//
// Version 1 adds the source of each value and, if asked for, its synonyms
// (KIP-226); 3 types and, if asked for, documentation (KIP-569); 4 is
// flexible. Names that do not exist are left out; no names means all.
//
// Resources: topics, this broker, "" for what is set for all brokers, this
// broker's loggers. Errors: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION,
// INVALID_REQUEST for other brokers and kinds; one unknown kind fails the whole
// request, as in Kafka.
//
// Where we differ: the documentation is our own text, and all loggers share
// one level (loggers.go).
func (h *Handlers) describeConfigs(_ context.Context, _ *server.Call, req *kmsg.DescribeConfigsRequest) server.Reply {
	return server.Now(h.configs().describe(req))
}

// unknownKindMessage is Kafka's text for INVALID_REQUEST where none is given.
const unknownKindMessage = "This most likely occurs because of a request being malformed by the client library or the message was sent " +
	"to an incompatible broker. See the broker logs for more details."

func (c *configResources) describe(req *kmsg.DescribeConfigsRequest) *kmsg.DescribeConfigsResponse {
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	resp.Resources = make([]kmsg.DescribeConfigsResponseResource, len(req.Resources))
	badKind := slices.ContainsFunc(req.Resources, func(r kmsg.DescribeConfigsRequestResource) bool {
		switch r.ResourceType {
		case kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger, clientMetrics:
			return false
		}
		return true
	})
	for i := range req.Resources {
		asked, out := &req.Resources[i], &resp.Resources[i]
		*out = kmsg.NewDescribeConfigsResponseResource()
		out.ResourceType, out.ResourceName = asked.ResourceType, strings.Clone(asked.ResourceName)
		out.ErrorMessage = kmsg.StringPtr("")
		out.Configs = []kmsg.DescribeConfigsResponseResourceConfig{}
		var err error
		if badKind {
			err = invalidConfigRequest(unknownKindMessage)
		} else {
			err = c.describeResource(req, asked, out)
		}
		if err != nil {
			var message *string
			if out.ErrorCode, message = c.outcome(err, "describing configs"); message != nil {
				out.ErrorMessage = message
			}
		}
	}
	return resp
}

func (c *configResources) describeResource(req *kmsg.DescribeConfigsRequest, asked *kmsg.DescribeConfigsRequestResource, out *kmsg.DescribeConfigsResponseResource) error {
	var entries []config.Entry
	var err error
	switch asked.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		entries, err = c.topicEntries(out.ResourceName)
	case kmsg.ConfigResourceTypeBroker:
		entries, err = c.brokerEntries(out.ResourceName)
	case kmsg.ConfigResourceTypeBrokerLogger:
		return c.describeLoggers(asked, out)
	default: // client metrics: there are no subscriptions
		if asked.ResourceName == "" {
			return invalidConfigRequest("Client metrics subscription name must not be empty")
		}
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if wantedConfig(asked, e.Name) {
			out.Configs = append(out.Configs, describedConfig(e, req))
		}
	}
	return nil
}

// wantedConfig tells whether a name is asked for; no names ask for all.
func wantedConfig(asked *kmsg.DescribeConfigsRequestResource, name string) bool {
	return len(asked.ConfigNames) == 0 || slices.Contains(asked.ConfigNames, name)
}

func describedConfig(e config.Entry, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	out := kmsg.NewDescribeConfigsResponseResourceConfig()
	out.Name, out.Value = e.Name, e.Value
	out.ReadOnly, out.IsSensitive = e.ReadOnly, e.Sensitive
	out.Source, out.ConfigType = kmsg.ConfigSource(e.Source), kmsg.ConfigType(e.Type)
	out.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	if req.IncludeSynonyms {
		for _, s := range e.Synonyms {
			syn := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			syn.Name, syn.Value, syn.Source = s.Name, s.Value, kmsg.ConfigSource(s.Source)
			out.ConfigSynonyms = append(out.ConfigSynonyms, syn)
		}
	}
	if req.IncludeDocumentation {
		out.Documentation = &e.Doc
	}
	return out
}

func (c *configResources) topicEntries(name string) ([]config.Entry, error) {
	if problem := topicNameProblem(name); problem != "" {
		return nil, &configRefusal{kerr.InvalidTopicException, problem}
	}
	own, ok := c.topic(name)
	if !ok {
		return nil, &configRefusal{code: kerr.UnknownTopicOrPartition}
	}
	return c.static.DescribeTopic(c.dynamic(), own), nil
}

// topicNameProblem says in Kafka's words why a name is none for a topic.
func topicNameProblem(name string) string {
	const longest = 249
	legal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	switch {
	case name == "":
		return "Topic name is invalid: the empty string is not allowed"
	case name == "." || name == "..":
		return "Topic name is invalid: '" + name + "' is not allowed"
	case len(name) > longest:
		return "Topic name is invalid: the length of '" + name + "' is longer than the max allowed length " + strconv.Itoa(longest)
	case strings.ContainsFunc(name, func(r rune) bool { return !legal(r) }):
		return "Topic name is invalid: '" + name + "' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
	}
	return ""
}

func (c *configResources) brokerEntries(name string) ([]config.Entry, error) {
	if name == "" {
		return c.static.DescribeDefaultBroker(c.dynamic()), nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return nil, invalidConfigRequest("Broker id must be an integer, but it is: %s", name)
	case int32(id) != c.brokerID:
		return nil, invalidConfigRequest("Unexpected broker id, expected %d or empty string, but received %s", c.brokerID, name)
	}
	return c.static.DescribeBroker(c.dynamic()), nil
}

func (c *configResources) describeLoggers(asked *kmsg.DescribeConfigsRequestResource, out *kmsg.DescribeConfigsResponseResource) error {
	name := out.ResourceName
	if name == "" {
		return invalidConfigRequest("Broker id must not be empty")
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return invalidConfigRequest("Broker id must be an integer, but it is: %s", name)
	case int32(id) != c.brokerID:
		return invalidConfigRequest("Unexpected broker id, expected %d but received %s", c.brokerID, name)
	}
	for _, logger := range loggerNames {
		if !wantedConfig(asked, logger) {
			continue
		}
		e := kmsg.NewDescribeConfigsResponseResourceConfig()
		e.Name, e.Value = logger, kmsg.StringPtr(c.loggers.level())
		e.Source = kmsg.ConfigSourceDynamicBrokerLoggerConfig
		e.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
		e.Documentation = kmsg.StringPtr("")
		out.Configs = append(out.Configs, e)
	}
	return nil
}
