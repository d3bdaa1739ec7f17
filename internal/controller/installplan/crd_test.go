package installplan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// liveCRD is a CRD as the cluster has it, which a plan brought for op.v0 of the namespace.
func liveCRD(t *testing.T, versions string, stored ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(t, yaml.Unmarshal([]byte(withVersions(versions)), crd))
	crd.Annotations = alongside("ns/op.v0")
	crd.Status.StoredVersions = stored
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	return crd
}

// alongside are the annotations of a CRD that plans brought for operators, given as namespace/name.
func alongside(operators ...string) map[string]string {
	annotations := map[string]string{}
	for _, o := range operators {
		namespace, name, _ := strings.Cut(o, "/")
		annotations[bundle.InstalledAlongsideKey(namespace, name)] = o
	}
	return annotations
}

// adoptable lets operators of every namespace adopt a CRD.
func adoptable(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd.Annotations[v1alpha1.AdoptableByAnnotation] = "*"
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

// csv is an operator that runs.
func csv(namespace, name, replaces string, owned ...string) *v1alpha1.ClusterServiceVersion {
	c := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	c.Status.Phase = v1alpha1.CSVPhaseSucceeded
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
	idle := csv("elsewhere", "op.v0", "", widgets)
	idle.Status.Phase = v1alpha1.CSVPhasePending
	requiring := csv("elsewhere", "app.v1", "")
	requiring.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: widgets, Version: "v0"}}
	confined := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "group"}, Spec: operatorsv1.OperatorGroupSpec{ServiceAccountName: "installer"}}
	broughtFor := func(versions string, operators ...string) *apiextensionsv1.CustomResourceDefinition {
		crd := liveCRD(t, versions, "v1")
		crd.Annotations = alongside(operators...)
		return crd
	}
	createdBy := func(namespace string, crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
		crd.Annotations[v1alpha1.OriginAnnotation] = v1alpha1.OriginInstallPlan + "/" + namespace
		return crd
	}
	listsNothing := csv("elsewhere", "op.v0", "")
	arriving := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "arriving"}, Spec: v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"op.v0"}},
		Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling}}
	const both = "v0 served, v1 served"
	tests := map[string]struct {
		live    *apiextensionsv1.CustomResourceDefinition
		others  []client.Object
		csv     string
		crd     string
		refused string
	}{
		"no operator owns it":                  {liveCRD(t, "v1 served", "v1"), nil, csvYAML, withVersions("v1 served, v2 served"), ""},
		"only the replaced operator owns it":   {liveCRD(t, "v0 served, v1 served", "v1"), []client.Object{csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), ""},
		"only a copy owns it":                  {liveCRD(t, "v0 served, v1 served", "v1"), []client.Object{copied}, csvYAML, withVersions("v1 served"), ""},
		"a stored version goes":                {liveCRD(t, "v0 served, v1 served", "v0", "v1"), nil, csvYAML, withVersions("v1 served"), `risk of data loss updating "widgets.example.com": new CRD removes version v0 that is listed as a stored version on the existing CRD`},
		"a stored version is no longer served": {liveCRD(t, "v0 served, v1 served", "v0", "v1"), nil, csvYAML, withVersions("v0, v1 served"), ""},
		"another operator here owns it":        {liveCRD(t, "v1 served", "v1"), []client.Object{csv("ns", "other.v1", "", widgets)}, csvYAML, withVersions("v1 served"), "CustomResourceDefinition widgets.example.com of op.v1 is provided by ClusterServiceVersion ns/other.v1 already"},
		"an operator elsewhere, all stays": {broughtFor("v1 served", "ns/op.v0", "elsewhere/op.v0"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served, v2 served"), ""},
		"an operator elsewhere, a version goes": {broughtFor(both, "ns/op.v0", "elsewhere/op.v0"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served"), "CustomResourceDefinition widgets.example.com is also owned by ClusterServiceVersion elsewhere/op.v0, so every version that it serves must stay, but the new one does not serve v0"},
		"one elsewhere that never ran": {liveCRD(t, both, "v1"), []client.Object{idle, csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), ""},
		"one elsewhere that runs and that no plan brought it for": {liveCRD(t, both, "v1"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served"), ""},
		"one elsewhere that follows one that it was brought for": {broughtFor(both, "ns/op.v0", "elsewhere/op.v0"), []client.Object{csv("elsewhere", "op.v1", "op.v0", widgets), csv("ns", "op.v0", "", widgets)},
			replacing, withVersions("v1 served"), "is also owned by ClusterServiceVersion elsewhere/op.v1"},
		"one elsewhere that runs, no plan brought it": {adoptable(broughtFor(both)), []client.Object{csv("elsewhere", "op.v0", "", widgets)}, csvYAML,
			withVersions("v1 served"), "is owned by ClusterServiceVersion elsewhere/op.v0"},
		"one here that runs, it was brought elsewhere": {broughtFor(both, "elsewhere/op.v0"), []client.Object{csv("ns", "other.v1", "", widgets)}, csvYAML, withVersions("v1 served"),
			"is provided by ClusterServiceVersion ns/other.v1 already"},
		"one elsewhere that it was brought for": {broughtFor(both, "elsewhere/op.v0"), []client.Object{idle, csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"),
			"is owned by ClusterServiceVersion elsewhere/op.v0"},
		"one that joined and never ran, without an account": {createdBy("ns", broughtFor(both, "ns/op.v0", "elsewhere/op.v0")), []client.Object{idle, csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served"), "is also owned by ClusterServiceVersion elsewhere/op.v0"},
		"a confined one that joined and never ran": {createdBy("ns", broughtFor(both, "ns/op.v0", "elsewhere/op.v0")), []client.Object{idle, confined, csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served"), ""},
		"a confined one that joined and runs": {createdBy("ns", broughtFor(both, "ns/op.v0", "elsewhere/op.v0")),
			[]client.Object{csv("elsewhere", "op.v0", "", widgets), confined, csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), "is also owned by ClusterServiceVersion elsewhere/op.v0"},
		"a confined one that it was created for and that never ran": {createdBy("elsewhere", broughtFor(both, "ns/op.v0", "elsewhere/op.v0")),
			[]client.Object{idle, confined, csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), "owned by ClusterServiceVersion elsewhere/op.v0"},
		"one elsewhere that lists no version": {createdBy("ns", broughtFor(both, "ns/op.v0", "elsewhere/op.v0")), []client.Object{listsNothing, csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served"), ""},
		"one elsewhere that lists no version, while it is installed": {createdBy("ns", broughtFor(both, "ns/op.v0", "elsewhere/op.v0")),
			[]client.Object{listsNothing, arriving, csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), "is also owned by ClusterServiceVersion elsewhere/op.v0"},
		"a confined one that runs, no plan brought it": {adoptable(broughtFor(both)), []client.Object{csv("elsewhere", "op.v0", "", widgets), confined}, csvYAML, withVersions("v1 served"), ""},
		"an operator elsewhere, one is off": {broughtFor(both, "ns/op.v0", "elsewhere/op.v0"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v0, v1 served"), "does not serve v0"},
		"an operator elsewhere, one was off": {broughtFor("v0, v1 served", "ns/op.v0", "elsewhere/op.v0"), []client.Object{csv("elsewhere", "op.v0", "", widgets), csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served"), ""},
		"one elsewhere requires what goes": {liveCRD(t, both, "v1"), []client.Object{requiring, csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"),
			"version v0 of CustomResourceDefinition widgets.example.com is required by ClusterServiceVersion elsewhere/app.v1"},
		"a confined one requires what goes": {liveCRD(t, both, "v1"), []client.Object{requiring, confined, csv("ns", "op.v0", "", widgets)}, replacing, withVersions("v1 served"), ""},
		"a confined one, whose namespace shares the CRD, requires what goes": {broughtFor(both, "ns/op.v0", "elsewhere/op.v0"), []client.Object{requiring, confined, csv("ns", "op.v0", "", widgets)}, replacing,
			withVersions("v1 served"), "is required by ClusterServiceVersion elsewhere/app.v1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := append(deepCopies(tc.others), tc.live.DeepCopy(), newPlan(step(t, tc.csv), step(t, tc.crd)))
			w := newWorld(t, objects...)
			p := w.settle(t, 2*time.Minute)
			if tc.refused == "" {
				must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseComplete)
				must.Equal(t, p.Status.Message, statuses(p)[crdKind], v1alpha1.StepStatusPresent)
				return
			}
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
			must.Contain(t, "message", p.Status.Message, tc.refused)
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
	must.NoError(t, w.Inner.Update(t.Context(), old, client.FieldOwner(fieldOwner)))
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

// TestEvidenceOfABundleIsDropped: a manifest may not say for whom the manager brought the CRD, or that users get access to it; and a CRD that was there
// before any plan is not one that plans created.
func TestEvidenceOfABundleIsDropped(t *testing.T) {
	forged := strings.Replace(crdYAML, "metadata: {", "metadata: {labels: {operators.fairlead.dev/provided-roles: 'true'}, ownerReferences: [{apiVersion: v1, kind: Namespace, name: gone, uid: gone}], finalizers: [example.com/never], "+
		"annotations: {operators.fairlead.dev/origin: InstallPlan/ns, operators.fairlead.dev/adoptable-by: '*', operators.fairlead.dev/crd-upgrade-exemptions: existingObjects, "+bundle.BroughtByKey("victim", "other.v1")+": uid, "+
		bundle.InstalledAlongsideKey("victim", "other.v1")+": victim/other.v1}, ", 1)
	if forged == crdYAML {
		t.Fatal("nothing is forged")
	}
	for name, test := range map[string]struct {
		live    func() *apiextensionsv1.CustomResourceDefinition
		brought bool
	}{
		"a new CRD": {func() *apiextensionsv1.CustomResourceDefinition { return nil }, true},
		"one that was there": {func() *apiextensionsv1.CustomResourceDefinition {
			crd := liveCRD(t, "v1 served", "v1")
			crd.Annotations = map[string]string{v1alpha1.AdoptableByAnnotation: "ns"}
			return crd
		}, false},
		"one that an earlier manager brought": {func() *apiextensionsv1.CustomResourceDefinition {
			crd := liveCRD(t, "v1 served", "v1")
			crd.Annotations = map[string]string{bundle.InstalledAlongsideKey("ns", "op.v0"): "ns/op.v0"}
			return crd
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{newPlan(step(t, csvYAML), step(t, forged))}
			if live := test.live(); live != nil {
				objects = append(objects, live)
			}
			w := newWorld(t, objects...)
			for range 3 { // the fake cluster does not establish what is new
				must.Value(w.reconcile(t))(t)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if !w.get(t, crd, "", "widgets.example.com") {
				t.Fatal("the CRD is not written")
			}
			if len(crd.OwnerReferences)+len(crd.Finalizers) > 0 {
				t.Errorf("the bundle decides what the CRD goes with: %v %v", crd.OwnerReferences, crd.Finalizers)
			}
			if crd.Annotations[v1alpha1.AdoptableByAnnotation] == "*" {
				t.Error("the bundle decides who may adopt the CRD")
			}
			must.Equal(t, "the bundle exempts its own upgrades", crd.Annotations["operators.fairlead.dev/crd-upgrade-exemptions"], "")
			if tenancy.Brought(crd, "victim", "other.v1") || crd.Labels[v1alpha1.ProvidedRolesLabel] != "" {
				t.Errorf("what the bundle says is believed: %v %v", crd.Labels, crd.Annotations)
			}
			if got := tenancy.Brought(crd, "ns", "op.v1"); got != test.brought {
				t.Errorf("brought %t, want %t: %v", got, test.brought, crd.Annotations)
			}
		})
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
	must.Equal(t, "message", p.Status.Message, "waiting: CustomResourceDefinition widgets.example.com: condition NamesAccepted is not set yet")
	manifests := w.controller.Manifests
	w.controller.Manifests = unreadable{} // waiting takes no manifests
	w.Taken()
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || len(w.Taken()) != 0 {
		t.Errorf("waiting: %s %s", p.Status.Phase, p.Status.Message)
	}
	w.controller.Manifests = manifests
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}}
	must.NoError(t, w.Inner.Delete(t.Context(), crd))
	if p := w.settle(t, time.Minute); statuses(p)[crdKind] != v1alpha1.StepStatusWaitingForAPI || !w.get(t, crd, "", crd.Name) {
		t.Fatalf("deleted meanwhile: %v", statuses(p))
	}
	must.NoError(t, setEstablished(t.Context(), w.Inner, crd.Name))
	requests := w.watcher().waitingFor(t.Context(), crd)
	must.Equal(t, "the CRD wakes", len(requests), 1)
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
