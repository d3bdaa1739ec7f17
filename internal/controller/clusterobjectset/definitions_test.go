package clusterobjectset

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

const things = "things.example.com"

// thing is a CRD whose custom resources the Service new converts.
func thing(t testing.TB) *unstructured.Unstructured {
	return object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: `+things+`}
spec:
  group: example.com
  names: {plural: things, kind: Thing}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: ns, name: new}}}}
`)
}

// extended is a world in which revision 1 of an extension runs, with a CRD.
func extended(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	must.NoError(t, w.Inner.Create(t.Context(), &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "ext", UID: "ext-uid", Finalizers: []string{"example.com/hold"}}}))
	w.revise(options(1, thing(t), service(t, "new"), deployment(t, "op", "op:v1")))
	w.establish()
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
	return w
}

// establish brings the CRD about, as an API server does.
func (w *world) establish() {
	w.Helper()
	w.settle()
	crd := w.definition()
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	if err := w.Inner.Status().Update(w.Context(), crd); err != nil {
		w.Fatal(err)
	}
	crd.Finalizers = []string{apiextensionsv1.CustomResourceCleanupFinalizer}
	w.update(crd)
	w.settle()
}

func (w *world) update(o client.Object) {
	w.Helper()
	if err := w.Inner.Update(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

// definition is the CRD; nil when it is gone.
func (w *world) definition() *apiextensionsv1.CustomResourceDefinition {
	w.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := w.Inner.Get(w.Context(), client.ObjectKey{Name: things}, crd); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		w.Fatal(err)
	}
	return crd
}

// leave deletes the extension and its revisions, as the controller of extensions does.
func (w *world) leave(annotations map[string]string) {
	w.Helper()
	ext := &olmv1.ClusterExtension{}
	if err := w.Inner.Get(w.Context(), client.ObjectKey{Name: "ext"}, ext); err != nil {
		w.Fatal(err)
	}
	ext.Annotations = annotations
	w.update(ext)
	if err := w.Inner.Delete(w.Context(), ext); err != nil {
		w.Fatal(err)
	}
	for _, name := range w.names() {
		if err := w.Inner.Delete(w.Context(), w.set(name)); err != nil {
			w.Fatal(err)
		}
	}
}

// TestDefinitionsWithCustomResources stay when their extension is removed, can be read without the operator, and are the next extension's of
// that name.
func TestDefinitionsWithCustomResources(t *testing.T) {
	for name, test := range map[string]struct {
		count int64
		err   error
		told  string
	}{
		"some":        {count: 3, told: "it has 3 custom resources"},
		"one":         {count: 1, told: "it has 1 custom resource"},
		"no version":  {err: crd.ErrUnserved, told: "it is not known whether it has custom resources"},
		"not allowed": {err: apierrors.NewInternalError(errors.New("conversion webhook for v2 failed")), told: "it is not known whether it has custom resources: Internal error occurred: conversion webhook for v2 failed; Thing ns/a waits"},
	} {
		t.Run(name, func(t *testing.T) {
			w := extended(t)
			w.count, w.countErr, w.held = test.count, test.err, []string{"Thing ns/a waits for its finalizers example.com/up"}
			w.told()
			w.leave(map[string]string{revision.DeleteCRDsKey: "others.example.com"})
			w.settle()
			if got := append(w.objects(), w.names()...); len(got) > 0 {
				t.Errorf("left: %v", got)
			}
			crd := w.definition()
			if crd == nil || crd.DeletionTimestamp != nil {
				t.Fatalf("the CRD was deleted: %v", crd)
			}
			if len(crd.OwnerReferences) > 0 || crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter || crd.Spec.Conversion.Webhook != nil {
				t.Errorf("it does not stay for long: %v, %v", crd.OwnerReferences, crd.Spec.Conversion)
			}
			must.Equal(t, "it says that a revision has it", crd.Annotations[revision.NumberKey], "")
			if revision.KeptFor(crd, "ext", "ext-uid") || !revision.KeptFor(crd, "ext", "next") || revision.KeptFor(crd, "other", "next") {
				t.Errorf("who may take it over is wrong: %v", crd.Annotations)
			}
			if told := w.told(); strings.Count(told, "Warning CRDKept CustomResourceDefinition things.example.com stays: "+test.told) != 2 || !strings.Contains(told, "Thing ns/a waits for its finalizers") {
				t.Errorf("the set and the extension tell: %s", told)
			}
		})
	}
}

// TestDefinitionsWait: that it cannot be told for now what a CRD has is waited for, but not for ever.
func TestDefinitionsWait(t *testing.T) {
	w := extended(t)
	w.countErr = errors.New("connection refused")
	w.leave(nil)
	w.settle()
	w.expect("ext-1", "Progressing=True/Retrying", "3 of 3 objects are left", "connection refused")
	if crd := w.definition(); crd.DeletionTimestamp != nil || len(crd.OwnerReferences) == 0 || w.get("Deployment", "op") == nil {
		t.Error("something was done before it could be told")
	}
	w.Clock.SetTime(time.Now().Add(operandTimeout + time.Minute)) // the fake server deletes at the time of the computer
	w.settle()
	if crd := w.definition(); crd == nil || crd.DeletionTimestamp != nil || len(w.names()) > 0 {
		t.Errorf("left: %v; the CRD is %v", w.names(), crd)
	}
}

// TestDefinitionsThatGo do so before the operator, which may have to do what the finalizers of custom resources stand for.
func TestDefinitionsThatGo(t *testing.T) {
	for name, test := range map[string]struct {
		count       int64
		annotations map[string]string
	}{
		"nothing in them": {},
		"named":           {3, map[string]string{revision.DeleteCRDsKey: "others.example.com " + things}},
		"all":             {3, map[string]string{revision.DeleteCRDsKey: "*"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := extended(t)
			w.count, w.held = test.count, []string{"Thing ns/a waits for its finalizers example.com/up"}
			w.leave(test.annotations)
			w.settle()
			w.expect("ext-1", "Progressing=True/Retrying: Revision 1.0.0 is being removed: 3 of 3 objects are left.",
				"CustomResourceDefinition things.example.com is being deleted", "Thing ns/a waits for its finalizers example.com/up; the operator stays for that until ")
			if got := w.objects(); !slices.Equal(got, []string{"Deployment/op@ of ext-1", "Service/new@ of ext-1"}) {
				t.Errorf("the operator went before its custom resources: %v", got)
			}
			crd := w.definition()
			crd.Finalizers = nil
			w.update(crd)
			w.settle()
			if got := append(w.objects(), w.names()...); len(got) > 0 || w.definition() != nil {
				t.Errorf("left: %v", got)
			}
		})
	}
}

// TestPatience: an operator that does not take the finalizers away does not stay for ever. Its extension says what is left to do.
func TestPatience(t *testing.T) {
	w := extended(t)
	w.held = []string{"Thing ns/a waits for its finalizers example.com/up"}
	w.leave(nil)
	w.settle()
	w.Clock.SetTime(time.Now().Add(operandTimeout + time.Minute))
	w.settle()
	must.Empty(t, "the operator stays", w.objects())
	w.expect("ext-1", "Progressing=True/Retrying: Revision 1.0.0 is being removed: 1 of 3 objects are left.",
		"10m0s were not enough for that, so the operator is removed; remove the finalizers yourself")
	crd := w.definition()
	crd.Finalizers = nil
	w.update(crd)
	w.settle()
	if got := w.names(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestDefinitionsOfAnotherRevision: in the middle of an upgrade, a definition is the new revision's, and the operator the old one's. It stays
// as long.
func TestDefinitionsOfAnotherRevision(t *testing.T) {
	w := extended(t)
	blocker := configMap(t, "blocker", "theirs")
	w.revise(options(2, blocker, thing(t), service(t, "new"), deployment(t, "op", "op:v2"), deployment(t, "later", "op:v2")))
	w.settle()
	u := w.get("Deployment", "op")
	u.SetOwnerReferences([]metav1.OwnerReference{controlledBy(w.set("ext-1"))})
	w.update(u)
	crd := w.definition()
	if owner := metav1.GetControllerOf(crd); owner.Name != "ext-2" {
		t.Fatalf("the CRD is still that of %s", owner.Name)
	}
	w.leave(nil)
	for range 3 {
		must.Value(w.pass("ext-1"))(t)
	}
	w.expect("ext-1", "Progressing=True/Retrying", "CustomResourceDefinition things.example.com, which revision ext-2 removes or lets go of first")
	w.settle()
	if w.get("Deployment", "op") == nil {
		t.Fatal("the operator went before the definitions")
	}
	crd = w.definition()
	crd.Finalizers = nil
	w.update(crd)
	w.settle()
	if got := append(w.objects(), w.names()...); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestDroppedDefinitions: a revision that is replaced by one without its CRD leaves it where custom resources have come meanwhile, for a later
// revision to take over, unless losing them was agreed to.
func TestDroppedDefinitions(t *testing.T) {
	for name, exempt := range map[string]string{"kept": "", "another is exempt": "removal others.example.com", "exempt": "removal " + things} {
		t.Run(name, func(t *testing.T) {
			w := extended(t)
			w.count = 2
			ext := &olmv1.ClusterExtension{}
			must.NoError(t, w.Inner.Get(t.Context(), client.ObjectKey{Name: "ext"}, ext))
			ext.Annotations = map[string]string{"operators.fairlead.dev/crd-upgrade-exemptions": exempt}
			w.update(ext)
			w.revise(options(2, service(t, "new"), deployment(t, "op", "op:v1")))
			w.settle()
			w.run("op", true)
			w.settle()
			crd := w.definition()
			if name == "exempt" {
				if crd.DeletionTimestamp == nil {
					t.Error("what somebody wants deleted stays")
				}
				return
			}
			w.expect("ext-1", "Progressing=False/Archived")
			if crd.DeletionTimestamp != nil || len(crd.OwnerReferences) > 0 || crd.Spec.Conversion.Webhook == nil {
				t.Fatalf("the CRD is %v, %v", crd.ObjectMeta, crd.Spec.Conversion)
			}
			w.revise(options(3, thing(t), service(t, "new"), deployment(t, "op", "op:v1")))
			w.settle()
			w.run("op", true)
			w.settle()
			w.expect("ext-3", "Progressing=True/Succeeded")
			if owner := metav1.GetControllerOf(w.definition()); owner == nil || owner.Name != "ext-3" {
				t.Errorf("the later revision does not have it: %v", owner)
			}
		})
	}
}

// TestDefinitionsOfOthers: without an extension the annotation of the set itself counts, and what another client controls by now is not asked about.
func TestDefinitionsOfOthers(t *testing.T) {
	w := extended(t)
	w.countErr = errors.New("asked")
	crd := w.definition()
	yes := true
	crd.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "boss", UID: types.UID("boss"), Controller: &yes}}
	w.update(crd)
	w.leave(nil)
	w.settle()
	if crd := w.definition(); crd == nil || crd.DeletionTimestamp != nil || len(w.names()) > 0 {
		t.Errorf("left: %v; the CRD is %v", w.names(), crd)
	}
}

// TestOwnCustomResources of a set do not keep its definition: they go with the set.
func TestOwnCustomResources(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "ConfigMap"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}}}
	for _, test := range []struct {
		estimate int64
		theirs   bool
		want     string
	}{{0, true, ""}, {1, false, ""}, {2, false, ""}, {1, true, "it has 1 custom resource"}, {2, true, "it has 1 custom resource"}, {3, true, "it has 2 custom resources"}} {
		w := newWorld(t)
		w.revise(options(1, configMap(t, "config", "1"), service(t, "new")))
		w.settle()
		if test.theirs {
			must.NoError(t, w.Inner.Create(t.Context(), configMap(t, "theirs", "1")))
		}
		set, known := w.set("ext-1"), &notes{}
		must.NoError(t, w.controller.contents.learn(t.Context(), set, known))
		known.phases[0] = append(known.phases[0], entry{ref: rollout.RefOf(configMap(t, "theirs", ""))}, entry{ref: rollout.RefOf(configMap(t, "gone", ""))})
		w.count = test.estimate
		if got, err := w.controller.keeper.populated(t.Context(), set, known, crd); got != test.want || err != nil {
			t.Errorf("%+v: %q %v", test, got, err)
		}
	}
}
