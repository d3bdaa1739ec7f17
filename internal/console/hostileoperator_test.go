package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hostileSubscription is an operator of the v0 API that does not work, with a text in each field that it can be in.
func hostileSubscription(text string) []client.Object {
	objects := append(subscribes("ops", "mine", fails, func(sub *v1alpha1.Subscription, csv *v1alpha1.ClusterServiceVersion) {
		sub.Annotations = map[string]string{ops.HeldBeforeKey: "", ops.HeldReasonKey: text, "operators.fairlead.dev/upgrade-window": "never"}
		sub.Spec.Package, sub.Spec.Channel, sub.Spec.CatalogSource = text, text, text
		sub.Status.Conditions[0].Reason, sub.Status.Conditions[0].Message = text, text
		csv.Annotations = map[string]string{"description": text, "alm-examples": `[{"apiVersion":"example.com/v1","kind":"Kite","metadata":{"name":` + quotedJSON(text) + `},"spec":{"text":` + quotedJSON(text) + `}}]`}
		s := &csv.Spec
		s.DisplayName, s.Description, s.Maturity, s.Keywords, s.MinKubeVersion = text, text, text, []string{text}, text
		s.Provider, s.Links, s.Maintainers = v1alpha1.AppLink{Name: text, URL: text}, []v1alpha1.AppLink{{Name: text, URL: text}}, []v1alpha1.Maintainer{{Name: text, Email: text}}
		s.Icon = []v1alpha1.Icon{{Data: text, MediaType: text}}
		s.CustomResourceDefinitions.Owned = append(s.CustomResourceDefinitions.Owned, v1alpha1.CRDDescription{Name: "x." + text, Kind: text, Version: text, DisplayName: text, Description: text})
		s.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "y." + text, Kind: text, Version: text, DisplayName: text, Description: text}}
		s.WebhookDefinitions = []v1alpha1.WebhookDescription{{GenerateName: text, Type: v1alpha1.WebhookAdmissionType(text), DeploymentName: text}}
		csv.Status.Message, csv.Status.Reason = text, v1alpha1.ConditionReason(text)
		csv.Status.RequirementStatus = []v1alpha1.RequirementStatus{{Group: text, Version: text, Kind: text, Name: text, Status: "NotPresent", Message: text}}
		csv.Status.Conditions = []v1alpha1.ClusterServiceVersionCondition{{Phase: v1alpha1.CSVPhaseFailed, Reason: v1alpha1.ConditionReason(text), Message: text}}
	}), deployed("ops", "mine", text)...)
	for _, o := range objects {
		switch o := o.(type) {
		case *appsv1.Deployment:
			o.Status.Conditions[0].Reason, o.Status.Conditions[0].Message = text, text
		case *corev1.Pod: // which was started, and has ended
			state := &o.Status.ContainerStatuses[0]
			state.RestartCount, state.State.Waiting.Reason = 3, "CrashLoopBackOff"
			state.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: text, Message: text}
			o.Status.Conditions[0].Message, o.Status.Message, o.Status.Reason = text, text, text
		}
	}
	for i, about := range []corev1.ObjectReference{{Kind: "Pod", Namespace: "ops", Name: "mine-7d-abc"}, {Kind: v1alpha1.SubscriptionKind, Namespace: "ops", Name: "mine"}} {
		objects = append(objects, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "e" + string(rune('0'+i))}, InvolvedObject: about, Type: text, Reason: text, Message: text,
			Source: corev1.EventSource{Component: text, Host: text}, ReportingController: text, LastTimestamp: metav1.NewTime(time.Now())})
	}
	for _, name := range []string{"install-1", "install-2"} {
		plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: v1alpha1.SubscriptionKind, Name: "mine", UID: "sub"}}}}
		plan.Spec.ClusterServiceVersionNames = []string{text}
		plan.Status.Phase, plan.Status.Message = v1alpha1.InstallPlanPhaseFailed, text
		plan.Status.Conditions = []v1alpha1.InstallPlanCondition{{Type: v1alpha1.InstallPlanInstalled, Status: "False", Reason: v1alpha1.InstallPlanConditionReason(text), Message: text}}
		manifest := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":` + quotedJSON(text) + `,"namespace":"ops"},"data":{` + quotedJSON(text) + `:` + quotedJSON(name+text) + `}}`
		plan.Status.Plan = []*v1alpha1.Step{{Resolving: text, Resource: v1alpha1.StepResource{Kind: "ConfigMap", Name: text, Version: "v1", Manifest: manifest}}}
		objects = append(objects, plan)
	}
	kite := aKite("sky", "a", text).(*unstructured.Unstructured)
	kite.SetAnnotations(map[string]string{"x": text})
	kite.Object["status"] = map[string]any{"phase": text, "conditions": []any{map[string]any{"type": text, "status": text, "reason": text, "message": text}}}
	return append(objects, kiteDefinition(), kite, aKite("sky", text, text), aKite("ops", "b", text))
}

// hostileExtension is one of the v1 API, with two revisions.
func hostileExtension(text string) []client.Object {
	objects := extended("apps", "modern", text, text+"2")
	for _, o := range objects {
		switch o := o.(type) {
		case *olmv1.ClusterExtension:
			o.Spec.Source.Catalog.Channels, o.Spec.Source.Catalog.Version = []string{text}, text
			o.Status.Install.Bundle = olmv1.BundleMetadata{Name: text, Version: text}
			for i := range o.Status.Conditions {
				o.Status.Conditions[i].Reason, o.Status.Conditions[i].Message = text, text
			}
		case *olmv1.ClusterObjectSet:
			o.Annotations = map[string]string{olmv1.BundleNameKey: text, olmv1.BundleVersionKey: text}
			for i := range o.Status.Conditions {
				o.Status.Conditions[i].Reason, o.Status.Conditions[i].Message = text, text
			}
			held := o.Spec.Phases[0].Objects[0].Object
			held.Object["data"].(map[string]any)[text] = text + o.Name
			held.SetName(text)
		}
	}
	return objects
}

func quotedJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // no text fails
	}
	return string(quoted)
}

// TestHostileOperator: whatever an operator and its objects say, the pages of it, of its history and of its custom resources show it as text.
func TestHostileOperator(t *testing.T) {
	for name, text := range evil {
		t.Run(name, func(t *testing.T) {
			logs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("begins\nlast-line " + text)) }))
			defer logs.Close()
			v := newTour(t, nil, append(append(hostileSubscription(text), hostileExtension(text)...), offeredBy()...)...)
			v.user.config = &rest.Config{Host: logs.URL}
			page := v.harmless(http.StatusOK, "/operator/Subscription/ops/mine")
			if !strings.ContainsAny(text, "\r\n") { // of which the last line is another one
				must.Contain(t, "the last line of the log", page.text("#head"), "last-line")
			}
			const sub, ext, kites = "/operator/Subscription/ops/mine", "/operator/ClusterExtension/apps/modern", "/operands/kites.example.com"
			for _, address := range []string{"/installed", "/installed?namespace=ops", "/operator/ClusterServiceVersion/ops/mine.v1.0.0", sub + "/diff?from=install-1&to=install-2", sub + "/uninstall", sub + "/upgrade",
				ext, ext + "/diff?from=1&to=2", ext + "/uninstall", ext + "/upgrade", "/operands", "/operands?namespace=ops", kites + "?namespace=ops", kites + "/new?namespace=ops",
				kites + "/object?namespace=ops&in=sky&object=a", kites + "/object?" + url.Values{"namespace": {"ops"}, "in": {"sky"}, "object": {text}}.Encode()} {
				v.harmless(0, address) // an object of a name that no cluster has may be refused
			}
			v.harmless(0, ext+"/rollback") // to a version that is none there is no way
		})
	}
}

// TestHostileAddressesOfOperators: what an address says is text, too, also where there is nothing of that name.
func TestHostileAddressesOfOperators(t *testing.T) {
	v := newTour(t, nil, append(operated(), extended("apps", "modern", "a", "b")...)...)
	for _, text := range evil {
		text = text[:min(len(text), 1500)]
		of := func(address string, values ...string) string {
			all := url.Values{}
			for _, key := range values {
				all.Set(key, text)
			}
			return address + "?" + all.Encode()
		}
		for _, address := range []string{of("/operator/ClusterExtension/apps/modern/diff", "from", "to"), of("/operator/ClusterExtension/apps/modern/rollback", "to"), of("/operator/Subscription/ops/mine/upgrade", "channel"),
			of("/operator/ClusterExtension/apps/modern/upgrade", "channel", "version"), of("/operator/Subscription/ops/mine/uninstall", "delete"), of("/operands", "namespace", "name"), of("/operands/kites.example.com", "namespace"),
			of("/operands/kites.example.com/object", "in", "object"), of("/operands/kites.example.com/new", "example", "in"), of("/installed", "q", "state", "api", "page")} {
			v.harmless(0, address)
		}
	}
}

// harmless is a page that shows what is hostile as text. A status of 0 is any.
func (v *tour) harmless(status int, address string) tourPage {
	v.Helper()
	w := v.ask(http.MethodGet, address, nil)
	if status != 0 && w.Code != status {
		v.Fatalf("%s answers %d, want %d: %s", address, w.Code, status, w.Body)
	}
	page := v.parse(w)
	page.sound()
	shopPage{t: v.TB.(*testing.T), status: w.Code, text: w.Body.String(), root: page.root}.harmless()
	for _, element := range []string{"<b>", "<script>alert", "<img src=x", "<svg onload"} {
		if strings.Contains(w.Body.String(), element) {
			v.Errorf("%s has the element %s", address, element)
		}
	}
	return page
}
