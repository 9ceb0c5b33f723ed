package server

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// errorCodes tells every error code of a response.
func errorCodes(resp kmsg.Response, count func(code int16)) {
	switch r := resp.(type) {
	case *kmsg.ProduceResponse:
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				count(r.Topics[i].Partitions[j].ErrorCode)
			}
		}
	case *kmsg.ListOffsetsResponse:
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				count(r.Topics[i].Partitions[j].ErrorCode)
			}
		}
	case *kmsg.MetadataResponse:
		count(r.ErrorCode)
		for i := range r.Topics {
			count(r.Topics[i].ErrorCode)
		}
	case *kmsg.FindCoordinatorResponse:
		count(r.ErrorCode)
		for i := range r.Coordinators {
			count(r.Coordinators[i].ErrorCode)
		}
	case *kmsg.ApiVersionsResponse:
		count(r.ErrorCode)
	case *kmsg.InitProducerIDResponse:
		count(r.ErrorCode)
	case *kmsg.DescribeClusterResponse:
		count(r.ErrorCode)
	case *kmsg.DescribeTopicPartitionsResponse:
		for i := range r.Topics {
			count(r.Topics[i].ErrorCode)
		}
	case *kmsg.DeleteRecordsResponse:
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				count(r.Topics[i].Partitions[j].ErrorCode)
			}
		}
	case *kmsg.OffsetForLeaderEpochResponse:
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				count(r.Topics[i].Partitions[j].ErrorCode)
			}
		}
	default:
		adminErrorCodes(resp, count)
	}
}

// adminErrorCodes is errorCodes for requests of administrators.
func adminErrorCodes(resp kmsg.Response, count func(code int16)) {
	switch r := resp.(type) {
	case *kmsg.CreateTopicsResponse:
		for i := range r.Topics {
			count(r.Topics[i].ErrorCode)
		}
	case *kmsg.DeleteTopicsResponse:
		for i := range r.Topics {
			count(r.Topics[i].ErrorCode)
		}
	case *kmsg.CreatePartitionsResponse:
		for i := range r.Topics {
			count(r.Topics[i].ErrorCode)
		}
	case *kmsg.DescribeConfigsResponse:
		for i := range r.Resources {
			count(r.Resources[i].ErrorCode)
		}
	case *kmsg.AlterConfigsResponse:
		for i := range r.Resources {
			count(r.Resources[i].ErrorCode)
		}
	case *kmsg.IncrementalAlterConfigsResponse:
		for i := range r.Resources {
			count(r.Resources[i].ErrorCode)
		}
	case *kmsg.DescribeLogDirsResponse:
		count(r.ErrorCode)
		for i := range r.Dirs {
			count(r.Dirs[i].ErrorCode)
		}
	}
}

// errorName is Kafka's name of an error code.
func errorName(code int16) string {
	if err, ok := kerr.ErrorForCode(code).(*kerr.Error); ok {
		return err.Message
	}
	return "NONE"
}
