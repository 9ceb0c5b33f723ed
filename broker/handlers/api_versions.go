package handlers

import (
	"context"
	"regexp"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/protocol/api"
)

// software is what a client's software name and version must look like
// (KIP-511).
var software = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)

// apiVersions answers ApiVersions (18), versions 0 to 5: 1 adds the throttle
// time, 3 is flexible and brings the client's software (KIP-511), 5 the cluster
// and node that the client believes to talk to (KIP-1242).
//
// A version above ours is answered in the layout of version 0 with
// UNSUPPORTED_VERSION and our range of this API alone; its body is not looked at,
// and the connection stays usable. INVALID_REQUEST for a software name that does
// not match, or one of cluster and node without the other; REBOOTSTRAP_REQUIRED
// for another cluster or node. We finalise no features.
func (h *Handlers) apiVersions(_ context.Context, c *server.Call, req *kmsg.ApiVersionsRequest) server.Reply {
	resp := kmsg.NewPtrApiVersionsResponse()
	if c.Unsupported {
		resp.ErrorCode = kerr.UnsupportedVersion.Code
		resp.ApiKeys = append(resp.ApiKeys, versionRange(api.Lookup(kmsg.ApiVersions.Int16())))
		return server.Now(resp)
	}
	if c.Version >= 3 && !(software.MatchString(req.ClientSoftwareName) && software.MatchString(req.ClientSoftwareVersion)) {
		resp.ErrorCode = kerr.InvalidRequest.Code
		return server.Now(resp)
	}
	if c.Version >= 5 {
		if resp.ErrorCode = h.sameCluster(req); resp.ErrorCode != 0 {
			return server.Now(resp)
		}
	}
	resp.ApiKeys = make([]kmsg.ApiVersionsResponseApiKey, 0, len(api.Table()))
	table := api.Table()
	for i := range table {
		resp.ApiKeys = append(resp.ApiKeys, versionRange(&table[i]))
	}
	return server.Now(resp)
}

// sameCluster is the error code of a client that wanted another cluster or node.
func (h *Handlers) sameCluster(req *kmsg.ApiVersionsRequest) int16 {
	wantsCluster, wantsNode := req.ClusterID != nil, req.NodeID >= 0
	switch {
	case wantsCluster != wantsNode:
		return kerr.InvalidRequest.Code
	case !wantsCluster:
		return 0
	case *req.ClusterID != h.meta.Image().ClusterID || req.NodeID != h.brokerID:
		return kerr.RebootstrapRequired.Code
	}
	return 0
}

func versionRange(a *api.API) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = a.Key, a.Min, a.Max
	return k
}
