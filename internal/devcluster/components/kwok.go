package components

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	lease "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/kwok/pkg/client/clientset/versioned"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/client"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/internal/devcluster"
)

// kwokOptions are the flags of the kwok component.
type kwokOptions struct {
	kubeconfig string
	podCIDR    string
}

func newKwokCommand() *cobra.Command {
	var o kwokOptions
	cmd := &cobra.Command{
		Use:           "kwok",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer cancel()
			if err := startKwok(log.NewContext(ctx, log.NewLogger(os.Stderr, log.LevelInfo)), o); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		},
	}
	cmd.Flags().StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file")
	cmd.Flags().StringVar(&o.podCIDR, "pod-cidr", "", "network of the simulated pods")
	return cmd
}

// startKwok starts the controller that plays the kubelet of every simulated node.
func startKwok(ctx context.Context, o kwokOptions) error {
	config, err := kwokConfig(ctx, o)
	if err != nil {
		return err
	}
	controller, err := controllers.NewController(config)
	if err != nil {
		return fmt.Errorf("configure kwok: %w", err)
	}
	if err := controller.Start(ctx); err != nil {
		return fmt.Errorf("start kwok: %w", err)
	}
	return nil
}

func kwokConfig(ctx context.Context, o kwokOptions) (controllers.Config, error) {
	// What simulated nodes and pods do, grouped by kind: nodes become and stay ready, pods run as soon as they are scheduled, those of
	// Jobs complete, and deleted ones go.
	stages := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, source := range []string{
		fast.DefaultNodeInit,
		lease.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady,
		podfast.DefaultPodComplete,
		podfast.DefaultPodDelete,
	} {
		var versioned v1alpha1.Stage
		if err := yaml.UnmarshalStrict([]byte(source), &versioned); err != nil {
			return controllers.Config{}, fmt.Errorf("decode a simulation stage: %w", err)
		}
		v1alpha1.SetObjectDefaults_Stage(&versioned)
		stage, err := internalversion.ConvertToInternalStage(&versioned)
		if err != nil {
			return controllers.Config{}, fmt.Errorf("decode a simulation stage: %w", err)
		}
		stages[stage.Spec.ResourceRef] = append(stages[stage.Spec.ResourceRef], stage)
	}
	clients, err := client.NewClientset("", o.kubeconfig)
	if err != nil {
		return controllers.Config{}, fmt.Errorf("read the kubeconfig of kwok: %w", err)
	}
	config := controllers.Config{
		Clock:                      clock.RealClock{},
		ImpersonatingDynamicClient: clients.ToImpersonatingDynamicClient(),
		ImpersonatingTypedClient:   clients.ToImpersonatingTypedClient(),
		LocalStages:                stages,

		ManageNodesWithAnnotationSelector: devcluster.SimulatedNodeAnnotation,
		CIDR:                              o.podCIDR,
		// The identity is fixed: with a new one at each start the leases of the former run would have to expire first.
		ID:                        "fairlead-devcluster",
		NodeLeaseDurationSeconds:  40,
		NodeLeaseParallelism:      4,
		NodePlayStageParallelism:  4,
		PodPlayStageParallelism:   8,
		PodsOnNodeSyncParallelism: 4,
	}
	restConfig, err := clients.ToRESTConfig()
	if err != nil {
		return config, fmt.Errorf("read the kubeconfig of kwok: %w", err)
	}
	if err := kwokClients(&config, clients, restConfig); err != nil {
		return config, fmt.Errorf("make the clients of kwok: %w", err)
	}
	addresses, err := newAddresses(ctx, config.TypedClient, o.podCIDR)
	if err != nil {
		return config, err
	}
	config.FuncMap = gotpl.FuncMap{"PodIPsWith": addresses.forPod}
	return config, nil
}

func kwokClients(config *controllers.Config, clients client.Clientset, restConfig *rest.Config) (err error) {
	if config.DynamicClient, err = clients.ToDynamicClient(); err != nil {
		return err
	}
	if config.RESTMapper, err = clients.ToRESTMapper(); err != nil {
		return err
	}
	if config.RESTClient, err = rest.RESTClientFor(restConfig); err != nil {
		return err
	}
	if config.TypedClient, err = kubernetes.NewForConfig(restConfig); err != nil {
		return err
	}
	config.TypedKwokClient, err = versioned.NewForConfig(restConfig)
	return err
}
