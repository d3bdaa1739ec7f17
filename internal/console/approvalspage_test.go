package console

import (
	"net/url"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const role = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"kite"},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]}`

const csv = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"kite.v2"},"spec":{"version":"2.0.0","replaces":"kite.v1","installModes":[{"type":"OwnNamespace","supported":true}],` +
	`"install":{"strategy":"deployment","spec":{"clusterPermissions":[{"serviceAccountName":"kite","rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]}],"deployments":[{"name":"kite","spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"serviceAccountName":"kite","containers":[{"name":"c","image":"registry.example.com/kite:v2"}]}}}}]}}}}`

// waitingForYou is a plan for two Subscriptions that waits, in a namespace.
func waitingForYou(namespace string) []client.Object {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	sub := func(name, pkg string) *v1alpha1.Subscription {
		s := &v1alpha1.Subscription{ObjectMeta: meta(name), Spec: &v1alpha1.SubscriptionSpec{Package: pkg, InstallPlanApproval: v1alpha1.ApprovalManual}}
		s.Status.InstallPlanRef = &corev1.ObjectReference{Name: "install-1"}
		return s
	}
	plan := &v1alpha1.InstallPlan{ObjectMeta: meta("install-1")}
	plan.UID, plan.CreationTimestamp = "plan", metav1.Unix(1767960000, 0)
	plan.Spec.ClusterServiceVersionNames = []string{"kite.v2", "tail.v3"}
	plan.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	plan.Status.Message = v1alpha1.ApproveWithCare + "version v1 goes"
	lookup := func(name, replaces, pkg, version string) v1alpha1.BundleLookup {
		return v1alpha1.BundleLookup{Identifier: name, Replaces: replaces, Properties: `{"properties":[{"type":"olm.package","value":{"packageName":"` + pkg + `","version":"` + version + `"}}]}`}
	}
	plan.Status.BundleLookups = []v1alpha1.BundleLookup{lookup("kite.v2", "kite.v1", "kite", "2.0.0"), lookup("tail.v3", "", "tail", "3.0.0")}
	plan.Status.Plan = []*v1alpha1.Step{
		{Resolving: "kite.v2", Status: "Unknown", Resource: v1alpha1.StepResource{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "ClusterServiceVersion", Name: "kite.v2", Manifest: csv}},
		{Resolving: "kite.v2", Status: "Unknown", Resource: v1alpha1.StepResource{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Name: "kite", Manifest: role}},
		{Resolving: "kite.v2", Status: "Unknown", Resource: v1alpha1.StepResource{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding", Name: "kite", Manifest: `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"kite"},` +
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"kite"},"subjects":[{"kind":"ServiceAccount","namespace":"` + namespace + `","name":"kite"}]}`}},
		{Resolving: "kite.v2", Status: "Unknown", Resource: v1alpha1.StepResource{Version: "v1", Kind: "ServiceAccount", Name: "kite", Manifest: `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"kite"}}`}}}
	return []client.Object{sub("kite", "kite"), sub("tail", "tail"), plan, &operatorsv1.OperatorGroup{ObjectMeta: meta("own"), Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{namespace}}}}
}

// asksForMore is an extension whose upgrade waits for permissions.
func asksForMore() *olmv1.ClusterExtension {
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "balloon", UID: "balloon"}}
	e.Spec.Namespace, e.Spec.Source = "ops", olmv1.SourceConfig{SourceType: "Catalog", Catalog: &olmv1.CatalogFilter{PackageName: "balloon"}}
	e.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: metav1.ConditionFalse, Reason: olmv1.ReasonBlocked,
		Message: "balloon.v2 asks for permissions that balloon.v1 does not have:\n  + get secrets\nto allow them: fairlead approve balloon, or set annotation operators.fairlead.dev/acknowledged-permissions of ClusterExtension balloon to \"sha256:1\""}}
	return e
}

// TestApprovals: what waits is shown with what it changes, and approved as it was shown.
func TestApprovals(t *testing.T) {
	v := newVisit(t, nil, append(waitingForYou("ops"), asksForMore())...)
	_, root := v.page("/approvals")
	page := textOf(root)
	must.Contain(t, "the page", page, "2 changes wait for you", "kite, tail", "InstallPlan ops/install-1", "kite.v1", "kite.v2", "approve with care: version v1 goes",
		"What changes for kite.v2, in place of kite.v1", "reads or writes Secrets get secrets in the whole cluster", "registry.example.com/kite:v2", "ClusterRole kite", "balloon.v2 asks for permissions")
	must.Equal(t, "the mark at the page", textOf(elements(root, "nav", "")[0]), "Catalog Installed Approvals 2 waiting Custom resources Why Catalog sources")
	var answer approvalsPage
	must.Equal(t, "status", v.json("/approvals", &answer), 200)
	if p := answer.Plans[0]; p.Change == nil || p.Change.Operators[0].Granted[0].Rules[0].Power == "" || !p.Approve.Allowed {
		t.Errorf("the plan for programs is %+v", p)
	}

	action, fields := v.form(root, "Approve install-1")
	stale := cloneValues(fields)
	stale.Set("mark", "another")
	text, status := v.send(action, stale, "/approvals")
	must.Equal(t, "a plan that has changed", status, 409)
	must.Contain(t, "what is said", text, "has changed since it was shown", "check what it would do now")
	unmarked := cloneValues(fields)
	unmarked.Del("mark")
	_, status = v.send(action, unmarked, "/approvals")
	must.Equal(t, "a form without mark", status, 400)
	must.Equal(t, "approved by these", approvedPlan(t, v.cluster, "ops"), false)
	text, status = v.send(action, fields, "/approvals?namespace=ops")
	must.Equal(t, "status", status, 303)
	must.Contain(t, "what is said", text, "Approved InstallPlan install-1, which installs kite.v2, tail.v3")
	must.Equal(t, "approved", approvedPlan(t, v.cluster, "ops"), true)

	action, fields = v.form(root, "Allow balloon these permissions")
	wrong := cloneValues(fields)
	wrong.Set("digest", "sha256:2")
	_, status = v.send(action, wrong, "/approvals")
	must.Equal(t, "other permissions", status, 409)
	text, _ = v.send(action, fields, "/approvals")
	must.Contain(t, "what is said", text, "Allowed ClusterExtension balloon the permissions")
	e := &olmv1.ClusterExtension{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "balloon"}, e))
	must.Equal(t, "acknowledged", e.Annotations["operators.fairlead.dev/acknowledged-permissions"], "sha256:1")
}

func cloneValues(of url.Values) url.Values {
	out := url.Values{}
	for k, v := range of {
		out[k] = append([]string{}, v...)
	}
	return out
}

func approvedPlan(t *testing.T, c client.Client, namespace string) bool {
	t.Helper()
	plan := &v1alpha1.InstallPlan{}
	must.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "install-1"}, plan))
	return plan.Spec.Approved
}

// TestRefusing: a version for one of the Subscriptions, or of an extension, and a plan that is to be made again.
func TestRefusing(t *testing.T) {
	v := newVisit(t, nil, waitingForYou("ops")...)
	_, root := v.page("/approvals?namespace=ops")
	action, fields := v.form(root, "Refuse kite 2.0.0")
	wrong := cloneValues(fields)
	wrong.Set("version", "no version")
	text, _ := v.send(action, wrong, "/approvals")
	must.Contain(t, "a version that is none", text, "refuse version no version for Subscription ops/kite", "What to do")
	nameless := cloneValues(fields)
	nameless.Set("name", " ")
	_, status := v.send(action, nameless, "/approvals")
	must.Equal(t, "no name", status, 400)
	text, _ = v.send(action, fields, "/approvals")
	must.Contain(t, "what is said", text, "Refused version 2.0.0: Subscription ops/kite moves only to versions within", "!=2.0.0", "what is installed stays")
	for name, want := range map[string]string{"kite": "!=2.0.0", "tail": ""} {
		sub := &v1alpha1.Subscription{}
		must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: name}, sub))
		must.Equal(t, "range of "+name, sub.Annotations[resolution.VersionRangeAnnotation], want)
	}
	must.Fail(t, "the plan", v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "install-1"}, &v1alpha1.InstallPlan{}), "not found")

	v = newVisit(t, nil, waitingForYou("ops")...)
	_, root = v.page("/approvals?namespace=ops")
	action, fields = v.form(root, "Decide again on install-1")
	text, _ = v.send(action, fields, "/approvals?namespace=ops")
	must.Contain(t, "what is said", text, "Deleted InstallPlan install-1", "Nothing waits for approval in namespace ops")
	text, status = v.send(action, fields, "/approvals")
	must.Equal(t, "once more", status, 404)
	must.Contain(t, "what is said", text, "install-1", "What to do")
}

// TestHeldUpgrades: what a person holds begins again, and what waits for its window is only shown.
func TestHeldUpgrades(t *testing.T) {
	sub := func(name string, annotations map[string]string) client.Object {
		s := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, Annotations: annotations}, Spec: &v1alpha1.SubscriptionSpec{}}
		s.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "True", Reason: "UpgradeHeld", Message: "upgrade held: by night"}}
		return s
	}
	v := newVisit(t, nil, sub("kite", map[string]string{ops.HeldBeforeKey: "", ops.HeldReasonKey: hostileText, "operators.fairlead.dev/upgrade-window": "never"}), sub("tail", nil))
	text, root := v.page("/approvals")
	v.harmless(text, root)
	must.Contain(t, "the page", textOf(root), "Upgrades that wait for their window", "Subscription ops/kite", "The reason that was given: <script>alert(1)", "Subscription ops/tail", "Nothing waits for approval")
	must.Lack(t, "the page", text, "Release tail")
	action, fields := v.form(root, "Release kite")
	text, _ = v.send(action, fields, "/approvals")
	must.Contain(t, "what is said", text, "kite: released; its upgrades begin again")
	text, _ = v.send(action, fields, "/approvals")
	must.Contain(t, "once more", text, "is not held by a person")
}

// TestApprovalsWithoutRights: buttons name the right that is missing, and a tenant sees what waits in their namespace alone, whatever the address says.
func TestApprovalsWithoutRights(t *testing.T) {
	objects := append(append(waitingForYou("ops"), waitingForYou("secret")...), asksForMore())
	v := newVisit(t, func(c client.WithWatch) client.WithWatch { return fakeapi.Tenant(c, "ops") }, objects...)
	v.missing = []string{"list subscriptions", "patch installplans", "delete installplans", "patch clusterextensions"}
	text, root := v.page("/approvals")
	must.Contain(t, "the page", textOf(root), "InstallPlan ops/install-1", "dev may not patch installplans.operators.coreos.com in namespace ops", "dev may not delete installplans.operators.coreos.com in namespace ops",
		"ClusterExtensions", "which of them wait is not shown")
	must.Lack(t, "the page", text, "secret/", "balloon")
	for _, b := range elements(root, "button", "") {
		if _, disabled := attributeOf(b, "disabled"); strings.HasPrefix(textOf(b), "Approve") != disabled && strings.HasPrefix(textOf(b), "Approve") {
			t.Error("the button to approve is not disabled")
		}
	}
	text, _ = v.page("/approvals?namespace=secret")
	must.Lack(t, "the page of another namespace", text, "install-1")
	_, root = v.page("/approvals")
	_, fields := v.form(root, "Refuse kite 2.0.0")
	fields.Set("namespace", "secret")
	for _, action := range []string{"/approvals/approve", "/approvals/discard", "/approvals/refuse", "/operator/Subscription/secret/kite/release", "/approvals/permissions"} {
		if _, status := v.send(action, fields, "/approvals"); status != 403 {
			t.Errorf("%s in another namespace: %d", action, status)
		}
	}
	must.Equal(t, "approved", approvedPlan(t, v.cluster, "secret"), false)
}

// TestHostileApprovals: whatever authors of bundles wrote, it is text.
func TestHostileApprovals(t *testing.T) {
	objects := waitingForYou("ops")
	plan := objects[2].(*v1alpha1.InstallPlan)
	plan.Status.Message = v1alpha1.ApproveWithCare + hostile
	plan.Spec.ClusterServiceVersionNames = append(plan.Spec.ClusterServiceVersionNames, hostileText)
	plan.Status.Plan[1].Resource.Manifest = strings.Replace(role, `"secrets"`, `"<script>alert(1)</script>","secrets"`, 1)
	e := asksForMore()
	e.Spec.Source.Catalog.PackageName = hostile
	e.Status.Conditions[0].Message = hostileText + "\n" + e.Status.Conditions[0].Message
	v := newVisit(t, nil, append(objects, e)...)
	text, root := v.page("/approvals")
	v.harmless(text, root)
	must.Contain(t, "the page", textOf(root), "approve with care: <script>alert(1)</script>")
}

// TestNothingWaits says what would.
func TestNothingWaits(t *testing.T) {
	v := newVisit(t, nil)
	_, root := v.page("/approvals")
	must.Contain(t, "the page", textOf(root), "Nothing waits for approval.", "A Subscription whose approval is Manual puts its plans here")
	must.Equal(t, "the mark at the page", textOf(elements(root, "nav", "")[0]), "Catalog Installed Approvals Custom resources Why Catalog sources")
}
