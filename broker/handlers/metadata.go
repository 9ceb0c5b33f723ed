package handlers

import (
	"context"
	"math"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/metadata/controller"
	"barnabas/metadata/image"
)

// metadata answers Metadata (key 3), versions 0-13.
//
// Version 1 adds racks, the controller and internal topics, 2 the cluster id, 4
// the choice to create topics (before it they always are), 5 offline replicas, 6
// LISTENER_NOT_FOUND, 7 leader epochs, 8 authorized operations (KIP-430; those of
// the cluster until 10), 9 is flexible, 10 has topic ids, 12 can ask by them
// (KIP-516), 13 has an error at the top.
//
// Of a list of topics, null (in version 0 empty) asks for all. A list that has
// ids answers the ids only. Each topic is answered once: first the ids that are
// unknown, then what is there, then what is not.
//
// Errors: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_ID;
// LEADER_NOT_AVAILABLE for a topic that was just created, and of partitions;
// LISTENER_NOT_FOUND of partitions whose leader has no such listener. Ids in
// versions 10 and 11, INVALID_REQUEST; neither id nor name, UNKNOWN_SERVER_ERROR.
//
// Where we differ: version 13, which Kafka 3.9 does not have, answers a topic
// being created as Kafka 4 does.
func (h *Handlers) metadata(ctx context.Context, c *server.Call, req *kmsg.MetadataRequest) server.Reply {
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	resp.ControllerID, resp.AuthorizedOperations = -1, math.MinInt32
	resp.Topics, resp.Brokers = []kmsg.MetadataResponseTopic{}, []kmsg.MetadataResponseBroker{}
	if code := metadataProblem(req); code != nil {
		refuseMetadata(req, resp, code)
		return server.Now(resp)
	}
	im := h.meta.Image()
	a := metadataAnswer{h: h, im: im, c: c, req: req, resp: resp}
	switch {
	case req.Topics == nil || req.Version == 0 && len(req.Topics) == 0:
		resp.Topics = make([]kmsg.MetadataResponseTopic, 0, im.NumTopics())
		for t := range im.Topics() {
			a.known(t)
		}
	case asksByID(req):
		a.byIDs()
	default:
		a.byNames(ctx)
	}
	resp.ClusterID, resp.ControllerID = &im.ClusterID, im.ControllerID
	for b := range im.Brokers() {
		if e, ok := b.Endpoint(c.Listener); ok {
			out := kmsg.NewMetadataResponseBroker()
			out.NodeID, out.Host, out.Port, out.Rack = b.ID, e.Host, e.Port, rackOf(b)
			resp.Brokers = append(resp.Brokers, out)
		}
	}
	if req.IncludeClusterAuthorizedOperations {
		resp.AuthorizedOperations = clusterOperations
	}
	return server.Now(resp)
}

// The operations that everybody may do while there is no authorizer, as bits.
const (
	clusterOperations = 8096
	topicOperations   = 3576
)

func rackOf(b *image.Broker) *string {
	if b.Rack == "" {
		return nil
	}
	return &b.Rack
}

func asksByID(req *kmsg.MetadataRequest) bool {
	for i := range req.Topics {
		if req.Topics[i].TopicID != [16]byte{} {
			return true
		}
	}
	return false
}

// metadataProblem finds what fails a whole request.
func metadataProblem(req *kmsg.MetadataRequest) *kerr.Error {
	byID := asksByID(req)
	for i := range req.Topics {
		nameless := req.Topics[i].Topic == nil
		switch {
		case req.Version < 12 && (byID || nameless):
			return kerr.InvalidRequest
		case nameless && !byID:
			return kerr.UnknownServerError
		}
	}
	return nil
}

func refuseMetadata(req *kmsg.MetadataRequest, resp *kmsg.MetadataResponse, code *kerr.Error) {
	for i := range req.Topics {
		name := ""
		if req.Topics[i].Topic != nil {
			name = strings.Clone(*req.Topics[i].Topic)
		}
		resp.Topics = append(resp.Topics, absentTopic(&name, req.Topics[i].TopicID, code))
	}
	if req.Version >= 13 {
		resp.ErrorCode = code.Code
	}
}

func absentTopic(name *string, id [16]byte, code *kerr.Error) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.ErrorCode = name, id, code.Code
	t.Partitions = []kmsg.MetadataResponseTopicPartition{}
	t.AuthorizedOperations = math.MinInt32
	if name != nil {
		t.IsInternal = isInternalTopic(*name)
	}
	return t
}

// metadataAnswer fills an answer from one image.
type metadataAnswer struct {
	h    *Handlers
	im   *image.Image
	c    *server.Call
	req  *kmsg.MetadataRequest
	resp *kmsg.MetadataResponse
}

func (a *metadataAnswer) byIDs() {
	var seen places[[16]byte]
	var found []*image.Topic
	for i := range a.req.Topics {
		id := a.req.Topics[i].TopicID
		if _, again := seen.of(id); again || id == ([16]byte{}) {
			continue
		}
		if t := a.im.TopicByID(id); t != nil {
			found = append(found, t)
		} else {
			a.resp.Topics = append(a.resp.Topics, absentTopic(nil, id, kerr.UnknownTopicID))
		}
	}
	for _, t := range found {
		a.known(t)
	}
}

func (a *metadataAnswer) byNames(ctx context.Context) {
	var seen places[string]
	var missing []string
	for i := range a.req.Topics {
		name := *a.req.Topics[i].Topic
		if _, again := seen.of(name); again {
			continue
		}
		if t := a.im.Topic(name); t != nil {
			a.known(t)
		} else {
			missing = append(missing, strings.Clone(name))
		}
	}
	if len(missing) > 0 {
		a.missing(ctx, missing)
	}
}

// missing answers names that no topic has, creating topics if the request and the
// broker allow it.
func (a *metadataAnswer) missing(ctx context.Context, missing []string) {
	create := a.req.Version < 4 || a.req.AllowAutoTopicCreation
	settings := a.h.static.BrokerAt(a.h.configs().dynamic())
	var wanted []string
	codes := make(map[string]*kerr.Error, len(missing))
	for _, name := range missing {
		switch {
		case controller.CheckName(name) != nil:
			codes[name] = kerr.InvalidTopicException
		case create && settings.AutoCreateTopics:
			wanted = append(wanted, name)
		default:
			codes[name] = kerr.UnknownTopicOrPartition
			if a.req.Version < 4 {
				codes[name] = kerr.LeaderNotAvailable
			}
		}
	}
	a.h.autoCreate(ctx, &settings, wanted, codes)
	for _, name := range missing {
		code := codes[name]
		if a.req.Version >= 13 && (code == kerr.LeaderNotAvailable || code == kerr.InvalidTopicException && controller.CheckName(name) == nil) {
			code = kerr.UnknownTopicOrPartition
		}
		t := absentTopic(&name, [16]byte{}, code)
		a.operations(&t)
		a.resp.Topics = append(a.resp.Topics, t)
	}
}

func (a *metadataAnswer) operations(t *kmsg.MetadataResponseTopic) {
	t.AuthorizedOperations = math.MinInt32
	if a.req.IncludeTopicAuthorizedOperations {
		t.AuthorizedOperations = topicOperations
	}
}

// known adds a topic that is there.
func (a *metadataAnswer) known(t *image.Topic) {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic, out.TopicID, out.IsInternal = &t.Name, t.ID, isInternalTopic(t.Name)
	a.operations(&out)
	out.Partitions = make([]kmsg.MetadataResponseTopicPartition, 0, len(t.Partitions))
	for i := range t.Partitions {
		if t.Partitions[i].Known() {
			out.Partitions = append(out.Partitions, a.partition(int32(i), &t.Partitions[i]))
		}
	}
	a.resp.Topics = append(a.resp.Topics, out)
}

func (a *metadataAnswer) partition(n int32, p *image.Partition) kmsg.MetadataResponseTopicPartition {
	out := kmsg.NewMetadataResponseTopicPartition()
	out.Partition, out.Leader, out.LeaderEpoch = n, p.Leader, p.LeaderEpoch
	out.Replicas, out.ISR, out.OfflineReplicas = p.Replicas, p.ISR, p.Offline
	if a.req.Version == 0 { // which has no place for brokers that are down
		out.Replicas, out.ISR = a.reachable(p.Replicas), a.reachable(p.ISR)
	}
	if code := leaderProblem(a.im, p.Leader, a.c.Listener); code != nil {
		if code == kerr.ListenerNotFound && a.req.Version < 6 {
			code = kerr.LeaderNotAvailable
		}
		out.ErrorCode, out.Leader = code.Code, -1
		return out
	}
	if len(out.Replicas) < len(p.Replicas) || len(out.ISR) < len(p.ISR) {
		out.ErrorCode = kerr.ReplicaNotAvailable.Code
	}
	return out
}

// leaderProblem says why clients of a listener cannot reach a leader.
func leaderProblem(im *image.Image, leader int32, listener string) *kerr.Error {
	b := im.Broker(leader)
	if b == nil {
		return kerr.LeaderNotAvailable
	}
	if _, ok := b.Endpoint(listener); !ok {
		return kerr.ListenerNotFound
	}
	return nil
}

// reachable are the brokers that have the call's listener.
func (a *metadataAnswer) reachable(ids []int32) []int32 {
	out := make([]int32, 0, len(ids))
	for _, id := range ids {
		if leaderProblem(a.im, id, a.c.Listener) == nil {
			out = append(out, id)
		}
	}
	return out
}
