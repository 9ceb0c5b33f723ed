package config

import (
	"regexp"
	"slices"
	"strings"
)

// A refusal is a setting that asks for security or durability which is not
// built. Going on without it would be worse than not starting: the operator
// would believe in it. Empty and default values ask for nothing.
type refusal struct {
	reason   string
	harmless []string // further values that ask for nothing
}

const (
	noAuthorization = "authorization is not built yet, so every client could do everything"
	noPolicies      = "policies are Java classes and are not built, so what they forbid would be allowed"
	noSASL          = "SASL is not built yet, so clients would not be authenticated"
	noTLS           = "TLS is not built yet, so clients would not be authenticated and nothing would be encrypted"
	noTokens        = "delegation tokens are not built yet"
	noEncoder       = "passwords among dynamic configs are not built yet, so none could be read or encrypted"
	noRemote        = "remote storage is not built, so records that are or should be there would be missing"
	noProviders     = "config providers are not built, so the value would be taken literally"
)

// refusals are the settings that stop a start, by name.
var refusals = func() map[string]refusal {
	m := map[string]refusal{
		"authorizer.class.name":               {reason: noAuthorization},
		"super.users":                         {reason: noAuthorization},
		"allow.everyone.if.no.acl.found":      {reason: noAuthorization, harmless: []string{"true"}},
		"principal.builder.class":             {reason: "principals are not built yet, so rules about them would not hold"},
		"create.topic.policy.class.name":      {reason: noPolicies},
		"alter.config.policy.class.name":      {reason: noPolicies},
		"client.quota.callback.class":         {reason: "client quotas are not built yet, so clients would not be held back"},
		"connections.max.reauth.ms":           {reason: noSASL},
		"security.providers":                  {reason: "JVM security providers do not exist here, so the algorithms they add would be missing"},
		"security.inter.broker.protocol":      {reason: noTLS},
		"ssl.client.auth":                     {reason: noTLS},
		"ssl.engine.factory.class":            {reason: noTLS},
		"ssl.principal.mapping.rules":         {reason: noTLS},
		"delegation.token.secret.key":         {reason: noTokens},
		"delegation.token.master.key":         {reason: noTokens},
		"password.encoder.secret":             {reason: noEncoder},
		"password.encoder.old.secret":         {reason: noEncoder},
		"remote.log.storage.system.enable":    {reason: noRemote},
		"zookeeper.metadata.migration.enable": {reason: "there is no KRaft to migrate to"},
		"config.providers":                    {reason: noProviders},
	}
	for _, s := range saslSettings {
		if m[s.Name].reason == "" {
			m[s.Name] = refusal{reason: noSASL}
		}
	}
	return m
}()

// noZooKeeper is the reason why a broker with zookeeper.connect does not start.
const noZooKeeper = "clusters with ZooKeeper are not built yet, and a broker that ignored it would be a cluster of its own"

// refuse says why a value may not be ignored, and what to do; reason is empty
// if it may.
func refuse(key, raw string) (reason, remedy string) {
	base, special := key, false
	if b, ok := listenerOverride(key); ok {
		base, special = b, true
	}
	text := trim(raw)
	if base == "zookeeper.connect" && text != "" {
		return noZooKeeper, "to run a single broker with embedded metadata, remove it or start with --override zookeeper.connect="
	}
	if providerReference.MatchString(raw) {
		return noProviders, "write the value itself"
	}
	r, ok := refusals[base]
	if !ok && strings.HasPrefix(base, "config.providers.") {
		r, ok = refusals["config.providers"], true
	}
	if !ok || text == "" || slices.Contains(r.harmless, strings.ToLower(text)) {
		return "", ""
	}
	if s := brokerByName[base]; s != nil && s.HasDefault() {
		if v, problem := parse(s.Type, raw); problem == "" && v.text == s.defaultValue().text {
			return "", ""
		}
		if !special {
			return r.reason, "remove it or set it to its default, --override " + key + "=" + s.Default
		}
	}
	return r.reason, "remove it or set it to nothing, --override " + key + "="
}

// providerReference is a value that a config provider would replace, such as
// ${file:/run/secrets/kafka.properties:password}.
var providerReference = regexp.MustCompile(`\$\{[^}:]+:[^}]*\}`)

// listenerRefusal says why a listener cannot be served; empty if it can.
func listenerRefusal(l Listener) string {
	switch l.SecurityProtocol {
	case "PLAINTEXT":
		return ""
	case "SASL_PLAINTEXT":
		return "listener " + l.Name + " uses SASL_PLAINTEXT, but " + noSASL
	default:
		return "listener " + l.Name + " uses " + l.SecurityProtocol + ", but " + noTLS
	}
}
