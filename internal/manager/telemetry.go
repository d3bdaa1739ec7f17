package manager

import (
	"context"

	telemetry "fairlead.dev/fairlead/internal/metrics"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// addTelemetry adds the server of metrics.
func addTelemetry(ctx context.Context, mgr manager.Manager, o Options, own *identity) error {
	server, err := telemetry.Open(ctx, telemetry.Options{Address: o.MetricsAddress, TLS: o.MetricsTLS, Own: own.certificate(), Plain: o.MetricsPlain, Profile: o.TLS, REST: mgr.GetConfig(),
		Metrics: metrics.Registry, Debug: o.Debug, Log: o.Log.WithName("metrics")})
	if server == nil || err != nil {
		return err
	}
	return mgr.Add(server)
}
