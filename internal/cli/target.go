package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/rollout"
)

// target is what is installed and a command is about: a ClusterExtension, or a Subscription of a namespace.
type target struct {
	cluster kubeconfig.Flags
	api     string
}

func (t *target) flags(cmd *cobra.Command) {
	t.cluster.AddCluster(cmd.Flags())
	t.cluster.AddNamespace(cmd.Flags())
	cmd.Flags().StringVar(&t.api, "api", "", "API that NAME is of: v0 or v1 (default: whichever has it)")
}

func (t *target) check() error {
	if t.api != "" && t.api != apiV0 && t.api != apiV1 {
		return command.UsageError{Err: fmt.Errorf("--api %q: choose %s or %s, or leave it out", t.api, apiV0, apiV1)}
	}
	return nil
}

// connect reaches the cluster and finds out which API the name is of.
func (t *target) connect(ctx context.Context, name string) (c client.Client, namespace, api string, err error) {
	if c, namespace, err = t.cluster.Connect(); err != nil {
		return nil, "", "", err
	}
	api, err = apiOf(ctx, c, t.api, namespace, name)
	return c, namespace, api, kubeconfig.Explain(err)
}

// apiOf tells which API has something of a name. Where both have, the user has to choose; where none has, the v0 API is asked, which
// tells what there is.
func apiOf(ctx context.Context, c client.Reader, wanted, namespace, name string) (string, error) {
	if wanted != "" {
		return wanted, nil
	}
	extension, err := has(ctx, c, client.ObjectKey{Name: name}, &olmv1.ClusterExtension{})
	if err != nil && !apierrors.IsForbidden(err) { // what the user may not see is not meant
		return "", err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	subscription, err := has(ctx, c, key, &v1alpha1.Subscription{})
	switch {
	case err != nil:
		return "", err
	case extension && subscription:
		return "", fmt.Errorf("there are ClusterExtension %s and Subscription %s; say which one is meant with --api %s or --api %s", name, key, apiV1, apiV0)
	case extension:
		return apiV1, nil
	}
	return apiV0, nil
}

// has tells whether an object is there. Of an API that the cluster does not have nothing is.
func has(ctx context.Context, c client.Reader, key client.ObjectKey, object client.Object) (bool, error) {
	err := c.Get(ctx, key, object)
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err), rollout.IsUnknownKind(err):
		return false, nil
	}
	return false, fmt.Errorf("look for %s: %w", key, err)
}
