package manager

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/crds"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdOwner is the field manager of the CustomResourceDefinitions of the project's own APIs.
const crdOwner = client.FieldOwner("fairlead-manager")

// establishTimeout bounds the wait for the API server to serve the kinds.
const establishTimeout = time.Minute

// InstallCRDs applies the CustomResourceDefinitions of the project and waits until the API server serves them.
func InstallCRDs(ctx context.Context, config *rest.Config) error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	c, err := client.New(unlimited(config), client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	wanted, err := crds.All()
	if err != nil {
		return err
	}
	for _, crd := range wanted {
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		crd.ManagedFields = nil
		if err := c.Patch(ctx, crd, client.Apply, crdOwner, client.ForceOwnership); err != nil { //nolint:staticcheck // typed CRDs have no apply configuration
			return fmt.Errorf("apply CustomResourceDefinition %s: %w", crd.Name, err)
		}
	}
	for _, crd := range wanted {
		if err := established(ctx, c, crd.Name); err != nil {
			return err
		}
	}
	return nil
}

// established waits for one definition.
func established(ctx context.Context, c client.Client, name string) error {
	last := "it has no status yet"
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, establishTimeout, true, func(ctx context.Context) (bool, error) {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := c.Get(ctx, client.ObjectKey{Name: name}, &crd); err != nil {
			return false, err
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
			last = condition.Message
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("wait for CustomResourceDefinition %s to be established (%s): %w", name, last, err)
	}
	return nil
}

// unlimited leaves it to the API server to slow a client down: it knows how busy it is.
func unlimited(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, -1
	return config
}
