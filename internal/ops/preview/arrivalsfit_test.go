package preview

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownNamespace lets an operator run in its own namespace alone.
func ownNamespace(b *bundle.Bundle) {
	b.CSV.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true}}
}

// TestMisfitsOfTheOperatorsOfAPlan: the ClusterServiceVersion is judged that is installed, whatever the catalog says of it.
func TestMisfitsOfTheOperatorsOfAPlan(t *testing.T) {
	plan, text := ahead(t, planner(t, subscribed(t, "greeter-operator", "")...), ownNamespace)
	if !plan.Blocked() || len(plan.Misfits) != 1 || plan.Misfits[0].Fails {
		t.Errorf("%+v", plan.Misfits)
	}
	must.Contain(t, "text", text, "\ngreeter-operator.v1.2.0 would wait for an OperatorGroup that fits:\n  OperatorGroup all: AllNamespaces InstallModeType not supported")

	plan, _ = ahead(t, planner(t, subscribed(t, "greeter-operator", "")[:2]...))
	must.Equal(t, "misfits without a group, which the catalog tells, too", len(plan.Misfits), 1)

	plan, text = ahead(t, planner(t, subscribed(t, "greeter-operator", "")...), func(b *bundle.Bundle) {
		s := &b.CSV.Spec.InstallStrategy.StrategySpec
		s.DeploymentSpecs = append(s.DeploymentSpecs, s.DeploymentSpecs[0])
	})
	if !plan.Blocked() || len(plan.Misfits) != 1 || !plan.Misfits[0].Fails || len(plan.Operators[0].Blocked) > 0 {
		t.Errorf("%+v\n%s", plan.Misfits, text)
	}
	must.Contain(t, "text", text, "\ngreeter-operator.v1.2.0 would fail once it is installed:\n  spec.install.spec.deployments names ", "ask its author to correct it, or install another version\n")
	must.Lack(t, "text", text, "nothing would be written")
}

// TestMisfitThatTheCatalogAloneTells: where the ClusterServiceVersion is known, what the catalog tells of it does not count; of others it does.
func TestMisfitThatTheCatalogAloneTells(t *testing.T) {
	group := operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "all"}, Status: operatorsv1.OperatorGroupStatus{Namespaces: []string{""}}}
	n := &snapshot.Namespace{Name: "ops", Groups: []operatorsv1.OperatorGroup{group}}
	all := &arrivals{namespace: n, fit: fitting{namespace: n, complete: true}}
	b := load(t, "1.2.0")
	a := &arrival{Choice: resolution.Choice{Bundle: &catalog.BundleInfo{Name: b.Name}}, csv: b.CSV}
	told := func() []Misfit {
		return []Misfit{{Operator: b.Name, Reason: "no such mode"}, {Operator: "other.v1", Reason: "no such mode"}}
	}
	must.Equal(t, "known", all.unfit(a, told()), told()[1:])
	a.csv = nil
	must.Equal(t, "not known", all.unfit(a, told()), told())
	a.csv, n.Operators = b.CSV.DeepCopy(), []v1alpha1.ClusterServiceVersion{*b.CSV}
	a.csv.Spec.InstallStrategy.StrategyName = "none"
	must.Equal(t, "one that is there", all.unfit(a, nil), nil)
}

// waits is an InstallPlan with the steps of a bundle.
func waits(t *testing.T, b *bundle.Bundle) *v1alpha1.InstallPlan {
	t.Helper()
	open := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	open.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	for _, s := range must.Value(bundle.PlanSteps(b, bundle.StepTarget{Namespace: "ops"}))(t) {
		open.Status.Plan = append(open.Status.Plan, &v1alpha1.Step{Resolving: b.Name,
			Resource: v1alpha1.StepResource{Kind: s.Kind, Name: s.Object.GetName(), Manifest: string(must.Value(json.Marshal(s.Object))(t))}})
	}
	return open
}

// opened is the plan of the Subscription whose InstallPlan is open, and its text.
func opened(t *testing.T, p Planner, open *v1alpha1.InstallPlan) (*SubscriptionPlan, string) {
	t.Helper()
	plan := must.Value(p.Open(t.Context(), open, "mine", nil))(t)
	var text strings.Builder
	must.NoError(t, plan.Write(&text))
	return plan, text.String()
}

// TestMisfitsOfAnOpenPlan: the targets of the group, and a group of another namespace that provides the same API.
func TestMisfitsOfAnOpenPlan(t *testing.T) {
	plan, text := opened(t, planner(t, subscribed(t, "greeter-operator", "")...), waits(t, load(t, "1.2.0")))
	if plan.Blocked() || len(plan.Misfits) > 0 {
		t.Errorf("%+v\n%s", plan.Misfits, text)
	}
	b := load(t, "1.2.0")
	ownNamespace(b)
	plan, text = opened(t, planner(t, subscribed(t, "greeter-operator", "")...), waits(t, b))
	if !plan.Blocked() || len(plan.Misfits) != 1 {
		t.Errorf("%+v", plan.Misfits)
	}
	must.Contain(t, "text", text, "\ngreeter-operator.v1.2.0 would wait for an OperatorGroup that fits:\n")

	rival := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "theirs", Name: "rival"}}
	rival.Annotations = map[string]string{v1alpha1.ProvidedAPIsAnnotation: "Greeting.v1.demo.fairlead.dev"}
	rival.Status.Namespaces = []string{""}
	plan, text = opened(t, planner(t, append(subscribed(t, "greeter-operator", ""), rival)...), waits(t, load(t, "1.2.0")))
	if !plan.Blocked() || len(plan.Misfits) != 1 || !plan.Misfits[0].Fails {
		t.Errorf("%+v", plan.Misfits)
	}
	must.Contain(t, "text", text, "\ngreeter-operator.v1.2.0 would fail once it is installed:\n  OperatorGroup theirs/rival provides Greeting.v1.demo.fairlead.dev too")
}

// TestOpenPlanOfWhoMayNotReadItsNamespace: the InstallPlan is shown, with notes.
func TestOpenPlanOfWhoMayNotReadItsNamespace(t *testing.T) {
	kinds := []string{"ops/ClusterServiceVersion", "ops/OperatorGroup"}
	plan, text := opened(t, forbid(t, planner(t, subscribed(t, "greeter-operator", "1.0.0")...), kinds...), waits(t, load(t, "1.2.0")))
	if plan.Waiting == nil || plan.Blocked() || plan.Account != "" {
		t.Errorf("%+v\n%s", plan, text)
	}
	must.Contain(t, "text", text, "InstallPlan ops/install-1 RequiresApproval", "note: ClusterServiceVersions of namespace ops cannot be read as user tina: what the operators that are there have is not known\n",
		"note: OperatorGroups of namespace ops cannot be read as user tina: whether the operators fit, and whose rights count, is not known\n", "  added:\n")
	must.Equal(t, "why rights are not examined", plan.NotExamined, "the OperatorGroup of namespace ops, which says whose rights count, is not known")
}

// TestOpenPlanWhoseBundleIsFetched says that it has no steps for the operator yet, and what follows for rights.
func TestOpenPlanWhoseBundleIsFetched(t *testing.T) {
	open := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	open.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "greeter-operator.v1.2.0", Path: "registry.example.com/greeter:v1.2.0"}}
	plan, text := opened(t, planner(t, confine(subscribed(t, "greeter-operator", ""), "")...), open)
	const why = "its bundle is still being fetched, so the InstallPlan has no steps for it yet"
	must.Equal(t, "notes", plan.Operators[0].Notes, []string{why})
	must.Equal(t, "why not examined", plan.NotExamined, "greeter-operator.v1.2.0: "+why)
	must.Contain(t, "text", text, "what ServiceAccount ops/scoped lacks was not examined: greeter-operator.v1.2.0: "+why+"\n")
	must.Lack(t, "text", text, "no ClusterServiceVersion")
}

// TestNoObjectsWhereNoPlanCanBeMade: why nothing is examined is not that nothing is to be done.
func TestNoObjectsWhereNoPlanCanBeMade(t *testing.T) {
	objects := subscribed(t, "greeter-operator", "")
	objects[1].(*v1alpha1.Subscription).Spec.Channel = "stabel"
	plan, _ := ahead(t, planner(t, objects...))
	must.Contain(t, "why", plan.NotExamined, "no InstallPlan can be made: ", "stabel")
	plan.Conflict, plan.Problem = nil, "the Subscription is held"
	must.Equal(t, "why", plan.nothing(), "no InstallPlan can be made: the Subscription is held")
}

// TestDefinitionWhoseUsersCannotBeSeen is not called safe where it changes: an operator of another namespace may have a say in it.
func TestDefinitionWhoseUsersCannotBeSeen(t *testing.T) {
	plan, text := ahead(t, forbid(t, planner(t, subscribed(t, "greeter-operator", "1.0.0")...), v1alpha1.ClusterServiceVersionKind))
	must.Equal(t, text, plan.Operators[0].CRDs[0].Verdict, CRDUnchecked)
	must.Contain(t, "text", text, "operators of other namespaces, which may have a say in it, cannot be read as user tina: the InstallPlan judges it\n")
}

// TestSecretsInThePlanOfASubscription: what they hold is shown neither in text nor as JSON, whether they are new or change.
func TestSecretsInThePlanOfASubscription(t *testing.T) {
	manifest := func(name, value string) string {
		return `{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "ops", "name": "` + name + `", "labels": {"olm.managed": "true"}, "annotations": {"last": "` + value + `"}},
			"data": {"key": "` + base64.StdEncoding.EncodeToString([]byte(value)) + `"}, "stringData": {"word": "` + value + `"}}`
	}
	const before, after = "canary-before", "canary-after"
	p := planner(t, append(subscribed(t, "greeter-operator", "1.0.0"), client.Object(parsedObject(t, manifest("key", before))))...)
	p.Values = true
	plan, text := ahead(t, p, func(b *bundle.Bundle) {
		b.Objects = append(b.Objects, parsedObject(t, manifest("key", after)), parsedObject(t, manifest("new", after)))
	})
	must.Contain(t, "text", text, "    Secret ops/key\n      .data.key: ", "    Secret ops/new\n")
	for form, content := range map[string]string{"text": text, "JSON": string(must.Value(json.Marshal(plan))(t))} {
		for _, value := range []string{before, after} {
			must.Lack(t, form, content, value, base64.StdEncoding.EncodeToString([]byte(value)))
		}
	}
}
