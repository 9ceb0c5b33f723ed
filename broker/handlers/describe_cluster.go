package handlers

import (
	"context"
	"math"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

// The endpoints that DescribeCluster can be asked for.
const (
	brokerEndpoints     = 1
	controllerEndpoints = 2
)

// describeCluster answers DescribeCluster (key 60), versions 0-2 (KIP-700).
//
// Version 1 adds the kind of endpoints (KIP-919), 2 fenced brokers, which do not
// exist without KRaft.
//
// Errors: MISMATCHED_ENDPOINT_TYPE (controllers), UNSUPPORTED_ENDPOINT_TYPE.
func (h *Handlers) describeCluster(_ context.Context, c *server.Call, req *kmsg.DescribeClusterRequest) server.Reply {
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.ControllerID, resp.ClusterAuthorizedOperations, resp.EndpointType = -1, math.MinInt32, brokerEndpoints
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{}
	switch {
	case req.Version == 0 || req.EndpointType == brokerEndpoints:
	case req.EndpointType == controllerEndpoints:
		resp.ErrorCode = kerr.MismatchedEndpointType.Code
		resp.ErrorMessage = kmsg.StringPtr("The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER")
		return server.Now(resp)
	default:
		resp.ErrorCode = kerr.UnsupportedEndpointType.Code
		resp.ErrorMessage = kmsg.StringPtr("Unsupported endpoint type " + strconv.Itoa(int(req.EndpointType)))
		return server.Now(resp)
	}
	im := h.meta.Image()
	resp.ClusterID = im.ClusterID
	for b := range im.Brokers() {
		if e, ok := b.Endpoint(c.Listener); ok {
			out := kmsg.NewDescribeClusterResponseBroker()
			out.NodeID, out.Host, out.Port, out.Rack = b.ID, e.Host, e.Port, rackOf(b)
			resp.Brokers = append(resp.Brokers, out)
			if b.ID == im.ControllerID { // none that cannot be found in the list
				resp.ControllerID = b.ID
			}
		}
	}
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	return server.Now(resp)
}
