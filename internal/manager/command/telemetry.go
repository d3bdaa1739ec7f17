package command

import (
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/tlsprofile"

	"github.com/spf13/pflag"
)

// addTelemetry adds the flags of what the manager tells of itself.
func addTelemetry(flags *pflag.FlagSet, o *manager.Options, c *tlsprofile.Choice) {
	flags.StringVar(&o.MetricsAddress, "metrics-address", "", "host:port to serve /metrics, /healthz and /debug/pprof on, 0 for none (default: :8443 with --tls-cert, else none)")
	flags.StringVar(&o.MetricsTLS.Certificate, "tls-cert", "", "PEM file with the certificate of metrics-address, which is HTTPS then; taken over when it changes")
	flags.StringVar(&o.MetricsTLS.Key, "tls-key", "", "PEM file with the key of tls-cert")
	flags.StringVar(&o.MetricsTLS.ClientCA, "client-ca", "", "PEM file with the authorities whose clients may read /debug/pprof; needs tls-cert")
	flags.StringVar(&c.Name, "tls-profile", tlsprofile.Intermediate, "how metrics and ClusterCatalogs are served over TLS: modern, intermediate, old, or custom, which the flags tls-custom-... describe")
	flags.StringVar(&c.Version, "tls-custom-version", "", "lowest version of TLS with the profile custom: TLSv1.0, TLSv1.1, TLSv1.2 or TLSv1.3 (default: TLSv1.2)")
	flags.StringSliceVar(&c.Ciphers, "tls-custom-ciphers", nil, "cipher suites up to TLS 1.2 with the profile custom, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
	flags.StringSliceVar(&c.Curves, "tls-custom-curves", nil, "key exchanges with the profile custom, such as X25519MLKEM768, X25519 and secp256r1 or prime256v1")
	flags.BoolVar(&o.Debug, "debug", false, "log as with -v 1, and without TLS let everybody read /debug/pprof")
}
