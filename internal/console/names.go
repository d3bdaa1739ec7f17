package console

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byName reads objects by names that others have written: of an object that cannot be called so it says that there is none, as the API server would, to which a
// client does not even send such a name. So one name that is wrong, in the status of an operator or in a bundle, is no failure of a page with many.
type byName struct{ client.WithWatch }

// Get implements client.Reader.
func (c byName) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if key.Name != "" && len(path.IsValidPathSegmentName(key.Name)) == 0 && len(path.IsValidPathSegmentName(key.Namespace)) == 0 {
		return c.WithWatch.Get(ctx, key, o, options...)
	}
	kind, err := c.GroupVersionKindFor(o)
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
}
