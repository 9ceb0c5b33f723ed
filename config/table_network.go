package config

// networkSettings are about listeners, connections and requests.
var networkSettings = []Setting{
	{"advertised.listeners", String, null, nil, High, PerBroker, Acts, "Addresses that clients are told to connect to, if they are not those of listeners."},
	{"connections.max.idle.ms", Long, "600000", nil, Medium, ReadOnly, Acts, "A connection without traffic for this long is closed."},
	{"connection.failed.authentication.delay.ms", Int, "100", atLeast(0), Low, ReadOnly, Later, "Pause before the answer to a failed authentication, against guessing."},
	{"connections.max.reauth.ms", Long, "0", nil, Medium, ReadOnly, Later, "How long an authentication is good for; 0 is for ever. A client that does not renew it is disconnected."},
	{"control.plane.listener.name", String, null, nil, High, ReadOnly, Later, "Listener on which the controller reaches the brokers, apart from data."},
	{"inter.broker.listener.name", String, null, nil, Medium, ReadOnly, Later, "Listener that brokers use among themselves."},
	{"listener.security.protocol.map", String, "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", nil, Low, PerBroker, Acts, "Which security protocol each listener name stands for."},
	{"listeners", String, "PLAINTEXT://127.0.0.1:9092", nil, High, PerBroker, Acts, "Addresses to listen on, as name://host:port, separated by commas. No host: all addresses. Port 0: any free one."},
	{"max.connection.creation.rate", Int, "2147483647", atLeast(0), Medium, ClusterWide, Later, "Most new connections a second."},
	{"max.connections", Int, "2147483647", atLeast(0), Medium, ClusterWide, Acts, "Most connections at a time."},
	{"max.connections.per.ip", Int, "2147483647", atLeast(0), Medium, ClusterWide, Acts, "Most connections at a time from one address."},
	{"max.connections.per.ip.overrides", String, "", nil, Medium, ClusterWide, Acts, "Other limits for some hosts or addresses, as host:limit, separated by commas."},
	{"num.network.threads", Int, "3", atLeast(1), High, ClusterWide, Reported, "Threads of Kafka that read and write sockets, for each listener. Goroutines need none; the value is only reported."},
	{"queued.max.request.bytes", Long, "-1", nil, Medium, ReadOnly, Reported, "Most bytes of requests that wait in Kafka's queue. Here barnabas.request.memory.bytes bounds them."},
	{"queued.max.requests", Int, "500", atLeast(1), High, ReadOnly, Reported, "Most requests that wait in Kafka's queue. There is no such queue here."},
	{"security.inter.broker.protocol", String, "PLAINTEXT", oneOf("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"), Medium, ReadOnly, Later, "Security protocol between brokers, if inter.broker.listener.name does not name a listener."},
	{"socket.connection.setup.timeout.max.ms", Long, "30000", nil, Medium, ReadOnly, Later, "Longest wait for a connection to another broker after several failures."},
	{"socket.connection.setup.timeout.ms", Long, "10000", nil, Medium, ReadOnly, Later, "Wait for a connection to another broker at the first try."},
	{"socket.listen.backlog.size", Int, "50", atLeast(1), Medium, ReadOnly, Reported, "Connections that may wait to be accepted. Here the system decides."},
	{"socket.receive.buffer.bytes", Int, "102400", nil, High, ReadOnly, Later, "Receive buffer (SO_RCVBUF) of client sockets; -1 leaves it to the system."},
	{"socket.request.max.bytes", Int, "104857600", atLeast(1), High, ReadOnly, Acts, "Largest request accepted. A larger one closes the connection."},
	{"socket.send.buffer.bytes", Int, "102400", nil, High, ReadOnly, Later, "Send buffer (SO_SNDBUF) of client sockets; -1 leaves it to the system."},
}
