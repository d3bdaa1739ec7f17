package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrInterrupted says that the demo was stopped before its end.
var ErrInterrupted = errors.New("interrupted")

// namespace is where the demo installs operators.
const namespace = "demo"

// Options say what to show. The zero value tells the story of the samples and stops at once.
type Options struct {
	// Name and DataDir are those of the embedded cluster.
	Name    string
	DataDir string
	// Keep leaves the data of the cluster behind, so that it can be started again.
	Keep bool
	// RealNode runs the operators on this machine instead of simulating their pods.
	RealNode bool
	// Bundles is a directory of bundles, laid out as <package>/<version>, to use in place of the samples, and Install lists
	// the packages to install from it.
	Bundles string
	Install []string
	// Timeout bounds each of the waits of the story.
	Timeout time.Duration
	// Log receives what the manager logs.
	Log logr.Logger
}

// Result is what the demo did, with its timings in seconds.
type Result struct {
	KubernetesVersion string             `json:"kubernetesVersion"`
	Kubeconfig        string             `json:"kubeconfig"`
	Registry          string             `json:"registry"`
	Namespace         string             `json:"namespace"`
	Operators         []Operator         `json:"operators"`
	Seconds           map[string]float64 `json:"seconds"`
	// MemoryBytes is the memory of the embedded cluster and of this process.
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
	// LargestInstallPlanBytes is the size of the largest plan as the API server keeps it.
	LargestInstallPlanBytes int `json:"largestInstallPlanBytes"`
}

// Operator is an installed operator.
type Operator struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	Version string `json:"version"`
	// Seconds from the creation of the Subscriptions until the operator had succeeded.
	Seconds float64 `json:"seconds"`
}

// Demo is a running demo: its cluster, and the manager in this process.
type Demo struct {
	Result Result

	options Options
	show    *command.ProgressPrinter
	cluster *devcluster.Cluster
	client  client.WithWatch
	stop    context.CancelFunc
	manager chan error // gets the end of the manager

	sources    []bundleio.BundleSource // the bundles of the directory, where one is used
	events     <-chan watch.Event
	scene      *scene
	subscribed time.Time                // when the current part of the story began
	succeeded  map[string]time.Duration // how long after that each operator ran
}

// Run tells the story. The Demo it returns is running and has to be stopped, also when there is an error besides.
func Run(ctx context.Context, o Options, show *command.ProgressPrinter) (*Demo, error) {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	d := &Demo{options: o, show: show, scene: newScene(), succeeded: map[string]time.Duration{}, Result: Result{Namespace: namespace, Seconds: map[string]float64{}}}
	story := d.samples
	if o.Bundles != "" {
		story = d.bundles
	}
	for _, step := range []func(context.Context) error{d.readBundles, d.startCluster, d.pushPrograms, d.startManager, d.prepareNamespace, story} {
		if err := step(ctx); ctx.Err() != nil {
			return d, ErrInterrupted
		} else if err != nil {
			return d, errors.Join(err, d.managerFailure())
		}
	}
	return d, d.summarise(ctx)
}

// timed runs a part of the story and notes how long it took.
func (d *Demo) timed(name string, part func() error) error {
	began := time.Now()
	err := part()
	d.Result.Seconds[name] = time.Since(began).Seconds()
	return err
}

func (d *Demo) startCluster(ctx context.Context) error {
	d.show.Title("Starting a Kubernetes control plane in this process tree")
	return d.timed("clusterReady", func() error {
		cluster, err := devcluster.Start(ctx, devcluster.Options{
			Name: d.options.Name, DataDir: d.options.DataDir, Throwaway: !d.options.Keep, RealNode: d.options.RealNode,
			Progress: func(component string, state devcluster.State) {
				if state == devcluster.Ready {
					d.show.Done("%s is ready", component)
					return
				}
				d.show.Doing("%s is %s", component, state)
			},
		})
		if err != nil {
			return err
		}
		d.cluster = cluster
		d.Result.Kubeconfig, d.Result.Registry = cluster.KubeconfigPath, cluster.Registry
		return nil
	})
}

// startManager applies the APIs and runs the controllers in this process, as `fairlead manager` would.
func (d *Demo) startManager(ctx context.Context) error {
	return d.timed("managerReady", func() error {
		d.show.Doing("applying the APIs")
		if err := errors.Join(manager.InstallCRDs(ctx, d.cluster.RESTConfig()), manager.InstallPolicies(ctx, io.Discard, manager.Options{Config: d.cluster.RESTConfig()})); err != nil {
			return err
		}
		scheme, err := kubeconfig.Scheme()
		if err != nil {
			return err
		}
		if d.client, err = client.NewWithWatch(d.cluster.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
			return fmt.Errorf("connect to the cluster: %w", err)
		}
		stableAfter := time.Duration(-1) // its pods are simulated: that they run for a while shows nothing
		if d.options.RealNode {
			stableAfter = 0 // as long as the manager waits by default
		}
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		d.stop, d.manager = stop, make(chan error, 1)
		ready := make(chan struct{})
		go func() {
			d.manager <- manager.Run(running, manager.Options{
				// The content store is beside the cluster's own data, so that it goes with it.
				Config: d.cluster.RESTConfig(), StoreDir: filepath.Join(filepath.Dir(d.cluster.KubeconfigPath), "content"), Log: d.options.Log, Ready: func() { close(ready) },
				PackageServer: manager.PackageServer{Route: d.cluster.Expose},
				StableAfter:   stableAfter,
			})
		}()
		select {
		case <-ready:
			d.show.Done("the APIs are served and the controllers run")
			return nil
		case err := <-d.manager:
			d.manager <- err
			return fmt.Errorf("start the manager: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// prepareNamespace creates the namespace and an OperatorGroup that lets operators watch all namespaces.
func (d *Demo) prepareNamespace(ctx context.Context) error {
	var earlier v1alpha1.SubscriptionList
	if err := d.client.List(ctx, &earlier, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("look for the Subscriptions of an earlier demo: %w", err)
	}
	if len(earlier.Items) > 0 {
		return fmt.Errorf("namespace %s of cluster %s has the Subscriptions of an earlier demo, so there would be no story to tell: "+
			"choose another cluster with --name, or see this one with: fairlead cluster start --name %s", namespace, d.options.Name, d.options.Name)
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "all-namespaces"}},
	} {
		if err := d.create(ctx, object); err != nil {
			return err
		}
	}
	events, err := d.watch(ctx)
	d.events = events
	return err
}

// managerFailure is why the manager ended by itself, if it did.
func (d *Demo) managerFailure() error {
	select {
	case err := <-d.manager:
		d.manager <- err
		if err != nil {
			return fmt.Errorf("the manager ended: %w", err)
		}
	default:
	}
	return nil
}

// Wait returns when the context ends, or when the manager or the cluster does.
func (d *Demo) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.manager:
		d.manager <- err
		return fmt.Errorf("the manager ended: %w", err)
	case <-d.cluster.Done():
		return d.cluster.Err()
	}
}

// Stop ends the manager, then the cluster. It may be called at any time, whatever was started.
func (d *Demo) Stop() error {
	var err error
	if d.stop != nil {
		d.stop()
		err = <-d.manager
	}
	if d.cluster != nil {
		d.cluster.Stop()
	}
	return err
}
