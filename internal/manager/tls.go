package manager

import (
	"context"

	"fairlead.dev/fairlead/internal/controller/platform"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// followTLS puts the TLS profile of the cluster in force before the servers start. Where it cannot be read, they start with the default one: the
// controller retries, and a manager that does not start would help no one.
func followTLS(ctx context.Context, mgr manager.Manager, o Options) {
	if !o.TLS.Follows() {
		return
	}
	log := o.Log.WithName("tls")
	if err := platform.Begin(ctx, mgr.GetAPIReader(), o.TLS, log); err != nil {
		log.Error(err, "the servers start with the default TLS profile; the read is retried")
	}
}
