package preview

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const content = `
{"schema":"olm.package","name":"app","defaultChannel":"stable"}
{"schema":"olm.channel","package":"app","name":"stable","entries":[{"name":"app.v1.0.0"},{"name":"app.v1.1.0","replaces":"app.v1.0.0"},{"name":"app.v2.0.0","replaces":"app.v1.1.0"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":"registry.example.com/app:v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.1.0","image":"registry.example.com/app:v1.1.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.1.0"}},{"type":"olm.gvk.required","value":{"group":"example.com","version":"v1","kind":"Db"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v2.0.0","image":"registry.example.com/app:v2.0.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"2.0.0"}},{"type":"olm.csv.metadata","value":{"minKubeVersion":"1.30.0"}}]}
{"schema":"olm.package","name":"db","defaultChannel":"stable"}
{"schema":"olm.channel","package":"db","name":"stable","entries":[{"name":"db.v1.0.0"}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.0.0","image":"registry.example.com/db:v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":"Db"}}]}
`

// server is a cluster that is asked for its version.
type server struct {
	version string
	err     error
}

func (s server) ServerVersion() (*apimachineryversion.Info, error) {
	return &apimachineryversion.Info{GitVersion: s.version}, s.err
}

// pushed is the reference of an image with the catalog, in a registry on loopback.
func pushed(t *testing.T) string {
	t.Helper()
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/cat:v1"
	files := fstest.MapFS{"configs/catalog.json": {Data: []byte(content)}}
	must.Value(image.Push(t.Context(), ref, files, image.CatalogLabels(), image.PushOptions{}))(t)
	return ref
}

func library(t *testing.T) *Library {
	t.Helper()
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	r := &bundleio.Renderer{}
	l := must.Value(OpenLibrary(t.Context(), r))(t)
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// inNamespace is what the cluster holds: an operator that is to be upgraded, a copy that does not count, and catalogs, one of them in
// a namespace that nobody sees.
func inNamespace(ref string) []client.Object {
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	source := func(namespace, name, image string, secrets ...string) *v1alpha1.CatalogSource {
		return &v1alpha1.CatalogSource{ObjectMeta: meta(namespace, name), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: image, Secrets: secrets}}
	}
	app := &v1alpha1.ClusterServiceVersion{ObjectMeta: meta("here", "app.v1.0.0"), Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}}
	copied := &v1alpha1.ClusterServiceVersion{ObjectMeta: meta("here", "db.v1.0.0")}
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}
	return []client.Object{
		&v1alpha1.Subscription{ObjectMeta: meta("here", "app"),
			Spec:   &v1alpha1.SubscriptionSpec{Package: "app", CatalogSource: "cat", CatalogSourceNamespace: "olm"},
			Status: v1alpha1.SubscriptionStatus{CurrentCSV: "app.v1.0.0", InstalledCSV: "app.v1.0.0"}},
		app, copied,
		&operatorsv1.OperatorGroup{ObjectMeta: meta("here", "all")},
		source("olm", "cat", ref, "pull"), source("olm", "locked", ref, "gone"), source("unseen", "other", ref),
		&corev1.Secret{ObjectMeta: meta("olm", "pull"), Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}},
	}
}

func reader(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "here"}}).Build()
}

// decided is what is decided for the namespace of a cluster.
func decided(t *testing.T, version string, wishes ...Request) *Preview {
	t.Helper()
	q := must.Value(Cluster{Reader: reader(t, inNamespace(pushed(t))...), Server: server{version: version}}.Question(t.Context(), "here", "olm"))(t)
	q.Requests = wishes
	p := must.Value(q.Decide(t.Context(), library(t)))(t)
	return p
}

func TestCluster(t *testing.T) {
	p := decided(t, "v1.29.3+vendor", Request{Package: "db"})
	r := p.Resolution()
	var text strings.Builder
	must.NoError(t, r.Write(&text))
	want := `namespace here: 2 to install

OPERATOR    VERSION  CHANNEL  CATALOG  FOR           REPLACES
db.v1.0.0   1.0.0    stable   olm/cat  subscription  -
app.v1.1.0  1.1.0    stable   olm/cat  subscription  app.v1.0.0

catalog olm/locked cannot be read:
  read pull secret olm/gone: secrets "gone" not found
`
	must.Equal(t, "text", text.String(), want)
	if p.input.Kubernetes.Minor != 29 || !r.Solved() {
		t.Errorf("Kubernetes %s, solved %t", p.input.Kubernetes, r.Solved())
	}
}

func TestQuestionsAboutACluster(t *testing.T) {
	p := decided(t, "v1.29.3")
	w := p.Why("app")
	if w.Operator != "app.v1.1.0" || w.State != StateChosen || w.Replaces != "app.v1.0.0" || len(w.Because) != 1 {
		t.Errorf("why: %+v", w)
	}
	o := must.Value(p.Outdated(t.Context()))(t)
	if s := o.Subscriptions[0]; s.Installed != "app.v1.0.0" || s.Next != "app.v1.1.0" || s.Allowed != "app.v2.0.0" || s.Newest != "app.v2.0.0" || len(o.Unmanaged) > 0 {
		t.Errorf("outdated: %+v", o)
	}
	n, err := p.WhyNot(t.Context(), "app", "2.0.0")
	if err != nil || len(n.Verdicts) != 1 || !strings.Contains(n.Verdicts[0].Reasons[0], "no edge leads from the installed app.v1.0.0 to it") {
		t.Errorf("why not: %+v, %v", n, err)
	}
}

func TestClusterThatCannotBeRead(t *testing.T) {
	refused := errors.New("refused")
	failing := func(of string) client.Reader {
		return interceptor.NewClient(reader(t), interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			if _, sources := list.(*v1alpha1.CatalogSourceList); sources == (of == "sources") {
				return refused
			}
			return nil
		}})
	}
	for name, test := range map[string]struct {
		cluster Cluster
		want    string
	}{
		"no version":              {Cluster{reader(t), server{err: refused}}, "ask the cluster for its version: refused"},
		"a version of no release": {Cluster{reader(t), server{version: "devel"}}, "read the version of the cluster: "},
		"no objects":              {Cluster{failing("objects"), server{version: "v1.30.0"}}, "read namespace here of the cluster: refused"},
		"no catalogs":             {Cluster{failing("sources"), server{version: "v1.30.0"}}, "list the CatalogSources of namespace here: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := test.cluster.Question(t.Context(), "here", "olm"); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestLibraryWithoutCacheDirectory(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", "/dev/null")
	t.Setenv("TMPDIR", t.TempDir())
	l, err := OpenLibrary(t.Context(), &bundleio.Renderer{})
	if err != nil || l.temp == "" {
		t.Fatalf("kept in %q: %v", l.temp, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", "/dev/null")
	if _, err := OpenLibrary(t.Context(), &bundleio.Renderer{}); err == nil || !strings.Contains(err.Error(), "set OLM_CACHE_DIR") {
		t.Errorf("got %v", err)
	}
}
