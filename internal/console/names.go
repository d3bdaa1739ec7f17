package console

import (
	"context"
	"fmt"
	"net/http"

	"fairlead.dev/fairlead/internal/messages"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byName reads objects by names that others have written: of an object that cannot be called so it says that there is none, as the API server would, to which a
// client does not even send such a name. So one name that is wrong, in the status of an operator or in a bundle, is no failure of a page with many.
type byName struct{ client.WithWatch }

// Get implements client.Reader.
func (c byName) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if key.Name != "" && len(content.IsPathSegmentName(key.Name)) == 0 && len(content.IsPathSegmentName(key.Namespace)) == 0 {
		return c.WithWatch.Get(ctx, key, o, options...)
	}
	kind, err := c.GroupVersionKindFor(o)
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
}

// nameKeys are what an address names objects by, in its path or as parameters, and how long such a name is at most. Versions, channels and searches are none.
var nameKeys = []struct {
	key  string
	most int
	what string
}{
	{"in", validation.DNS1123LabelMaxLength, "a namespace"},
	{"object", validation.DNS1123SubdomainMaxLength, "an object"},
	{"name", validation.DNS1123SubdomainMaxLength, "an object"},
	{"definition", validation.DNS1123SubdomainMaxLength, "a CustomResourceDefinition"},
	{"delete", validation.DNS1123SubdomainMaxLength, "a CustomResourceDefinition"},
	{"package", validation.DNS1123SubdomainMaxLength, "a package"},
	{"account", validation.DNS1123SubdomainMaxLength, "a ServiceAccount"},
	{"from", validation.DNS1123SubdomainMaxLength, "a version that is kept"},
	{"to", validation.DNS1123SubdomainMaxLength, "a version that is kept"},
}

// checkLengths refuses an address with a name that is longer than any can be. What a form has sent is checked where it is used.
func (q *query) checkLengths() error {
	for _, of := range nameKeys {
		names := []string{q.path(of.key)}
		if !q.sent {
			names = append(names, q.values[of.key]...)
		}
		for _, name := range names {
			if len(name) > of.most {
				return &statusError{http.StatusBadRequest, fmt.Sprintf("The address names %s %q, which has %d characters: the name of %[1]s has at most %[4]d", of.what, messages.Line(name, maxAsked), len(name), of.most),
					"correct the name in the address, or choose what you mean on the page that lists it"}
			}
		}
	}
	return nil
}
