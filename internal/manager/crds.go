package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/internal/kubeconfig"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// crdOwner is the field manager of the CustomResourceDefinitions of the project's own APIs.
const crdOwner = client.FieldOwner("fairlead-manager")

// establishTimeout bounds the wait for the API server to serve the kinds.
const establishTimeout = time.Minute

// InstallCRDs applies the CustomResourceDefinitions of the project and waits until the API server serves them and tells of
// them.
func InstallCRDs(ctx context.Context, config *rest.Config) error {
	scheme, err := kubeconfig.Scheme()
	if err != nil {
		return err
	}
	config = unlimited(config)
	connection, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme, HTTPClient: connection})
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
	return discovered(ctx, wanted, func() (meta.RESTMapper, error) {
		return apiutil.NewDynamicRESTMapper(config, connection)
	})
}

// discovered waits until the API server tells of the kinds of all definitions: it serves them somewhat earlier than that, and clients that
// begin in between find no such kind. look makes a mapper that has asked nothing yet, as those of such clients have not.
func discovered(ctx context.Context, wanted []*apiextensionsv1.CustomResourceDefinition, look func() (meta.RESTMapper, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, establishTimeout, true, func(context.Context) (bool, error) {
		mapper, err := look()
		if err != nil {
			return false, fmt.Errorf("connect to the cluster: %w", err)
		}
		for _, crd := range wanted {
			for _, v := range crd.Spec.Versions {
				if !v.Served {
					continue
				}
				if _, last = mapper.RESTMapping(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}, v.Name); last != nil {
					return false, nil
				}
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server to tell of the kinds of the project: %w", errors.Join(err, last))
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
