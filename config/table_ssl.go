package config

// sslSettings are about TLS.
var sslSettings = []Setting{
	{"ssl.allow.dn.changes", Boolean, "false", nil, Low, ReadOnly, Later, "Whether a new certificate of a listener may have another distinguished name."},
	{"ssl.allow.san.changes", Boolean, "false", nil, Low, ReadOnly, Later, "Whether a new certificate of a listener may have other alternative names."},
	{"ssl.cipher.suites", List, "", nil, Medium, PerBroker, Later, "Cipher suites offered. None: all that are supported."},
	{"ssl.client.auth", String, "none", oneOf("required", "requested", "none"), Medium, PerBroker, Later, "Whether clients must show a certificate: none, requested, required."},
	{"ssl.enabled.protocols", List, "TLSv1.2,TLSv1.3", nil, Medium, PerBroker, Later, "TLS versions offered."},
	{"ssl.endpoint.identification.algorithm", String, "https", nil, Low, PerBroker, Later, "How a server's name is checked against its certificate; empty is not at all."},
	{"ssl.engine.factory.class", Class, null, nil, Low, PerBroker, Later, "Class that makes TLS engines."},
	{"ssl.key.password", Password, null, nil, Medium, PerBroker, Later, "Password of the private key."},
	{"ssl.keymanager.algorithm", String, "SunX509", nil, Medium, PerBroker, Reported, "Algorithm of the JVM's key manager."},
	{"ssl.keystore.certificate.chain", Password, null, nil, Medium, PerBroker, Later, "Certificate chain in PEM."},
	{"ssl.keystore.key", Password, null, nil, Medium, PerBroker, Later, "Private key in PEM."},
	{"ssl.keystore.location", String, null, nil, Medium, PerBroker, Later, "File with the private key and certificates."},
	{"ssl.keystore.password", Password, null, nil, Medium, PerBroker, Later, "Password of that file."},
	{"ssl.keystore.type", String, "JKS", nil, Medium, PerBroker, Later, "Format of that file: JKS, PKCS12, PEM."},
	{"ssl.principal.mapping.rules", String, "DEFAULT", nil, Low, ReadOnly, Later, "Rules that turn a distinguished name into a short name."},
	{"ssl.protocol", String, "TLSv1.3", nil, Medium, PerBroker, Later, "TLS version of new contexts."},
	{"ssl.provider", String, null, nil, Medium, PerBroker, Reported, "Provider of the JVM's TLS."},
	{"ssl.secure.random.implementation", String, null, nil, Low, PerBroker, Reported, "Random source of the JVM's TLS."},
	{"ssl.trustmanager.algorithm", String, "PKIX", nil, Medium, PerBroker, Reported, "Algorithm of the JVM's trust manager."},
	{"ssl.truststore.certificates", Password, null, nil, Medium, PerBroker, Later, "Trusted certificates in PEM."},
	{"ssl.truststore.location", String, null, nil, Medium, PerBroker, Later, "File with the trusted certificates."},
	{"ssl.truststore.password", Password, null, nil, Medium, PerBroker, Later, "Password of that file."},
	{"ssl.truststore.type", String, "JKS", nil, Medium, PerBroker, Later, "Format of that file: JKS, PKCS12, PEM."},
}
