package migrate

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// CSV names a ClusterServiceVersion.
type CSV struct{ Namespace, Name string }

// String is the name with its namespace.
func (c CSV) String() string { return c.Namespace + "/" + c.Name }

// Owner is a ClusterServiceVersion as objects belong to it.
type Owner struct {
	CSV
	UID types.UID

	self   *v1alpha1.ClusterServiceVersion
	others []v1alpha1.ClusterServiceVersion
}

// OwnerOf is a ClusterServiceVersion among all others of the cluster, without copies.
func OwnerOf(csv *v1alpha1.ClusterServiceVersion, others []v1alpha1.ClusterServiceVersion) Owner {
	return Owner{CSV: CSV{csv.Namespace, csv.Name}, UID: csv.UID, self: csv, others: others}
}

// holds reports whether a holder is the ClusterServiceVersion.
func (o Owner) holds(h rollout.Holder) bool {
	return h.IsOperator() && h.Name == o.Name && h.Namespace == o.Namespace && (h.Labelled || h.UID == o.UID)
}

// labelled tells whether an object has the labels of what belongs to the ClusterServiceVersion.
func (o Owner) labelled(live metav1.Object) bool {
	labels := live.GetLabels()
	return labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && labels[v1alpha1.OwnerLabel] == o.Name && labels[v1alpha1.OwnerNamespaceLabel] == o.Namespace
}

func isCSV(r metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && r.Kind == v1alpha1.ClusterServiceVersionKind
}

// Refused is why an object that is there cannot be adopted with a ClusterServiceVersion; empty when it can. References to what is not there any more are
// left to the garbage collector.
func (o Owner) Refused(live *unstructured.Unstructured) string {
	holders := rollout.Holders(live)
	labels, references := live.GetLabels(), live.GetOwnerReferences()
	lists := isDefinition(live) && len(references) == 0 && labels[v1alpha1.OwnerLabel] == "" && o.self != nil && o.self.OwnsCRD(live.GetName())
	own := lists || slices.ContainsFunc(holders, o.holds) // by reference, or by label where it cannot by reference
	if isDefinition(live) {                               // it has no mark of an owner, because operators share it: the ClusterServiceVersions say which are theirs
		for i := range o.others {
			if c := &o.others[i]; c.OwnsCRD(live.GetName()) {
				holders = append(holders, rollout.Holder{Namespace: c.Namespace, OwnerReference: metav1.OwnerReference{
					APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: c.Name, UID: c.UID}})
			}
		}
	}
	rules := rollout.ClaimRules{
		Relate: func(h rollout.Holder) (rollout.Relation, string) {
			other := slices.IndexFunc(o.others, func(c v1alpha1.ClusterServiceVersion) bool {
				return Owner{CSV: CSV{c.Namespace, c.Name}, UID: c.UID}.holds(h)
			})
			switch {
			case !h.IsOperator():
				return rollout.Foreign, "it " + rollout.ControlledBy(h)
			case live.GetDeletionTimestamp() != nil:
				return rollout.Foreign, "it is being deleted"
			case o.holds(h):
				return rollout.Own, ""
			case other >= 0 && (own || isDefinition(live)):
				return rollout.Foreign, fmt.Sprintf("it belongs to ClusterServiceVersion %s/%s as well", h.Namespace, h.Name)
			case own:
				return rollout.Absent, ""
			}
			return rollout.Foreign, o.elsewhere(live)
		},
		Unowned: func(metav1.Object) string {
			switch {
			case live.GetDeletionTimestamp() != nil:
				return "it is being deleted"
			case lists:
				return ""
			}
			return o.elsewhere(live)
		},
	}
	return rules.Judge(live, holders).Reason
}

// elsewhere is what an object belongs to that is not the ClusterServiceVersion's.
func (o Owner) elsewhere(live metav1.Object) string {
	labels, references := live.GetLabels(), live.GetOwnerReferences()
	switch {
	case labels[v1alpha1.OwnerLabel] != "":
		return fmt.Sprintf("it belongs to %s %s/%s", labels[v1alpha1.OwnerKindLabel], labels[v1alpha1.OwnerNamespaceLabel], labels[v1alpha1.OwnerLabel])
	case len(references) > 0:
		return fmt.Sprintf("it belongs to %s %s", references[0].Kind, references[0].Name)
	}
	return fmt.Sprintf("nothing says that it belongs to ClusterServiceVersion %s: another client may have created it", o.CSV)
}

func isDefinition(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

var deploymentKind = schema.GroupKind{Group: "apps", Kind: "Deployment"}

// Adopt is an object of a bundle as it is to be when it is adopted: where it is there already as a Deployment, the spec stays as it was
// found, so that no pod is restarted. live is nil for what is not there.
func Adopt(owner Owner, wanted, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return wanted, nil
	}
	if why := owner.Refused(live); why != "" {
		return nil, fmt.Errorf("take %s over with ClusterServiceVersion %s: %s", RefOf(wanted), owner.CSV, why)
	}
	if !KeptAsFound(wanted) {
		return wanted, nil
	}
	spec, ok := live.Object["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("take %s over with ClusterServiceVersion %s: it has no spec", RefOf(wanted), owner.CSV)
	}
	out := wanted.DeepCopy()
	found := (&unstructured.Unstructured{Object: map[string]any{"spec": spec}}).DeepCopy()
	// How many pods run is a matter of the bundle only where it says so: else a user scales the Deployment.
	if _, says, _ := unstructured.NestedFieldNoCopy(wanted.Object, "spec", "replicas"); !says {
		unstructured.RemoveNestedField(found.Object, "spec", "replicas")
	}
	// The API server writes this where there is no time, and refuses it from others.
	unstructured.RemoveNestedField(found.Object, "spec", "template", "metadata", "creationTimestamp")
	out.Object["spec"] = found.Object["spec"]
	return out, nil
}

// KeptAsFound tells whether an object runs pods, so that its spec stays as it was found.
func KeptAsFound(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == deploymentKind
}
