package manager

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
	"github.com/google/go-cmp/cmp"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byHand is an InstallPlan as people write it.
func (w *world) byHand(name string, approval v1alpha1.Approval, csvs ...string) *v1alpha1.InstallPlan {
	return &v1alpha1.InstallPlan{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec:       v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: csvs, Approval: approval, CatalogSource: "catalog", CatalogSourceNamespace: w.namespace},
	}
}

func (w *world) plans() []v1alpha1.InstallPlan {
	w.t.Helper()
	var list v1alpha1.InstallPlanList
	if err := w.client.List(w.t.Context(), &list, client.InNamespace(w.namespace)); err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// planFor waits for a plan that installs exactly these, in a phase.
func (w *world) planFor(phase v1alpha1.InstallPlanPhase, csvs ...string) *v1alpha1.InstallPlan {
	w.t.Helper()
	var found v1alpha1.InstallPlan
	w.eventually(fmt.Sprintf("a plan for %v to be %s", csvs, phase), func() error {
		var seen []string
		for _, p := range w.plans() {
			names := slices.Sorted(slices.Values(p.Spec.ClusterServiceVersionNames))
			if slices.Equal(names, csvs) && p.Status.Phase == phase {
				found = p
				return nil
			}
			seen = append(seen, fmt.Sprintf("%v is %s: %s", names, p.Status.Phase, p.Status.Message))
		}
		return fmt.Errorf("there are: %s", strings.Join(seen, "; "))
	})
	return &found
}

func (w *world) approve(p *v1alpha1.InstallPlan) {
	w.t.Helper()
	update(w, p, func(p *v1alpha1.InstallPlan) { p.Spec.Approved = true })
}

// planSays waits until the message of a plan matches.
func (w *world) planSays(name, pattern string) *v1alpha1.InstallPlan {
	w.t.Helper()
	p := &v1alpha1.InstallPlan{}
	w.eventually("InstallPlan "+name+" to say "+pattern, func() error {
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, p); err != nil {
			return err
		}
		if !regexp.MustCompile(pattern).MatchString(p.Status.Message) {
			return fmt.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
		}
		return nil
	})
	return p
}

// TestPlanWrittenByHand names a ClusterServiceVersion, gets the steps of it and of what owns the CRD that it requires, is approved, and
// leaves running operators and no Subscription.
func TestPlanWrittenByHand(t *testing.T) {
	w := newWorld(t)
	provider := operator{pkg: "provider", version: "1.0.0", kind: "Thing"}
	dependent := operator{pkg: "dependent", version: "1.0.0", kind: "Other", requires: "Thing"}
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(provider, dependent)), w.byHand("mine", v1alpha1.ApprovalManual, "dependnet.v1.0.0"))
	w.planSays("mine", `(?s)no catalog has ClusterServiceVersion dependnet\.v1\.0\.0; asked were .*correct spec\.clusterServiceVersionNames`)
	update(w, w.byHand("mine", ""), func(p *v1alpha1.InstallPlan) { p.Spec.ClusterServiceVersionNames = []string{"dependent.v1.0.0"} })
	p := w.planFor(v1alpha1.InstallPlanPhaseRequiresApproval, "dependent.v1.0.0")
	var steps []string
	for _, s := range p.Status.Plan {
		if s.Resource.Kind == v1alpha1.ClusterServiceVersionKind || s.Resource.Kind == "CustomResourceDefinition" {
			steps = append(steps, s.Resource.Kind+" "+s.Resource.Name)
		}
	}
	slices.Sort(steps)
	if want := []string{"ClusterServiceVersion dependent.v1.0.0", "ClusterServiceVersion provider.v1.0.0",
		"CustomResourceDefinition others." + w.apiGroup(), "CustomResourceDefinition things." + w.apiGroup()}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	if _, err := w.csv("dependent.v1.0.0"); !apierrors.IsNotFound(err) {
		t.Errorf("before the approval: %v", err)
	}
	w.approve(p)
	w.succeeds("dependent.v1.0.0")
	w.succeeds("provider.v1.0.0")
	w.planFor(v1alpha1.InstallPlanPhaseComplete, "dependent.v1.0.0")
	var subs v1alpha1.SubscriptionList
	if err := w.client.List(t.Context(), &subs, client.InNamespace(w.namespace)); err != nil || len(subs.Items) != 0 {
		t.Errorf("%d Subscriptions, %v", len(subs.Items), err)
	}
}

// TestApprovalTouchesOnlyItsOperator: a Manual Subscription makes nobody else wait, and approving its plan changes nothing else.
func TestApprovalTouchesOnlyItsOperator(t *testing.T) {
	w := newWorld(t)
	a, b := operator{pkg: "a", version: "1.0.0"}, operator{pkg: "b", version: "1.0.0"}
	manual := w.subscribe("a")
	manual.Spec.InstallPlanApproval = v1alpha1.ApprovalManual
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(a, b)), manual, w.subscribe("b"))
	w.succeeds("b.v1.0.0")
	w.shows(`InstallPlan install-\w+ \(a.v1.0.0; 0 of \d+ steps\) RequiresApproval`)
	if _, err := w.csv("a.v1.0.0"); !apierrors.IsNotFound(err) {
		t.Errorf("before the approval: %v", err)
	}
	w.approve(w.planFor(v1alpha1.InstallPlanPhaseRequiresApproval, "a.v1.0.0"))
	w.succeeds("a.v1.0.0")
	newer := func(o operator) operator { o.version = "1.1.0"; return o }
	w.catalog(a, newer(a), b, newer(b))
	w.succeeds("b.v1.1.0")
	waiting := w.planFor(v1alpha1.InstallPlanPhaseRequiresApproval, "a.v1.1.0")
	if csv, err := w.csv("a.v1.0.0"); err != nil || csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
		t.Errorf("a was upgraded without approval: %v", err)
	}
	before := must.Value(w.csv("b.v1.1.0"))(t)
	w.approve(waiting)
	w.succeeds("a.v1.1.0")
	w.ready()
	if after, err := w.csv("b.v1.1.0"); err != nil || after.UID != before.UID || after.Generation != before.Generation {
		t.Errorf("approving a changed b: %v", err)
	}
}

// TestNamespaceWidePlans: with resolve-together there is one plan for the namespace, and one Manual Subscription makes it wait.
func TestNamespaceWidePlans(t *testing.T) {
	w := newWorld(t)
	a, b := operator{pkg: "a", version: "1.0.0"}, operator{pkg: "b", version: "1.0.0"}
	manual := w.subscribe("a")
	manual.Spec.InstallPlanApproval = v1alpha1.ApprovalManual
	group := w.allNamespaces()
	group.Annotations = map[string]string{"operators.fairlead.dev/resolve-together": "true"}
	w.create(group, w.catalogSource(w.catalog(a, b)), manual, w.subscribe("b"))
	p := w.planFor(v1alpha1.InstallPlanPhaseRequiresApproval, "a.v1.0.0", "b.v1.0.0")
	if p.Spec.Approval != v1alpha1.ApprovalManual || len(w.plans()) != 1 {
		t.Errorf("approval %s, %d plans", p.Spec.Approval, len(w.plans()))
	}
	w.approve(p)
	w.succeeds("a.v1.0.0")
	w.succeeds("b.v1.0.0")
}

// TestPlanLimitedByServiceAccount: what the account of the OperatorGroup lacks is named, and the plan goes on when it is granted. CRDs
// are not limited.
func TestPlanLimitedByServiceAccount(t *testing.T) {
	w := newWorldAlone(t)
	o := operator{pkg: "op", version: "1.0.0", kind: "Thing", mode: "OwnNamespace"}
	group := w.group("scoped", w.namespace)
	group.Spec.ServiceAccountName = "scoped"
	w.create(group, w.catalogSource(w.catalog(o)), w.byHand("mine", v1alpha1.ApprovalAutomatic, "op.v1.0.0"))
	p := w.planSays("mine", `attenuated service account query failed - please make sure the service account exists\. sa=scoped operatorgroup=`+w.namespace+`/scoped`)
	if c := p.Status.GetCondition(v1alpha1.InstallPlanInstalled); c.Status != corev1.ConditionFalse || c.Reason != v1alpha1.InstallPlanReasonInstallCheckFailed {
		t.Errorf("condition %+v", c)
	}
	account := metav1.ObjectMeta{Namespace: w.namespace, Name: "scoped"}
	w.create(&corev1.ServiceAccount{ObjectMeta: account})
	p = w.planSays("mine", `clusterserviceversions.operators.coreos.com is forbidden: User "system:serviceaccount:`+w.namespace+`:scoped" cannot create resource "clusterserviceversions" in API group "operators.coreos.com" in the namespace`)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || p.Status.AttenuatedServiceAccountRef == nil || p.Status.AttenuatedServiceAccountRef.Name != "scoped" {
		t.Errorf("phase %s, as %v", p.Status.Phase, p.Status.AttenuatedServiceAccountRef)
	}
	definition := client.ObjectKey{Name: "things." + w.apiGroup()}
	if err := w.client.Get(t.Context(), definition, &apiextensionsv1.CustomResourceDefinition{}); !apierrors.IsNotFound(err) {
		t.Errorf("the CRD of an operator that may not be made: %v", err)
	}
	w.create(
		&rbacv1.Role{ObjectMeta: account, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}},
		&rbacv1.RoleBinding{ObjectMeta: account, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "scoped"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.namespace, Name: "scoped"}}},
	)
	granted := time.Now()
	w.planFor(v1alpha1.InstallPlanPhaseComplete, "op.v1.0.0")
	if took := time.Since(granted); took > 20*time.Second {
		t.Errorf("the grant was noticed after %s", took)
	}
	if err := w.client.Get(t.Context(), definition, &apiextensionsv1.CustomResourceDefinition{}); err != nil {
		t.Errorf("the CRD, which the account may not make: %v", err)
	}
	w.succeeds("op.v1.0.0")
	var d appsv1.Deployment
	must.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "op"}, &d))
	if got := d.Spec.Template.Annotations["olm.targetNamespaces"]; got != w.namespace {
		t.Errorf("the pods are told to watch %q, want %q", got, w.namespace)
	}
}

// TestPlanOfInvalidGroups: no group and two groups are said as documented, and that passes when it does.
func TestPlanOfInvalidGroups(t *testing.T) {
	w := newWorld(t)
	w.create(w.catalogSource(w.catalog(operator{pkg: "op", version: "1.0.0"})), w.byHand("mine", v1alpha1.ApprovalAutomatic, "op.v1.0.0"))
	w.planSays("mine", `^attenuated service account query failed - no operator group found that is managing this namespace$`)
	w.create(w.group("one"), w.group("two"))
	p := w.planSays("mine", `^attenuated service account query failed - more than one operator group\(s\) are managing this namespace count=2$`)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling {
		t.Errorf("phase %s", p.Status.Phase)
	}
	if _, err := w.csv("op.v1.0.0"); !apierrors.IsNotFound(err) {
		t.Errorf("with two groups: %v", err)
	}
	must.NoError(t, w.client.Delete(t.Context(), w.group("two")))
	w.succeeds("op.v1.0.0")
	p = w.planFor(v1alpha1.InstallPlanPhaseComplete, "op.v1.0.0")
	kinds := map[string]corev1.ConditionStatus{}
	for _, c := range p.Status.Conditions {
		kinds[string(c.Type)] = c.Status
	}
	if diff := cmp.Diff(map[string]corev1.ConditionStatus{"Resolved": "True", "Installed": "True", "Ready": "True"}, kinds); diff != "" || p.Status.Message != "" {
		t.Errorf("conditions: %s\nmessage %q", diff, p.Status.Message)
	}
}

// TestBundleThatIsNotThereYet is told of in the words of the registry within ten seconds, on the Subscription and on a plan that was
// written by hand; when it is pushed, the installation goes on by itself and leaves nothing behind.
func TestBundleThatIsNotThereYet(t *testing.T) {
	w := newWorldAlone(t)
	o := operator{pkg: "op", version: "1.0.0"}
	later := devcluster.Registry() + "/" + w.namespace + "/op-bundle:v1.0.0"
	text := fmt.Sprintf(`{"schema":"olm.package","name":"op","defaultChannel":"stable"}{"schema":"olm.channel","package":"op","name":"stable","entries":[{"name":"op.v1.0.0"}]}
		{"schema":"olm.bundle","package":"op","name":"op.v1.0.0","image":%q,"properties":[{"type":"olm.package","value":{"packageName":"op","version":"1.0.0"}}]}`, later)
	w.create(w.allNamespaces(), w.catalogSource(w.catalogImage(text)))
	w.shows(`CatalogSource .*/catalog .*READY`)
	began := time.Now()
	w.create(w.subscribe("op"), w.byHand("mine", v1alpha1.ApprovalAutomatic, "op.v1.0.0"))
	p := w.planSays("mine", `fetch bundle op\.v1\.0\.0: .*NotFound`)
	if lookups := p.Status.BundleLookups; len(lookups) != 1 || lookups[0].GetCondition(v1alpha1.BundleLookupFailed).Reason != "NotFound" || len(lookups[0].Conditions) != 1 {
		t.Errorf("lookups %+v", lookups)
	}
	w.eventually("the Subscription to tell it", func() error {
		c := w.subscription("op").Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed)
		if c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "NotFound") {
			return fmt.Errorf("condition %+v", c)
		}
		return nil
	})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	w.bundle(o)
	w.succeeds("op.v1.0.0")
	w.ready()
	var jobs batchv1.JobList
	var pods corev1.PodList
	var configMaps corev1.ConfigMapList
	for _, list := range []client.ObjectList{&jobs, &pods, &configMaps} {
		must.NoError(t, w.client.List(t.Context(), list, client.InNamespace(w.namespace)))
	}
	if len(jobs.Items) != 0 || len(pods.Items) != 1 || len(configMaps.Items) != 1 { // the pod of the operator, and the cluster's CA
		t.Errorf("left behind are %d Jobs, %d Pods and %d ConfigMaps", len(jobs.Items), len(pods.Items), len(configMaps.Items))
	}
}

// TestKindsOfSteps: every kind that a bundle may hold and the cluster knows is made, changed by an upgrade, and owned. An upgrade brings the permissions of
// the new version and removes those that it no longer has. What a version brought goes with its ClusterServiceVersion.
func TestKindsOfSteps(t *testing.T) {
	w := newWorld(t)
	extra := func(version, port string) map[string]string {
		priority := w.namespace + "-urgent"
		return map[string]string{
			"manifests/service.json":  `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"clusterIP":"None","sessionAffinity":"ClientIP","selector":{"app":"op"},"ports":[{"port":` + port + `}]}}`,
			"manifests/config.json":   `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"config"},"data":{"version":"` + version + `"}}`,
			"manifests/named.json":    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"config-` + version + `"}}`,
			"manifests/secret.json":   `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"keys"},"stringData":{"version":"` + version + `"}}`,
			"manifests/budget.json":   `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"op"},"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"op"}}}}`,
			"manifests/priority.json": `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"` + priority + `"},"value":5}`,
			"manifests/policy.json":   `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"op"},"spec":{"podSelector":{}}}`,
			"manifests/rule.json":     `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"alerts"},"spec":{"groups":[]}}`,
			"manifests/monitor.json":  `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"monitor"},"spec":{"endpoints":[],"selector":{}}}`,
			"manifests/link.json":     `{"apiVersion":"console.openshift.io/v1","kind":"ConsoleLink","metadata":{"name":"link"},"spec":{}}`,
		}
	}
	one, two := operator{pkg: "op", version: "1.0.0", files: extra("1", "80")}, operator{pkg: "op", version: "1.1.0", mode: "AllNamespaces", files: extra("2", "443")}
	two.files["manifests/csv.json"] = strings.Replace(string(w.manifest(two)), `"configmaps"`, `"secrets","services"`, 1)
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(one)), w.subscribe("op"))
	w.succeeds("op.v1.0.0")
	p := w.planFor(v1alpha1.InstallPlanPhaseComplete, "op.v1.0.0")
	if !strings.Contains(p.Status.Message, "left out, because the operator does without: ") || !strings.Contains(p.Status.Message, "PrometheusRule alerts") {
		t.Errorf("message %q", p.Status.Message)
	}
	w.eventually("the warning about the Service to be an Event", func() error {
		var events corev1.EventList
		if err := w.client.List(t.Context(), &events, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		for _, e := range events.Items {
			about := e.InvolvedObject
			if e.Reason == "AppliedWithWarnings" && e.Type == corev1.EventTypeWarning && e.Source.Component == "operator-lifecycle-manager" && about.Kind == "InstallPlan" &&
				strings.HasPrefix(about.FieldPath, "status.plan[") && strings.HasPrefix(e.Message, `1 warning(s) generated during installation of operator "op.v1.0.0" (Service "web"): `) {
				return nil
			}
		}
		return fmt.Errorf("%d other events", len(events.Items))
	})
	w.checkKinds("op.v1.0.0", "1", 80)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "op"}}
	w.checkOwned(must.Value(w.csv("op.v1.0.0"))(t), account)
	if got := w.permitted("op.v1.0.0"); !slices.Contains(got, "configmaps") {
		t.Errorf("the first version may touch %v", got)
	}
	w.catalog(one, two)
	w.succeeds("op.v1.1.0")
	w.ready()
	w.checkKinds("op.v1.1.0", "2", 443)
	if got := w.permitted("op.v1.1.0"); !slices.Contains(got, "secrets") || !slices.Contains(got, "services") || slices.Contains(got, "configmaps") {
		t.Errorf("the second version may touch %v", got)
	}
	w.eventually("what only the old version had to go", func() error {
		err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "config-1"}, &corev1.ConfigMap{})
		if got := w.permitted("op.v1.0.0"); !apierrors.IsNotFound(err) || len(got) > 0 {
			return fmt.Errorf("it is still there: %w, with permissions for %v", err, got)
		}
		return nil
	})
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(account), account); err != nil {
		t.Errorf("the ServiceAccount that both have: %v", err)
	}
	must.NoError(t, w.client.Delete(t.Context(), must.Value(w.csv("op.v1.1.0"))(t)))
	w.eventually("what the operator had to go with it", func() error {
		if got := w.permitted("op.v1.1.0"); len(got) > 0 {
			return fmt.Errorf("there are Roles for %v", got)
		}
		if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(account), account); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the ServiceAccount: %w", err)
		}
		return nil
	})
}

func (w *world) checkKinds(csvName, version string, port int32) {
	w.t.Helper()
	csv, err := w.csv(csvName)
	if err != nil {
		w.t.Fatal(err)
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: w.namespace, Name: name} }
	service, config, secret := &corev1.Service{ObjectMeta: meta("web")}, &corev1.ConfigMap{ObjectMeta: meta("config")}, &corev1.Secret{ObjectMeta: meta("keys")}
	w.checkOwned(csv, service, config, secret, &corev1.ConfigMap{ObjectMeta: meta("config-" + version)},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("op")}, &networkingv1.NetworkPolicy{ObjectMeta: meta("op")})
	priority := &schedulingv1.PriorityClass{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Name: w.namespace + "-urgent"}, priority); err != nil || priority.Labels["olm.owner"] != csvName || priority.Labels["olm.owner.namespace"] != w.namespace {
		w.t.Errorf("PriorityClass: %v, labels %v", err, priority.Labels)
	}
	if len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != port || config.Data["version"] != version || string(secret.Data["version"]) != version {
		w.t.Errorf("Service %v, ConfigMap %v, Secret %s", service.Spec.Ports, config.Data, secret.Data["version"])
	}
}

func (w *world) checkOwned(csv *v1alpha1.ClusterServiceVersion, objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.client.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			w.t.Error(err)
			continue
		}
		if owners := o.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != csv.UID || o.GetLabels()["olm.managed"] != "true" {
			w.t.Errorf("%T %s: owners %v, labels %v", o, o.GetName(), owners, o.GetLabels())
		}
	}
}
