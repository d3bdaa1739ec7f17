package catalogsource

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func inConfigMap(name string) v1alpha1.CatalogSourceSpec {
	return v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeInternal, ConfigMap: name}
}

func configMap(name, content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, UID: "uid-of-map"}, Data: map[string]string{"catalog.json": content}}
}

// edit changes a ConfigMap as its author would.
func (w *world) edit(name, content string) *corev1.ConfigMap {
	w.t.Helper()
	var m corev1.ConfigMap
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, &m); err != nil {
		w.t.Fatal(err)
	}
	if content != "" {
		m.Data = map[string]string{"catalog.json": content}
		if err := w.user(&m); err != nil {
			w.t.Fatal(err)
		}
	}
	return &m
}

func TestACatalogInAConfigMap(t *testing.T) {
	w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
	_, s := w.reconcile()
	m := w.edit("content", "")
	want := &v1alpha1.ConfigMapResourceReference{Name: "content", Namespace: "olm", UID: "uid-of-map", ResourceVersion: m.ResourceVersion, LastUpdateTime: metav1.NewTime(w.Clock.Now())}
	must.Equal(t, "ConfigMap", s.Status.ConfigMapResource, want)
	must.Equal(t, "ready reason", readyReason(s), "True Serving")
	if m.Labels["olm.managed"] != "false" || len(m.OwnerReferences) != 1 || m.OwnerReferences[0].UID != s.UID {
		t.Errorf("the ConfigMap is not marked as one to watch: %v, %v", m.Labels, m.OwnerReferences)
	}
	w.Taken()
	w.Clock.Step(time.Hour)
	if result, _ := w.reconcile(); len(w.Writes()) > 0 || result.RequeueAfter != 0 {
		t.Errorf("looking again writes %v; and again in %s", w.Writes(), result.RequeueAfter)
	}
	m = w.edit("content", strings.ReplaceAll(good, `"a"`, `"b"`))
	if _, s = w.reconcile(); s.Status.ConfigMapResource.ResourceVersion != m.ResourceVersion || !s.Status.ConfigMapResource.LastUpdateTime.Time.Equal(w.Clock.Now()) {
		t.Errorf("after a change: %+v", s.Status.ConfigMapResource)
	}
	must.Equal(t, "packages", w.packages(), []string{"b"})
}

func TestAnotherConfigMap(t *testing.T) {
	w := newWorld(t, source(inConfigMap("content")), configMap("content", good), configMap("other", strings.ReplaceAll(good, `"a"`, `"b"`)))
	w.reconcile()
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec.ConfigMap = "other" })
	if _, s := w.reconcile(); s.Status.ConfigMapResource.Name != "other" || len(w.packages()) != 1 || w.packages()[0] != "b" {
		t.Errorf("status %+v, packages %v", s.Status, w.packages())
	}
}

func TestTwoCatalogsInOneConfigMap(t *testing.T) {
	m := configMap("content", good)
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "CatalogSource", Name: "first", UID: "uid-of-first"}}
	m.Labels = map[string]string{"olm.managed": "false", "theirs": "x"}
	w := newWorld(t, source(inConfigMap("content")), m)
	w.reconcile()
	if got := w.edit("content", ""); len(got.OwnerReferences) != 2 || got.Labels["theirs"] != "x" {
		t.Errorf("owners %v, labels %v", got.OwnerReferences, got.Labels)
	}
}

// TestBadConfigMaps: what is wrong is said, what was served before stays, and it is served again as soon as it can be.
func TestBadConfigMaps(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(w *world)
		want  string
	}{
		"deleted":   {func(w *world) { _ = w.client.Delete(w.t.Context(), w.edit("content", "")) }, "read ConfigMap olm/content, which spec.configMap names"},
		"garbled":   {func(w *world) { w.edit("content", "{") }, "ConfigMap olm/content holds no usable package"},
		"not ours":  {func(w *world) { w.edit("content", "hello") }, "ConfigMap olm/content"},
		"no bundle": {func(w *world) { w.edit("content", `{"schema":"olm.package","name":"a","defaultChannel":"stable"}`) }, "no usable package"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
			w.reconcile()
			test.spoil(w)
			result, s := w.reconcile()
			if s.Status.Reason != v1alpha1.CatalogSourceConfigMapError || !strings.Contains(s.Status.Message, test.want) || readyReason(s) != "True ServingLastGoodContent" {
				t.Errorf("status %+v, want %s", s.Status, test.want)
			}
			if len(w.packages()) != 1 {
				t.Errorf("packages %v", w.packages())
			}
			if result.RequeueAfter <= 0 || result.RequeueAfter > catalogstore.LongestLocalRetry {
				t.Errorf("looked at again after %s", result.RequeueAfter)
			}
			w.Taken()
			w.reconcile()
			must.Empty(t, "writes of an event in between", w.Writes())
			if name == "deleted" {
				w.create(configMap("content", good))
			} else {
				w.edit("content", good)
			}
			w.Clock.Step(catalogstore.LongestLocalRetry)
			if _, s = w.reconcile(); readyReason(s) != "True Serving" || s.Status.Message != "" || s.Status.Reason != "" {
				t.Errorf("once it is right: %+v", s.Status)
			}
		})
	}
}

func TestAConfigMapThatWasNeverThere(t *testing.T) {
	w := newWorld(t, source(inConfigMap("content")))
	if _, s := w.reconcile(); readyReason(s) != "False ConfigMapError" || s.Status.Reason != "ConfigMapError" || s.Status.GRPCConnectionState.LastObservedState != "TRANSIENT_FAILURE" {
		t.Errorf("status %+v", s.Status)
	}
	for range 20 {
		w.Clock.Step(catalogstore.LongestLocalRetry)
		if result, _ := w.reconcile(); result.RequeueAfter > catalogstore.LongestLocalRetry {
			t.Fatalf("looked at again only after %s", result.RequeueAfter)
		}
	}
}

// TestConfigMapsThatCanBeServedAre: what another implementation serves is served, and the status says what is not as it is written.
func TestConfigMapsThatCanBeServedAre(t *testing.T) {
	m := configMap("content", "")
	m.Data = map[string]string{
		"packages":               `[{"packageName":"Op","defaultChannel":"gone","channels":[{"name":"stable","currentCSV":"op.v1"}]},{"packageName":"bad","channels":[{"name":"x","currentCSV":"bad.v1"}]}]`,
		"clusterServiceVersions": `[{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"op.v1"},"spec":{"version":"1.0.0","install":{"strategy":"deployment"}}}]`,
	}
	w := newWorld(t, source(inConfigMap("content")), m)
	w.c.records = records{dir: t.TempDir(), indexes: w.indexes}
	says := func(when string) {
		t.Helper()
		_, s := w.reconcile()
		if diff := cmp.Diff([]string{"Op"}, w.packages()); diff != "" || s.Status.Reason != "" || readyReason(s) != "True ServingWithProblems" {
			t.Errorf("%s: status %+v, packages (-want +got):\n%s", when, s.Status, diff)
		}
		ready := meta.FindStatusCondition(s.Status.Conditions, reconcile.TypeReady).Message
		for _, want := range []string{`package "Op": the name has capital letters`, `the default channel "gone" of package Op is none of its channels; stable`, `its head "bad.v1" is none of the clusterServiceVersions`, "ConfigMap olm/content"} {
			must.Contain(t, "message", s.Status.Message, want)
			must.Contain(t, s.Status.Message, ready, want)
			if strings.Count(s.Status.Message, want) > 1 {
				t.Errorf("%s: message %q says it twice: %s", when, s.Status.Message, want)
			}
		}
		served, _ := w.c.catalogs.Get(ref)
		if bad := served.Index.Problems().About("bad"); len(bad) != 1 || !strings.Contains(bad[0].Message, `its head "bad.v1"`) {
			t.Errorf("%s: what asks for package bad is told %v", when, bad)
		}
	}
	says("once it is read")
	w.restarted()
	says("after a restart")
	m = w.edit("content", "")
	m.Data["packages"] = `[{"packageName":"op","channels":[{"name":"stable","currentCSV":"op.v1"}]}]`
	must.NoError(t, w.user(m))
	if _, s := w.reconcile(); s.Status.Message != "" || readyReason(s) != "True Serving" || len(w.packages()) != 1 || w.packages()[0] != "op" {
		t.Errorf("once all is right: %+v, packages %v", s.Status, w.packages())
	}
}

// TestAFileBasedCatalogWithCapitals is served as well.
func TestAFileBasedCatalogWithCapitals(t *testing.T) {
	w := newWorld(t, source(inConfigMap("content")), configMap("content", strings.ReplaceAll(good, `"a"`, `"MyOp"`)))
	_, s := w.reconcile()
	if diff := cmp.Diff([]string{"MyOp"}, w.packages()); diff != "" || readyReason(s) != "True ServingWithProblems" || !strings.Contains(s.Status.Message, "capital letters") {
		t.Errorf("status %+v, packages (-want +got):\n%s", s.Status, diff)
	}
}
