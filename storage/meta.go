package storage

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	metaFile              = "meta.properties"
	lockFile              = ".lock"
	cleanShutdownFile     = ".kafka_cleanshutdown"
	partitionMetadataFile = "partition.metadata"
)

// parseProperties reads key=value lines; '#' begins a comment.
func parseProperties(data []byte) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		m[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return m
}

// checkMeta holds meta.properties against the broker, or writes it.
func (d *logDir) checkMeta(brokerID int32, clusterID string) error {
	name := filepath.Join(d.path, metaFile)
	data, err := d.fs.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d.replaceFile(name, encodeMeta(brokerID, clusterID), true)
	}
	if err != nil {
		return err
	}
	m := parseProperties(data)
	if v := m["version"]; v != "0" {
		return fmt.Errorf("%s: version=%q, and this broker reads version 0: if it is a KRaft directory, start with another log.dirs", name, v)
	}
	if id := m["broker.id"]; id != "" && id != strconv.Itoa(int(brokerID)) {
		return fmt.Errorf("%s: the directory belongs to broker.id=%s, this broker is %d: start with --override broker.id=%s, or name another directory in log.dirs", name, id, brokerID, id)
	}
	if id := m["cluster.id"]; id != "" && clusterID != "" && id != clusterID {
		return fmt.Errorf("%s: the directory belongs to cluster.id=%s, the metadata store is of cluster %s: use the metadata store that belongs to it (barnabas.metadata.path), or name another directory in log.dirs", name, id, clusterID)
	}
	return nil
}

func encodeMeta(brokerID int32, clusterID string) []byte {
	return fmt.Appendf(nil, "version=0\nbroker.id=%d\ncluster.id=%s\n", brokerID, clusterID)
}

// ReadClusterID is the cluster id that a log directory carries, "" if none. A
// metadata store that is new takes it over.
func (o Options) ReadClusterID() string {
	for _, dir := range o.Dirs {
		if data, err := o.fs().ReadFile(filepath.Join(dir, metaFile)); err == nil {
			if id := parseProperties(data)["cluster.id"]; id != "" {
				return id
			}
		}
	}
	return ""
}

func encodePartitionMetadata(id [16]byte) []byte {
	return []byte("version: 0\ntopic_id: " + base64.RawURLEncoding.EncodeToString(id[:]))
}

func decodePartitionMetadata(data []byte) (id [16]byte, err error) {
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); key {
		case "version":
			if value != "0" {
				return id, fmt.Errorf("%w: %s of version %q", ErrCorrupt, partitionMetadataFile, value)
			}
		case "topic_id":
			b, err := base64.RawURLEncoding.DecodeString(value)
			if err != nil || len(b) != len(id) {
				return id, fmt.Errorf("%w: topic_id %q", ErrCorrupt, value)
			}
			return [16]byte(b), nil
		}
	}
	return id, fmt.Errorf("%w: %s without topic_id", ErrCorrupt, partitionMetadataFile)
}
