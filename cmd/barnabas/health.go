package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/clock"
)

// healthReport is what a healthy broker said.
type healthReport struct {
	Healthy      bool    `json:"healthy"`
	Address      string  `json:"address"`
	APIs         int     `json:"apis"`
	ClusterID    string  `json:"clusterId"`
	ControllerID int32   `json:"controllerId"`
	Brokers      int     `json:"brokers"`
	Milliseconds float64 `json:"milliseconds"`
}

func newHealth() *cobra.Command {
	var conn connection
	var out output
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Exit 0 if the broker answers clients",
		Long: `Ask the broker at --bootstrap for its API versions and for metadata, as any
client does first. Exit code 0: it answered both, and knows at least one live
broker. Exit code 1: it did not. The container image uses this as its health
check. Only the address given is asked, never one that it advertises.`,
		Example: `  barnabas health
  barnabas health --bootstrap broker:9092 --timeout 2s -o json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			return health(cmd, &conn, &out)
		},
	}
	conn.addFlags(cmd, 5*time.Second)
	out.addFlags(cmd)
	return cmd
}

func health(cmd *cobra.Command, conn *connection, out *output) error {
	ctx, stop := interruptible(cmd)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, conn.timeout)
	defer cancel()
	system := clock.System()
	start := system.Now()
	cl, err := conn.open(ctx, cmd)
	if err != nil {
		return err
	}
	defer cl.Close()
	report, err := ask(ctx, cl)
	if err != nil {
		return fmt.Errorf("%s is not healthy: %w", conn.bootstrap, err)
	}
	report.Address = conn.bootstrap
	report.Milliseconds = float64(system.Now().Sub(start).Microseconds()) / 1000
	if out.json() {
		return writeJSON(cmd.OutOrStdout(), report)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "healthy: %s answered in %.1f ms; cluster %s, controller %d, %d brokers, %d APIs\n",
		report.Address, report.Milliseconds, report.ClusterID, report.ControllerID, report.Brokers, report.APIs)
	return err
}

// ask sends ApiVersions and Metadata to the bootstrap address.
func ask(ctx context.Context, cl *kgo.Client) (healthReport, error) {
	seed := cl.SeedBrokers()[0]
	hello := kmsg.NewPtrApiVersionsRequest()
	hello.ClientSoftwareName = clientID
	hello.ClientSoftwareVersion = strings.ReplaceAll(versionString(), "+", "-") // Kafka takes letters, digits, "-" and "."
	answer, err := seed.Request(ctx, hello)
	if err != nil {
		return healthReport{}, fmt.Errorf("ask for ApiVersions: %w", err)
	}
	versions := answer.(*kmsg.ApiVersionsResponse)
	if err := kerr.ErrorForCode(versions.ErrorCode); err != nil {
		return healthReport{}, fmt.Errorf("ask for ApiVersions: %w", err)
	}
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{} // none: null would mean all
	answer, err = seed.Request(ctx, request)
	if err != nil {
		return healthReport{}, fmt.Errorf("ask for Metadata: %w", err)
	}
	metadata := answer.(*kmsg.MetadataResponse)
	if len(metadata.Brokers) == 0 {
		return healthReport{}, fmt.Errorf("the broker knows no live broker, not even itself: it is still starting, or has lost its metadata store")
	}
	report := healthReport{Healthy: true, APIs: len(versions.ApiKeys), ControllerID: metadata.ControllerID, Brokers: len(metadata.Brokers)}
	if metadata.ClusterID != nil {
		report.ClusterID = *metadata.ClusterID
	}
	return report, nil
}
