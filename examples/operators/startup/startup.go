// Package startup runs the manager of a sample operator: which namespaces it watches, its probes and its metrics.
//
// It knows nothing of the kinds. Start reading at Main.
package startup

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"fairlead.dev/fairlead/examples/operators/api"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// watchNamespace holds the namespaces to watch, separated by commas; empty for all. The bundles fill it from the
	// annotation olm.targetNamespaces of the pod.
	watchNamespace = "WATCH_NAMESPACE"
	// podNamespace is where the lease for leader election is kept; a pod need not be told.
	podNamespace   = "POD_NAMESPACE"
	probeAddress   = ":8081"
	metricsAddress = ":8443" // TLS, for callers that may get /metrics
)

// Main runs an operator until it is asked to stop, and returns the exit code of the process.
func Main(name string, setup func(ctrl.Manager) error) int {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, nil)))
	if err := run(name, setup); err != nil {
		ctrl.Log.Error(err, "the operator ends", "operator", name)
		return 1
	}
	return 0
}

func run(name string, setup func(ctrl.Manager) error) error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{DefaultNamespaces: namespaces(os.Getenv(watchNamespace))},
		HealthProbeBindAddress: probeAddress,
		Metrics: metricsserver.Options{
			BindAddress: metricsAddress, SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		LeaderElection: true, LeaderElectionID: name + ".demo.fairlead.dev",
		LeaderElectionNamespace: os.Getenv(podNamespace), LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("create the manager of %s: %w", name, err)
	}
	if err := setup(manager); err != nil {
		return fmt.Errorf("set up the controller of %s: %w", name, err)
	}
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

// Scheme knows the kinds of Kubernetes and of the sample operators.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// namespaces reads a list of namespaces. It returns nil, which means all, for an empty one.
func namespaces(list string) map[string]cache.Config {
	var found map[string]cache.Config
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			if found == nil {
				found = map[string]cache.Config{}
			}
			found[name] = cache.Config{}
		}
	}
	return found
}
