package installplan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func liveCRD(t *testing.T, versions string, stored ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(withVersions(versions)), crd); err != nil {
		t.Fatal(err)
	}
	crd.Status.StoredVersions = stored
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	return crd
}

// withVersions is the CRD with versions such as "v1 served, v2": the last one is stored.
func withVersions(versions string) string {
	head, _, _ := strings.Cut(crdYAML, "  versions:")
	var b strings.Builder
	b.WriteString(head + "  versions:\n")
	all := strings.Split(versions, ", ")
	for i, v := range all {
		name, served, _ := strings.Cut(v, " ")
		b.WriteString("  - {name: " + name + ", served: " + map[bool]string{true: "true", false: "false"}[served == "served"] +
			", storage: " + map[bool]string{true: "true", false: "false"}[i == len(all)-1] + ", schema: {openAPIV3Schema: {type: object}}}\n")
	}
	return b.String()
}

func csv(namespace, name, replaces string, owned ...string) *v1alpha1.ClusterServiceVersion {
	c := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.Replaces = replaces
	for _, crd := range owned {
		c.Spec.CustomResourceDefinitions.Owned = append(c.Spec.CustomResourceDefinitions.Owned, v1alpha1.CRDDescription{Name: crd})
	}
	return c
}

func TestCRDUpgrades(t *testing.T) {
	const widgets = "widgets.example.com"
	replacing := strings.Replace(csvYAML, "displayName: Op", "displayName: Op\n  replaces: op.v0", 1)
	copied := csv("elsewhere", "op.v0", "", widgets)
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "ns"}
	tests := map[string]struct {
		live    *apiextensionsv1.CustomResourceDefinition
		others  []client.Object
		csv     string
		crd     string
		refused string
	}{
		"nobody owns it":                        {liveCRD(t, "v1 served", "v1"), nil, csvYAML, withVersions("v1 served, v2 served"), ""},
		"only the replaced operator owns it":    {liveCRD(t, "v0 served, v1 served", "v1"), []client.Object{csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), ""},
		"only a copy owns it":                   {liveCRD(t, "v0 served, v1 served", "v1"), []client.Object{copied}, csvYAML, withVersions("v1 served"), ""},
		"a stored version goes":                 {liveCRD(t, "v0 served, v1 served", "v0", "v1"), nil, csvYAML, withVersions("v1 served"), `risk of data loss updating "widgets.example.com": new CRD removes version v0 that is listed as a stored version on the existing CRD`},
		"a stored version is no longer served":  {liveCRD(t, "v0 served, v1 served", "v0", "v1"), nil, csvYAML, withVersions("v0, v1 served"), ""},
		"another operator here owns it":         {liveCRD(t, "v1 served", "v1"), []client.Object{csv("ns", "other.v1", "", widgets)}, csvYAML, withVersions("v1 served"), "CustomResourceDefinition widgets.example.com of op.v1 is provided by ClusterServiceVersion ns/other.v1 already"},
		"an operator elsewhere, all stays":      {liveCRD(t, "v1 served", "v1"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served, v2 served"), ""},
		"an operator elsewhere, a version goes": {liveCRD(t, "v0 served, v1 served", "v1"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), "CustomResourceDefinition widgets.example.com is also owned by ClusterServiceVersion elsewhere/op.v0, so every version that it serves must stay, but the new one does not serve v0"},
		"an operator elsewhere, one is off":     {liveCRD(t, "v0 served, v1 served", "v1"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v0, v1 served"), "does not serve v0"},
		"an operator elsewhere, one was off":    {liveCRD(t, "v0, v1 served", "v1"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := append(deepCopies(tc.others), tc.live.DeepCopy(), newPlan(step(t, tc.csv), step(t, tc.crd)))
			w := newWorld(t, objects...)
			p := w.settle(t, 2*time.Minute)
			if tc.refused == "" {
				if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || statuses(p)[crdKind] != v1alpha1.StepStatusPresent {
					t.Errorf("%s: %s %v", p.Status.Phase, p.Status.Message, statuses(p))
				}
				return
			}
			if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.Contains(p.Status.Message, tc.refused) {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			if w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1") {
				t.Error("the ClusterServiceVersion was made although its API was refused")
			}
		})
	}
}

func TestCRDRemembersWhomItWasInstalledWith(t *testing.T) {
	live := liveCRD(t, "v1 served", "v1")
	live.Annotations = map[string]string{
		"operatorframework.io/installed-alongside-1": "elsewhere/alive.v1",
		"operatorframework.io/installed-alongside-2": "elsewhere/gone.v1",
		"operatorframework.io/installed-alongside-3": "elsewhere/copied.v1",
		"theirs": "kept",
	}
	copied := csv("elsewhere", "copied.v1", "")
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "ns"}
	w := newWorld(t, live, csv("elsewhere", "alive.v1", ""), copied, newPlan(step(t, csvYAML), step(t, crdYAML)))
	// What was written before by this controller is what it may also take away again.
	old := live.DeepCopy()
	w.get(t, old, "", live.Name)
	if err := w.Update(t.Context(), old, client.FieldOwner(fieldOwner)); err != nil {
		t.Fatal(err)
	}
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Fatal(p.Status.Message)
	}
	got := &apiextensionsv1.CustomResourceDefinition{}
	w.get(t, got, "", live.Name)
	alongside := map[string]bool{}
	for key, value := range got.Annotations {
		if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) {
			alongside[value] = true
		}
	}
	if !alongside["elsewhere/alive.v1"] || !alongside["ns/op.v1"] || got.Annotations["theirs"] != "kept" {
		t.Errorf("annotations %v", got.Annotations)
	}
}

func TestConversionIsLeftToWhoRunsTheWebhook(t *testing.T) {
	converting := crdYAML + "\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://bundle'}}}"
	webhook := csvYAML + "\n  webhookdefinitions: [{type: ConversionWebhook, generateName: c, conversionCRDs: [widgets.example.com], sideEffects: None, admissionReviewVersions: [v1]}]"
	for name, tc := range map[string]struct {
		csv  string
		want bool
	}{"served by the operator": {webhook, false}, "served by others": {csvYAML, true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newPlan(step(t, tc.csv), step(t, converting)))
			if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
				t.Fatal(p.Status.Message)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			w.get(t, crd, "", "widgets.example.com")
			if got := crd.Spec.Conversion != nil; got != tc.want {
				t.Errorf("conversion %v", crd.Spec.Conversion)
			}
		})
	}
}

// TestCRDIsWaitedFor also covers a CRD that is deleted meanwhile.
func TestCRDIsWaitedFor(t *testing.T) {
	w := newWorld(t, newPlan(step(t, csvYAML), step(t, crdYAML)))
	w.establish = false
	p := w.settle(t, 2*time.Hour)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || statuses(p)[crdKind] != v1alpha1.StepStatusWaitingForAPI {
		t.Fatalf("%s: %v", p.Status.Phase, statuses(p))
	}
	if want := "waiting: CustomResourceDefinition widgets.example.com: condition NamesAccepted is not set yet"; p.Status.Message != want {
		t.Errorf("message %q", p.Status.Message)
	}
	manifests := w.controller.Manifests
	w.controller.Manifests = unreadable{} // waiting takes no manifests
	w.taken()
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || len(w.taken()) != 0 {
		t.Errorf("waiting: %s %s", p.Status.Phase, p.Status.Message)
	}
	w.controller.Manifests = manifests
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}}
	if err := w.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	if p := w.settle(t, time.Minute); statuses(p)[crdKind] != v1alpha1.StepStatusWaitingForAPI || !w.get(t, crd, "", crd.Name) {
		t.Fatalf("deleted meanwhile: %v", statuses(p))
	}
	if err := setEstablished(t.Context(), w.WithWatch, crd.Name); err != nil {
		t.Fatal(err)
	}
	requests := w.controller.waitingFor(t.Context(), crd)
	if len(requests) != 1 {
		t.Errorf("the CRD wakes %v", requests)
	}
	p = w.settle(t, time.Minute)
	want := map[string]v1alpha1.StepStatus{crdKind: v1alpha1.StepStatusCreated, "ClusterServiceVersion": v1alpha1.StepStatusCreated}
	if diff := cmp.Diff(want, statuses(p)); diff != "" || p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Errorf("%s %s", p.Status.Phase, diff)
	}
}

type unreadable struct{}

func (unreadable) Resolve(context.Context, string) ([]byte, error) {
	return nil, errors.New("a manifest was asked for")
}
