package attack

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAHostileCatalogIsRefusedAtOnce: the owner of a catalog makes it as costly as its bytes allow. The status names the limit and the flag, on
// CatalogSource and ClusterCatalog alike, and also for registry servers, and the catalog of another tenant is served meanwhile.
func TestAHostileCatalogIsRefusedAtOnce(t *testing.T) {
	const soon = 30 * time.Second // seconds on a machine that does nothing else
	w := newWorld(t)
	w.run(func(o *manager.Options) { o.CatalogLimits = manager.CatalogLimits{Memory: 32 << 20} })
	mallory, other := w.namespace("attack-hostile"), w.namespace("attack-beside")
	root := t.TempDir()
	must.NoError(t, os.Mkdir(filepath.Join(root, "configs"), 0o755))
	must.NoError(t, bigcatalog.WriteHostile(filepath.Join(root, "configs"), "properties", 60<<20))
	ref := w.registry + "/" + mallory + "/hostile:v1"
	must.Value(image.Push(t.Context(), ref, os.DirFS(root), image.CatalogLabels(), image.PushOptions{}))(t)
	began := time.Now()
	s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: mallory, Name: "hostile"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
	harness.Create(t, w, s)
	servers := map[string]*v1alpha1.CatalogSource{}
	for _, kind := range bigcatalog.HostileServerKinds() {
		servers[kind] = &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: mallory, Name: kind},
			Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: bigcatalog.ServeHostile(t, kind)}}
		harness.Create(t, w, servers[kind])
	}
	w.catalogSource(other, "small", onePackage("small"))
	v1 := w.clusterCatalog("attack-hostile", ref)
	w.leadsTo(other, "small", "")
	if took := time.Since(began); took > soon {
		t.Errorf("the catalog of another tenant was served after %s", took)
	}
	const limit, flag = "the catalog takes more memory than the limit (MemoryBytes is 33554432", "--catalog-max-memory of the manager"
	said := func(message string) error {
		if strings.Contains(message, limit) && strings.Contains(message, flag) {
			return nil
		}
		return errorString(message)
	}
	harness.Await(w.t, w, client.ObjectKeyFromObject(s), s, "the CatalogSource to name the limit", func() error {
		return said(s.Status.Message)
	})
	harness.Await(w.t, w, client.ObjectKeyFromObject(v1), v1, "the ClusterCatalog to name the limit", func() error {
		if c := meta.FindStatusCondition(v1.Status.Conditions, "Progressing"); c != nil {
			return said(c.Message)
		}
		return errorString("it has no condition")
	})
	for kind, s := range servers {
		harness.Await(w.t, w, client.ObjectKeyFromObject(s), s, "the CatalogSource of "+kind+" to name what is too large", func() error {
			if kind == "server-entries" {
				return said(s.Status.Message)
			}
			if strings.Contains(s.Status.Message, "larger than max") || strings.Contains(s.Status.Message, "more than the 300000 that are read") {
				return nil
			}
			return errorString(s.Status.Message)
		})
	}
	if took := time.Since(began); took > soon {
		t.Errorf("the limit was named after %s", took)
	}
}

// errorString is an error that says what was found.
type errorString string

func (e errorString) Error() string { return "it says " + string(e) }

// clusterCatalog makes a ClusterCatalog, which is removed when the test ends.
func (w *world) clusterCatalog(name, ref string) *olmv1.ClusterCatalog {
	w.t.Helper()
	c := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}}
	harness.Create(w.t, w, c)
	w.t.Cleanup(func() { _ = w.Delete(context.Background(), c) })
	return c
}
