package uninstall

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The label of a ClusterExtension that the manager has created for the needs of another one, and the annotation with the name of that.
const (
	dependencyLabel = "operators.fairlead.dev/dependency"
	requiredByKey   = "operators.fairlead.dev/required-by"
)

// Dependency is a ClusterExtension that was installed for the needs of the one that goes. The manager deletes it when nobody else needs it,
// with its definitions and all their custom resources.
type Dependency struct {
	Ref
	RequiredBy string `json:"requiredBy"`
	CRDs       []CRD  `json:"crds,omitempty"`
}

// along finds what the manager may take along, and what was installed for the needs of that.
func (r *Removal) along(ctx context.Context, reader client.Reader, n *neighbours) error {
	var list olmv1.ClusterExtensionList
	if err := reader.List(ctx, &list, client.MatchingLabels{dependencyLabel: "true"}); err != nil {
		return fmt.Errorf("list the ClusterExtensions that were installed for the needs of %s: %w", r.Operator.Name, err)
	}
	seen := map[string]bool{r.Operator.Name: true}
	for names := []string{r.Operator.Name}; len(names) > 0; names = names[1:] {
		for i := range list.Items {
			e := &list.Items[i]
			if e.Annotations[requiredByKey] != names[0] || seen[e.Name] {
				continue
			}
			seen[e.Name], names = true, append(names, e.Name)
			d := Dependency{Ref: Ref{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: e.Name}, RequiredBy: names[0]}
			if err := d.definitions(ctx, reader, n.setsOf(e)); err != nil {
				return err
			}
			r.Along = append(r.Along, d)
			r.warnOf(&d)
		}
	}
	return nil
}

// warnOf says how to keep custom resources that would be deleted.
func (r *Removal) warnOf(d *Dependency) {
	for _, c := range d.CRDs {
		if c.Instances != 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("CustomResourceDefinition %s has custom resources (%s), which go when the manager removes %s: to keep that, remove its annotation %s first",
				c.Name, c.instances(), d.Ref, requiredByKey))
		}
	}
}

func (n *neighbours) setsOf(e *olmv1.ClusterExtension) []olmv1.ClusterObjectSet {
	var sets []olmv1.ClusterObjectSet
	for i := range n.sets {
		if controlledBy(&n.sets[i], e) {
			sets = append(sets, n.sets[i])
		}
	}
	return sets
}

// definitions adds those that revisions control.
func (d *Dependency) definitions(ctx context.Context, reader client.Reader, sets []olmv1.ClusterObjectSet) error {
	uids := map[types.UID]bool{}
	for i := range sets {
		uids[sets[i].UID] = true
	}
	for i := range sets {
		objects, err := revision.Objects(ctx, reader, &sets[i])
		if err != nil {
			return fmt.Errorf("find out what belongs to revision %s: %w", sets[i].Name, err)
		}
		for _, object := range objects {
			name := object.GetName()
			if !isCRD(object) || slices.ContainsFunc(d.CRDs, func(c CRD) bool { return c.Name == name }) {
				continue
			}
			live := &apiextensionsv1.CustomResourceDefinition{}
			if err := reader.Get(ctx, client.ObjectKey{Name: name}, live); apierrors.IsNotFound(err) {
				continue
			} else if err != nil {
				return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
			}
			if controller := metav1.GetControllerOfNoCopy(live); controller == nil || !uids[controller.UID] {
				continue // it stays
			}
			c := CRD{Name: name, Kind: live.Spec.Names.Kind, Goes: true, Why: "it goes with " + d.Ref.String()}
			if err := c.count(ctx, reader, live); err != nil {
				c.Why += fmt.Sprintf("; its custom resources cannot be counted: %v", err)
			}
			d.CRDs = append(d.CRDs, c)
		}
	}
	return nil
}
