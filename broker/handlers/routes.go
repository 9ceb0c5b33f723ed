package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

// Routes is the table of APIs, in the order of their keys. A test holds it
// against protocol/api: what is advertised is answered, and nothing else.
func (h *Handlers) Routes() map[int16]server.Handler {
	return map[int16]server.Handler{
		kmsg.Produce.Int16():                 route(h.produce),
		kmsg.Fetch.Int16():                   route(h.fetch),
		kmsg.ListOffsets.Int16():             route(h.listOffsets),
		kmsg.Metadata.Int16():                route(h.metadata),
		kmsg.FindCoordinator.Int16():         route(h.findCoordinator),
		kmsg.ApiVersions.Int16():             route(h.apiVersions),
		kmsg.CreateTopics.Int16():            route(h.createTopics),
		kmsg.DeleteTopics.Int16():            route(h.deleteTopics),
		kmsg.DeleteRecords.Int16():           route(h.deleteRecords),
		kmsg.InitProducerID.Int16():          route(h.initProducerID),
		kmsg.OffsetForLeaderEpoch.Int16():    route(h.offsetForLeaderEpoch),
		kmsg.DescribeConfigs.Int16():         route(h.describeConfigs),
		kmsg.AlterConfigs.Int16():            route(h.alterConfigs),
		kmsg.DescribeLogDirs.Int16():         route(h.describeLogDirs),
		kmsg.CreatePartitions.Int16():        route(h.createPartitions),
		kmsg.IncrementalAlterConfigs.Int16(): route(h.incrementalAlterConfigs),
		kmsg.DescribeCluster.Int16():         route(h.describeCluster),
		kmsg.DescribeTopicPartitions.Int16(): route(h.describeTopicPartitions),
	}
}

// route gives a handler of one request type the server's shape. The server
// decodes by the API's key, so the type always fits.
func route[R kmsg.Request](handle func(context.Context, *server.Call, R) server.Reply) server.Handler {
	return func(ctx context.Context, c *server.Call, req kmsg.Request) server.Reply {
		return handle(ctx, c, req.(R))
	}
}
