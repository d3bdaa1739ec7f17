package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ns, name: op, creationTimestamp: null, labels: {app: op}}
spec:
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}}
    spec:
      securityContext: {}
      containers:
      - name: manager
        image: op:v1
        args: [--leader-elect]
        env: [{name: A, value: "1"}, {name: EMPTY, value: ""}]
        ports: [{containerPort: 8443, name: https}]
        resources: {limits: {cpu: 1000m}}
status: {replicas: 7}
`

func TestSecondRunWritesNothing(t *testing.T) {
	c := newCluster(t)
	phases := []Phase{phase(object(t, deployment), configMap("a", "1"))}
	first := engine(c).Apply(t.Context(), phases)
	if diff := cmp.Diff([]Outcome{Created, Created}, outcomes(first)); diff != "" || !first.Complete() {
		t.Fatalf("first run: %v %s", first.Err(), diff)
	}
	if _, found, _ := unstructured.NestedMap(c.get(t, "Deployment", "ns", "op").Object, "status", "replicas"); found {
		t.Error("a status was written")
	}
	c.Taken()
	second := engine(c).Apply(t.Context(), phases)
	if diff := cmp.Diff([]Outcome{Unchanged, Unchanged}, outcomes(second)); diff != "" || len(c.Taken()) != 0 {
		t.Errorf("second run: %v %s", second.Err(), diff)
	}
}

func TestChangedContentIsApplied(t *testing.T) {
	c := newCluster(t)
	apply := func(text string) *Result { return engine(c).Apply(t.Context(), []Phase{phase(object(t, text))}) }
	apply(deployment)
	edit(t, c, "Deployment", "op", func(u *unstructured.Unstructured) {
		u.SetAnnotations(map[string]string{"theirs": "kept", ContentAnnotation: u.GetAnnotations()[ContentAnnotation]})
	})
	changed := strings.NewReplacer("op:v1", "op:v2", ", {name: EMPTY, value: \"\"}", "", "--leader-elect", "--other").Replace(deployment)
	for i, want := range []Outcome{Configured, Unchanged} {
		if r := apply(changed); r.Err() != nil || outcomes(r)[0] != want {
			t.Fatalf("run %d: %v %v", i, outcomes(r), r.Err())
		}
	}
	live := c.get(t, "Deployment", "ns", "op")
	containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	manager, _ := containers[0].(map[string]any)
	if len(containers) != 1 || manager["image"] != "op:v2" || len(manager["env"].([]any)) != 1 || manager["args"].([]any)[0] != "--other" {
		t.Errorf("containers = %v", containers)
	}
	must.Equal(t, "the annotation of somebody else is lost", live.GetAnnotations()["theirs"], "kept")
}

func edit(t *testing.T, c *cluster, kind, name string, change func(*unstructured.Unstructured)) {
	t.Helper()
	u := c.get(t, kind, "ns", name)
	change(u)
	must.NoError(t, c.Update(t.Context(), u, client.FieldOwner("somebody")))
}

func TestDrift(t *testing.T) {
	set := func(value any, path ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) { _ = unstructured.SetNestedField(u.Object, value, path...) }
	}
	tests := map[string]struct {
		edit func(*unstructured.Unstructured)
		want Outcome
	}{
		"our value changed":          {set("2", "data", "key"), Configured},
		"our field removed":          {func(u *unstructured.Unstructured) { unstructured.RemoveNestedField(u.Object, "data") }, Configured},
		"our digest removed":         {func(u *unstructured.Unstructured) { u.SetAnnotations(nil) }, Configured},
		"a field of their own added": {set("x", "data", "theirs"), Unchanged},
		"a label of their own added": {func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }, Unchanged},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			phases := []Phase{phase(configMap("a", "1"))}
			engine(c).Apply(t.Context(), phases)
			edit(t, c, "ConfigMap", "a", tc.edit)
			r := engine(c).Apply(t.Context(), phases)
			if r.Err() != nil || outcomes(r)[0] != tc.want {
				t.Fatalf("%v %v, want %v", outcomes(r), r.Err(), tc.want)
			}
			if v, _, _ := unstructured.NestedString(c.get(t, "ConfigMap", "ns", "a").Object, "data", "key"); v != "1" {
				t.Errorf("our value is %q", v)
			}
			must.Equal(t, "not healed", outcomes(engine(c).Apply(t.Context(), phases))[0], Unchanged)
		})
	}
}

func TestRefusalWritesNothingAtAll(t *testing.T) {
	foreign := configMap("taken", "theirs")
	foreign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "w", Controller: new(true)}})
	unowned := configMap("unowned", "theirs")
	objection := errors.New("stored version v1 would be lost")
	tests := map[string]struct {
		object Object
		want   string // part of the error; empty is success
	}{
		"controlled by another": {Object{Wanted: configMap("taken", "1"), Owner: "ClusterServiceVersion op.v1", Claim: ControlledByOthers("mine")},
			"ConfigMap ns/taken is wanted by ClusterServiceVersion op.v1 but is controlled by Deployment web"},
		"controlled by a sibling":   {Object{Wanted: configMap("taken", "1"), Claim: ControlledByOthers("mine", "w")}, ""},
		"existed before, refused":   {Object{Wanted: configMap("unowned", "1"), Claim: NotOurs("mine")}, "existed before"},
		"existed before, adopted":   {Object{Wanted: configMap("unowned", "1"), Claim: ControlledByOthers("mine")}, ""},
		"anybody's is taken over":   {Object{Wanted: configMap("taken", "1")}, ""},
		"create only never collide": {Object{Wanted: configMap("taken", "1"), Policy: CreateOnly, Claim: NotOurs("mine")}, ""},
		"the caller objects": {Object{Wanted: configMap("new", "1"), Adjust: func(_, live *unstructured.Unstructured) error {
			if live != nil {
				return errors.New("there is no such object")
			}
			return objection
		}}, "stored version v1 would be lost"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, foreign.DeepCopy(), unowned.DeepCopy())
			r := engine(c).Apply(t.Context(), []Phase{phase(configMap("first", "1")), {Objects: []Object{tc.object}}})
			if tc.want == "" {
				must.NoError(t, r.Err())
				return
			}
			if r.Err() == nil || !strings.Contains(r.Err().Error(), tc.want) {
				t.Errorf("error %v, want %q", r.Err(), tc.want)
			}
			must.Empty(t, "writes", c.Taken())
		})
	}
}

func TestCreateOnlyLeavesWhatIsThere(t *testing.T) {
	c := newCluster(t, configMap("a", "theirs"))
	p := phase(configMap("a", "1"), configMap("b", "1"))
	for i := range p.Objects {
		p.Objects[i].Policy = CreateOnly
	}
	r := engine(c).Apply(t.Context(), []Phase{p})
	if diff := cmp.Diff([]Outcome{Unchanged, Created}, outcomes(r)); diff != "" {
		t.Fatal(diff, r.Err())
	}
	if _, stamped := c.get(t, "ConfigMap", "ns", "b").GetAnnotations()[ContentAnnotation]; stamped {
		t.Error("an object that is never applied carries a digest")
	}
}

func TestPlaceholdersGiveWay(t *testing.T) {
	holds := func(live *unstructured.Unstructured) bool { return live.GetLabels()["placeholder"] != "" }
	placeholder := configMap("a", "placeholder")
	placeholder.SetLabels(map[string]string{"placeholder": "yes"})
	c := newCluster(t, placeholder, configMap("b", "theirs"))
	before := c.get(t, "ConfigMap", "ns", "a").GetUID()
	p := phase(configMap("a", "1"), configMap("b", "1"))
	for i := range p.Objects {
		p.Objects[i].Policy, p.Objects[i].Displaces = CreateOnly, holds
	}
	r := engine(c).Apply(t.Context(), []Phase{p})
	if diff := cmp.Diff([]Outcome{Created, Unchanged}, outcomes(r)); diff != "" {
		t.Fatal(diff, r.Err())
	}
	live := c.get(t, "ConfigMap", "ns", "a")
	if value, _, _ := unstructured.NestedString(live.Object, "data", "key"); value != "1" || holds(live) || live.GetUID() == before && before != "" {
		t.Errorf("in place of the placeholder there is %v", live)
	}
}

// TestPlaceholderOfWhomMayNotCreate stays.
func TestPlaceholderOfWhomMayNotCreate(t *testing.T) {
	placeholder := configMap("a", "placeholder")
	c := newCluster(t, placeholder)
	c.Before = func(string) error { return apierrors.NewForbidden(kindResource, "a", errors.New("no")) }
	p := phase(configMap("a", "1"))
	p.Objects[0].Policy, p.Objects[0].Displaces = CreateOnly, func(*unstructured.Unstructured) bool { return true }
	r := engine(c).Apply(t.Context(), []Phase{p})
	if !apierrors.IsForbidden(r.Err()) || len(c.Taken()) != 1 {
		t.Error(r.Err())
	}
	c.get(t, "ConfigMap", "ns", "a")
}

func TestPhases(t *testing.T) {
	waiting := Condition("Ready", "True")
	broken := apierrors.NewForbidden(kindResource, "b", errors.New("no"))
	tests := map[string]struct {
		phases func() []Phase
		want   []Outcome
	}{
		"failure stops later phases, not its own": {func() []Phase {
			return []Phase{phase(configMap("b", "1"), configMap("a", "1")), phase(configMap("c", "1"))}
		}, []Outcome{Failed, Created, NotAttempted}},
		"optional failure stops nothing": {func() []Phase {
			p := []Phase{phase(configMap("b", "1")), phase(configMap("c", "1"))}
			p[0].Objects[0].Optional = true
			return p
		}, []Outcome{Failed, Created}},
		"barrier waits": {func() []Phase {
			p := []Phase{phase(configMap("a", "1")), phase(configMap("c", "1"))}
			p[0].Barrier, p[0].Objects[0].Probe = true, waiting
			return p
		}, []Outcome{Created, NotAttempted}},
		"barrier does not wait for what is optional": {func() []Phase {
			p := []Phase{phase(configMap("a", "1")), phase(configMap("c", "1"))}
			p[0].Barrier, p[0].Objects[0].Probe, p[0].Objects[0].Optional = true, waiting, true
			return p
		}, []Outcome{Created, Created}},
		"without barrier the probe holds nobody up": {func() []Phase {
			p := []Phase{phase(configMap("a", "1")), phase(configMap("c", "1"))}
			p[0].Objects[0].Probe = waiting
			return p
		}, []Outcome{Created, Created}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Before = func(write string) error {
				if write == "create ConfigMap b" {
					return broken
				}
				return nil
			}
			r := engine(c).Apply(t.Context(), tc.phases())
			if diff := cmp.Diff(tc.want, outcomes(r)); diff != "" {
				t.Errorf("%s\n%v", diff, r.Err())
			}
			must.Equal(t, "reported as complete", r.Complete(), false)
		})
	}
}

func TestLookAgainIsWhereTheCallerSays(t *testing.T) {
	looks := 0
	p := phase(configMap("a", "1"))
	p.Objects[0].Probe = FieldValue("data.key", "2")
	p.Objects[0].Look = func(context.Context) (*unstructured.Unstructured, error) {
		looks++
		return configMap("a", "2"), nil
	}
	if r := engine(newCluster(t)).Apply(t.Context(), []Phase{p}); !r.Complete() || looks != 1 {
		t.Errorf("%d looks, %v", looks, r.Waiting())
	}
}

func TestOwnerReferencesAreCompleted(t *testing.T) {
	owned := func(name, owner string) *unstructured.Unstructured {
		u := configMap(name, "1")
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner}})
		return u
	}
	old := configMap("old", "1")
	old.SetUID("uid-old")
	c := newCluster(t, old)
	r := engine(c).Apply(t.Context(), []Phase{phase(configMap("new", "1")), phase(owned("a", "new"), owned("b", "old"), owned("c", "none"))})
	if diff := cmp.Diff([]Outcome{Created, Created, Created, Failed}, outcomes(r)); diff != "" {
		t.Fatal(diff, r.Err())
	}
	for name, want := range map[string]types.UID{"a": c.get(t, "ConfigMap", "ns", "new").GetUID(), "b": "uid-old"} {
		if got := c.get(t, "ConfigMap", "ns", name).GetOwnerReferences()[0].UID; got != want || got == "" {
			t.Errorf("owner of %s is %q, want %q", name, got, want)
		}
	}
	must.Contain(t, "result", fmt.Sprint(r.Err()), "look up its owner ConfigMap none")
}

func TestShareKeepsOtherOwners(t *testing.T) {
	account := func(owner types.UID, annotation string) Phase {
		u := object(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: ns, name: sa}}`)
		u.SetAnnotations(map[string]string{annotation: "x", "both": annotation})
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: string(owner), UID: owner}})
		return Phase{Objects: []Object{{Wanted: u, Adjust: Share}}}
	}
	c := newCluster(t)
	for _, p := range []Phase{account("old", "a"), account("new", "b"), account("new", "b")} {
		must.NoError(t, engine(c).Apply(t.Context(), []Phase{p}).Err())
	}
	live := c.get(t, "ServiceAccount", "ns", "sa")
	must.Equal(t, "owners", len(live.GetOwnerReferences()), 2)
	annotations := live.GetAnnotations()
	delete(annotations, ContentAnnotation)
	must.Equal(t, "annotations", annotations, map[string]string{"a": "x", "b": "x", "both": "b"})
	if w := c.Taken(); len(w) > 3 {
		t.Errorf("the repetition wrote: %v", w)
	}
}

// TestUnknownFieldsAreDroppedAndTold is about objects that exist: creating is left to the API server, which does the same.
func TestUnknownFieldsAreDroppedAndTold(t *testing.T) {
	c := newCluster(t)
	engine(c).Apply(t.Context(), []Phase{phase(object(t, deployment))})
	text := strings.Replace(deployment, "replicas: 7", "x: 1", 1) + "\nextra: 1\n"
	text = strings.Replace(text, "securityContext: {}", "securitycontext: {}", 1)
	want := []string{`unknown field "extra"`, `unknown field "spec.template.spec.securitycontext"`}
	for _, outcome := range []Outcome{Configured, Unchanged} {
		r := engine(c).Apply(t.Context(), []Phase{phase(object(t, text))})
		if r.Err() != nil || outcomes(r)[0] != outcome {
			t.Fatal(outcomes(r), r.Err())
		}
		must.Equal(t, "warnings", r.Phases[0].Objects[0].Warnings, want)
	}
}

func TestObjectThatIsGoingAway(t *testing.T) {
	leaving := configMap("a", "1")
	leaving.SetFinalizers([]string{"example.com/hold"})
	c := newCluster(t, leaving)
	must.NoError(t, c.Delete(t.Context(), leaving.DeepCopy()))
	c.Taken()
	r := engine(c).Apply(t.Context(), []Phase{phase(configMap("a", "1"), configMap("b", "1"))})
	if r.Err() != nil || r.Complete() || len(c.Taken()) != 0 {
		t.Fatalf("%v %v", outcomes(r), r.Err())
	}
	must.Equal(t, "waiting", r.Waiting(), []string{"ConfigMap ns/a is being deleted; it can be written when it is gone"})
}
