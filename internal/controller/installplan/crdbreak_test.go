package installplan

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// widget is a stored object that was last written in a version.
func widget(name, version string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion("example.com/v1")
	o.SetKind("Widget")
	o.SetNamespace("default")
	o.SetName(name)
	fields := &metav1.FieldsV1{}
	fields.SetRawString(`{"f:spec":{}}`)
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "example.com/" + version,
		Time: &metav1.Time{Time: epoch}, FieldsType: "FieldsV1", FieldsV1: fields}})
	return o
}

// exemptedBy is a live CRD whose annotation exempts upgrades.
func exemptedBy(live *apiextensionsv1.CustomResourceDefinition, text string) *apiextensionsv1.CustomResourceDefinition {
	live.Annotations[crd.ExemptionsKey] = text
	return live
}

// TestAnUpgradeKeepsStoredObjects, also of a CRD that the operator alone owns: it is refused with the names of the objects, unless the CRD exempts it.
func TestAnUpgradeKeepsStoredObjects(t *testing.T) {
	const narrow = "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, maximum: 5}}}}}}"
	const wide = "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}"
	schema := func(versions, schema string) string {
		return strings.ReplaceAll(withVersions(versions), "{openAPIV3Schema: {type: object}}", schema)
	}
	live := func(versions string) *apiextensionsv1.CustomResourceDefinition {
		crd := liveCRD(t, versions, "v1")
		for i := range crd.Spec.Versions {
			size := apiextensionsv1.JSONSchemaProps{Type: "integer"}
			crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties = map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": size}}}
		}
		return crd
	}
	large, small := widget("large", "v1", map[string]any{"size": int64(9)}), widget("small", "v1", map[string]any{"size": int64(1)})
	webhook := strings.Replace(schema("v1 served", narrow), "  versions:", "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://example.com'}}}\n  versions:", 1)
	const invalid = "1 of 2 objects become invalid: default/large: v1: ^.spec.size"
	const written = "CustomResourceDefinition widgets.example.com: the new one does not have version v0, which is served: 1 of 2 objects were last written in it, so its clients would fail: default/old: v0"
	old := widget("old", "v0", map[string]any{"size": int64(1)})
	tests := map[string]struct {
		live    *apiextensionsv1.CustomResourceDefinition
		objects []client.Object
		crd     string
		refused []string
		event   string
	}{
		"all stay valid":                        {live("v1 served"), []client.Object{small}, schema("v1 served", narrow), nil, ""},
		"one becomes invalid":                   {live("v1 served"), []client.Object{large, small}, schema("v1 served", narrow), []string{invalid, "let them become invalid: kubectl annotate --overwrite crd widgets.example.com operators.fairlead.dev/crd-upgrade-exemptions='existingObjects op.v1'"}, ""},
		"one becomes invalid, exempt":           {exemptedBy(live("v1 served"), "existingObjects op.v1"), []client.Object{large, small}, schema("v1 served", narrow), nil, invalid},
		"one becomes invalid, another exempt":   {exemptedBy(live("v1 served"), "existingObjects op.v0"), []client.Object{large, small}, schema("v1 served", narrow), []string{invalid}, ""},
		"a webhook converts them":               {live("v1 served"), []client.Object{large, small}, webhook, nil, invalid},
		"a version goes, one was written in it": {live("v0 served, v1 served"), []client.Object{old, small}, schema("v1 served", wide), []string{written, "or let the version go: kubectl annotate --overwrite crd widgets.example.com operators.fairlead.dev/crd-upgrade-exemptions='servedVersionRemoval op.v1'"}, "version v0 goes although it is served"},
		"a version goes, none was":              {live("v0 served, v1 served"), []client.Object{small}, schema("v1 served", wide), nil, "version v0 goes although it is served"},
		"a version goes, exempt":                {exemptedBy(live("v0 served, v1 served"), "servedVersionRemoval"), []client.Object{old, small}, schema("v1 served", wide), nil, "exempts it"},
		"an annotation with a mistake":          {exemptedBy(live("v1 served"), "all"), []client.Object{small}, schema("v1 served", narrow), []string{`upgrade CustomResourceDefinition widgets.example.com: its annotation operators.fairlead.dev/crd-upgrade-exemptions names the check "all"`, "correct the annotation or remove it"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(deepCopies(tc.objects), tc.live.DeepCopy(), newPlan(step(t, csvYAML), step(t, tc.crd)))...)
			p := w.settle(t, 2*time.Minute)
			if want := map[bool]v1alpha1.InstallPlanPhase{true: v1alpha1.InstallPlanPhaseComplete, false: v1alpha1.InstallPlanPhaseFailed}[tc.refused == nil]; p.Status.Phase != want {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			for _, part := range tc.refused {
				must.Contain(t, "message", p.Status.Message, part)
			}
			var events []string
			for len(w.Events.Events) > 0 {
				events = append(events, <-w.Events.Events)
			}
			if found := slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, crdReason) && strings.Contains(e, tc.event) }); found != (tc.event != "") {
				t.Errorf("events %q, want one with %q", events, tc.event)
			}
		})
	}
}

// TestADroppedVersionWaitsForUnreadObjects: while a webhook keeps them from being read, it is unknown in which version they were written. The plan goes on
// when they can be read, or when the CRD exempts it.
func TestADroppedVersionWaitsForUnreadObjects(t *testing.T) {
	for name, exempted := range map[string]bool{"the objects can be read again": false, "the CRD exempts it": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, widget("a", "v1", nil), liveCRD(t, "v0 served, v1 served", "v1"), newPlan(step(t, csvYAML), step(t, withVersions("v1 served"))))
			unread := true
			w.controller.live = fakeapi.Lists{Reader: w.Server, Before: func(l client.ObjectList, _ string) error {
				if _, objects := l.(*unstructured.UnstructuredList); objects && unread && l.GetObjectKind().GroupVersionKind().Kind == "WidgetList" {
					return errors.New("conversion webhook for example.com/v0, Kind=Widget failed: connection refused")
				}
				return nil
			}}
			const want = "the new one does not have version v0, which is served, and objects may have been written in it last: repair what converts them, " +
				"or let the version go: kubectl annotate --overwrite crd widgets.example.com operators.fairlead.dev/crd-upgrade-exemptions='servedVersionRemoval op.v1'"
			if p := w.settle(t, time.Second); p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || !strings.Contains(p.Status.Message, want) || !strings.Contains(p.Status.Message, "connection refused") {
				t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			if exempted {
				crd := &apiextensionsv1.CustomResourceDefinition{}
				w.get(t, crd, "", "widgets.example.com")
				must.NoError(t, w.Inner.Update(t.Context(), exemptedBy(crd, "servedVersionRemoval op.v1")))
			} else {
				unread = false
			}
			hasPhase(t, w.settle(t, 2*time.Minute), v1alpha1.InstallPlanPhaseComplete)
		})
	}
}

// TestAnExemptionBringsAPlanBack that has failed: the annotation is what it waits for.
func TestAnExemptionBringsAPlanBack(t *testing.T) {
	plan := newPlan(step(t, csvYAML), step(t, withVersions("v1 served")))
	plan.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: "op", UID: "sub"}}
	w := newWorld(t, widget("old", "v0", nil), liveCRD(t, "v0 served, v1 served", "v1"), plan)
	if p := w.settle(t, 2*time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || p.Annotations[v1alpha1.RetryAnnotation] != "" {
		t.Fatalf("%s: %s, %v", p.Status.Phase, p.Status.Message, p.Annotations)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	w.get(t, crd, "", "widgets.example.com")
	must.NoError(t, w.Inner.Update(t.Context(), exemptedBy(crd, "servedVersionRemoval op.v1")))
	must.Equal(t, "annotations", w.settle(t, 2*obstaclePause).Annotations[v1alpha1.RetryAnnotation], "CustomResourceDefinition widgets.example.com has changed")
}

// TestADroppedVersionIsReportedBeforeApproval, and no longer when the CRD does not serve it any more.
func TestADroppedVersionIsReportedBeforeApproval(t *testing.T) {
	plan := newPlan(step(t, csvYAML), step(t, withVersions("v1 served")))
	plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
	w := newWorld(t, liveCRD(t, "v0 served, v1 served", "v1"), plan)
	const want = "approve with care: CustomResourceDefinition widgets.example.com: version v0 goes although it is served; clients that use it will fail; " +
		"the upgrade is refused while objects were last written in that version; a bundle should first turn it off with served: false"
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval || p.Status.Message != want {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	w.Taken()
	w.settle(t, time.Minute)
	must.Empty(t, "it is written again", w.Taken())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	w.get(t, crd, "", "widgets.example.com")
	crd.Spec.Versions[0].Served = false
	must.NoError(t, w.Inner.Update(t.Context(), crd))
	if got := w.watcher().waitingFor(t.Context(), crd); len(got) != 1 || got[0].Name != "plan" {
		t.Errorf("the CRD brings back %v", got)
	}
	must.Equal(t, "message", w.settle(t, time.Minute).Status.Message, "")
}
