package manager

import (
	"fairlead.dev/fairlead/internal/platform"

	"github.com/spf13/pflag"
)

// addTelemetryFlags adds the flags of what the manager tells of itself.
func addTelemetryFlags(flags *pflag.FlagSet, o *Options, c *platform.Choice) {
	flags.StringVar(&o.MetricsAddress, "metrics-address", "", "host:port to serve /metrics, /healthz and /debug/pprof on, 0 for none (default: :8443 with --tls-cert, else none)")
	flags.BoolVar(&o.MetricsPlain, "metrics-plain", false, "serve metrics over HTTP, to every client that reaches the address (default: over HTTPS, to those whom the API server lets)")
	flags.StringVar(&o.MetricsTLS.Certificate, "tls-cert", "", "PEM file with the certificate of metrics-address; followed when it changes (default: one of the manager's own, in Secret "+ServingSecret+")")
	flags.StringVar(&o.MetricsTLS.Key, "tls-key", "", "PEM file with the key of tls-cert")
	flags.StringVar(&o.MetricsTLS.ClientCA, "client-ca", "", "PEM file with the CA bundle of clients that may read /debug/pprof")
	flags.StringVar(&c.Name, "tls-profile", "", "how servers and clients speak TLS: modern, intermediate, old, or custom, which the flags tls-custom-... describe (default: the profile of the cluster on OpenShift, else intermediate)")
	flags.StringVar(&c.Version, "tls-custom-version", "", "lowest version of TLS with the profile custom: TLSv1.0, TLSv1.1, TLSv1.2 or TLSv1.3 (default: TLSv1.2)")
	flags.StringSliceVar(&c.Ciphers, "tls-custom-ciphers", nil, "cipher suites up to TLS 1.2 with the profile custom, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
	flags.StringSliceVar(&c.Curves, "tls-custom-curves", nil, "key exchanges with the profile custom, such as X25519MLKEM768, X25519 and secp256r1 or prime256v1")
	flags.BoolVar(&o.Debug, "debug", false, "log as with -v 1, and with --metrics-plain let every client read /debug/pprof")
}
