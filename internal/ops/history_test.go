package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// widgets is a definition whose spec has some fields of text, in some versions, the first of which is stored.
func widgets(fields string, versions ...string) *unstructured.Unstructured {
	var properties, all string
	for _, f := range strings.Fields(fields) {
		properties += f + ": {type: string}, "
	}
	for i, v := range versions {
		all += fmt.Sprintf("{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}}, ", v, i == 0, properties)
	}
	return object(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kites.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Kite, listKind: KiteList, plural: kites, singular: kite}, versions: [` + all + `]}}`)
}

func object(text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		panic(err)
	}
	return u
}

func configMap(name, data string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: ops}, data: {a: %s}}", name, data))
}

func historyKite(field string) client.Object {
	return object("{apiVersion: example.com/v1, kind: Kite, metadata: {name: a, namespace: sky}, spec: {" + field + ": x}}")
}

// world is an extension with revisions of some objects; the newest is installed, and the definition of the cluster is live.
func world(t *testing.T, live *unstructured.Unstructured, stored []string, more []client.Object, revisions ...[]*unstructured.Unstructured) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), corev1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)))
	for _, v := range []string{"v1", "v2"} {
		gv := schema.GroupVersion{Group: "example.com", Version: v}
		scheme.AddKnownTypeWithName(gv.WithKind("Kite"), &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(gv.WithKind("KiteList"), &unstructured.UnstructuredList{})
	}
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kite", UID: "ext"}}
	ext.Spec.Source.Catalog = &olmv1.CatalogFilter{PackageName: "kite", Version: ">=1"}
	all := append([]client.Object{ext}, more...)
	for i, objects := range revisions {
		n := int64(i + 1)
		version := fmt.Sprintf("1.%d.0", n)
		r := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "kite", UID: "ext", Namespace: "ops"}, Number: n, SystemNamespace: "olm", Objects: objects,
			Annotations: map[string]string{olmv1.BundleNameKey: "kite.v" + version, olmv1.BundleVersionKey: version, olmv1.PackageNameKey: "kite"}}))(t)
		r.Set.UID = types.UID(r.Set.Name)
		r.Set.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, int(n), 8, 0, 0, 0, time.UTC))
		meta.SetStatusCondition(&r.Set.Status.Conditions, olmv1.NewCondition(olmv1.TypeSucceeded, "True", "Succeeded", ""))
		if i < len(revisions)-1 {
			r.Set.Spec.LifecycleState = olmv1.LifecycleStateArchived
		}
		all = append(all, r.Set)
		for _, s := range r.Secrets {
			all = append(all, s)
		}
	}
	if live != nil {
		typed := &apiextensionsv1.CustomResourceDefinition{}
		must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, typed))
		typed.Status.StoredVersions = stored
		all = append(all, typed)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(all...).Build()
}

func judge(t *testing.T, c client.Client, to int64) *Rollback {
	t.Helper()
	h := must.Value(ReadHistory(t.Context(), c, "kite"))(t)
	r := must.Value(h.Judge(t.Context(), c, to))(t)
	return r
}

func TestHistory(t *testing.T) {
	c := world(t, nil, nil, nil, []*unstructured.Unstructured{configMap("a", "x")}, []*unstructured.Unstructured{configMap("a", "y"), configMap("b", "x")})
	h := must.Value(ReadHistory(t.Context(), c, "kite"))(t)
	h.PinnedTo = "1"
	var b strings.Builder
	must.NoError(t, h.Write(&b))
	want := `REVISION  VERSION  BUNDLE       STATE      CREATED              OBJECTS  NOTE
2         1.2.0    kite.v1.2.0  installed  2026-01-02 08:00:00  2        -
1         1.1.0    kite.v1.1.0  archived   2026-01-01 08:00:00  1        -
` + "pinned to revision 1: catalogs do not matter until `fairlead upgrade kite` takes that back\n"
	must.Equal(t, "text", b.String(), want)
	if _, err := ReadHistory(t.Context(), c, "none"); err == nil || !strings.Contains(err.Error(), "there is none of that name") {
		t.Errorf("%v", err)
	}
}

// lose deletes all Secrets of a revision but some.
func lose(t *testing.T, c client.Client, set string, kept int) (gone []string) {
	t.Helper()
	var all corev1.SecretList
	must.NoError(t, c.List(t.Context(), &all, client.MatchingLabels{olmv1.RevisionNameKey: set}))
	for i := range all.Items[kept:] {
		s := &all.Items[kept+i]
		must.NoError(t, c.Delete(t.Context(), s))
		gone = append(gone, s.Namespace+"/"+s.Name)
	}
	if len(gone) == 0 {
		t.Fatalf("revision %s has no Secret to lose", set)
	}
	return gone
}

// TestHistoryOfLostContent: of the revision whose Secret is gone that is said, and nothing else changes.
func TestHistoryOfLostContent(t *testing.T) {
	same := []*unstructured.Unstructured{configMap("a", "x")}
	c := world(t, nil, nil, nil, same, []*unstructured.Unstructured{configMap("a", "y")}, []*unstructured.Unstructured{configMap("a", "z")})
	gone := lose(t, c, "kite-1", 0)
	h, err := ReadHistory(t.Context(), c, "kite")
	if err != nil {
		t.Fatal(err)
	}
	must.Equal(t, "lost", h.Revisions[2].Lost, []string{"Secret " + gone[0] + " is not there"})
	var b strings.Builder
	must.NoError(t, h.Write(&b))
	want := "1         1.1.0    kite.v1.1.0  archived   2026-01-01 08:00:00  1        its content is lost: Secret " + gone[0] + " is not there\n"
	if len(h.Revisions[0].Lost)+len(h.Revisions[1].Lost) != 0 || !strings.HasSuffix(b.String(), want) {
		t.Errorf("\n%s\nwant at the end\n%s", b.String(), want)
	}
	if r, err := h.Judge(t.Context(), c, 2); err != nil || len(r.Blocked) > 0 {
		t.Errorf("revision 2 has its content: %+v, %v", r, err)
	}
	_, err = h.Judge(t.Context(), c, 1)
	for _, want := range []string{"go back to revision 1: its content is lost: Secret " + gone[0], "put back what is missing as it was, from a backup, or go back to revision 2"} {
		must.Fail(t, "the call", err, want)
	}
}

// TestRollbackPassesLostContent: without a number it goes back to the newest revision that has another version and its content.
func TestRollbackPassesLostContent(t *testing.T) {
	c := world(t, nil, nil, nil, []*unstructured.Unstructured{configMap("a", "x")}, []*unstructured.Unstructured{configMap("a", "y")}, []*unstructured.Unstructured{configMap("a", "z")})
	lose(t, c, "kite-2", 0)
	if r := judge(t, c, 0); r.To.Number != 1 || len(r.Blocked) > 0 || !strings.Contains(strings.Join(r.Warnings, "\n"), "revision 2 is passed over: its content is lost: Secret ") {
		t.Errorf("%+v", r)
	}
	lose(t, c, "kite-3", 0)
	h := must.Value(ReadHistory(t.Context(), c, "kite"))(t)
	if _, err := h.Judge(t.Context(), c, 0); err == nil || !strings.Contains(err.Error(), "compare with revision 3, to see what would be lost: its content is lost: Secret ") || !strings.Contains(err.Error(), "put back what is missing as it was, from a backup") {
		t.Errorf("what is installed is compared with: %v", err)
	}
}

// TestHistoryWithoutSecrets: who may not read Secrets has the history all the same, and is told what it does not tell.
func TestHistoryWithoutSecrets(t *testing.T) {
	c := interceptor.NewClient(world(t, nil, nil, nil, []*unstructured.Unstructured{configMap("a", "x")}).(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if o.GetObjectKind().GroupVersionKind().Kind == "Secret" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name, errors.New("no"))
			}
			return c.Get(ctx, key, o, opts...)
		}})
	h := must.Value(ReadHistory(t.Context(), c, "kite"))(t)
	var b strings.Builder
	must.NoError(t, h.Write(&b))
	if len(h.Revisions) != 1 || h.Revisions[0].Lost != nil || !strings.Contains(b.String(), "\nnot checked whether the content of the revisions is there: ") || !strings.Contains(b.String(), "forbidden") {
		t.Errorf("%+v\n%s", h.Revisions, b.String())
	}
}

func TestRollback(t *testing.T) {
	one, both := []*unstructured.Unstructured{configMap("a", "x"), configMap("old", "x")}, []*unstructured.Unstructured{configMap("a", "y"), configMap("new", "x")}
	c := world(t, nil, nil, nil, one, both)
	r := judge(t, c, 0)
	var b strings.Builder
	must.NoError(t, r.Write(&b))
	want := `ClusterExtension kite: from revision 2 (1.2.0) back to revision 1 (1.1.0)

added:
  ConfigMap ops/old

changed:
  ConfigMap ops/a

removed:
  ConfigMap ops/new
`
	if diff := cmp.Diff(want, b.String()); diff != "" || len(r.Blocked) > 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	must.NoError(t, r.Apply(t.Context(), c))
	ext := &olmv1.ClusterExtension{}
	must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "kite"}, ext))
	if ext.Annotations[RollbackToKey] != "1" || ext.Spec.Source.Catalog.Version != "1.1.0" || ext.Spec.Source.Catalog.PackageName != "kite" || ext.Annotations[CRDExemptionsKey] != "" {
		t.Errorf("%+v", ext)
	}
	if err := r.Apply(t.Context(), c); err == nil {
		t.Error("it was applied to an extension that has changed since")
	}
}

func TestRollbackOfDefinitions(t *testing.T) {
	none := []*unstructured.Unstructured{configMap("a", "x")}
	step := func(now, before *unstructured.Unstructured) [][]*unstructured.Unstructured {
		return [][]*unstructured.Unstructured{{before}, {now}}
	}
	for name, test := range map[string]struct {
		now, before *unstructured.Unstructured
		stored      []string
		objects     []client.Object
		blocked     string
		proven      string
		exemptions  string
		warning     string
	}{
		"the same":                      {now: widgets("a", "v1"), before: widgets("a", "v1"), stored: []string{"v1"}},
		"a stored version would go":     {now: widgets("a", "v2", "v1"), before: widgets("a", "v1"), stored: []string{"v1", "v2"}, blocked: "stored version v2 removed", warning: "version v2 is served no more"},
		"a version nobody stores":       {now: widgets("a", "v1", "v2"), before: widgets("a", "v1"), stored: []string{"v1"}, warning: "version v2 is served no more"},
		"a field that nobody uses":      {now: widgets("a b", "v1"), before: widgets("a", "v1"), stored: []string{"v1"}, objects: []client.Object{historyKite("a")}, proven: "(1 custom resources checked)", exemptions: "existingFieldRemoval kites.example.com"},
		"a field that somebody uses":    {now: widgets("a b", "v1"), before: widgets("a", "v1"), stored: []string{"v1"}, objects: []client.Object{historyKite("b")}, blocked: "1 of 1 custom resources would lose fields: sky/a: "},
		"a definition that nobody uses": {now: widgets("a", "v1"), stored: []string{"v1"}},
		"a definition that is used":     {now: widgets("a", "v1"), stored: []string{"v1"}, objects: []client.Object{historyKite("a")}, blocked: "would be deleted, but it has 1 custom resource"},
	} {
		t.Run(name, func(t *testing.T) {
			revisions := [][]*unstructured.Unstructured{none, {test.now}}
			if test.before != nil {
				revisions = step(test.now, test.before)
			}
			c := world(t, test.now, test.stored, test.objects, revisions...)
			r := judge(t, c, 1)
			for _, part := range []struct{ what, got, want string }{
				{"blocked", strings.Join(r.Blocked, "\n"), test.blocked}, {"proven", strings.Join(r.Proven, "\n"), test.proven},
				{"exemptions", strings.Join(r.exemptions, "; "), test.exemptions}, {"warnings", strings.Join(r.Warnings, "\n"), test.warning},
			} {
				if !strings.Contains(part.got, part.want) || part.want == "" && part.got != "" {
					t.Errorf("%s: %q, want %q", part.what, part.got, part.want)
				}
			}
			if (len(r.Blocked) == 0) != (test.blocked == "") {
				t.Errorf("blocked: %q", r.Blocked)
			}
		})
	}
}

// TestRollbackFromStuck: while revision 3 is stuck, the definition that only revision 2 has would go, too, with its custom resource.
func TestRollbackFromStuck(t *testing.T) {
	c := world(t, widgets("a", "v1"), []string{"v1"}, []client.Object{historyKite("a")}, []*unstructured.Unstructured{configMap("a", "1")},
		[]*unstructured.Unstructured{configMap("a", "2"), widgets("a", "v1")}, []*unstructured.Unstructured{configMap("a", "1")})
	var sets olmv1.ClusterObjectSetList
	must.NoError(t, c.List(t.Context(), &sets))
	for i := range sets.Items {
		set := &sets.Items[i]
		switch set.Spec.Revision {
		case 2:
			set.Spec.LifecycleState = olmv1.LifecycleStateActive
		case 3:
			set.Status.Conditions = nil
		}
		must.NoError(t, c.Update(t.Context(), set))
	}
	r := judge(t, c, 1)
	if len(r.Blocked) == 0 || !strings.Contains(strings.Join(r.Blocked, " "), `validating upgrade for CRD "kites.example.com"`) {
		t.Errorf("blocked: %q", r.Blocked)
	}
	must.Equal(t, "removed", r.Removed, []string{"CustomResourceDefinition kites.example.com"})
	must.Empty(t, "the newest revision counts", r.Changed)
	if r := judge(t, c, 2); len(r.Added) != 0 || len(r.Blocked) > 0 {
		t.Errorf("back to what is installed still: added %q, blocked %q", r.Added, r.Blocked)
	}
}

func TestWhereTo(t *testing.T) {
	a := []*unstructured.Unstructured{configMap("a", "x")}
	three := world(t, nil, nil, nil, a, a, a)
	h := must.Value(ReadHistory(t.Context(), three, "kite"))(t)
	for to, want := range map[int64]string{3: "it is the newest one already", 7: "it is not kept; there is 2, 1"} {
		if _, err := h.Judge(t.Context(), three, to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("to %d: %v, want %s", to, err, want)
		}
	}
	if r := judge(t, three, 0); r.To.Number != 2 {
		t.Errorf("without a number it goes back to %d", r.To.Number)
	}
	for name, c := range map[string]client.Client{"has no revision yet": world(t, nil, nil, nil), "is the only one that": world(t, nil, nil, nil, a)} {
		h := must.Value(ReadHistory(t.Context(), c, "kite"))(t)
		if _, err := h.Judge(t.Context(), c, 0); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

func TestForward(t *testing.T) {
	c := world(t, widgets("a b", "v1"), []string{"v1"}, nil, []*unstructured.Unstructured{widgets("a", "v1")}, []*unstructured.Unstructured{widgets("a b", "v1")})
	ext := &olmv1.ClusterExtension{}
	read := func() {
		must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "kite"}, ext))
	}
	read()
	if got := RollForward(ext); got != nil {
		t.Errorf("nothing to go forward from: %q", got)
	}
	ext.Annotations = map[string]string{CRDExemptionsKey: "enum a.b"}
	must.NoError(t, c.Update(t.Context(), ext))
	r := judge(t, c, 1)
	if err := r.Apply(t.Context(), c); err != nil || len(r.exemptions) == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	read()
	if got := ext.Annotations[CRDExemptionsKey]; !strings.HasPrefix(got, "enum a.b; existingFieldRemoval kites.example.com") {
		t.Errorf("exemptions %q", got)
	}
	want := map[string]string{RollbackToKey: "", ExemptionsKey: "", VersionKey: "", CRDExemptionsKey: "enum a.b"}
	must.Equal(t, "what was exempted before stays", RollForward(ext), want)
}

// TestVersionBefore: what was asked for before the first step back is remembered, unless somebody has chosen otherwise since.
func TestVersionBefore(t *testing.T) {
	for name, test := range map[string]struct {
		version, remembered, pinned string
		before                      *string
	}{
		"a range":                   {version: ">=1", pinned: "1.1.0; >=1", before: ptr(">=1")},
		"no version":                {pinned: "1.1.0; ", before: ptr("")},
		"a second step":             {version: "1.2.0", remembered: "1.2.0; >=1", pinned: "1.1.0; >=1", before: ptr(">=1")},
		"somebody's own afterwards": {version: "2.x", remembered: "1.2.0; >=1", pinned: "1.1.0; 2.x", before: ptr("2.x")},
	} {
		t.Run(name, func(t *testing.T) {
			ext := &olmv1.ClusterExtension{}
			ext.Spec.Source.Catalog = &olmv1.CatalogFilter{Version: test.version}
			if test.remembered != "" {
				ext.Annotations = map[string]string{VersionKey: test.remembered}
			}
			if got := pin(ext, "1.1.0"); got != test.pinned {
				t.Fatalf("%q, want %q", got, test.pinned)
			}
			ext.Annotations = map[string]string{VersionKey: test.pinned}
			ext.Spec.Source.Catalog.Version = "1.1.0"
			must.Equal(t, "history version", HistoryVersion(ext), test.before)
			ext.Spec.Source.Catalog.Version = "3.x"
			if got := HistoryVersion(ext); got != nil {
				t.Errorf("what somebody has chosen since is overwritten with %q", *got)
			}
		})
	}
}

func ptr(s string) *string { return &s }
