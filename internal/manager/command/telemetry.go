package command

import (
	"fairlead.dev/fairlead/internal/manager"

	"github.com/spf13/pflag"
)

// addTelemetry adds the flags of what the manager tells of itself.
func addTelemetry(flags *pflag.FlagSet, o *manager.Options) {
	flags.StringVar(&o.MetricsAddress, "metrics-address", "", "host:port to serve /metrics, /healthz and /debug/pprof on, 0 for none (default: :8443 with --tls-cert, else none)")
	flags.StringVar(&o.MetricsTLS.Certificate, "tls-cert", "", "PEM file with the certificate of metrics-address, which is HTTPS then; taken over when it changes")
	flags.StringVar(&o.MetricsTLS.Key, "tls-key", "", "PEM file with the key of tls-cert")
	flags.StringVar(&o.MetricsTLS.ClientCA, "client-ca", "", "PEM file with the authorities whose clients may read /debug/pprof; needs tls-cert")
	flags.BoolVar(&o.Debug, "debug", false, "log as with -v 1, and without TLS let everybody read /debug/pprof")
}
