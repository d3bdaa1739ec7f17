package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// Ref names an object.
type Ref = migrate.Ref

// Kept is an object that stays, and why.
type Kept struct {
	Ref
	Why string `json:"why"`
}

// CRD is a CustomResourceDefinition of the operator.
type CRD struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Instances is how many custom resources there are; -1 when they cannot be counted, and Why says why. With AtLeast there may be more.
	Instances int64 `json:"instances"`
	AtLeast   bool  `json:"atLeast,omitempty"`
	// Finalizers are those of the custom resources that were checked.
	Finalizers []string `json:"finalizers,omitempty"`
	// Goes says that the CustomResourceDefinition goes, with all its custom resources.
	Goes bool   `json:"goes"`
	Why  string `json:"why"`
	// Advice is what to do with the commands where it is to go all the same.
	Advice string `json:"advice,omitempty"`
	// Converted says that a webhook which goes converts its custom resources. Where the definition stays, it is converted no more.
	Converted bool `json:"converted,omitempty"`
	// Unseen says that the user may not read it, or who else needs it: it is not deleted, and whether it is there is not known.
	Unseen bool `json:"unseen,omitempty"`

	uid types.UID
	// operands says that the custom resources are to be deleted, because the user named the definition.
	operands bool
	// named says that the user named the definition.
	named bool
}

// Removal is what goes and what stays when an operator is removed.
type Removal struct {
	// API is v0 or v1, Operator the ClusterExtension or Subscription.
	API      string `json:"api"`
	Operator Ref    `json:"operator"`
	// Version is what is installed.
	Version string `json:"version,omitempty"`
	Goes    []Ref  `json:"goes"`
	Stays   []Kept `json:"stays,omitempty"`
	CRDs    []CRD  `json:"crds,omitempty"`
	// Along are what the manager removes by itself after that: no one else needs it.
	Along []RemovedDependency `json:"along,omitempty"`
	// Warnings are what should be known before it is done.
	Warnings []string `json:"warnings,omitempty"`
	// Notes are what the user may not see, and what comes of that.
	Notes []string `json:"notes,omitempty"`

	uid types.UID
	// owners are deleted one after the other, and take the rest along; last are objects that belong to no one, and go at the end.
	owners []owner
	last   []Ref
	// shared tells that an InstallPlan stays, which other Subscriptions have, too.
	shared bool
	// unseen are the kinds that the user may not list, and refused is what the API server says of one of them.
	unseen  []string
	refused error
}

// owner is an object whose deletion takes others along.
type owner struct {
	Ref
	uid types.UID
}

// UninstallOptions say what is to be removed.
type UninstallOptions struct {
	Name, Namespace string
	// DeleteCRDs are the CustomResourceDefinitions that go although they have custom resources, and those with them.
	DeleteCRDs []string
	// KeepCRDs keeps all others, even if they have no custom resources.
	KeepCRDs bool
}

// sort puts what goes into an order for people: by kind, then by name.
func (r *Removal) sort() {
	compare := func(a, b Ref) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(r.Goes, compare)
	r.Goes = slices.CompactFunc(r.Goes, func(a, b Ref) bool { return compare(a, b) == 0 })
	slices.SortFunc(r.Stays, func(a, b Kept) int { return compare(a.Ref, b.Ref) })
	slices.SortFunc(r.CRDs, func(a, b CRD) int { return strings.Compare(a.Name, b.Name) })
}

// check refuses names of definitions that the operator does not have.
func (r *Removal) check(o UninstallOptions) error {
	for _, name := range o.DeleteCRDs {
		i := slices.IndexFunc(r.CRDs, func(c CRD) bool { return c.Name == name })
		if i < 0 {
			var names []string
			for _, c := range r.CRDs {
				names = append(names, c.Name)
			}
			return fmt.Errorf("delete CustomResourceDefinition %s: %s has none of that name; it has %s", name, r.Operator, cmp.Or(strings.Join(names, ", "), "none"))
		}
		if r.CRDs[i].Unseen {
			return fmt.Errorf("delete CustomResourceDefinition %s: %s; ask an administrator of the cluster", name, r.CRDs[i].Why)
		}
		if !r.CRDs[i].Goes {
			return fmt.Errorf("delete CustomResourceDefinition %s: it has to stay: %s", name, r.CRDs[i].Why)
		}
	}
	return nil
}

// content is what a revision consists of. One whose content is lost is removed by the manager nevertheless, which looks for its objects in the
// cluster; of such a one it is the definitions, which are what matters most, and a warning says so.
func (r *Removal) content(ctx context.Context, reader client.Reader, set *olmv1.ClusterObjectSet) ([]*unstructured.Unstructured, error) {
	objects, err := revision.Content(ctx, reader, set)
	if err == nil {
		return objects, nil
	}
	lost := (*revision.LostContentError)(nil)
	if !errors.As(err, &lost) {
		return nil, fmt.Errorf("find out what belongs to revision %s: %w", set.Name, err)
	}
	names, err := revision.OwnedCRDs(ctx, reader, []olmv1.ClusterObjectSet{*set}, nil)
	if err != nil {
		return nil, fmt.Errorf("find out what belongs to revision %s, whose content is lost: %w", set.Name, err)
	}
	for _, name := range names {
		live := Ref{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition", Name: name}.Object()
		if err := reader.Get(ctx, client.ObjectKeyFromObject(live), live); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
		}
		objects = append(objects, live)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("revision %s cannot be read: %v; the manager looks in the cluster for what the revision controls, and takes that out: of it, only CustomResourceDefinitions are listed here",
		set.Name, lost))
	return objects, nil
}
