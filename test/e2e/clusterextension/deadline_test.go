package clusterextension

import (
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// jump lets time pass for the manager, until the test ends.
func (w *world) jump(by time.Duration) {
	later.Jump(by)
	w.Cleanup(func() { later.Jump(-by) })
}

// TestProgressDeadline: an installation that takes longer than the extension allows is told, goes on, and another configuration ends that.
func TestProgressDeadline(t *testing.T) {
	w := newWorldAlone(t)
	first := operator{pkg: w.name, version: "1.0.0"}
	w.publish(first)
	w.extend(w.name, w.name, func(e *olmv1.ClusterExtension) { e.Spec.ProgressDeadlineMinutes = 10 }, inline(`{"deploymentConfig":{"nodeSelector":{"no":"node"}}}`))
	w.says(w.name, "Available", "False", "ProbeFailure", "Deployment")
	w.says(w.name, "Progressing", "True", "RollingOut", "")
	w.jump(11 * time.Minute)
	set := w.revisions(w.name)[1]
	before := set.DeepCopy()
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, "example.com/look", "again") // real time has not passed, so nothing else leads to a look
	must.NoError(w, w.Patch(t.Context(), &set, client.MergeFrom(before)))
	w.says(w.name, "Progressing", "False", "ProgressDeadlineExceeded", "Revision has not rolled out for 10 minute(s). Last status: Revision 1.0.0 is rolling out. Object Deployment.apps/v1 "+w.name+"/"+w.name+":")
	w.says(w.name, "Installed", "False", "Absent", "")
	w.change(w.name, func(e *olmv1.ClusterExtension) { e.Spec.Config = nil })
	w.installed(w.name, first.name())
}

// TestSameTag: new content under the tag that a ClusterCatalog names is found by polling, and concerns whoever has a package of it. A bundle that
// is pushed again under the tag that the catalog names is no other version: what is installed stays as it is.
func TestSameTag(t *testing.T) {
	w := newWorldAlone(t)
	all := three(w.name)
	tag := w.registry + "/" + w.name + "/catalog:latest"
	w.catalog(all[0])
	w.create(&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Spec: olmv1.ClusterCatalogSpec{
		Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: tag, PollIntervalMinutes: ptr.To(1)}}}})
	w.extend(w.name, w.name)
	w.installed(w.name, all[0].name())
	poll := func(look string) {
		w.jump(62 * time.Second)
		object := &olmv1.ClusterCatalog{}
		must.NoError(w, w.Get(t.Context(), client.ObjectKey{Name: w.name}, object))
		before := object.DeepCopy()
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, "example.com/look", look)
		must.NoError(w, w.Patch(t.Context(), object, client.MergeFrom(before)))
	}
	changed := all[0]
	changed.files = map[string]string{"config": configMap(w.name+"-changed", "again")}
	w.catalog(changed, operator{pkg: w.name + "-other", version: "1.0.0"})
	poll("first")
	w.extend(w.name+"-other", w.name+"-other")
	w.installed(w.name+"-other", w.name+"-other.v1.0.0")
	if got := w.revisions(w.name); len(got) != 1 {
		t.Errorf("a bundle that was pushed again under its tag makes %d revisions", len(got))
	}
	w.catalog(changed, all[1])
	poll("second")
	w.installed(w.name, all[1].name())
}
