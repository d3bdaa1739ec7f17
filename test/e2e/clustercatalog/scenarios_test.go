package clustercatalog

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	succeeded = "True " + olmv1.ReasonSucceeded
	retrying  = "True " + olmv1.ReasonRetrying
	blocked   = "False " + olmv1.ReasonBlocked
	available = "True " + olmv1.ReasonAvailable
	nothing   = "False " + olmv1.ReasonUnavailable
)

// TestABundleImage is called one; the catalog that takes its place under the same tag is served.
func TestABundleImage(t *testing.T) {
	w := newWorld(t)
	w.pushFiles("kite:latest", map[string]string{"manifests/csv.yaml": "kind: ClusterServiceVersion"}, image.BundleLabels("kite", []string{"stable"}, "stable"))
	w.run(nil)
	w.ask("bundle", w.ref("kite:latest"))
	object := w.says("bundle", retrying, nothing)
	must.Contain(t, "Progressing", meta.FindStatusCondition(object.Status.Conditions, olmv1.TypeProgressing).Message, "it is a bundle image, of package kite", "put it into a catalog with fairlead catalog add-bundle")
	w.push("kite:latest", "a")
	w.minute("bundle")
	w.says("bundle", succeeded, available)
}

// TestTheLifeOfACatalog: from an image over new content, absence and a digest to its end.
func TestTheLifeOfACatalog(t *testing.T) {
	w := newWorld(t)
	first := w.push("catalog:latest", "a", "b")
	w.run(nil)
	w.ask("life", w.ref("catalog:latest"))
	object := w.says("life", succeeded, available)
	base := object.Status.URLs.Base
	if object.Labels[olmv1.MetadataNameKey] != "life" || object.Status.ResolvedSource.Image.Ref != first || object.Status.LastUnpacked == nil {
		t.Errorf("labels %v, status %+v, pushed %s", object.Labels, object.Status, first)
	}
	w.packages(base, "a", "b")
	if code, body, err := w.answer(base + "/api/v1/all"); err != nil || code != http.StatusOK || strings.Count(body, "\n") != 6 {
		t.Errorf("%d %q, %v", code, body, err)
	}
	if code, body, err := w.answer(base + "/api/v1/metas?package=b"); err != nil || code != http.StatusOK || strings.Count(body, "\n") != 2 {
		t.Errorf("%d %q, %v", code, body, err)
	}

	asked := w.asked.Load()
	w.minute("life")
	touched := w.read("life").ResourceVersion
	must.Eventually(w, "the registry to be asked", func() error {
		if w.asked.Load() == asked {
			return errors.New("it is not")
		}
		return nil
	})
	must.Equal(t, fmt.Sprintf("a poll that found nothing new wrote the object: version %s, then", touched), w.read("life").ResourceVersion, touched)
	second := w.push("catalog:latest", "a", "b", "c")
	w.minute("life")
	w.packages(base, "a", "b", "c")
	must.Eventually(w, "the status to name the new content", func() error {
		if got := w.read("life").Status.ResolvedSource.Image.Ref; got != second {
			return fmt.Errorf("it names %s, pushed %s", got, second)
		}
		return nil
	})

	w.change("life", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable })
	object = w.says("life", succeeded, "False "+olmv1.ReasonUserSpecifiedUnavailable)
	if s := object.Status; s.ResolvedSource != nil || s.URLs != nil || s.LastUnpacked != nil {
		t.Errorf("status %+v", s)
	}
	if code, body, err := w.answer(base + "/api/v1/all"); err != nil || code != http.StatusNotFound {
		t.Errorf("%d %q, %v", code, body, err)
	}
	w.change("life", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeAvailable })
	w.says("life", succeeded, available)
	w.packages(base, "a", "b", "c")

	w.change("life", func(o *olmv1.ClusterCatalog) { o.Spec.Source.Image = &olmv1.ImageSource{Ref: first} })
	w.packages(base, "a", "b")
	must.Equal(t, "resolved", w.says("life", succeeded, available).Status.ResolvedSource.Image.Ref, first)

	must.NoError(t, w.Delete(t.Context(), w.read("life")))
	must.Eventually(w, "nothing to be served of a catalog that is gone", func() error {
		if code, body, err := w.answer(base + "/api/v1/all"); err != nil || code != http.StatusNotFound {
			return fmt.Errorf("%d %q, %w", code, body, err)
		}
		return nil
	})
}

// TestTrouble: a registry that is down, a tag that is not there, and images that are no catalogs, which by digest they will never be.
func TestTrouble(t *testing.T) {
	w := newWorld(t)
	w.run(nil)
	none := w.pushFiles("none:latest", map[string]string{"a": "b"}, map[string]string{"x": "y"})
	empty := w.pushFiles("empty:latest", map[string]string{"configs/.keep": ""}, image.CatalogLabels())
	for name, test := range map[string]struct{ ref, progressing, message string }{
		"no-such-tag":     {w.ref("nobody:latest"), retrying, "NotFound"},
		"no-catalog":      {w.ref("none:latest"), retrying, "operators.operatorframework.io.index.configs.v1"},
		"never-a-catalog": {none, blocked, "operators.operatorframework.io.index.configs.v1"},
		"never-a-package": {empty, blocked, "holds no package"},
		"no-registry":     {harness.FreeAddress(t) + "/a/b:v1", retrying, "connection refused"},
	} {
		w.ask(name, test.ref)
		object := w.says(name, test.progressing, nothing)
		if c := meta.FindStatusCondition(object.Status.Conditions, olmv1.TypeProgressing); !strings.Contains(c.Message, test.message) {
			t.Errorf("%s: %s", name, c.Message)
		}
	}
	w.push("nobody:latest", "late")
	w.minute("no-such-tag")
	w.packages(w.says("no-such-tag", succeeded, available).Status.URLs.Base, "late")
}

// TestARestartNeedsNoRegistry: a manager that starts serves what was served before, and leaves the status alone; polls that fail are told,
// and the content stays.
func TestARestartNeedsNoRegistry(t *testing.T) {
	w := newWorld(t)
	pinned := w.push("catalog:latest", "a")
	dir, address := filepath.Join(t.TempDir(), "store"), harness.FreeAddress(t)
	same := func(o *manager.Options) { o.StoreDir, o.CatalogHTTP.Address = dir, address }
	stop := w.run(same)
	w.ask("polled", w.ref("catalog:latest"))
	w.ask("pinned", pinned)
	base := w.says("polled", succeeded, available).Status.URLs.Base
	w.says("pinned", succeeded, available)
	before := w.read("pinned").ResourceVersion
	stop()
	w.registry.Close()
	w.run(same)
	w.packages(base, "a")
	object := w.says("polled", retrying, available)
	w.packages(object.Status.URLs.Base, "a")
	w.packages(w.read("pinned").Status.URLs.Base, "a")
	if after := w.read("pinned").ResourceVersion; before != after {
		t.Errorf("the status of what has not changed was written: version %s, then %s", before, after)
	}
}

// TestEveryReplicaServes: also one that does not lead, which takes over with what it has when the other one and the registry are gone.
func TestEveryReplicaServes(t *testing.T) {
	w := newWorld(t)
	w.push("catalog:latest", "a")
	must.NoError(t, w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "replicas"}}))
	addresses := []string{harness.FreeAddress(t), harness.FreeAddress(t)}
	replica := func(i int) (stop func()) {
		return w.run(func(o *manager.Options) {
			o.LeaderElection, o.LeaderNamespace = true, "replicas"
			o.CatalogHTTP = manager.CatalogHTTP{Address: addresses[i], URL: "http://fairlead-catalogs.replicas.svc"} // where a Service would lead to both
		})
	}
	stop := replica(0)
	w.ask("shared", w.ref("catalog:latest"))
	must.Equal(t, "base", w.says("shared", succeeded, available).Status.URLs.Base, "http://fairlead-catalogs.replicas.svc/catalogs/shared")
	replica(1)
	follower := "http://" + addresses[1] + "/catalogs/shared"
	w.packages(follower, "a")
	w.push("catalog:latest", "a", "b")
	w.minute("shared")
	w.packages("http://"+addresses[0]+"/catalogs/shared", "a", "b")
	w.packages(follower, "a", "b")

	version := w.says("shared", succeeded, available).ResourceVersion
	w.registry.Close()
	stop()
	w.packages(follower, "a", "b")
	must.Eventually(w, "the other one to lead, and to tell of the registry", func() error {
		if w.read("shared").ResourceVersion == version {
			return fmt.Errorf("nothing was written")
		}
		return nil
	})
	w.says("shared", retrying, available)
	w.packages(follower, "a", "b")
}

// TestPullSecretForAll: images of a registry that asks for credentials are read with the pull secret for all of them, as soon as it is there.
func TestPullSecretForAll(t *testing.T) {
	w := newWorld(t)
	pinned := w.push("catalog:latest", "a")
	inner := w.registry.Config.Handler
	w.registry.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			out.Header().Set("WWW-Authenticate", `Basic realm="catalogs"`)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(out, r)
	})
	namespace := devcluster.Namespace(t)
	w.run(func(o *manager.Options) {
		o.GlobalPullSecret = types.NamespacedName{Namespace: namespace, Name: "pull"}
	})
	w.ask("private", pinned)
	w.says("private", retrying, nothing)
	host := strings.TrimPrefix(w.registry.URL, "http://")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
		StringData: map[string]string{corev1.DockerConfigJsonKey: fmt.Sprintf(`{"auths":{%q:{"username":"me","password":"secret"}}}`, host)}}
	must.NoError(t, w.Create(t.Context(), secret))
	w.packages(w.says("private", succeeded, available).Status.URLs.Base, "a")
}
