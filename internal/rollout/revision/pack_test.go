package revision

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"fairlead.dev/fairlead/test/must"
)

var testScheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{})
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	if err := olmv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return scheme
}()

// newReader is a fake API server that has the Secrets of revisions.
func newReader(t testing.TB, all ...*Revision) client.WithWatch {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(testScheme)
	for _, r := range all {
		for _, s := range r.Secrets {
			b = b.WithObjects(s.DeepCopy())
		}
	}
	return b.Build()
}

// incompressible is text of a length that does not get shorter by compression, by much.
func incompressible(length int) string {
	r := rand.New(rand.NewPCG(1, uint64(length)))
	data := make([]byte, length)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(data)[:length]
}

func sized(t testing.TB, name, text string) *unstructured.Unstructured {
	u := of(t, "v1", "ConfigMap", name)
	u.Object["data"] = map[string]any{"text": text}
	return u
}

// TestLargeBundles of 20 MB come back as they were, and no Secret is too large to be stored.
func TestLargeBundles(t *testing.T) {
	var objects []*unstructured.Unstructured
	for i := range 45 {
		objects = append(objects, sized(t, fmt.Sprintf("map-%02d", i), incompressible(440<<10)+fmt.Sprint(i)))
	}
	objects = append(objects, sized(t, "large", strings.Repeat("schema ", 1400<<10/7))) // 1.4 MB
	r := build(t, options(objects...))
	for _, s := range r.Secrets {
		total := 0
		for key, data := range s.Data {
			total += len(key) + len(data)
		}
		if total > 1<<20-8<<10 {
			t.Errorf("Secret %s has %d bytes", s.Name, total)
		}
	}
	if len(r.Secrets) < 20 || len(r.Secrets) > 30 {
		t.Errorf("%d Secrets", len(r.Secrets))
	}
	got := must.Value(Objects(t.Context(), newReader(t, r), r.Set))(t)
	if len(got) != len(objects) {
		t.Fatalf("%d objects", len(got))
	}
	for _, u := range got {
		text, _, _ := unstructured.NestedString(u.Object, "data", "text")
		if u.GetName() == "large" && len(text) != 1400<<10/7*7 || u.GetName() != "large" && !strings.HasPrefix(text, incompressible(440 << 10)[:1000]) {
			t.Errorf("%s has %d bytes of text", u.GetName(), len(text))
		}
	}
}

func TestTooLargeObjects(t *testing.T) {
	for name, text := range map[string]string{"does not compress": incompressible(2 << 20), "too long to be read back": strings.Repeat("x", maxObjectSize)} {
		_, err := Build(options(sized(t, "a", text)))
		must.Fail(t, name, err, "make it smaller")
	}
}

// TestReadingBack refuses what is too large, missing or not as it was.
func TestReadingBack(t *testing.T) {
	bomb := func() []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(bytes.Repeat([]byte(" "), maxObjectSize+1))
		_ = w.Close()
		return b.Bytes()
	}()
	tests := map[string]struct {
		change  func(r *Revision)
		blocked bool
		want    string
	}{
		"no Secret":      {func(r *Revision) { r.Secrets = nil }, false, "not found"},
		"no key":         {func(r *Revision) { r.Secrets[0].Data = nil }, false, "has no key"},
		"mutable":        {func(r *Revision) { r.Secrets[0].Immutable = nil }, true, "olm/ext-3-"},
		"other content":  {func(r *Revision) { each(r, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`)) }, true, "other content"},
		"bomb":           {func(r *Revision) { byHand(r, bomb) }, false, "when it is decompressed"},
		"half an object": {func(r *Revision) { byHand(r, []byte(`{"apiVersion":`)) }, false, "no JSON object"},
		"no object":      {func(r *Revision) { byHand(r, []byte(`{"kind":"ConfigMap"}`)) }, false, "no apiVersion"},
		"broken archive": {func(r *Revision) { byHand(r, bomb[:20]) }, false, "decompress"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := build(t, options(of(t, "v1", "ConfigMap", "a")))
			tc.change(r)
			_, err := Objects(t.Context(), newReader(t, r), r.Set)
			is := errors.As(err, new(*BlockedError))
			if err == nil || !strings.Contains(err.Error(), tc.want) || is != tc.blocked {
				t.Errorf("%v (blocked: %t), want %q", err, is, tc.want)
			}
		})
	}
}

// each replaces the content of a revision's Secrets.
func each(r *Revision, data []byte) {
	for _, s := range r.Secrets {
		for key := range s.Data {
			s.Data[key] = data
		}
	}
}

// byHand makes the Secrets ones that a user made.
func byHand(r *Revision, data []byte) {
	each(r, data)
	for _, s := range r.Secrets {
		s.Labels = nil
	}
}

// FuzzRead: whatever a Secret holds, an object with a kind and a name comes of it, or an error.
func FuzzRead(f *testing.F) {
	packed := must.Value(encode(sized(f, "a", strings.Repeat("x", 1<<20))))(f)
	for _, seed := range [][]byte{packed, packed[:50], []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`), []byte(`{"metadata":[]}`), []byte(`null`), nil} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := NewLoader(nil, &olmv1.ClusterObjectSet{}, "")
		yes := true
		l.secrets[types.NamespacedName{Name: "s"}] = &corev1.Secret{Immutable: &yes, Data: map[string][]byte{"k": data}}
		u, err := l.object(t.Context(), &olmv1.ClusterObjectSetObject{Ref: &olmv1.ObjectSourceRef{Name: "s", Key: "k"}})
		if err == nil && (u.GetKind() == "" || u.GetName() == "") {
			t.Errorf("%q became %v", data, u)
		}
	})
}

// TestTotalSize bounds what a revision can make the manager read.
func TestTotalSize(t *testing.T) {
	packed := must.Value(encode(sized(t, "a", strings.Repeat("x", 9<<20))))(t)
	yes := true
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "s"}, Immutable: &yes, Data: map[string][]byte{"k": packed}}
	set := &olmv1.ClusterObjectSet{}
	for i := range 10 {
		set.Spec.Phases = append(set.Spec.Phases, olmv1.ClusterObjectSetPhase{Name: fmt.Sprint(i), Objects: []olmv1.ClusterObjectSetObject{{Ref: &olmv1.ObjectSourceRef{Name: "s", Namespace: "olm", Key: "k"}}}})
	}
	_, err := Objects(t.Context(), fake.NewClientBuilder().WithScheme(testScheme).WithObjects(secret).Build(), set)
	must.Fail(t, "Objects", err, "together")
}

// TestProtection: that of the object, else of the phase, else of the set.
func TestProtection(t *testing.T) {
	set := &olmv1.ClusterObjectSet{}
	inline := of(t, "v1", "ConfigMap", "a")
	set.Spec.CollisionProtection = "IfNoController"
	set.Spec.Phases = []olmv1.ClusterObjectSetPhase{
		{Name: "a", CollisionProtection: "None", Objects: []olmv1.ClusterObjectSetObject{{Object: inline, CollisionProtection: "Prevent"}, {Object: inline}}},
		{Name: "b", Objects: []olmv1.ClusterObjectSetObject{{Object: inline}}},
	}
	var got []string
	l := NewLoader(nil, set, "")
	for i := range set.Spec.Phases {
		p := must.Value(l.Phase(t.Context(), i))(t)
		for _, o := range p.Objects {
			got = append(got, string(o.Protection))
		}
	}
	must.Equal(t, "result", got, []string{"Prevent", "None", "IfNoController"})
}
