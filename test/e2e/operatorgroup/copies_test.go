package operatorgroup

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestCopiesEverywhere: an operator that watches all namespaces is copied into those there are and those that come.
func TestCopiesEverywhere(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(2)
	w.group(n[0], v1.OperatorGroupSpec{})
	w.install(n[0])
	w.copies(w.csv, n[0], w.Namespace, n[1])
	later := w.Namespace + "-later"
	w.Make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: later}})
	w.RemoveLater(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: later}})
	w.copies(w.csv, n[0], w.Namespace, n[1], later)
}

// TestCopiesFollowTheirSource, whatever users do to them.
func TestCopiesFollowTheirSource(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(2)
	w.group(n[0], naming(n[1]))
	w.install(n[0])
	w.copies(w.csv, n[0], n[1])
	same := func(what string) {
		t.Helper()
		must.Eventually(w, what, func() error {
			source, copied := &v1alpha1.ClusterServiceVersion{}, &v1alpha1.ClusterServiceVersion{}
			if !w.In(n[0]).Read(w.csv, source) || !w.In(n[1]).Read(w.csv, copied) {
				return fmt.Errorf("one is missing")
			}
			_, stray := copied.Annotations["stray"]
			if source.Spec.DisplayName != copied.Spec.DisplayName || source.Status.Phase != copied.Status.Phase || copied.Status.Reason != "Copied" || stray || copied.Labels["olm.copiedFrom"] != n[0] {
				return fmt.Errorf("the copy is %q, %s/%s, %v", copied.Spec.DisplayName, copied.Status.Phase, copied.Status.Reason, copied.ObjectMeta)
			}
			return nil
		})
	}
	edit(w, n[0], w.csv, &v1alpha1.ClusterServiceVersion{}, func(c *v1alpha1.ClusterServiceVersion) { c.Spec.DisplayName = "Another name" })
	same("the copy to follow")
	edit(w, n[1], w.csv, &v1alpha1.ClusterServiceVersion{}, func(c *v1alpha1.ClusterServiceVersion) {
		c.Spec.DisplayName, c.Annotations["stray"] = "Edited", "x"
	})
	same("the edit of the copy to be undone")
	edit(w, n[1], w.csv, &v1alpha1.ClusterServiceVersion{}, func(c *v1alpha1.ClusterServiceVersion) { delete(c.Labels, "olm.copiedFrom") })
	same("the lost label to come back")
	copied := &v1alpha1.ClusterServiceVersion{}
	w.In(n[1]).Read(w.csv, copied)
	copied.Status.Phase = v1alpha1.CSVPhaseFailed
	must.NoError(t, w.Status().Update(t.Context(), copied))
	same("the status of the copy to come back")
	w.Remove(copied)
	same("the deleted copy to come back")
}

// TestStrayCopies have no source, or say that they come from somewhere else: they go.
func TestStrayCopies(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(2)
	for how, mark := range map[string]func(*v1alpha1.ClusterServiceVersion){
		"by label": func(c *v1alpha1.ClusterServiceVersion) { c.Labels = map[string]string{"olm.copiedFrom": n[0]} },
		"by annotation": func(c *v1alpha1.ClusterServiceVersion) {
			c.Annotations = map[string]string{"olm.operatorNamespace": n[0]}
		},
	} {
		stray := w.operator(n[1], mark)
		w.Make(stray)
		w.In(n[1]).Goes(w.csv, &v1alpha1.ClusterServiceVersion{})
		t.Log(how)
	}
	w.group(n[0], naming(n[1]))
	w.install(n[0])
	w.copies(w.csv, n[0], n[1])
	edit(w, n[1], w.csv, &v1alpha1.ClusterServiceVersion{}, func(c *v1alpha1.ClusterServiceVersion) { c.Annotations["olm.operatorNamespace"] = "nowhere" })
	must.Eventually(w, "the annotation to come back", func() error {
		c := &v1alpha1.ClusterServiceVersion{}
		if w.In(n[1]).Read(w.csv, c); c.Annotations["olm.operatorNamespace"] != n[0] {
			return fmt.Errorf("it is %q", c.Annotations["olm.operatorNamespace"])
		}
		return nil
	})
}

// TestDisablingCopies of operators that watch all namespaces, and enabling them again.
func TestDisablingCopies(t *testing.T) {
	w := newWorldAlone(t)
	n := w.namespaces(3)
	w.group(n[0], v1.OperatorGroupSpec{})
	w.install(n[0])
	w.copies(w.csv, n[0], w.Namespace, n[1], n[2])
	config := &v1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	must.NoError(t, client.IgnoreAlreadyExists(w.Create(t.Context(), config)))
	set := func(disabled bool) {
		edit(w, "", "cluster", &v1.OLMConfig{}, func(c *v1.OLMConfig) { c.Spec.Features = &v1.Features{DisableCopiedCSVs: &disabled} })
	}
	t.Cleanup(func() {
		_ = w.Delete(context.Background(), &v1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}})
	})
	told := func() int {
		var events corev1.EventList
		must.NoError(t, w.List(t.Context(), &events, client.InNamespace(n[0])))
		count := 0
		for _, e := range events.Items {
			if e.Reason == "DisabledCopiedCSVs" && e.InvolvedObject.Name == w.csv && e.Type == corev1.EventTypeWarning {
				count++
			}
		}
		return count
	}
	condition := func(status, reason string, events int) {
		t.Helper()
		must.Eventually(w, "condition "+status+"/"+reason, func() error {
			w.In("").Read("cluster", config)
			c := meta.FindStatusCondition(config.Status.Conditions, "DisabledCopiedCSVs")
			if c == nil || string(c.Status) != status || c.Reason != reason || status == "False" && !strings.Contains(c.Message, "present across") {
				return fmt.Errorf("it is %+v", c)
			}
			if got := told(); got != events {
				return fmt.Errorf("%d events", got)
			}
			return nil
		})
	}
	set(true)
	w.copies(w.csv, n[0])
	condition("True", "CopiedCSVsDisabled", 1)
	set(false)
	w.copies(w.csv, n[0], w.Namespace, n[1], n[2])
	condition("False", "CopiedCSVsEnabled", 0)
}
