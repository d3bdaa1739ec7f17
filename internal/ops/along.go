package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RemovedDependency is a ClusterExtension that was installed for the needs of the one that goes, and that no one else needs. The manager deletes it
// with its definitions, which have no custom resources.
type RemovedDependency struct {
	Ref
	RequiredBy string `json:"requiredBy"`
	CRDs       []CRD  `json:"crds,omitempty"`
}

// along finds what the manager takes along, and what was installed for the needs of that. What stays in the manager's judgement is noted.
func (r *Removal) along(ctx context.Context, reader client.Reader, n *neighbours) error {
	var list olmv1.ClusterExtensionList
	if err := reader.List(ctx, &list, client.MatchingLabels{DependencyLabel: "true"}); err != nil {
		return fmt.Errorf("list the ClusterExtensions that were installed for the needs of %s: %w", r.Operator.Name, err)
	}
	going, seen := map[string]bool{r.Operator.Name: true}, map[string]bool{r.Operator.Name: true}
	for names := []string{r.Operator.Name}; len(names) > 0; names = names[1:] {
		for i := range list.Items {
			e := &list.Items[i]
			if e.Annotations[RequiredByKey] != names[0] || seen[e.Name] || !e.DeletionTimestamp.IsZero() {
				continue
			}
			seen[e.Name] = true
			d := RemovedDependency{Ref: Ref{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: e.Name}, RequiredBy: names[0]}
			why, err := n.keeps(ctx, reader, e, names[0], going)
			if err != nil {
				return err
			}
			if why != "" {
				r.Stays = append(r.Stays, Kept{d.Ref, why})
				continue
			}
			if err := r.definitionsOf(ctx, reader, &d, n.setsOf(e)); err != nil {
				return err
			}
			going[e.Name], names = true, append(names, e.Name)
			r.Along = append(r.Along, d)
		}
	}
	return nil
}

// keeps is why the manager keeps a dependency of an extension that goes; empty when it does not.
func (n *neighbours) keeps(ctx context.Context, reader client.Reader, e *olmv1.ClusterExtension, of string, going map[string]bool) (string, error) {
	read := func(r *olmv1.ClusterObjectSet) (*resolution.Installed, error) {
		return InstalledBundle(r, ParseProperties)
	}
	d, sets := Dependency{Extension: e, For: of}, n.setsOf(e)
	if r := revision.Installed(sets); r != nil {
		var err error
		if d.What, err = read(r); err != nil {
			d.What = &resolution.Installed{} // no one knows what it provides
		}
	}
	if heir := d.Heir(n.sets, going, read); heir != "" {
		return "ClusterExtension " + heir + " needs it, or may", nil
	}
	data, err := HeldData(ctx, reader, nil, sets)
	if data == "" || err != nil {
		return "", err
	}
	return data + "; it is an extension like any other from then on", nil
}

// setsOf are the revisions of an extension, the oldest first.
func (n *neighbours) setsOf(e *olmv1.ClusterExtension) []olmv1.ClusterObjectSet {
	var sets []olmv1.ClusterObjectSet
	for i := range n.sets {
		if controlledBy(&n.sets[i], e) {
			sets = append(sets, n.sets[i])
		}
	}
	slices.SortFunc(sets, func(a, b olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	return sets
}

// definitionsOf adds those that the revisions of a dependency control.
func (r *Removal) definitionsOf(ctx context.Context, reader client.Reader, d *RemovedDependency, sets []olmv1.ClusterObjectSet) error {
	uids := map[types.UID]bool{}
	for i := range sets {
		uids[sets[i].UID] = true
	}
	for i := range sets {
		objects, err := r.content(ctx, reader, &sets[i])
		if err != nil {
			return err
		}
		for _, object := range objects {
			name := object.GetName()
			if object.GroupVersionKind().GroupKind() != crdKind || slices.ContainsFunc(d.CRDs, func(c CRD) bool { return c.Name == name }) {
				continue
			}
			live := &apiextensionsv1.CustomResourceDefinition{}
			if err := reader.Get(ctx, client.ObjectKey{Name: name}, live); apierrors.IsNotFound(err) {
				continue
			} else if err != nil {
				return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
			}
			if revisionsOwn(uids).Judge(live, rollout.Holders(live)).Verdict != rollout.Granted {
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
