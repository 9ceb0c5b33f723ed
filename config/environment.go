package config

import (
	"slices"
	"strings"
)

// toolVariables begin with KAFKA_ but configure Kafka's scripts and image, not
// the broker.
var toolVariables = nameSet(
	"KAFKA_VERSION", "KAFKA_HEAP_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_OPTS", "KAFKA_JMX_OPTS", "KAFKA_JMX_PORT", "KAFKA_JMX_HOSTNAME",
	"KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_LOG4J_LOGGERS", "KAFKA_TOOLS_LOG4J_LOGLEVEL",
	"KAFKA_HOME", "KAFKA_DEBUG", "KAFKA_CLUSTER_ID", "KAFKA_PORT", "KAFKA_HOST", "KAFKA_USER",
)

// serviceVariable tells whether Kubernetes made a variable for a service that
// is named kafka. Pods get them without asking.
func serviceVariable(name string) bool {
	rest, ok := strings.CutPrefix(name, "KAFKA_")
	return ok && (strings.HasPrefix(rest, "SERVICE_") || strings.HasPrefix(rest, "PORT_"))
}

// fromEnvironment reads settings from variables, by the rule of the
// apache/kafka image: after the prefix, _ is a dot, __ an underscore and ___ a
// dash. BARNABAS_ works likewise and gives settings of our own.
func fromEnvironment(env []string) []assignment {
	var out []assignment
	for _, e := range slices.Sorted(slices.Values(env)) {
		name, text, ok := strings.Cut(e, "=")
		if !ok || toolVariables[name] || serviceVariable(name) {
			continue
		}
		key := ""
		if rest, ok := strings.CutPrefix(name, "KAFKA_"); ok {
			key = variableKey(rest)
		} else if rest, ok := strings.CutPrefix(name, "BARNABAS_"); ok {
			key = variableKey(rest)
			if key != "" {
				key = ownPrefix + key
			}
		}
		if key != "" {
			out = append(out, assignment{key, text, Origin{Variable: name}})
		}
	}
	return out
}

// mixedCase are the settings whose names have capitals, which variables lose.
var mixedCase = map[string]string{"zookeeper.clientcnxnsocket": "zookeeper.clientCnxnSocket"}

func variableKey(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "_", ".")
	s = strings.ReplaceAll(s, "...", "-")
	s = strings.ReplaceAll(s, "..", "_")
	if k, ok := mixedCase[s]; ok {
		return k
	}
	return s
}
