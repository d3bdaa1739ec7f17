package clusterextension

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// helmSecret is a release of extension my, as the other implementation of this API keeps it.
func helmSecret(t *testing.T, status string) *corev1.Secret {
	t.Helper()
	labels := migrate.HelmLabels("my")
	labels["status"], labels["type"] = status, "index"
	labels[olmv1.PackageNameKey], labels[olmv1.BundleNameKey], labels[olmv1.BundleVersionKey] = "a", "a.v1.0.0", "1.0.0"
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "sh.helm.release.v1.my.v2", Labels: labels,
		Annotations: map[string]string{olmv1.BundleReferenceKey: "quay.io/a:v1.0.0"}}, Data: map[string][]byte{"chunk": helmData(t, status, "ns"), "extraChunks": []byte("[]")}}
}

// helmData is the text of the release.
func helmData(t *testing.T, status, namespace string) []byte {
	t.Helper()
	text := must.Value(json.Marshal(map[string]any{"name": "my", "namespace": namespace, "version": 2, "info": map[string]any{"status": status},
		"manifest": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"what","namespace":"ns"},"data":{"bundle":"a.v1.0.0"}}` + "\n",
		"chart":    map[string]any{"metadata": map[string]any{"annotations": map[string]string{olmv1.PropertiesKey: `[{"type":"olm.maxOpenShiftVersion","value":"4.20"}]`}}}}))(t)
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	must.Value(z.Write(text))(t)
	must.NoError(t, z.Close())
	return data.Bytes()
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
	must.Equal(t, "it is not upgraded from what Helm has installed", w.installed("my"), "a.v1.1.0")
	secret := &corev1.Secret{}
	if err := w.client.Get(t.Context(), clientKey("olm", "sh.helm.release.v1.my.v2"), secret); err != nil || secret.Annotations[takenOverKey] != string(uidOf("my")) {
		t.Errorf("the Secret with the release: %v %v", err, secret.Annotations)
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
		"cannot be read":   func(s *corev1.Secret) { s.Data["chunk"] = []byte("text") },
		"is of no package": func(s *corev1.Secret) { delete(s.Labels, olmv1.PackageNameKey) },
		"is of no bundle":  func(s *corev1.Secret) { delete(s.Labels, olmv1.BundleNameKey) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			s := helmSecret(t, "deployed")
			change(s)
			w.add(s)
			w.serve("cat", pkg("a", "1.0.0"))
			w.pass("my")
			if r := w.revisions("my").Newest(); r != nil {
				t.Errorf("there is a revision: %+v", r)
			}
			must.Contain(t, "it is told", w.condition("my", olmv1.TypeProgressing), "sh.helm.release.v1.my.v2")
		})
	}
}

// TestHelmReleasesThatAreLookedAtAgain: no event tells that a person has restored a part of a release, or deleted one as the message advises.
func TestHelmReleasesThatAreLookedAtAgain(t *testing.T) {
	for name, change := range map[string]func(*corev1.Secret){
		"a part is missing": func(s *corev1.Secret) { s.Data["extraChunks"] = []byte(`["sh.helm.release.v1.my.v2-1"]`) },
		"is of no bundle":   func(s *corev1.Secret) { delete(s.Labels, olmv1.BundleNameKey) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			s := helmSecret(t, "deployed")
			change(s)
			w.add(s)
			w.serve("cat", pkg("a", "1.0.0"))
			must.Equal(t, "requeue after", w.pass("my").RequeueAfter, recheck)
			must.Empty(t, "revisions", w.revisions("my"))
			w.must(w.client.Delete(t.Context(), s))
			w.settle("my")
			must.Equal(t, "the revision", w.newest("my").Labels[olmv1.MigratedFromHelmKey], "")
		})
	}
}

// TestHelmReleaseHalfTaken: a pass that ended before it could say that the revision is installed is finished by the next one.
func TestHelmReleaseHalfTaken(t *testing.T) {
	for n := 1; n < 6; n++ {
		w := newWorld(t, want("my", "a", "1.0.0"))
		w.add(helmSecret(t, "deployed"))
		w.server.KillAt(n, false)
		_, _ = w.controller.Reconcile(t.Context(), requestFor("my"))
		w.server.KillAt(0, false)
		w.pass("my")
		w.pass("my")
		first := w.revisions("my").Numbered(1)
		if first == nil || !meta.IsStatusConditionTrue(first.Status.Conditions, olmv1.TypeSucceeded) || first.Labels[olmv1.MigratedFromHelmKey] == "" || w.installed("my") != "a.v1.0.0" {
			t.Errorf("after a failure of write %d: revisions %v", n, names(w.revisions("my")))
		}
	}
}

// TestHelmReleasesOfBefore are nothing to an extension that only has the name of the one that they were made for.
func TestHelmReleasesOfBefore(t *testing.T) {
	now := metav1.Now().Rfc3339Copy()
	before := metav1.NewTime(now.Add(-time.Second))
	owner := func(uid string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "x"}, {APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: "my", UID: types.UID(uid)}}
	}
	for name, test := range map[string]struct {
		change func(*olmv1.ClusterExtension, *corev1.Secret)
		taken  bool
	}{
		"of another package":   {func(e *olmv1.ClusterExtension, _ *corev1.Secret) { e.Spec.Source.Catalog.PackageName = "b" }, false},
		"of another namespace": {func(e *olmv1.ClusterExtension, _ *corev1.Secret) { e.Spec.Namespace = "other" }, false},
		"older":                {func(_ *olmv1.ClusterExtension, s *corev1.Secret) { s.CreationTimestamp = before }, false},
		"as old":               {func(*olmv1.ClusterExtension, *corev1.Secret) {}, true},
		"of another extension": {func(_ *olmv1.ClusterExtension, s *corev1.Secret) { s.OwnerReferences = owner("then") }, false},
		"older, but of the extension": {func(_ *olmv1.ClusterExtension, s *corev1.Secret) {
			s.CreationTimestamp, s.OwnerReferences = before, owner("uid-my")
		}, true},
		"taken over by another":       {func(_ *olmv1.ClusterExtension, s *corev1.Secret) { s.Annotations[takenOverKey] = "then" }, false},
		"taken over by the extension": {func(_ *olmv1.ClusterExtension, s *corev1.Secret) { s.Annotations[takenOverKey] = "uid-my" }, false},
		"of the extension and of others": {func(_ *olmv1.ClusterExtension, s *corev1.Secret) {
			s.OwnerReferences = append(owner("then"), owner("uid-my")...)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ext, s := want("my", "a", ""), helmSecret(t, "deployed")
			ext.CreationTimestamp, s.CreationTimestamp = now, now
			test.change(ext, s)
			w := newWorld(t, ext)
			w.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
			w.add(s)
			w.serve("cat", pkg("a", "1.1.0"), pkg("b", "1.1.0"))
			w.pass("my")
			must.Equal(t, "the revision", (w.newest("my").Labels[olmv1.MigratedFromHelmKey] != ""), test.taken)
		})
	}
}

// TestHelmReleasesMeetTheGates: a release is what it is, but nothing is adopted for an account that may not have it.
func TestHelmReleasesMeetTheGates(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*olmv1.ClusterExtension)
		want   string
	}{
		"no account":   {func(e *olmv1.ClusterExtension) { e.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: "gone"} }, `service account "gone" not found`},
		"no namespace": {func(e *olmv1.ClusterExtension) { e.Spec.Namespace = "gone" }, `namespaces "gone" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			ext, s := want("my", "a", ""), helmSecret(t, "deployed")
			test.change(ext)
			w := newWorld(t, ext)
			if ext.Spec.Namespace == "gone" {
				s.Data["chunk"] = helmData(t, "deployed", "gone")
			}
			w.add(s)
			w.serve("cat", pkg("a", "1.0.0"))
			w.pass("my")
			if r := w.revisions("my").Newest(); r != nil {
				t.Errorf("there is a revision: %+v", r)
			}
			must.Contain(t, "it is told", w.condition("my", olmv1.TypeProgressing), test.want)
		})
	}
}
