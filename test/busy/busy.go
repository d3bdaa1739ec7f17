// Package busy gives tests of what changes objects a cluster in which somebody else writes them too. It knows nothing of the project; it begins
// and ends with Client.
package busy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Label is on what somebody else has written.
const Label = "busy"

// Client is a client of a cluster in which another writes each object right before it is patched for the first time, as a controller that
// writes a status may, and counts that in written. Patches of metadata alone are left in peace: a fake cluster cannot update these.
func Client(c client.WithWatch, written *int) client.Client {
	seen := map[types.NamespacedName]bool{}
	return interceptor.NewClient(c, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
		key := client.ObjectKeyFromObject(o)
		if _, partial := o.(*metav1.PartialObjectMetadata); !partial && !seen[key] {
			seen[key] = true
			other := o.DeepCopyObject().(client.Object)
			if err := c.Get(ctx, key, other); err != nil {
				return err
			}
			labels := map[string]string{Label: "true"}
			for k, v := range other.GetLabels() {
				labels[k] = v
			}
			other.SetLabels(labels)
			if err := c.Update(ctx, other); err != nil {
				return err
			}
			*written++
		}
		return c.Patch(ctx, o, patch, options...)
	}})
}
