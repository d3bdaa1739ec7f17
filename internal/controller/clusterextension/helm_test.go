package clusterextension

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/migrate"
	"fairlead.dev/fairlead/internal/revision"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// helmSecret is a release of extension my, as the other implementation of this API keeps it.
func helmSecret(t *testing.T, status string) *corev1.Secret {
	t.Helper()
	text, err := json.Marshal(map[string]any{"name": "my", "version": 2, "info": map[string]any{"status": status},
		"manifest": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"what","namespace":"ns"},"data":{"bundle":"a.v1.0.0"}}` + "\n",
		"chart":    map[string]any{"metadata": map[string]any{"annotations": map[string]string{olmv1.PropertiesKey: `[{"type":"olm.maxOpenShiftVersion","value":"4.20"}]`}}}})
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	labels := migrate.HelmLabels("my")
	labels["status"], labels["type"] = status, "index"
	labels[olmv1.PackageNameKey], labels[olmv1.BundleNameKey], labels[olmv1.BundleVersionKey] = "a", "a.v1.0.0", "1.0.0"
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "sh.helm.release.v1.my.v2", Labels: labels,
		Annotations: map[string]string{olmv1.BundleReferenceKey: "quay.io/a:v1.0.0"}}, Data: map[string][]byte{"chunk": data.Bytes(), "extraChunks": []byte("[]")}}
}

// TestHelmReleases of the other implementation become the first revision, which counts as installed at once, and what comes next is decided from
// it. The Secrets stay.
func TestHelmReleases(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"))
	w.add(helmSecret(t, "deployed"))
	w.pass("my")
	r := w.newest("my")
	if r == nil || r.Name != "my-1" || r.Labels[olmv1.MigratedFromHelmKey] != "true" || r.Spec.CollisionProtection != olmv1.CollisionProtectionNone ||
		!meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded) || !strings.Contains(r.Annotations[olmv1.PropertiesKey], "olm.maxOpenShiftVersion") {
		t.Fatalf("the revision is %+v", r)
	}
	objects, err := revision.Objects(t.Context(), w.client, r)
	if err != nil || len(objects) != 1 || objects[0].GetName() != "what" {
		t.Errorf("it has %v, %v", objects, err)
	}
	w.pass("my")
	w.expect("my", "Installed", "True/Succeeded: Installed bundle quay.io/a:v1.0.0 successfully")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.version("my", "")
	w.settle("my")
	if got := w.installed("my"); got != "a.v1.1.0" {
		t.Errorf("it is not upgraded from what Helm has installed: %s", got)
	}
	if err := w.client.Get(t.Context(), clientKey("olm", "sh.helm.release.v1.my.v2"), &corev1.Secret{}); err != nil {
		t.Errorf("the Secret with the release: %v", err)
	}
}

// TestHelmReleasesThatFailed are no installation; one that cannot be read is told of, and nothing is installed beside it.
func TestHelmReleasesThatFailed(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.add(helmSecret(t, "failed"))
	w.serve("cat", pkg("a", "1.0.0"))
	w.settle("my")
	if r := w.newest("my"); r == nil || r.Labels[olmv1.MigratedFromHelmKey] != "" {
		t.Errorf("the revision is %+v", r)
	}
	for name, change := range map[string]func(*corev1.Secret){
		"cannot be read":  func(s *corev1.Secret) { s.Data["chunk"] = []byte("text") },
		"is of no bundle": func(s *corev1.Secret) { delete(s.Labels, olmv1.BundleNameKey) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			s := helmSecret(t, "deployed")
			change(s)
			w.add(s)
			w.serve("cat", pkg("a", "1.0.0"))
			w.pass("my")
			if r := w.revisions("my").newest(); r != nil {
				t.Errorf("there is a revision: %+v", r)
			}
			if got := w.condition("my", olmv1.TypeProgressing); !strings.Contains(got, "sh.helm.release.v1.my.v2") {
				t.Errorf("it is told %s", got)
			}
		})
	}
}

// TestHelmReleaseHalfTaken: a pass that ended before it could say that the revision is installed is finished by the next one.
func TestHelmReleaseHalfTaken(t *testing.T) {
	for n := 1; n < 6; n++ {
		w := newWorld(t, want("my", "a", "1.0.0"))
		w.add(helmSecret(t, "deployed"))
		w.failAt = n
		_, _ = w.controller.Reconcile(t.Context(), requestFor("my"))
		w.failAt = 0
		w.pass("my")
		w.pass("my")
		first := w.revisions("my").numbered(1)
		if first == nil || !meta.IsStatusConditionTrue(first.Status.Conditions, olmv1.TypeSucceeded) || first.Labels[olmv1.MigratedFromHelmKey] == "" || w.installed("my") != "a.v1.0.0" {
			t.Errorf("after a failure of write %d: revisions %v", n, names(w.revisions("my")))
		}
	}
}
