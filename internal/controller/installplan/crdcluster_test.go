package installplan

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"
)

// split keeps CRDs and their objects in the tests' cluster, and everything else in a fake API server, where no other manager sees it.
type split struct {
	client.Client
	real client.Client
	// dead fails all writes to the cluster once it is positive and so many have been made.
	dead, writes atomic.Int64
	// before is called before a CRD is applied; nil is nothing.
	before func()
}

func (s *split) side(o runtime.Object) client.Client {
	gvk, err := apiutil.GVKForObject(o, s.Scheme())
	if err == nil && (gvk.Group == apiextensionsv1.GroupName || strings.HasSuffix(gvk.Group, ".example.com")) {
		return s.real
	}
	return s.Client
}

func (s *split) alive(c client.Client) error {
	if c == s.real && s.writes.Add(1) > s.dead.Load() && s.dead.Load() > 0 {
		return fakeapi.ErrKilled
	}
	return nil
}

func (s *split) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return s.side(o).Get(ctx, key, o, opts...)
}

func (s *split) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return s.side(list).List(ctx, list, opts...)
}

func (s *split) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if err := s.alive(s.side(o)); err != nil {
		return err
	}
	return s.side(o).Create(ctx, o, opts...)
}

func (s *split) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if err := s.alive(s.side(o)); err != nil {
		return err
	}
	return s.side(o).Patch(ctx, o, p, opts...)
}

func (s *split) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if kind, ok := o.(interface{ GetKind() string }); !ok || kind.GetKind() != crdKind {
		return s.Client.Apply(ctx, o, opts...)
	}
	if err := s.alive(s.real); err != nil {
		return err
	}
	if s.before != nil {
		s.before()
	}
	return s.real.Apply(ctx, o, opts...)
}

func (s *split) Status() client.SubResourceWriter {
	return splitStatus{SubResourceWriter: s.Client.Status(), of: s}
}

type splitStatus struct {
	client.SubResourceWriter
	of *split
}

func (s splitStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	side := s.of.side(o)
	if err := s.of.alive(side); err != nil {
		return err
	}
	return side.Status().Patch(ctx, o, p, opts...)
}

// crdWorld is a world whose CRDs are real.
type crdWorld struct {
	*world
	split *split
	crd   string
}

func newCRDWorld(t *testing.T, others ...client.Object) *crdWorld {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	w := newWorld(t, others...)
	real := must.Value(client.New(devcluster.Config(), client.Options{Scheme: w.Scheme()}))(t)
	c := &crdWorld{world: w, split: &split{Client: w.WithWatch, real: real}, crd: fmt.Sprintf("widgets.g%d.example.com", rand.Uint32())}
	c.restart()
	// A migration waits until all API servers must know of the last change of a CRD.
	w.Clock.SetTime(time.Now().Add(time.Hour))
	t.Cleanup(func() { devcluster.DeleteDefinitions(t, c.crd[len("widgets."):]) })
	return c
}

// restart gives the controller the memory of a new process.
func (w *crdWorld) restart() {
	w.controller.memory = memory{}
	w.controller.client, w.controller.live = w.split, w.split
	w.controller.engine = &rollout.Engine{Client: w.split, FieldManager: fieldOwner}
}

// definition is the CRD in YAML, of versions such as "v1 served stored {type: integer}".
func (w *crdWorld) definition(versions ...string) string {
	text := strings.ReplaceAll(crdYAML, "example.com", w.crd[len("widgets."):])
	head, _, _ := strings.Cut(text, "  versions:")
	for i, v := range versions {
		if i == 0 {
			head += "  versions:\n"
		}
		words, schema, _ := strings.Cut(v, "{")
		name, flags, _ := strings.Cut(strings.TrimSpace(words), " ")
		head += fmt.Sprintf("  - {name: %s, served: %t, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {%s}}}}}}}\n",
			name, strings.Contains(flags, "served"), strings.Contains(flags, "stored"), schema)
	}
	return head
}

func (w *crdWorld) owner() string {
	return strings.ReplaceAll(csvYAML, "widgets.example.com", w.crd)
}

// upgrade carries out a plan that brings a CRD, and returns what became of it.
func (w *crdWorld) upgrade(t *testing.T, name string, versions ...string) *v1alpha1.InstallPlan {
	t.Helper()
	w.submit(t, versions...)
	p := w.settle(t, 10*time.Minute)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete && p.Status.Phase != v1alpha1.InstallPlanPhaseFailed {
		t.Fatalf("%s: %s %s", name, p.Status.Phase, p.Status.Message)
	}
	return p
}

func (w *crdWorld) submit(t *testing.T, versions ...string) {
	t.Helper()
	w.submitManifests(t, w.owner(), w.definition(versions...))
}

// install carries out a plan of some manifests, and returns what became of it.
func (w *crdWorld) install(t *testing.T, manifests ...string) *v1alpha1.InstallPlan {
	t.Helper()
	w.submitManifests(t, manifests...)
	return w.settle(t, 10*time.Minute)
}

// object reads one in YAML.
func (w *crdWorld) object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	must.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

func (w *crdWorld) submitManifests(t *testing.T, manifests ...string) {
	t.Helper()
	old := &v1alpha1.InstallPlan{}
	if w.world.get(t, old, "ns", "plan") {
		must.NoError(t, w.Inner.Delete(t.Context(), old))
	}
	w.restart()
	p := newPlan()
	for _, manifest := range manifests {
		p.Status.Plan = append(p.Status.Plan, step(t, manifest))
	}
	must.NoError(t, w.WithWatch.Create(t.Context(), p))
}

func (w *crdWorld) live(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(t, w.split.real.Get(t.Context(), client.ObjectKey{Name: w.crd}, crd))
	return crd
}

// fill stores objects of some sizes, in turn.
func (w *crdWorld) fill(t *testing.T, version string, count int, sizes ...int64) {
	t.Helper()
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range count {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(fmt.Appendf(nil, "{kind: Widget, metadata: {namespace: default, name: w%04d}, spec: {size: %d}}", i, sizes[i%len(sizes)]), &o.Object); err != nil {
				t.Error(err)
			}
			o.SetAPIVersion(w.crd[len("widgets."):] + "/" + version)
			deadline := time.Now().Add(30 * time.Second)
			err := w.split.real.Create(t.Context(), o)
			for err != nil && time.Now().Before(deadline) { // the API server takes a moment to serve a new version
				time.Sleep(50 * time.Millisecond)
				err = w.split.real.Create(t.Context(), o)
			}
			must.NoError(t, err)
		})
	}
	group.Wait()
}

// readable counts the objects that can be read in a version.
func (w *crdWorld) readable(t *testing.T, version string) int {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(w.crd[len("widgets."):] + "/" + version)
	list.SetKind("WidgetList")
	must.NoError(t, w.split.real.List(t.Context(), list))
	return len(list.Items)
}

func (w *crdWorld) told() []string {
	var texts []string
	for {
		select {
		case e := <-w.Events.Events:
			texts = append(texts, e)
		default:
			return texts
		}
	}
}

// versionsOfLive are the versions of the CRD, and those that it lists as stored.
func (w *crdWorld) versionsOfLive(t *testing.T) string {
	crd := w.live(t)
	var names []string
	for _, v := range crd.Spec.Versions {
		names = append(names, v.Name)
	}
	return strings.Join(names, " ") + ", stored " + strings.Join(crd.Status.StoredVersions, " ")
}

// TestPlanGoesOnWithAMigrationAfterAKill kills the manager in the middle of rewriting 1,200 objects. The next one goes on from there.
func TestPlanGoesOnWithAMigrationAfterAKill(t *testing.T) {
	w := newCRDWorld(t)
	w.upgrade(t, "first", "v1alpha1 served stored {type: integer", "v1 served {type: integer")
	w.fill(t, "v1alpha1", 1200, 1)
	w.upgrade(t, "turn the old version off", "v1alpha1 {type: integer", "v1 served stored {type: integer")
	if got := w.versionsOfLive(t); got != "v1alpha1 v1, stored v1alpha1 v1" {
		t.Fatal(got)
	}
	w.submit(t, "v1 served stored {type: integer")
	// The first pass rewrites two pages and notes that; the writes after these fail.
	w.split.writes.Store(0)
	w.split.dead.Store(1101)
	must.Value(w.reconcile(t))(t)
	p := w.plan(t, "plan")
	want := fmt.Sprintf("waiting: CustomResourceDefinition %s: the new one does not have version v1alpha1 any more, so the objects that may be stored in it are rewritten as v1: 1000 done, about 200 to go", w.crd)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || p.Status.Message != want {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	must.Value(w.reconcile(t))(t)
	if p := w.plan(t, "plan"); !strings.Contains(p.Status.Message, "killed") {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	if got := w.versionsOfLive(t); got != "v1alpha1 v1, stored v1alpha1 v1" || w.live(t).Annotations[crd.PositionAnnotation] == "" {
		t.Fatalf("killed in between: %s, position %q", got, w.live(t).Annotations[crd.PositionAnnotation])
	}
	if w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v2") {
		t.Error("the plan is half done")
	}
	w.restart()
	w.split.writes.Store(0)
	w.split.dead.Store(0)
	p = w.settle(t, 10*time.Minute)
	hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
	if n := w.split.writes.Load(); n > 210 {
		t.Errorf("%d writes: it began again", n)
	}
	must.Equal(t, "at the end", w.versionsOfLive(t), "v1, stored v1")
	must.Equal(t, "at the end", w.live(t).Annotations[crd.PositionAnnotation], "")
	if n := w.readable(t, "v1"); n != 1200 {
		t.Errorf("%d objects can be read", n)
	}
}

// TestCRDScenarios has the rules of the documents about CRDs, one by one, with real objects.
func TestCRDScenarios(t *testing.T) {
	const first, small = "v1 served stored {type: integer", "v1 served stored {type: integer, maximum: 5"
	elsewhere := func(w *crdWorld, version string, required bool) {
		if !required {
			w.sharedElsewhere(t, version)
			return
		}
		c := csv("elsewhere", "other.v1", "")
		c.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: w.crd, Version: version, Kind: "Widget"}}
		must.NoError(t, w.WithWatch.Create(t.Context(), c))
	}
	tests := map[string]struct {
		first   []string
		sizes   []int64
		other   string // version that an operator elsewhere owns
		needs   string // or requires
		strict  bool
		exempt  string // annotation of the CRD
		then    []string
		refused string
		told    string
		ends    string
	}{
		"a new version is added, and becomes the stored one": {first: []string{"v1alpha1 served stored {type: integer"}, sizes: []int64{1},
			then: []string{"v1alpha1 served {type: integer", "v1beta1 served stored {type: integer"}, ends: "v1alpha1 v1beta1, stored v1alpha1 v1beta1"},
		"a served version that is stored is not removed right away": {first: []string{"v1alpha1 served stored {type: integer"}, sizes: []int64{1},
			then: []string{"v1beta1 served stored {type: integer"}, refused: "new CRD removes version v1alpha1 that is listed as a stored version on the existing CRD; objects are stored as v1alpha1", ends: "v1alpha1, stored v1alpha1"},
		"single owner: at once, when all objects stay valid":   {first: []string{first}, sizes: []int64{4, 1}, then: []string{small}, ends: "v1, stored v1"},
		"single owner: objects become invalid":                 {first: []string{first}, sizes: []int64{9, 1}, then: []string{small}, refused: "updated validation is too restrictive: 1 of 2 objects become invalid: default/w0000: v1: ^.spec.size: ", ends: "v1, stored v1"},
		"single owner: objects become invalid, exempt":         {first: []string{first}, sizes: []int64{9, 1}, exempt: "existingObjects op.v1", then: []string{small}, told: "1 of 2 objects become invalid: default/w0000: v1: ^.spec.size: ", ends: "v1, stored v1"},
		"single owner: a served version goes that was written": {first: []string{"v2 served {type: integer", first}, sizes: []int64{1}, then: []string{first}, refused: "the new one does not have version v2, which is served: 1 of 1 objects were last written in it, so its clients would fail: default/w0000: v2; ", told: "version v2 goes although it is served", ends: "v2 v1, stored v1"},
		"single owner, strict: objects become invalid":         {first: []string{first}, sizes: []int64{9, 1}, strict: true, then: []string{small}, refused: "updated validation is too restrictive: 1 of 2 objects become invalid: default/w0000: v1: ^.spec.size: spec.size in body should be less than or equal to 5; change these objects so that they meet both schemas", ends: "v1, stored v1"},
		"several owners: all objects remain valid":             {first: []string{first}, sizes: []int64{4, 1}, other: "v1", then: []string{small}, ends: "v1, stored v1"},
		"several owners: objects become invalid":               {first: []string{first}, sizes: []int64{9, 1}, other: "v1", then: []string{small}, refused: "1 of 2 objects become invalid: default/w0000", ends: "v1, stored v1"},
		"several owners: what was invalid does not count":      {first: []string{first, "+" + small}, sizes: []int64{9, 1}, other: "v1", then: []string{"v1 served stored {type: integer, maximum: 3"}, ends: "v1, stored v1"},
		"several owners: a field is deprecated":                {first: []string{first}, sizes: []int64{9}, other: "v1", then: []string{"v1 served stored {type: integer, description: Deprecated."}, ends: "v1, stored v1"},
		"several owners: a served version is removed":          {first: []string{first, "v2 served {type: integer"}, sizes: []int64{1}, other: "v1", then: []string{first}, refused: "is also owned by ClusterServiceVersion elsewhere/other.v1, so every version that it serves must stay, but the new one does not serve v2", ends: "v1 v2, stored v1"},
		"several owners: a version is removed that was off":    {first: []string{first, "v2 {type: integer"}, sizes: []int64{1}, other: "v1", then: []string{first}, ends: "v1, stored v1"},
		"a dependent operator would lose its API":              {first: []string{first, "v2 served {type: integer"}, sizes: []int64{1}, needs: "v2", then: []string{first}, refused: "is required by ClusterServiceVersion elsewhere/other.v1", ends: "v1 v2, stored v1"},
		"a rule with validations that existing objects break":  {first: []string{first}, sizes: []int64{9, 1}, other: "v1", then: []string{"v1 served stored {type: integer, x-kubernetes-validations: [{rule: self < 5, message: too many}]"}, refused: "default/w0000: v1: ^.spec.size: too many", ends: "v1, stored v1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCRDWorld(t)
			before, loose := tc.first, tc.first
			if last := tc.first[len(tc.first)-1]; last[0] == '+' { // a schema that objects do not meet which are there already
				loose, before = tc.first[:1], []string{last[1:]}
			}
			w.upgrade(t, "before", loose...)
			w.fill(t, strings.Fields(loose[0])[0], len(tc.sizes), tc.sizes...)
			if !slices.Equal(before, loose) {
				w.exempt(t, "existingObjects")
				w.upgrade(t, "narrow", before...)
				w.exempt(t, "")
			}
			if tc.other+tc.needs != "" {
				elsewhere(w, tc.other+tc.needs, tc.needs != "")
			}
			if tc.strict {
				w.makeStrict(t)
			}
			if tc.exempt != "" {
				w.exempt(t, tc.exempt)
			}
			w.told()
			p := w.upgrade(t, "then", tc.then...)
			if failed := p.Status.Phase == v1alpha1.InstallPlanPhaseFailed; failed != (tc.refused != "") || !strings.Contains(p.Status.Message, tc.refused) {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			must.Equal(t, "at the end", w.versionsOfLive(t), tc.ends)
			events := strings.Join(w.told(), "\n")
			if tc.told == "" && strings.Contains(events, crdReason) || !strings.Contains(events, tc.told) || strings.Count(events, crdReason) > 1 {
				t.Errorf("events: %s", events)
			}
		})
	}
}

// sharedElsewhere has an operator of another namespace run that a plan brought the CRD for, too.
func (w *crdWorld) sharedElsewhere(t *testing.T, version string) {
	t.Helper()
	c := csv("elsewhere", "other.v1", "")
	c.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: w.crd, Version: version, Kind: "Widget"}}
	must.NoError(t, w.WithWatch.Create(t.Context(), c))
	crd := w.live(t)
	before := crd.DeepCopy()
	maps.Copy(crd.Annotations, alongside("elsewhere/other.v1"))
	must.NoError(t, w.split.real.Patch(t.Context(), crd, client.MergeFrom(before)))
}

// exempt sets the annotation of the CRD that exempts its upgrades.
func (w *crdWorld) exempt(t *testing.T, checks string) {
	t.Helper()
	crd := w.live(t)
	before := crd.DeepCopy()
	exemptedBy(crd, checks)
	must.NoError(t, w.split.real.Patch(t.Context(), crd, client.MergeFrom(before)))
}

func (w *crdWorld) makeStrict(t *testing.T) {
	t.Helper()
	group := &operatorsv1.OperatorGroup{}
	w.world.get(t, group, "ns", "group")
	group.Annotations = map[string]string{claims.CRDUpgradesAnnotation: "strict"}
	must.NoError(t, w.Inner.Update(t.Context(), group))
}

// TestRefusedPlanSucceedsWhenObjectsAreMended changes the object that stands in the way.
func TestRefusedPlanSucceedsWhenObjectsAreMended(t *testing.T) {
	w := newCRDWorld(t)
	w.upgrade(t, "before", "v1 served stored {type: integer")
	w.fill(t, "v1", 3, 1, 9, 1)
	w.makeStrict(t)
	w.submit(t, "v1 served stored {type: integer, maximum: 5")
	for range 3 {
		must.Value(w.reconcile(t))(t)
	}
	if p := w.plan(t, "plan"); !strings.Contains(p.Status.Message, "1 of 3 objects become invalid: default/w0001") || !strings.Contains(p.Status.Message, "; change these objects so that they meet both schemas") {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(w.crd[len("widgets."):] + "/v1")
	o.SetKind("Widget")
	o.SetNamespace("default")
	o.SetName("w0001")
	must.NoError(t, w.split.real.Delete(t.Context(), o))
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}
