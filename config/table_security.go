package config

// securitySettings are about authorization, policies, delegation tokens and stored passwords.
var securitySettings = []Setting{
	{"alter.config.policy.class.name", Class, null, nil, Low, ReadOnly, Later, "Java class that may refuse changes of configs."},
	{"authorizer.class.name", String, "", nil, Low, ReadOnly, Later, "Class that decides who may do what. kafka.security.authorizer.AclAuthorizer keeps ACLs in ZooKeeper."},
	{"create.topic.policy.class.name", Class, null, nil, Low, ReadOnly, Later, "Java class that may refuse new topics."},
	{"delegation.token.expiry.check.interval.ms", Long, "3600000", atLeast(1), Low, ReadOnly, Later, "How often expired delegation tokens are looked for."},
	{"delegation.token.expiry.time.ms", Long, "86400000", atLeast(1), Medium, ReadOnly, Later, "How long a delegation token lasts unless it is renewed."},
	{"delegation.token.master.key", Password, null, nil, Medium, ReadOnly, Later, "Old name of delegation.token.secret.key."},
	{"delegation.token.max.lifetime.ms", Long, "604800000", atLeast(1), Medium, ReadOnly, Later, "Longest life of a delegation token, renewals included."},
	{"delegation.token.secret.key", Password, null, nil, Medium, ReadOnly, Later, "Secret that signs delegation tokens, the same on all brokers."},
	{"password.encoder.cipher.algorithm", String, "AES/CBC/PKCS5Padding", nil, Low, ReadOnly, Later, "Cipher for passwords among dynamic configs."},
	{"password.encoder.iterations", Int, "4096", atLeast(1024), Low, ReadOnly, Later, "Iterations of the key derivation for that cipher."},
	{"password.encoder.key.length", Int, "128", atLeast(8), Low, ReadOnly, Later, "Key length of that cipher."},
	{"password.encoder.keyfactory.algorithm", String, null, nil, Low, ReadOnly, Later, "Key derivation for that cipher."},
	{"password.encoder.old.secret", Password, null, nil, Medium, ReadOnly, Later, "The secret used before, to read passwords that it encrypted."},
	{"password.encoder.secret", Password, null, nil, Medium, ReadOnly, Later, "Secret that encrypts passwords among dynamic configs."},
	{"principal.builder.class", Class, "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", nil, Medium, PerBroker, Later, "Class that makes a principal of a connection's identity."},
	{"security.providers", String, null, nil, Low, ReadOnly, Reported, "Classes that add security algorithms to the JVM."},
}
