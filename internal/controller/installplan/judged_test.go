package installplan

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// judgedBundle is a bundle of one catalog, an image in a registry, and a policy.json that accepts what the test says and nothing else.
type judgedBundle struct {
	*testing.T
	images Images
	ref    string // of the bundle, by its tag
	digest string
}

func judgedBy(t *testing.T, accepts ...string) *judgedBundle {
	t.Helper()
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/app:v1"
	digest := must.Value(image.Push(t.Context(), ref, fstest.MapFS{"manifests/x": {Data: []byte("x")}}, nil, image.PushOptions{}))(t)
	scopes := ""
	for _, a := range accepts {
		scopes += fmt.Sprintf("%q: [{%q: %q}]", strings.ReplaceAll(a, "APP", strings.TrimSuffix(ref, ":v1")), "type", "insecureAcceptAnything")
	}
	policy := filepath.Join(t.TempDir(), "policy.json")
	text := fmt.Sprintf(`{"default": [{"type": "reject"}], "transports": {"docker": {%s}}}`, scopes)
	must.NoError(t, os.WriteFile(policy, []byte(text), 0o600))
	store := must.Value(image.Open(t.TempDir(), image.Config{Verifier: signature.New(signature.Config{Containers: policy})}))(t)
	reader := fake.NewClientBuilder().WithScheme(newWorld(t).Scheme()).WithObjects(catalogSource("olm", "catalog", 0)).Build()
	return &judgedBundle{t, Images{Verifier: store, Unpacker: bundleio.NewUnpacker(store, clock.RealClock{}, func() {}), Reader: reader, Catalogs: catalogstore.NewSet(), GlobalNamespace: "olm"}, ref, digest}
}

// serve publishes the catalog, in which the bundle has an image.
func (j *judgedBundle) serve(ref string) {
	j.Helper()
	content := fmt.Sprintf(`{"schema":"olm.package","name":"app","defaultChannel":"stable"}
{"schema":"olm.channel","package":"app","name":"stable","entries":[{"name":"app.v1.0.0"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":%q,"properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}`, ref)
	c, err := catalog.Load(j.Context(), fstest.MapFS{"catalog.json": {Data: []byte(content)}}, catalog.LoadOptions{})
	if err != nil {
		j.Fatal(err)
	}
	x, err := catalog.NewIndex(c, "sha256:"+strings.Repeat("c", 64))
	if err != nil {
		j.Fatal(err)
	}
	j.images.Catalogs.Publish(catalog.Ref{Namespace: "olm", Name: "catalog"}, catalogstore.Entry{Index: x})
}

// verify decides on the bundle as a plan names it: by its digest.
func (j *judgedBundle) verify(catalog string) error {
	return j.images.Verify(j.Context(), "olm", []v1alpha1.BundleLookup{j.lookup(catalog)})[0].Err
}

// lookup is what a plan has of the bundle.
func (j *judgedBundle) lookup(catalog string) v1alpha1.BundleLookup {
	return v1alpha1.BundleLookup{Identifier: "app.v1.0.0", Path: image.Pin(j.ref, j.digest), CatalogSourceRef: &corev1.ObjectReference{Namespace: "olm", Name: catalog}}
}

// TestAPolicyJudgesTheRequestedTag of a bundle, although a plan names its digest: the one that the plan records, or that the catalog has for a plan that
// records none.
func TestAPolicyJudgesTheRequestedTag(t *testing.T) {
	const byDigest = `{"operators.fairlead.dev/origin":{"catalog":{"ref":"REPO-catalog:v1","digest":"sha256:cc"}}}`
	const byTag = `{"operators.fairlead.dev/origin":{"requested":"REF"}}`
	for name, test := range map[string]struct {
		accepts, named, recorded string
		ok                       bool
	}{
		"that tag":                {"APP:v1", "REF", "", true},
		"another tag":             {"APP:v2", "REF", "", false},
		"the repository":          {"APP", "REF", "", true},
		"a catalog with a digest": {"APP:v1", "REF@DIGEST", "", false},
		"a catalog that names another repository":       {"APP:v1", "REPO-other:v1", "", false},
		"that tag, recorded":                            {"APP:v1", "REF", byTag, true},
		"another tag, recorded":                         {"APP:v2", "REF", byTag, false},
		"recorded, and the catalog has a digest by now": {"APP:v1", "REF@DIGEST", byTag, true},
		"a digest recorded, and the catalog has a tag":  {"APP:v1", "REF", byDigest, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := judgedBy(t, test.accepts)
			repository := strings.TrimSuffix(j.ref, ":v1")
			texts := strings.NewReplacer("REF@DIGEST", repository+"@"+j.digest, "REF", j.ref, "REPO", repository)
			j.serve(texts.Replace(test.named))
			lookup := j.lookup("catalog")
			lookup.Properties = texts.Replace(test.recorded)
			err := j.images.Verify(t.Context(), "olm", []v1alpha1.BundleLookup{lookup})[0].Err
			if (err == nil) != test.ok || err != nil && !image.IsUnverified(err) {
				t.Errorf("accepted %t, want %t: %v", err == nil, test.ok, err)
			}
			_, err = j.images.Steps(t.Context(), "olm", lookup) // the image is read, but is no bundle
			var failed *fetchError
			if !errors.As(err, &failed) || failed.state.Err == nil || image.IsUnverified(failed.state.Err) == test.ok {
				t.Errorf("read by its digest: %v", err)
			}
		})
	}
	t.Run("a plan that waits for approval", func(t *testing.T) {
		w := newSignedWorld(t, true, "greeter-operator.v1.0.0")
		const tagged = `{"default": [{"type": "reject"}], "transports": {"docker": {"HOST/bundles/greeter:v1": [{"type": "insecureAcceptAnything"}]}}}`
		w.require(tagged)
		o, digest := w.greeter("v1", "1.0.0")
		w.catalog(w.host+"/catalogs/cat:v1", o)
		p := w.settled(waitsForApproval)
		if got := p.Status.BundleLookups[0].Path; got != w.host+"/bundles/greeter@"+digest {
			t.Fatalf("the plan has %s", got)
		}
		w.require(strings.Replace(tagged, ":v1", ":v2", 1))
		w.approve(nil)
		w.settled(func(p *v1alpha1.InstallPlan) bool { return judged(p, corev1.ConditionFalse) })
		must.Empty(t, "writes", w.written())
		w.require(tagged)
		w.settled(complete)
	})
}

// TestABundleOfAnAbsentCatalogIsUndecided: a signature on the catalog may cover it, once the catalog is there.
func TestABundleOfAnAbsentCatalogIsUndecided(t *testing.T) {
	ref := catalog.Ref{Namespace: "olm", Name: "catalog"}
	for name, test := range map[string]struct {
		entry   *catalogstore.Entry
		says    string
		catalog string
	}{
		"not published yet":   {nil, "is still being loaded", "catalog"},
		"being loaded":        {&catalogstore.Entry{}, "is still being loaded", "catalog"},
		"withheld":            {&catalogstore.Entry{Withheld: true}, "is withheld until", "catalog"},
		"without any content": {&catalogstore.Entry{Problem: "registry is down"}, "registry is down", "catalog"},
		"deleted":             {nil, "", "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			j := judgedBy(t)
			if test.entry != nil {
				j.images.Catalogs.Publish(ref, *test.entry)
			}
			err := j.verify(test.catalog)
			if decided := test.says == ""; err == nil || image.IsUnverified(err) != decided || !image.Decides(err) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
	j := judgedBy(t)
	if j.serve(j.ref); !image.IsUnverified(j.verify("catalog")) {
		t.Error("a bundle of a catalog that is served is not decided on")
	}
}

// impatientReader is an API server that does not answer requests whose time is over.
type impatientReader struct{ client.Reader }

func (r impatientReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.Reader.Get(ctx, key, o, opts...)
}

// TestAnAbsentCatalogIsFoundOutInTime: what a refusal depends on is read also where other verifications have taken all the time that there is for them, and
// what is not decided is not kept for as long as a refusal.
func TestAnAbsentCatalogIsFoundOutInTime(t *testing.T) {
	j := judgedBy(t)
	j.images.Reader = impatientReader{j.images.Reader}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lookup := j.lookup("catalog")
	request := must.Value(j.images.judgement(t.Context(), "olm", lookup))(t)
	if s := j.images.Unpacker.Get(t.Context(), *request, 10*time.Second); !image.IsUnverified(s.Err) {
		t.Fatalf("%+v", s)
	}
	state := j.images.verdict(t.Context(), ctx, "olm", lookup, *request)
	if !image.IsUndecided(state.Err) || !strings.Contains(state.Err.Error(), "is still being loaded") || !state.RetryAt.IsZero() {
		t.Errorf("until %s: %v", state.RetryAt, state.Err)
	}
}
