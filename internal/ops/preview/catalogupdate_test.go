package preview

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pushedAs pushes a catalog with each content, in one repository, and returns the digests by tag.
func pushedAs(t *testing.T, contents map[string]string) (repo string, digests map[string]string) {
	t.Helper()
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	repo, digests = strings.TrimPrefix(registry.URL, "http://")+"/cat", map[string]string{}
	for tag, text := range contents {
		digests[tag] = must.Value(image.Push(t.Context(), repo+":"+tag, fstest.MapFS{"configs/catalog.json": {Data: []byte(text)}}, image.CatalogLabels(), image.PushOptions{}))(t)
	}
	return repo, digests
}

// rewritten is the catalog with texts replaced.
func rewritten(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(content) }

// TestCatalogUpdate: what another image changes in the content, and what it means for what is installed, by both APIs.
func TestCatalogUpdate(t *testing.T) {
	repo, digests := pushedAs(t, map[string]string{
		"served": content,
		// 1.0.0, which is installed, is not there any more, and nothing replaces it.
		"gone": rewritten(`{"name":"app.v1.0.0"},`, ``, `{"name":"app.v1.0.0"}`, ``, `,"replaces":"app.v1.0.0"`, ``,
			`{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":"registry.example.com/app:v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}`, ``),
		// What 1.1.0 needs is not there any more.
		"stuck":   rewritten(`"kind":"Db"}}]}`+"\n"+`{"schema":"olm.bundle","package":"app","name":"app.v2.0.0"`, `"kind":"Nothing"}}]}`+"\n"+`{"schema":"olm.bundle","package":"app","name":"app.v2.0.0"`),
		"another": rewritten(`"name":"db","defaultChannel"`, `"name":"db","description":"another","defaultChannel"`),
	})
	objects := inNamespace(repo + ":served")
	source := objects[4].(*v1alpha1.CatalogSource)
	clustered := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "cat"}}
	clustered.Spec.Source = olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: repo + ":served"}}
	e := olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "app"}}
	e.Spec.Namespace, e.Spec.Source = "here", olmv1.SourceConfig{SourceType: "Catalog", Catalog: &olmv1.CatalogFilter{PackageName: "app"}}
	e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: "app.v1.0.0", Version: "1.0.0"}}
	lib := library(t)
	updater := func(more ...client.Object) CatalogUpdater {
		return CatalogUpdater{Cluster: Cluster{Reader: reader(t, append(objects[:len(objects):len(objects)], more...)...), Server: server{version: "v1.29.0"}}, Library: lib, GlobalNamespace: "olm"}
	}
	for name, test := range map[string]struct {
		tag        string
		v0, v1     string
		unaffected int
		breaking   bool
	}{
		"the same":         {"served", "", "", 0, false},
		"gone":             {"gone", EffectGone, EffectGone, 0, true},
		"stuck":            {"stuck", EffectStuck, EffectChanges, 0, false},
		"nothing for here": {"another", "", "", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			for api, object := range map[string]client.Object{"v0": source, "v1": clustered} {
				u := updater(clustered)
				want := test.v0
				if api == "v1" {
					u, want = updater(clustered, &e), test.v1
				}
				got := must.Value(u.Update(t.Context(), object, digests["served"], repo+":"+test.tag))(t)
				must.Equal(t, "the same content", got.Same, test.tag == "served")
				must.Equal(t, "digest", got.Digest, digests[test.tag])
				if got.Same {
					continue
				}
				effect := ""
				for _, e := range got.Effects {
					effect = e.Effect
					must.Equal(t, "installed", e.Installed, "app.v1.0.0")
				}
				if effect != want || got.Unaffected != test.unaffected {
					t.Errorf("%s: %q, %d unaffected, with %+v, %q", api, effect, got.Unaffected, got.Effects, got.Notes)
				}
				must.Equal(t, api+": packages that differ", len(got.Content.Packages), 1)
				must.Equal(t, api+": breaking", got.Content.Breaking() > 0, test.breaking)
			}
		})
	}
	got := must.Value(updater(clustered).Update(t.Context(), source, "", ""))(t)
	must.Equal(t, "the image that it names, where nothing is known of what it serves", got.Same, true)
	got = must.Value(updater(clustered).Update(t.Context(), source, "sha256:"+strings.Repeat("0", 64), repo+":stuck"))(t)
	must.Contain(t, "what cannot be compared", strings.Join(got.Notes, " "), "what the catalog serves now cannot be read")
	must.Equal(t, "effects without it", len(got.Effects), 1)
	_, err := updater(clustered).Update(t.Context(), source, "", repo+":none")
	must.Fail(t, "an image that is not there", err, "read image "+repo+":none")
	mapped := source.DeepCopy()
	mapped.Spec.Image, mapped.Spec.SourceType, mapped.Spec.ConfigMap = "", v1alpha1.SourceTypeInternal, "cat"
	_, err = updater(clustered).Update(t.Context(), mapped, "", "")
	must.Fail(t, "a catalog without image", err, "the catalog is read from no image")
}

// TestCatalogUpdateOfATenant: what a user may not read is a note, and is not told.
func TestCatalogUpdateOfATenant(t *testing.T) {
	repo, digests := pushedAs(t, map[string]string{"served": content, "stuck": rewritten(`"kind":"Db"}}]}`+"\n"+`{"schema":"olm.bundle","package":"app","name":"app.v2.0.0"`, `"kind":"Nothing"}}]}`+"\n"+`{"schema":"olm.bundle","package":"app","name":"app.v2.0.0"`)})
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "cat"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: repo + ":served"}}
	objects := []client.Object{source}
	for _, namespace := range []string{"here", "secret"} {
		meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
		objects = append(objects, &v1alpha1.Subscription{ObjectMeta: meta("app"), Spec: &v1alpha1.SubscriptionSpec{Package: "app", CatalogSource: "cat", CatalogSourceNamespace: "here"},
			Status: v1alpha1.SubscriptionStatus{CurrentCSV: "app.v1.0.0", InstalledCSV: "app.v1.0.0"}},
			&v1alpha1.ClusterServiceVersion{ObjectMeta: meta("app.v1.0.0"), Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}}, &operatorsv1.OperatorGroup{ObjectMeta: meta("all")})
	}
	u := CatalogUpdater{Cluster: Cluster{Reader: fakeapi.Tenant(reader(t, objects...), "here"), Server: server{version: "v1.29.0"}}, Library: library(t), GlobalNamespace: "here"}
	got := must.Value(u.Update(t.Context(), source, digests["served"], repo+":stuck"))(t)
	must.Equal(t, "effects", len(got.Effects), 1)
	must.Equal(t, "of", got.Effects[0].Namespace, "here")
	must.Contain(t, "notes", strings.Join(got.Notes, " "), "what it means is told for namespace here alone")
}

// TestCatalogContent: what a catalog of the cluster has, and the rules that it breaks, by their names.
func TestCatalogContent(t *testing.T) {
	repo, digests := pushedAs(t, map[string]string{"served": content, "broken": content + `{"schema":"olm.package","name":"torn","defaultChannel":"none"}` + "\n"})
	lib := library(t)
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: repo + ":served"}}
	c := must.Value(lib.Content(t.Context(), reader(t), nil, source))(t)
	must.Equal(t, "content", *c, CatalogContent{Digest: digests["served"], Packages: 2, Versions: 4})
	source.Spec.Image = repo + ":broken"
	c = must.Value(lib.Content(t.Context(), reader(t), nil, source))(t)
	if len(c.Problems) == 0 || c.Errors == 0 || c.Problems[0].Rule == "" || !strings.Contains(c.Problems[0].Object, "torn") || c.Problems[0].Severity != "Error" {
		t.Errorf("the problems are %+v", c)
	}
	clustered := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "cat"}}
	_, err := lib.Content(t.Context(), reader(t), nil, clustered)
	must.Fail(t, "a ClusterCatalog without image", err, "set spec.source.image.ref")
}
