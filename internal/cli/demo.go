package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"fairlead.dev/fairlead/internal/console"
	"fairlead.dev/fairlead/internal/demo"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops/preview"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const demoHelp = `Run the main job from beginning to end on an embedded Kubernetes cluster and show it as it happens.

A control plane (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) with a simulated node comes up as children of
this process. Sample bundles and a catalog are pushed to a registry inside it, a Subscription brings an operator and the operator
that it depends on, and a newer catalog upgrades both. The pods are simulated: no operator code runs.

With --real-node the operators run, on this machine: they are built from this repository, whose clone has to be the working directory,
and what 'fairlead cluster start --real-node' needs is needed here too.

Without --exit the cluster stays up until you press Ctrl-C, with a kubeconfig for kubectl.

With --bundles DIR --install PKG,PKG the catalog is made from a directory of registry+v1 bundles, laid out as
DIR/<package>/<version>/{manifests,metadata}, and those packages are installed from it, all at once.`

func newDemoCommand(s command.Streams) *cobra.Command {
	var o demo.Options
	var exit bool
	var format command.Output
	cmd := &cobra.Command{
		Use: "demo",
		Example: `  fairlead demo
  fairlead demo --exit -o json`,
		Short: "Show the main job on an embedded cluster",
		Long:  demoHelp,
		Args:  command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			if (o.Bundles == "") != (len(o.Install) == 0) {
				return command.UsageError{Err: errors.New("--bundles and --install go together: a directory of bundles, and the packages to install from it")}
			}
			return runDemo(cmd.Context(), s, o, exit, format)
		},
	}
	format.Flag(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&exit, "exit", false, "stop everything once the story is told")
	flags.BoolVar(&o.Keep, "keep", false, "keep the data of the cluster when it stops; start it again with: fairlead cluster start --name NAME")
	flags.StringVar(&o.Name, "name", "demo", "name of the embedded cluster")
	flags.StringVar(&o.DataDir, "data-dir", "", "directory of the embedded cluster (default: one in the user's cache directory)")
	flags.BoolVar(&o.RealNode, "real-node", false, "run the operators on this machine; Linux, as root, with containerd, Go and a clone of the repository")
	flags.StringVar(&o.Bundles, "bundles", "", "directory of bundles to make the catalog from")
	flags.StringSliceVar(&o.Install, "install", nil, "packages to install, with --bundles")
	flags.DurationVar(&o.Timeout, "timeout", 2*time.Minute, "how long to wait for each part of the story")
	return cmd
}

func runDemo(ctx context.Context, s command.Streams, o demo.Options, exit bool, format command.Output) (err error) {
	o.Log = logr.Discard() // what goes wrong is in the status of objects, and shown from there
	ctrl.SetLogger(o.Log)
	klog.SetLogger(o.Log)
	printer := format.Progress(s)
	d, err := demo.Run(ctx, o, printer)
	defer func() { err = errors.Join(err, d.Stop()) }()
	if err != nil {
		return err
	}
	err = format.Write(s.Out, d.Result, func(w io.Writer) error {
		r := d.Result
		fmt.Fprintf(w, "\nKubernetes %s ready after %.1f s, controllers after %.1f s more. Installed in %.1f s",
			r.KubernetesVersion, r.Seconds["clusterReady"], r.Seconds["managerReady"], r.Seconds["installed"])
		if upgraded, ok := r.Seconds["upgraded"]; ok {
			fmt.Fprintf(w, ", upgraded in %.1f s", upgraded)
		}
		_, err := fmt.Fprintf(w, ". The cluster uses %d MiB.\n", r.MemoryBytes>>20)
		return err
	})
	if err != nil {
		return err
	}
	if exit {
		return nil
	}
	return withLibrary(ctx, s, func(library *preview.Library) error { return showDemo(ctx, s, d, library, printer) })
}

// showDemo serves the console of the cluster, and says how to see the cluster, until the context or the cluster ends.
func showDemo(ctx context.Context, s command.Streams, d *demo.Demo, library *preview.Library, printer *command.ProgressPrinter) error {
	config, err := clientcmd.BuildConfigFromFlags("", d.Result.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig of the cluster: %w", err)
	}
	c, err := openConsole(ctx, s, console.Options{Library: library, OwnMachine: true, GlobalNamespace: manager.DefaultGlobalNamespace}, config, d.Result.Namespace, 0)
	if err != nil {
		return err
	}
	printer.Text(fmt.Sprintf(`
The cluster is up. See it in a browser (the address works once, Enter prints another one):

    %s

In another terminal:

    export KUBECONFIG=%s
    kubectl get sub,csv,installplans.operators.coreos.com,catsrc,og -A
    fairlead status -n %s

Press Ctrl-C to stop it.`, c.address(), d.Result.Kubeconfig, d.Result.Namespace))
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- c.serve(ctx) }()
	err = d.Wait(ctx)
	stop()
	return errors.Join(err, <-served)
}
