package clusterextension

import (
	"context"
	"fmt"
	"strings"

	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/migrate"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adopt makes of what was rendered for the first revision what a ClusterServiceVersion runs, where the extension asks for that: Deployments
// stay as they were found, so that none is rolled out. What they are in the bundle comes with the next revision. It returns why that cannot be.
func (c *Controller) adopt(ctx context.Context, s *state, t *target, made *content) error {
	text := s.ext.Annotations[AdoptsKey]
	if text == "" || len(s.revisions) > 0 {
		return nil
	}
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || namespace != s.ext.Spec.Namespace || name == "" {
		return misconfigured(fmt.Errorf("annotation %s is %q, which is not %s/NAME of a ClusterServiceVersion in the namespace of the extension", AdoptsKey, text, s.ext.Spec.Namespace))
	}
	if t.Name != name {
		return blocked(fmt.Errorf("annotation %s asks for what ClusterServiceVersion %s has installed, but bundle %s was chosen: set spec.source.catalog.version to the version "+
			"that is installed, or remove the annotation", AdoptsKey, text, t.Name))
	}
	csv := migrate.CSV{Namespace: namespace, Name: name}
	objects := make([]*unstructured.Unstructured, len(made.objects))
	for i, wanted := range made.objects {
		live, err := c.found(ctx, wanted)
		if err != nil {
			return err
		}
		if objects[i], err = migrate.Adopt(csv, wanted, live); err != nil {
			return fmt.Errorf("%w; delete it, or let the ClusterServiceVersion have it, then this goes on", err)
		}
	}
	made.objects, made.adopted = objects, text
	condition := &v2.OperatorCondition{}
	err := c.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, condition)
	switch {
	case err == nil:
		made.conditionName = name // which the pods have in their environment
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read OperatorCondition %s: %w", text, err)
	}
	return nil
}

// found reads what the cluster has in the place of an object; nil when there is nothing.
func (c *Controller) found(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	err := c.live.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, to see whether it can be taken over: %w", migrate.Name(wanted), err)
	}
	return live, nil
}
