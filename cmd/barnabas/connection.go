package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	clientID         = "barnabas-cli"
	bootstrapEnv     = "BARNABAS_BOOTSTRAP"
	defaultBootstrap = "127.0.0.1:9092"
	defaultPort      = "9092"
)

// connection is how a verb reaches the cluster: the flags that every verb which
// talks to a broker has.
type connection struct {
	bootstrap string
	timeout   time.Duration
}

// addFlags declares --bootstrap and --timeout on cmd and all below it.
func (c *connection) addFlags(cmd *cobra.Command, timeout time.Duration) {
	address := os.Getenv(bootstrapEnv)
	if address == "" {
		address = defaultBootstrap
	}
	cmd.PersistentFlags().StringVar(&c.bootstrap, "bootstrap", address,
		"brokers to ask first, as `host:port[,host:port]` (environment: "+bootstrapEnv+")")
	cmd.PersistentFlags().DurationVar(&c.timeout, "timeout", timeout, "how long to wait for an answer")
}

// seeds are the addresses of --bootstrap, each with a port.
func (c *connection) seeds(cmd *cobra.Command) ([]string, error) {
	source := "--bootstrap"
	if !cmd.Flags().Changed("bootstrap") && os.Getenv(bootstrapEnv) != "" {
		source = bootstrapEnv
	}
	var seeds []string
	for address := range strings.SplitSeq(c.bootstrap, ",") {
		address = strings.TrimSpace(address)
		if !strings.Contains(address, ":") && address != "" {
			address = net.JoinHostPort(address, defaultPort)
		}
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			return nil, usageErrorf(cmd, "%s %q: not host:port, such as %s", source, c.bootstrap, defaultBootstrap)
		}
		seeds = append(seeds, address)
	}
	if c.timeout <= 0 {
		return nil, usageErrorf(cmd, "--timeout %v: must be more than 0", c.timeout)
	}
	return seeds, nil
}

// open makes a client and sees that a broker answers it. Close it.
func (c *connection) open(ctx context.Context, cmd *cobra.Command, options ...kgo.Opt) (*kgo.Client, error) {
	seeds, err := c.seeds(cmd)
	if err != nil {
		return nil, err
	}
	options = append([]kgo.Opt{
		kgo.SeedBrokers(seeds...),
		kgo.ClientID(clientID),
		kgo.DialTimeout(c.timeout),
		kgo.RetryTimeout(c.timeout),
		kgo.MetadataMinAge(100 * time.Millisecond),
	}, options...)
	cl, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if err := cl.Ping(ctx); err != nil {
		cl.Close()
		return nil, c.unreachable(err)
	}
	return cl, nil
}

// unreachable words the failure to get a first answer.
func (c *connection) unreachable(err error) error {
	var why string
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &dns):
		why = fmt.Sprintf("no address known for host %q", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "connection refused"
	case errors.Is(err, context.DeadlineExceeded):
		why = fmt.Sprintf("no answer within %v", c.timeout)
	default:
		why = err.Error()
	}
	return fmt.Errorf("no broker answers at %s: %s. Is one running there ('barnabas serve')? Another address: --bootstrap or %s",
		c.bootstrap, why, bootstrapEnv)
}

// admin runs one short exchange: it opens a client, hands it to do, and bounds
// the whole by --timeout and by SIGINT and SIGTERM.
func (c *connection) admin(cmd *cobra.Command, do func(ctx context.Context, adm *kadm.Client, cl *kgo.Client) error) error {
	ctx, stop := interruptible(cmd)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cl, err := c.open(ctx, cmd)
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	adm.SetTimeoutMillis(int32(min(c.timeout.Milliseconds(), 1<<30)))
	err = do(ctx, adm, cl)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: no answer within %v: raise --timeout, or look at the broker's log: %w", c.bootstrap, c.timeout, err)
	}
	return err
}

// interruptible is a context that ends with SIGINT or SIGTERM. A second signal
// ends the process.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// refused words a broker's refusal: what was asked of what, Kafka's name for
// the error and what the broker said about it.
func refused(err error, message, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	var ke *kerr.Error
	if !errors.As(err, &ke) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if message == "" || message == ke.Message {
		message = ke.Description
	}
	if hint := remedy(ke); hint != "" {
		message = strings.TrimRight(message, ". ") + ". " + hint
	}
	return fmt.Errorf("%s: %s: %s", what, ke.Message, message)
}

// remedy is what a person can do about a broker's error.
func remedy(err *kerr.Error) string {
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return "See 'barnabas topic list'"
	case errors.Is(err, kerr.TopicAlreadyExists):
		return "Choose another name, or pass --if-not-exists"
	case errors.Is(err, kerr.InvalidReplicationFactor):
		return "Ask for no more replicas than there are brokers (--replication-factor)"
	case errors.Is(err, kerr.RequestTimedOut):
		return "Raise --timeout; the change may still happen"
	case errors.Is(err, kerr.MessageTooLarge):
		return "The topic's max.message.bytes is the bound ('barnabas config get topic NAME max.message.bytes')"
	}
	return ""
}

// failures gathers the errors of several things done by one command: all are
// tried, all are said.
type failures []error

func (f *failures) add(err error) { *f = append(*f, err) }

// err is nil when nothing failed.
func (f failures) err() error { return errors.Join(f...) }
