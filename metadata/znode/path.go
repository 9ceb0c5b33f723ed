package znode

import (
	"strconv"
	"strings"
)

// The paths that are the same in every cluster.
const (
	ClusterPath                 = "/cluster"
	ClusterIDPath               = "/cluster/id"
	BrokersPath                 = "/brokers"
	BrokerIDsPath               = "/brokers/ids"
	BrokerSequencePath          = "/brokers/seqid"
	TopicsPath                  = "/brokers/topics"
	ControllerPath              = "/controller"
	ControllerEpochPath         = "/controller_epoch"
	ConfigPath                  = "/config"
	ConfigChangesPath           = "/config/changes"
	AdminPath                   = "/admin"
	DeleteTopicsPath            = "/admin/delete_topics"
	ReassignPartitionsPath      = "/admin/reassign_partitions"
	PreferredElectionPath       = "/admin/preferred_replica_election"
	ISRChangesPath              = "/isr_change_notification"
	LogDirEventsPath            = "/log_dir_event_notification"
	ACLPath                     = "/kafka-acl"
	ExtendedACLPath             = "/kafka-acl-extended"
	ACLChangesPath              = "/kafka-acl-changes"
	ExtendedACLChangesPath      = "/kafka-acl-extended-changes"
	DelegationTokensPath        = "/delegation_token/tokens"
	DelegationTokenChangesPath  = "/delegation_token/token_changes"
	ProducerIDBlockPath         = "/latest_producer_id_block"
	FeaturePath                 = "/feature"
	MigrationPath               = "/migration"
	ConsumersPath               = "/consumers"
	configChangePrefix          = ConfigChangesPath + "/config_change_"
	isrChangePrefix             = ISRChangesPath + "/isr_change_"
	logDirEventPrefix           = LogDirEventsPath + "/log_dir_event_"
	aclChangePrefix             = ACLChangesPath + "/acl_changes_"
	extendedACLChangePrefix     = ExtendedACLChangesPath + "/acl_changes_"
	delegationTokenChangePrefix = DelegationTokenChangesPath + "/token_change_"
)

// DefaultEntity is the name under /config of what holds for all of a kind.
const DefaultEntity = "<default>"

// The kinds of entities under /config.
const (
	Topics  = "topics"
	Brokers = "brokers"
	Users   = "users"
	Clients = "clients"
	IPs     = "ips"
)

// PersistentPaths are the znodes that every broker makes at its start if they
// are missing, parents first.
func PersistentPaths() []string {
	return []string{
		ConsumersPath, BrokersPath, BrokerIDsPath, TopicsPath, ConfigPath, ConfigChangesPath, AdminPath, DeleteTopicsPath,
		BrokerSequencePath, ISRChangesPath, ProducerIDBlockPath, LogDirEventsPath,
		ConfigKindPath(Topics), ConfigKindPath(Clients), ConfigKindPath(Users), ConfigKindPath(Brokers), ConfigKindPath(IPs),
	}
}

// BrokerPath is where a broker is registered.
func BrokerPath(id int32) string { return BrokerIDsPath + "/" + decimal(id) }

// TopicPath is a topic's assignment.
func TopicPath(topic string) string { return TopicsPath + "/" + topic }

// PartitionsPath is the parent of a topic's partitions.
func PartitionsPath(topic string) string { return TopicPath(topic) + "/partitions" }

// PartitionPath is the parent of a partition's state.
func PartitionPath(topic string, partition int32) string {
	return PartitionsPath(topic) + "/" + decimal(partition)
}

// PartitionStatePath is a partition's state.
func PartitionStatePath(topic string, partition int32) string {
	return PartitionPath(topic, partition) + "/state"
}

// DeleteTopicPath asks for a topic's deletion.
func DeleteTopicPath(topic string) string { return DeleteTopicsPath + "/" + topic }

// ConfigKindPath is the parent of the settings of a kind of entity.
func ConfigKindPath(kind string) string { return ConfigPath + "/" + kind }

// EntityConfigPath is an entity's settings.
func EntityConfigPath(kind, name string) string { return ConfigPath + "/" + kind + "/" + name }

// UserClientConfigPath is what holds for a user's client; both names sanitised.
func UserClientConfigPath(user, client string) string {
	return EntityConfigPath(Users, user) + "/clients/" + client
}

// ConfigChangePrefix is what a sequential notification of changed settings is
// created with.
func ConfigChangePrefix() string { return configChangePrefix }

// ISRChangePrefix is that of a notification of changed ISRs.
func ISRChangePrefix() string { return isrChangePrefix }

// LogDirEventPrefix is that of a notification of a log directory's failure.
func LogDirEventPrefix() string { return logDirEventPrefix }

// ACLChangePrefix is that of a changed ACL, by whether its pattern is literal.
func ACLChangePrefix(literal bool) string {
	if literal {
		return aclChangePrefix
	}
	return extendedACLChangePrefix
}

// DelegationTokenChangePrefix is that of a changed delegation token.
func DelegationTokenChangePrefix() string { return delegationTokenChangePrefix }

// ResourceACLPath is the ACL of a resource. resourceType is Topic, Group,
// Cluster, TransactionalId, DelegationToken or User.
func ResourceACLPath(literal bool, resourceType, name string) string {
	if literal {
		return ACLPath + "/" + resourceType + "/" + name
	}
	return ExtendedACLPath + "/prefixed/" + resourceType + "/" + name
}

// DelegationTokenPath is what is kept of a delegation token.
func DelegationTokenPath(id string) string { return DelegationTokensPath + "/" + id }

// ConsumerIDPath, ConsumerOwnerPath and ConsumerOffsetPath are those of the old
// high-level consumer.
func ConsumerIDPath(group, id string) string { return ConsumersPath + "/" + group + "/ids/" + id }

// ConsumerOwnerPath says which thread of a group consumes a partition.
func ConsumerOwnerPath(group, topic string, partition int32) string {
	return ConsumersPath + "/" + group + "/owners/" + topic + "/" + decimal(partition)
}

// ConsumerOffsetPath is a group's offset as OffsetCommit 0 keeps it.
func ConsumerOffsetPath(group, topic string, partition int32) string {
	return ConsumersPath + "/" + group + "/offsets/" + topic + "/" + decimal(partition)
}

// SequenceNumber is the number in the name of a sequential znode, -1 if it has
// none.
func SequenceNumber(name string) int64 {
	const digits = 10
	if len(name) < digits {
		return -1
	}
	n, err := strconv.ParseInt(name[strings.LastIndexByte(name, '_')+1:], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func decimal(n int32) string { return strconv.FormatInt(int64(n), 10) }
