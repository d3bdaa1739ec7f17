package clusterserviceversion

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// report adds to the status what a pass found out besides the state, and reports whether there is anything to write.
func report(before, after *v1alpha1.ClusterServiceVersionStatus, seen *snapshot, now metav1.Time) bool {
	if checked := seen.requirementsRead; checked.known {
		after.RequirementStatus = checked.value.rows
	}
	// When the first certificate is due for renewal; zero when there is none.
	var first time.Time
	for _, c := range seen.certificatesRead.value {
		if at, err := c.Current.RotateAt(); err == nil && c.held == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		rotate := metav1.NewTime(first).Rfc3339Copy()
		after.CertsRotateAt = &rotate
	}
	if seen.done.issued || after.CertsRotateAt != nil && after.CertsLastUpdated == nil {
		after.CertsLastUpdated = now.DeepCopy()
	}
	if equality.Semantic.DeepEqual(before, after) {
		return false
	}
	after.LastUpdateTime = now.DeepCopy()
	return true
}

// writes are the last write to each ClusterServiceVersion, by name, until a cache shows it.
type writes struct{ all sync.Map }

// write is of which object a write was, over which version, which version it made, and when.
type write struct {
	uid           types.UID
	over, version string
	at            time.Time
}

func (w *writes) remember(before, after *v1alpha1.ClusterServiceVersion, at time.Time) {
	w.all.Store(client.ObjectKeyFromObject(after), write{after.UID, before.ResourceVersion, after.ResourceVersion, at})
}

func (w *writes) forget(name types.NamespacedName) { w.all.Delete(name) }

// last is when a CSV was last written.
func (w *writes) last(csv *v1alpha1.ClusterServiceVersion) (at time.Time, ok bool) {
	last, ok := w.all.Load(client.ObjectKeyFromObject(csv))
	if !ok {
		return at, false
	}
	return last.(write).at, true
}

// stale reports whether a CSV, from a cache, is older than the last write to it: a pass over it would write the same again. One of the same name that was
// created since, or restored, is another object.
func (w *writes) stale(csv *v1alpha1.ClusterServiceVersion) bool {
	found, ok := w.all.Load(client.ObjectKeyFromObject(csv))
	if !ok {
		return false
	}
	last := found.(write)
	if last.uid != csv.UID {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(csv.ResourceVersion, last.version)
	return csv.ResourceVersion == last.over && last.over != last.version || err == nil && order < 0
}
