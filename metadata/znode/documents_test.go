package znode_test

import (
	"errors"
	"reflect"
	"testing"

	"barnabas/metadata/znode"
)

// both makes a function that takes a document of any type out of a decoder.
func both[T any](decode func([]byte) (T, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) { return decode(b) }
}

// TestGoldenOfTheRest: the documents that a single broker does not need.
func TestGoldenOfTheRest(t *testing.T) {
	t.Parallel()
	parts := []znode.TopicPartition{{Topic: "t", Partition: 0}}
	move := []znode.Reassignment{{TopicPartition: parts[0], Replicas: []int32{1, 2}}}
	change := &znode.ACLChange{ResourceType: "TOPIC", Name: "n", PatternType: "PREFIXED"}
	literal := &znode.ACLChange{ResourceType: "TOPIC", Name: "a:b", PatternType: "LITERAL"}
	token := &znode.DelegationToken{
		Owner: "User:o", TokenRequester: "User:r", Renewers: []string{"User:x"}, IssueMs: 1, MaxMs: 3, ExpiryMs: 2, TokenID: "i",
	}
	migration := &znode.Migration{ControllerID: 3000, ControllerEpoch: 2, MetadataOffset: 100, MetadataEpoch: 1}
	subscription := &znode.Subscription{Topics: map[string]int{"t": 1}, Pattern: "static", Timestamp: "9"}
	features := &znode.Features{Enabled: true, Levels: map[string]int16{"f": 1}}
	for _, c := range []struct {
		name, want string
		got        []byte
		doc        any
		decode     func([]byte) (any, error)
	}{
		{
			"preferred election", `{"version":1,"partitions":[{"topic":"t","partition":0}]}`,
			znode.EncodePartitions(parts), parts, both(znode.DecodePartitions),
		},
		{
			"reassignment", `{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}`,
			znode.EncodeReassignments(move), move, both(znode.DecodeReassignments),
		},
		{
			"extended acl change", `{"version":1,"resourceType":"TOPIC","name":"n","patternType":"PREFIXED"}`, change.Encode(), change,
			func(b []byte) (any, error) { return znode.DecodeACLChange(b, true) },
		},
		{"acl change", `TOPIC:a:b`, literal.Encode(), literal, func(b []byte) (any, error) { return znode.DecodeACLChange(b, false) }},
		{
			"token", `{"version":3,"owner":"User:o","tokenRequester":"User:r","renewers":["User:x"],"issueTimestamp":1,"maxTimestamp":3,"expiryTimestamp":2,"tokenId":"i"}`,
			token.Encode(), token, both(znode.DecodeDelegationToken),
		},
		{
			"migration", `{"version":0,"kraft_controller_id":3000,"kraft_controller_epoch":2,"kraft_metadata_offset":100,"kraft_metadata_epoch":1}`,
			migration.Encode(), migration, both(znode.DecodeMigration),
		},
		{
			"subscription", `{"version":1,"subscription":{"t":1},"pattern":"static","timestamp":"9"}`,
			subscription.Encode(), subscription, both(znode.DecodeSubscription),
		},
		{
			"features", `{"version":2,"status":1,"features":{"f":{"max_version_level":1}}}`,
			znode.EncodeFeatures(features), features, both(znode.DecodeFeatures),
		},
		{"offset", `42`, znode.EncodeConsumerOffset(42), int64(42), both(znode.DecodeConsumerOffset)},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, c.got, c.want)
		}
		if got, err := c.decode([]byte(c.want)); err != nil || !reflect.DeepEqual(got, c.doc) {
			t.Errorf("%s: read %+v, %v; want %+v", c.name, got, err, c.doc)
		}
	}
}

func TestMalformedDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, decode := range map[string]func([]byte) (any, error){
		"partitions": both(znode.DecodePartitions), "reassignments": both(znode.DecodeReassignments), "token": both(znode.DecodeDelegationToken),
		"migration": both(znode.DecodeMigration), "subscription": both(znode.DecodeSubscription), "features": both(znode.DecodeFeatures),
		"offset": both(znode.DecodeConsumerOffset), "log dir event": both(znode.DecodeLogDirEvent), "topic": both(znode.DecodeTopic),
		"state": both(znode.DecodePartitionState), "broker": both(znode.DecodeBroker), "controller": both(znode.DecodeController),
		"epoch": both(znode.DecodeControllerEpoch), "cluster": both(znode.DecodeClusterID), "config": both(znode.DecodeConfig),
		"config change": both(znode.DecodeConfigChange), "producer ids": both(znode.DecodeProducerIDBlock),
		"acl change": func(b []byte) (any, error) { return znode.DecodeACLChange(b, true) },
	} {
		for _, data := range []string{`{`, `[1]`, `"x"`, `{"version":"x"`} {
			if got, err := decode([]byte(data)); !errors.Is(err, znode.ErrMalformed) {
				t.Errorf("%s read %q as %+v, %v", name, data, got, err)
			}
		}
	}
}

func TestPathsAreKafkas(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		znode.BrokerPath(1):                            "/brokers/ids/1",
		znode.TopicPath("t"):                           "/brokers/topics/t",
		znode.PartitionsPath("t"):                      "/brokers/topics/t/partitions",
		znode.PartitionPath("t", 3):                    "/brokers/topics/t/partitions/3",
		znode.PartitionStatePath("t", 3):               "/brokers/topics/t/partitions/3/state",
		znode.DeleteTopicPath("t"):                     "/admin/delete_topics/t",
		znode.EntityConfigPath(znode.Topics, "t"):      "/config/topics/t",
		znode.UserClientConfigPath("u", "c"):           "/config/users/u/clients/c",
		znode.ConfigChangePrefix():                     "/config/changes/config_change_",
		znode.ISRChangePrefix():                        "/isr_change_notification/isr_change_",
		znode.LogDirEventPrefix():                      "/log_dir_event_notification/log_dir_event_",
		znode.ACLChangePrefix(true):                    "/kafka-acl-changes/acl_changes_",
		znode.ACLChangePrefix(false):                   "/kafka-acl-extended-changes/acl_changes_",
		znode.DelegationTokenChangePrefix():            "/delegation_token/token_changes/token_change_",
		znode.ResourceACLPath(true, "Topic", "n"):      "/kafka-acl/Topic/n",
		znode.ResourceACLPath(false, "Topic", "n"):     "/kafka-acl-extended/prefixed/Topic/n",
		znode.DelegationTokenPath("i"):                 "/delegation_token/tokens/i",
		znode.ConsumerIDPath("g", "c"):                 "/consumers/g/ids/c",
		znode.ConsumerOwnerPath("g", "t", 1):           "/consumers/g/owners/t/1",
		znode.ConsumerOffsetPath("g", "t", 1):          "/consumers/g/offsets/t/1",
		znode.EntityConfigPath("brokers", "<default>"): "/config/brokers/<default>",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
