package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"barnabas/broker"
	"barnabas/config"
	"barnabas/internal/clock"
)

// serveFlags is what the command line of serve says.
type serveFlags struct {
	overrides []string
	logFormat string
	logLevel  string
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [server.properties]",
		Short: "Run a broker",
		Long: `Run a broker until SIGTERM or SIGINT. A second signal exits at once.

Without a file it listens on PLAINTEXT://127.0.0.1:9092, keeps its data in
./data and needs no other process. With one it takes the keys of a Kafka 3.9
server.properties. A value comes from the first of: --override, environment
(KAFKA_LISTENERS means listeners), file, default.`,
		Example: `  barnabas serve
  barnabas serve /etc/kafka/server.properties
  barnabas serve --override listeners=PLAINTEXT://:9092 --override log.dirs=/var/lib/barnabas`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return serve(cmd.Context(), file, f)
		},
	}
	cmd.Flags().StringArrayVar(&f.overrides, "override", nil, "set one key, as `key=value`; may be repeated")
	cmd.Flags().StringVar(&f.logFormat, "log-format", "console", "how log lines look: console or json")
	cmd.Flags().StringVar(&f.logLevel, "log-level", "info", "least level that is logged: debug, info, warn or error")
	return cmd
}

// serve loads the configuration, runs the broker and stops it on a signal.
func serve(ctx context.Context, file string, f serveFlags) error {
	log, level, err := newLogger(f)
	if err != nil {
		return err
	}
	static, warnings, err := config.Load(config.LoadOptions{File: file, Env: os.Environ(), Overrides: f.overrides})
	if err != nil {
		return err
	}
	for _, w := range warnings {
		log.Warn(w)
	}
	tuneGC()

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watchSignals(log, stop)

	b, err := broker.Open(ctx, broker.Options{
		Static:   static,
		Logger:   log,
		LogLevel: level,
		Clock:    clock.System(),
		Version:  versionString(),
	})
	if err != nil {
		return err
	}
	go func() {
		select {
		case <-ctx.Done():
		case <-b.Ready():
			log.Info("ready", append(b.Describe(), zap.Int64("msSinceExec", sinceExec().Milliseconds()))...)
		}
	}()
	if err := b.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	log.Info("stopped")
	return nil
}

// watchSignals stops the broker on the first SIGTERM or SIGINT and ends the
// process on the second.
func watchSignals(log *zap.Logger, stop context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		s := <-signals
		log.Info("stopping: finishing requests in flight, flushing (a second signal exits at once)", zap.Stringer("signal", s))
		stop()
		s = <-signals
		log.Warn("exiting at once: the next start recovers the logs", zap.Stringer("signal", s))
		os.Exit(1)
	}()
}

// newLogger builds the broker's logger on standard error.
func newLogger(f serveFlags) (*zap.Logger, zap.AtomicLevel, error) {
	level, err := zap.ParseAtomicLevel(f.logLevel)
	if err != nil {
		return nil, level, fmt.Errorf("--log-level %q: use debug, info, warn or error", f.logLevel)
	}
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.ISO8601TimeEncoder
	var encoder zapcore.Encoder
	switch f.logFormat {
	case "json":
		encoder = zapcore.NewJSONEncoder(enc)
	case "console":
		enc.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(enc)
	default:
		return nil, level, fmt.Errorf("--log-format %q: use console or json", f.logFormat)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level)), level, nil
}

// tuneGC sets the collector for a small heap beside a large page cache, unless
// the environment says otherwise.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}

// sinceExec is how long ago the kernel started this process, to 10 ms.
func sinceExec() time.Duration {
	const ticksPerSecond = 100 // USER_HZ, the unit of /proc
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	const startTime = 19 // field 22 of proc_pid_stat(5); 19th after the name
	if len(fields) <= startTime {
		return 0
	}
	var ticks int64
	var up float64
	if _, err := fmt.Sscan(fields[startTime], &ticks); err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(uptime), &up); err != nil {
		return 0
	}
	return time.Duration((up - float64(ticks)/ticksPerSecond) * float64(time.Second))
}
