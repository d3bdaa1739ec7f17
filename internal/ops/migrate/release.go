package migrate

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// v0Managers are the field managers of those who look after operators by the v0 API: the two programs of the other implementation, and the
// controllers of this one. While they have fields, those would stay when a later revision does not want them any more.
var v0Managers = []string{"olm", "catalog", "olm.install", "fairlead-csv", "fairlead-installplan", "fairlead-operator", "fairlead-providedapi"}

// RestoredManager is the field manager that fields are given back to: each of the two implementations takes it for its own.
const RestoredManager = "olm"

// v0Labels are the labels of the v0 API.
var v0Labels = []string{v1alpha1.OwnerLabel, v1alpha1.OwnerNamespaceLabel, v1alpha1.OwnerKindLabel, v1alpha1.ManagedLabel, v1alpha1.DeploymentSpecHashLabel}

// IsV0Label tells whether a label is one by which objects of operators are looked after, or found, by the v0 API.
func IsV0Label(key string) bool {
	return slices.Contains(v0Labels, key) || strings.HasPrefix(key, v1alpha1.ComponentLabelPrefix)
}

// Release takes off an object what says that it belongs to the ClusterServiceVersion, and returns whether there was anything: labels, the
// reference to it and, where managers is set, the fields that the managers of the v0 API own. What another ClusterServiceVersion has as well
// keeps what it has for that.
func (b *Backup) Release(o metav1.Object, managers bool) bool {
	changed := false
	owner := Owner{CSV: b.CSV, UID: b.Version.GetUID()}
	owners := slices.DeleteFunc(slices.Clone(o.GetOwnerReferences()), func(r metav1.OwnerReference) bool {
		namespace := o.GetNamespace()
		return isCSV(r) && r.Name == owner.Name && r.UID == owner.UID && namespace == owner.Namespace
	})
	if len(owners) != len(o.GetOwnerReferences()) {
		o.SetOwnerReferences(owners)
		changed = true
	}
	labels := maps.Clone(o.GetLabels())
	shared := slices.ContainsFunc(owners, isCSV) || labels[v1alpha1.OwnerLabel] != "" && !owner.labelled(o)
	component := "" // the label by which the Operator of the Subscription lists its components
	if b.Subscription != nil {
		pkg, _, _ := unstructured.NestedString(b.Subscription.Object, "spec", "name")
		component = v1alpha1.ComponentLabel(pkg + "." + b.CSV.Namespace)
	}
	maps.DeleteFunc(labels, func(key, _ string) bool { return key == component || !shared && IsV0Label(key) })
	if len(labels) != len(o.GetLabels()) {
		o.SetLabels(labels)
		changed = true
	}
	if !managers {
		return changed
	}
	fields := slices.DeleteFunc(slices.Clone(o.GetManagedFields()), func(m metav1.ManagedFieldsEntry) bool {
		return slices.Contains(v0Managers, m.Manager) && m.Subresource == ""
	})
	if len(fields) != len(o.GetManagedFields()) {
		o.SetManagedFields(fields)
		changed = true
	}
	return changed
}

// Unlist takes an object out of the list of an Operator, which lists components by their labels.
func Unlist(o metav1.Object) bool {
	labels := maps.Clone(o.GetLabels())
	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, v1alpha1.ComponentLabelPrefix) })
	if len(labels) == len(o.GetLabels()) {
		return false
	}
	o.SetLabels(labels)
	return true
}

// Restore puts back the labels and the references of the v0 API that an object had, with the UID that its ClusterServiceVersion has now;
// without one there are no references yet. What revisions own of it returns to the v0 API.
func Restore(o metav1.Object, had metav1.ObjectMeta, csv CSV, uid types.UID, revisions string) bool {
	changed := false
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	for key, value := range had.Labels {
		if there, ok := labels[key]; IsV0Label(key) && (!ok || there != value) {
			labels[key], changed = value, true
		}
	}
	o.SetLabels(labels)
	for _, r := range had.OwnerReferences {
		if uid == "" || !isCSV(r) || r.Name != csv.Name {
			continue
		}
		r.UID = uid
		if owners := o.GetOwnerReferences(); !slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return o.UID == uid }) {
			o.SetOwnerReferences(append(slices.Clone(owners), r))
			changed = true
		}
	}
	fields := slices.Clone(o.GetManagedFields())
	for i := range fields {
		if fields[i].Manager == revisions && fields[i].Subresource == "" {
			fields[i].Manager, fields[i].Operation = RestoredManager, metav1.ManagedFieldsOperationUpdate
			changed = true
		}
	}
	o.SetManagedFields(fields)
	return changed
}
