package installplan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestFieldsThatAreLost upgrades to a schema that does not know what an object says: who asks for it is told, or refused.
func TestFieldsThatAreLost(t *testing.T) {
	const whole = "v1 served stored {type: object, properties: {a: {type: integer}, b: {type: integer}}"
	const part = "v1 served stored {type: object, properties: {a: {type: integer}}"
	const lost = "1 of 2 objects lose some with the next write: default/w0001: ^.spec.size.b; keep a copy of these objects"
	tests := map[string]struct {
		shared, strict bool
		then           []string
		refused, told  string
	}{
		"single owner":                              {false, false, []string{part}, "", lost},
		"single owner, strict":                      {false, true, []string{part}, lost, ""},
		"several owners":                            {true, false, []string{part}, "", lost},
		"several owners, strict":                    {true, true, []string{part}, lost, ""},
		"another version is stored, without it":     {false, true, []string{strings.Replace(whole, " stored", "", 1), strings.Replace(part, "v1", "v2", 1)}, lost, ""},
		"another version is stored, which keeps it": {false, true, []string{strings.Replace(whole, " stored", "", 1), "v2 served stored {x-kubernetes-preserve-unknown-fields: true"}, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newCRDWorld(t)
			w.upgrade(t, "before", whole)
			w.store(t, "v1", "w0000", "{a: 1}")
			w.store(t, "v1", "w0001", "{a: 1, b: 2}")
			if tc.shared {
				w.sharedElsewhere(t, "")
			}
			if tc.strict {
				w.makeStrict(t)
			}
			w.told()
			p := w.upgrade(t, "then", tc.then...)
			if failed := p.Status.Phase == v1alpha1.InstallPlanPhaseFailed; failed != (tc.refused != "") || !strings.Contains(p.Status.Message, tc.refused) {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			events := strings.Join(w.told(), "\n")
			if strings.Count(events, crdReason) != min(len(tc.told), 1) || !strings.Contains(events, tc.told) {
				t.Errorf("events: %s", events)
			}
		})
	}
}

// TestAVersionGoesWithFieldsThatOnlyItKnows removes it, although an object says something that nothing else has room for.
func TestAVersionGoesWithFieldsThatOnlyItKnows(t *testing.T) {
	const wide, narrow = "{type: object, properties: {a: {type: integer}, b: {type: integer}}", "{type: object, properties: {a: {type: integer}}"
	w := newCRDWorld(t)
	w.upgrade(t, "before", "v1alpha1 served stored "+wide)
	w.store(t, "v1alpha1", "w0001", "{a: 1, b: 2}")
	w.upgrade(t, "turned off", "v1alpha1 "+wide, "v1 served stored "+narrow)
	p := w.upgrade(t, "removed", "v1 served stored "+narrow)
	want := fmt.Sprintf("risk of data loss updating %q: the new CustomResourceDefinition %s does not have version v1alpha1, so objects that may be stored in it must be rewritten as v1, "+
		"which does not know fields that were set: default/w0001: ^.spec.size.b; to keep them, set served: true", w.crd, w.crd)
	must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
	must.Contain(t, "message", p.Status.Message, want)
	if got := w.versionsOfLive(t); got != "v1alpha1 v1, stored v1alpha1 v1" {
		t.Error(got)
	}
}

// TestAServedVersionGoesByExemption with objects that are stored in it: they are rewritten first.
func TestAServedVersionGoesByExemption(t *testing.T) {
	const old, stored = "v1alpha1 served {type: integer", "v1 served stored {type: integer"
	w := newCRDWorld(t)
	w.upgrade(t, "before", "v1alpha1 served stored {type: integer")
	w.store(t, "v1alpha1", "w0001", "1")
	w.upgrade(t, "another version is stored", old, stored)
	p := w.upgrade(t, "removed", stored)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.Contains(p.Status.Message, "have them rewritten now: kubectl annotate --overwrite crd "+w.crd) {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	w.exempt(t, "servedVersionRemoval op.v1")
	hasPhase(t, w.upgrade(t, "removed", stored), v1alpha1.InstallPlanPhaseComplete)
	if got := w.versionsOfLive(t); got != "v1, stored v1" || w.readable(t, "v1") != 1 {
		t.Errorf("%s, and %d objects", got, w.readable(t, "v1"))
	}
}

// store makes an object whose spec.size is anything, in YAML.
func (w *crdWorld) store(t *testing.T, version, name, size string) {
	t.Helper()
	text := fmt.Sprintf("{apiVersion: %s/%s, kind: Widget, metadata: {namespace: default, name: %s}, spec: {size: %s}}", w.crd[len("widgets."):], version, name, size)
	o := w.object(t, text)
	deadline := time.Now().Add(30 * time.Second)
	err := w.split.real.Create(t.Context(), o)
	for err != nil && time.Now().Before(deadline) { // the API server takes a moment to serve a new version
		time.Sleep(50 * time.Millisecond)
		err = w.split.real.Create(t.Context(), o)
	}
	must.NoError(t, err)
}

// TestAWebhookGoesWhoseObjectsNobodyCanRead upgrades to an operator that does without the conversion webhook, which does not answer.
func TestAWebhookGoesWhoseObjectsNobodyCanRead(t *testing.T) {
	const off, on = "v1 served {type: object, properties: {a: {type: integer}}", "v2 served stored {type: object, properties: {b: {type: integer}}"
	for name, says := range map[string]string{"as the CRD says": "\n  conversion: {strategy: None}", "as the operator shows": ""} {
		t.Run(name, func(t *testing.T) {
			w := newCRDWorld(t)
			w.upgrade(t, "before", strings.Replace(off, "served", "served stored", 1))
			w.store(t, "v1", "w0001", "{a: 1}")
			w.upgrade(t, "stored", off, on)
			old := csv("ns", "op.v0", "", w.crd)
			old.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{{Type: v1alpha1.ConversionWebhook, ConversionCRDs: []string{w.crd}}}
			must.NoError(t, w.WithWatch.Create(t.Context(), old))
			w.convertBy(t, "ns", "nobody")
			manifest := w.definition(off, on+", description: changed") + says
			p := w.install(t, strings.Replace(w.owner(), "displayName: Op", "displayName: Op\n  replaces: op.v0", 1), manifest)
			want := "conversion webhook for " + w.crd[len("widgets."):] + "/v1, Kind=Widget failed"
			if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.Contains(p.Status.Message, want) || !strings.Contains(p.Status.Message, "the new one does without this webhook, so its objects must be readable before it goes") {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			must.Equal(t, "the CRD was replaced", w.live(t).Spec.Conversion.Strategy, apiextensionsv1.WebhookConverter)
		})
	}
}

// TestAWebhookOfNoOperatorIsTakenOff has one that somebody set by hand, while all objects are stored as they are read.
func TestAWebhookOfNoOperatorIsTakenOff(t *testing.T) {
	const v1, v2 = "v1 served stored {type: integer", "v2 served {type: integer"
	w := newCRDWorld(t)
	w.upgrade(t, "before", v1, v2)
	w.store(t, "v1", "w0001", "1")
	w.convertBy(t, "ns", "nobody")
	p := w.install(t, w.owner(), w.definition(v1, v2)+"\n  conversion: {strategy: None}")
	hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
	if c := w.live(t).Spec.Conversion; c.Strategy != apiextensionsv1.NoneConverter || c.Webhook != nil {
		t.Errorf("conversion %+v", c)
	}
}

// convertBy makes the CRD be converted by a Service, as the controller of operators does, and waits until the API server asks it.
func (w *crdWorld) convertBy(t *testing.T, namespace, service string) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":%q,"name":%q}}}}}}`, namespace, service)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = w.crd
	must.NoError(t, w.split.real.Patch(t.Context(), crd, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("others")))
	deadline := time.Now().Add(30 * time.Second)
	for {
		o := w.object(t, fmt.Sprintf("{apiVersion: %s/v2, kind: Widget}", w.crd[len("widgets."):]))
		err := w.split.real.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "w0001"}, o)
		if err != nil && strings.Contains(err.Error(), "conversion webhook") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the webhook is not asked: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestAnotherWriterOfACRD has somebody change it between the look at it and the write.
func TestAnotherWriterOfACRD(t *testing.T) {
	const v1 = "v1 served stored {type: integer"
	w := newCRDWorld(t)
	w.upgrade(t, "before", v1)
	w.sharedElsewhere(t, "")
	interfered := false
	w.split.before = func() {
		if interfered {
			return
		}
		interfered = true
		crd := w.live(t)
		second := *crd.Spec.Versions[0].DeepCopy()
		second.Name, second.Storage = "v2", false
		crd.Spec.Versions = append(crd.Spec.Versions, second)
		if err := w.split.real.Update(t.Context(), crd); err != nil {
			t.Error(err)
		}
	}
	p := w.upgrade(t, "then", "v1 served stored {type: integer, maximum: 7")
	if !interfered || p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.Contains(p.Status.Message, "the new one does not serve v2") {
		t.Errorf("interfered %t: %s: %s", interfered, p.Status.Phase, p.Status.Message)
	}
	if got := w.versionsOfLive(t); got != "v1 v2, stored v1" {
		t.Errorf("%s: what the other one wrote is lost", got)
	}
}

// TestObjectsAreComparedWithTheCRDThatIsReplaced changes the schema in between: objects that were valid are not any more.
func TestObjectsAreComparedWithTheCRDThatIsReplaced(t *testing.T) {
	const v1 = "v1 served stored {type: integer"
	w := newCRDWorld(t)
	w.upgrade(t, "before", v1)
	w.sharedElsewhere(t, "")
	w.store(t, "v1", "w0001", "3")
	passes := 0
	w.split.before = func() {
		if passes++; passes > 1 {
			return
		}
		w.store(t, "v1", "w0002", "9")
		crd := w.live(t)
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "somebody was here"
		if err := w.split.real.Update(t.Context(), crd); err != nil {
			t.Error(err)
		}
	}
	p := w.upgrade(t, "then", v1+", maximum: 5")
	must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
	must.Contain(t, "message", p.Status.Message, "1 of 2 objects become invalid: default/w0002")
}

// TestPlansThatAreOverAreForgotten looks into the memory of the controller: what it knows of objects may be large.
func TestPlansThatAreOverAreForgotten(t *testing.T) {
	for name, tc := range map[string]struct {
		then  string
		phase v1alpha1.InstallPlanPhase
	}{
		"complete": {"v1 served stored {type: integer, maximum: 50", v1alpha1.InstallPlanPhaseComplete},
		"failed":   {"v1 served stored {type: integer, maximum: 5", v1alpha1.InstallPlanPhaseFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCRDWorld(t)
			w.upgrade(t, "before", "v1 served stored {type: integer")
			w.store(t, "v1", "w0001", "9")
			w.makeStrict(t)
			hasPhase(t, w.upgrade(t, "then", tc.then), tc.phase)
			key := types.NamespacedName{Namespace: "ns", Name: "plan"}
			if known := w.controller.memory.plans[key]; known != nil && len(known.crds) > 0 {
				t.Errorf("%d CRDs are remembered", len(known.crds))
			}
		})
	}
}
