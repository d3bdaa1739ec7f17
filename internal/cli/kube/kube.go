// Package kube is how commands reach the cluster that their flags name. It holds no command and reads nothing by itself.
// Start reading at Connect.
package kube

import (
	"errors"
	"fmt"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Connect returns a client for the cluster that the flags name, and the namespace to work in.
func Connect(flags *kubeconfig.Flags) (client.Client, string, error) {
	config, err := flags.Config()
	if err != nil {
		return nil, "", err
	}
	namespace, err := flags.Namespace()
	if err != nil {
		return nil, "", err
	}
	scheme, err := manager.Scheme()
	if err != nil {
		return nil, "", err
	}
	if err := packagesv1.AddToScheme(scheme); err != nil { // which commands alone read
		return nil, "", fmt.Errorf("register the API kinds: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, "", fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	return c, namespace, nil
}

// Explain says what to do about a cluster that does not know the project's kinds, or cannot tell whether it does.
func Explain(err error) error {
	var discovery *apiutil.ErrResourceDiscoveryFailed
	switch {
	case rollout.IsUnknownKind(err):
		return fmt.Errorf("the cluster does not serve the operators.coreos.com APIs: run the manager, which applies them, with: fairlead manager (%w)", err)
	case errors.As(err, &discovery), apierrors.IsServiceUnavailable(err):
		return fmt.Errorf("%w; what serves an API of the cluster does not answer: `kubectl get apiservices` shows which, and why; try again when it is available", err)
	}
	return err
}
