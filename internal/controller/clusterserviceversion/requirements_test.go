package clusterserviceversion

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

type row = v1alpha1.RequirementStatus

// rows makes a pass over the CSV and returns its requirement rows without the dependents.
func rowsOf(k *cluster, name string) []row {
	k.t.Helper()
	rows := k.pass(name).Status.RequirementStatus
	for i := range rows {
		rows[i].Dependents = nil
	}
	return rows
}

func crdRow(name string, status v1alpha1.StatusReason, message, uid string) row {
	return row{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Name: name, Status: status, Message: message, UUID: uid}
}

func TestCRDRows(t *testing.T) {
	const owned, required = "owned.example.com", "required.example.com"
	edit := func(how func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
		crd := newCRD(owned, "v1")
		how(crd)
		return crd
	}
	brought := func(by ...string) *apiextensionsv1.CustomResourceDefinition {
		return edit(func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Annotations = map[string]string{"other": "operators/old"}
			for i, name := range by {
				crd.Annotations[v1alpha1.InstalledAlongsideAnnotationPrefix+string(rune('a'+i))] = name
			}
		})
	}
	present := crdRow(owned, "Present", "CRD is served by the cluster", owned)
	older := func(names string) row {
		return crdRow(owned, "PresentNotSatisfied", "CRD installed alongside other CSV(s): "+names, "")
	}
	tests := map[string]struct {
		crd  *apiextensionsv1.CustomResourceDefinition
		want row
	}{
		"missing":        {nil, crdRow(owned, "NotPresent", "CRD is not present", "")},
		"served":         {newCRD(owned, "v0", "v1"), present},
		"other versions": {newCRD(owned, "v0"), crdRow(owned, "NotPresent", "CRD version not served", "")},
		"not served": {edit(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Served = false }),
			crdRow(owned, "NotPresent", "CRD version not served", "")},
		"not yet established": {edit(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.Conditions = nil }),
			crdRow(owned, "PresentNotAvailable", "CRD is present but the cluster does not serve it yet", "")},
		"names taken": {edit(func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Status.Conditions[1].Status, crd.Status.Conditions[1].Message = "False", "plural is taken"
		}), crdRow(owned, "PresentNotAvailable", "CRD is present but the cluster does not serve it: plural is taken", "")},
		"brought by what it replaces":         {brought("operators/old"), older("old")},
		"brought by all that it replaces":     {brought("operators/old", "operators/older"), older("old, older")},
		"brought by itself too":               {brought("operators/old", "operators/op.v1"), present},
		"brought by something else":           {brought("operators/stranger"), present},
		"brought by something in elsewhere":   {brought("elsewhere/old"), present},
		"brought by something that is gone":   {brought("operators/ancient"), present},
		"brought by what is not even a name":  {brought("nonsense"), present},
		"brought by a copy of what is a copy": {brought("operators/copy"), present},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			csv := newCSV("op.v1", withoutAccounts, replacing("old"), func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: owned, Version: "v1", Kind: "Owned"}}
				csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{
					{Name: required, Version: "v1", Kind: "Required"}, {Name: owned, Version: "v9", Kind: "Owned"},
				}
			})
			k := newCluster(t, newGroup(""), newCRD(required, "v1"), csv,
				newCSV("old", replacing("older"), withoutAccounts), newCSV("older", withoutAccounts), newCSV("stranger", withoutAccounts),
				newCSV("copy", replacing("old"), func(csv *v1alpha1.ClusterServiceVersion) { csv.Labels = map[string]string{"olm.copiedFrom": "x"} }))
			if tc.crd != nil {
				k.create(tc.crd)
			}
			want := []row{tc.want, crdRow(required, "Present", "CRD is served by the cluster", required)}
			if diff := cmp.Diff(want, rowsOf(k, "op.v1")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnotherTenantsDefinition: what is missing is not that an InstallPlan has yet to come, but that another client runs with another
// definition, which is named.
func TestAnotherTenantsDefinition(t *testing.T) {
	const name = "things.example.com"
	owns := func(namespace, version string) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Namespace = namespace
			csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: name, Version: version, Kind: "Thing"}}
		}
	}
	needs := func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Namespace = "third"
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: name, Version: "v1", Kind: "Thing"}}
	}
	k := newCluster(t, newGroup(""), newCRD(name, "v1"), newCSV("op.v2", withoutAccounts, owns(ns, "v2")),
		newCSV("op.v1", withoutAccounts, owns("elsewhere", "v1")), newCSV("app.v1", withoutAccounts, needs))
	want := []row{crdRow(name, "NotPresent", "CRD version not served: ClusterServiceVersion elsewhere/op.v1 owns it too, with v1, while ClusterServiceVersion operators/op.v2 "+
		"needs v2, and a cluster has one definition for all namespaces", "")}
	if diff := cmp.Diff(want, rowsOf(k, "op.v2")); diff != "" {
		t.Error(diff)
	}
}

// TestRequiredCRDMayBeOld: only owners care whether a CRD is of their version.
func TestRequiredCRDMayBeOld(t *testing.T) {
	crd := newCRD("things.example.com", "v1")
	crd.Annotations = map[string]string{v1alpha1.InstalledAlongsideAnnotationPrefix + "a": "operators/old"}
	csv := newCSV("op.v1", withoutAccounts, replacing("old"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: crd.Name, Version: "v1", Kind: "Thing"}}
	})
	k := newCluster(t, newGroup(""), crd, csv, newCSV("old", withoutAccounts))
	want := []row{crdRow(crd.Name, "Present", "CRD is served by the cluster", crd.Name)}
	if diff := cmp.Diff(want, rowsOf(k, "op.v1")); diff != "" {
		t.Error(diff)
	}
}

func TestKubeVersion(t *testing.T) {
	tests := map[string]struct{ minimum, server, status, message string }{
		"newer":               {"1.20.0", "v1.36.3", "Present", "server version (v1.36.3) meets minKubeVersion (1.20.0)"},
		"the same":            {"1.36.3", "v1.36.3", "Present", ""},
		"a distribution":      {"1.36.3", "v1.36.3-gke.1+abc", "Present", ""},
		"a leading v":         {"v1.20.0", "v1.36.3", "Present", ""},
		"a pre-release":       {"1.19.0-0", "v1.36.3", "Present", ""},
		"older":               {"1.37.0", "v1.36.3", "PresentNotSatisfied", "CSV version requirement not met: minKubeVersion (1.37.0) > server version (1.36.3)"},
		"unreadable minimum":  {"soon", "v1.36.3", "PresentNotSatisfied", `minKubeVersion "soon" cannot be read: No Major.Minor.Patch elements found`},
		"unreadable version":  {"1.20.0", "unknown", "PresentNotSatisfied", `the version "unknown" of the cluster cannot be read: No Major.Minor.Patch elements found`},
		"no version set here": {"1.20.0", "", "PresentNotSatisfied", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, message := judgeKubeVersion(tc.minimum, tc.server)
			if string(status) != tc.status || tc.message != "" && message != tc.message {
				t.Errorf("judged %s %q, want %s %q", status, message, tc.status, tc.message)
			}
		})
	}
}

func TestKubeVersionRow(t *testing.T) {
	csv := newCSV("op.v1", withoutAccounts, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.MinKubeVersion = "1.20.0" })
	k := newCluster(t, newGroup(""), csv)
	k.server.err = errors.New("no answer")
	if result, err := k.reconcile("op.v1"); err != nil || result.RequeueAfter != unwatchedInterval {
		t.Errorf("looked at again after %s (%v)", result.RequeueAfter, err)
	}
	want := []row{{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "ClusterServiceVersion", Name: "op.v1",
		Status: "PresentNotSatisfied", Message: "the version of the cluster cannot be found out: no answer"}}
	if diff := cmp.Diff(want, rowsOf(k, "op.v1")); diff != "" {
		t.Error(diff)
	}
	k.server.err = nil
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
}

func TestAPIRows(t *testing.T) {
	api := func(name, deployment string) v1alpha1.APIServiceDescription {
		return v1alpha1.APIServiceDescription{Name: name, Group: name + ".example.com", Version: "v1", Kind: "Kind", DeploymentName: deployment}
	}
	csv := newCSV("op.v1", withoutAccounts, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{api("mine", "manager"), api("nobodys", "other")}
		csv.Spec.APIServiceDefinitions.Required = []v1alpha1.APIServiceDescription{api("mine", ""), api("up", ""), api("down", ""), api("missing", ""), api("unserved", "")}
		csv.Spec.NativeAPIs = []metav1.GroupVersionKind{{Group: "native", Version: "v1", Kind: "There"}, {Group: "native", Version: "v1", Kind: "NotThere"}}
	})
	service := func(name string, status apiregistrationv1.ConditionStatus) *apiregistrationv1.APIService {
		s := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1." + name + ".example.com", UID: "uid"}}
		s.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: status}}
		return s
	}
	k := newCluster(t, newGroup(""), csv, service("up", "True"), service("down", "False"), service("unserved", "True"))
	for _, name := range []string{"up", "down", "missing"} {
		k.serve(schema.GroupVersionKind{Group: name + ".example.com", Version: "v1", Kind: "Kind"})
	}
	k.serve(schema.GroupVersionKind{Group: "native", Version: "v1", Kind: "There"})
	apiRow := func(name, status, uid string) row {
		return row{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Name: "v1." + name + ".example.com", Status: v1alpha1.StatusReason(status), UUID: uid}
	}
	native := func(kind, status, message string) row {
		return row{Group: "native", Version: "v1", Kind: kind, Name: "v1.native", Status: v1alpha1.StatusReason(status), Message: message}
	}
	nobodys := apiRow("nobodys", "DeploymentNotFound", "")
	nobodys.Message = `deploymentName "other" is not among the deployments of the install strategy`
	want := []row{
		apiRow("down", "NotPresent", ""), apiRow("missing", "NotPresent", ""), apiRow("unserved", "NotPresent", ""), apiRow("up", "Present", "uid"),
		apiRow("mine", "DeploymentFound", ""), nobodys,
		native("There", "Present", ""), native("NotThere", "NotPresent", "the cluster does not serve this API"),
	}
	if diff := cmp.Diff(want, rowsOf(k, "op.v1")); diff != "" {
		t.Error(diff)
	}
	expect(t, k.csv("op.v1"), toPending, "RequirementsNotMet",
		"one or more requirements couldn't be found: APIService v1.down.example.com: NotPresent; APIService v1.missing.example.com: NotPresent; "+
			"APIService v1.unserved.example.com: NotPresent; APIService v1.nobodys.example.com: DeploymentNotFound, deploymentName \"other\" is not among the deployments of the install strategy; "+
			"NotThere v1.native: NotPresent, the cluster does not serve this API")
}

// TestDiscoveryBehindAPIService: the cluster may tell of the kinds of a server later than that it reaches the server.
func TestDiscoveryBehindAPIService(t *testing.T) {
	csv := newCSV("op.v1", withoutAccounts, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.APIServiceDefinitions.Required = []v1alpha1.APIServiceDescription{{Name: "up", Group: "up.example.com", Version: "v1", Kind: "Kind"}}
	})
	service := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.up.example.com", UID: "uid"}}
	k := newCluster(t, newGroup(""), csv, service)
	since := func(age time.Duration) time.Duration {
		t.Helper()
		must.NoError(t, k.client.Get(t.Context(), client.ObjectKeyFromObject(service), service))
		service.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(k.clock.Now().Add(-age))}}
		must.NoError(t, k.client.Status().Update(t.Context(), service))
		k.pass("op.v1")
		result := must.Value(k.reconcile("op.v1"))(t)
		return result.RequeueAfter
	}
	must.Equal(t, "requeue a moment after the server is reached", since(time.Second), discoveryInterval)
	must.Equal(t, "requeue an hour after the server is reached", since(time.Hour), unwatchedInterval)
	k.serve(schema.GroupVersionKind{Group: "up.example.com", Version: "v1", Kind: "Kind"})
	if got := rowsOf(k, "op.v1"); len(got) != 1 || got[0].Status != v1alpha1.RequirementStatusReasonPresent {
		t.Errorf("when discovery tells of it: %v", got)
	}
}

// TestAccountRows grants the rules of newCSV in various ways.
func TestAccountRows(t *testing.T) {
	const account = "account"
	csvOwner := func(name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: name, UID: "op.v1-uid"}}
	}
	other := csvOwner("other")
	other[0].UID = "other-uid"
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: account, UID: "sa-uid"}}
	binding := func(subject rbacv1.Subject, kind, role string) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: role}, Subjects: []rbacv1.Subject{subject}, RoleRef: rbacv1.RoleRef{Kind: kind, Name: role}}
	}
	clusterBinding := func(subject rbacv1.Subject, role string) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role}, Subjects: []rbacv1.Subject{subject}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role}}
	}
	self := rbacv1.Subject{Kind: "ServiceAccount", Namespace: ns, Name: account}
	group := func(name string) rbacv1.Subject { return rbacv1.Subject{Kind: "Group", Name: name} }
	strategy := newCSV("x").Spec.InstallStrategy.StrategySpec
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "role"}, Rules: strategy.Permissions[0].Rules}
	clusterRole := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "nodes"}, Rules: strategy.ClusterPermissions[0].Rules}
	everything := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}}
	foreignRole := role.DeepCopy()
	foreignRole.OwnerReferences = other
	foreignBinding := binding(self, "Role", "role")
	foreignBinding.OwnerReferences = other

	tests := map[string]struct {
		objects []object
		status  string // of the account, then of each rule
	}{
		"no account":                    {nil, "NotPresent"},
		"no rights":                     {[]object{sa}, "PresentNotSatisfied NotSatisfied NotSatisfied"},
		"a role":                        {[]object{sa, role, binding(self, "Role", "role")}, "PresentNotSatisfied Satisfied NotSatisfied"},
		"a role and a cluster role":     {[]object{sa, role, binding(self, "Role", "role"), clusterRole, clusterBinding(self, "nodes")}, "Present Satisfied Satisfied"},
		"a cluster role for all":        {[]object{sa, everything, clusterBinding(self, "all")}, "Present Satisfied Satisfied"},
		"a cluster role here only":      {[]object{sa, everything, binding(self, "ClusterRole", "all")}, "PresentNotSatisfied Satisfied NotSatisfied"},
		"by the group of the namespace": {[]object{sa, everything, clusterBinding(group("system:serviceaccounts:operators"), "all")}, "Present Satisfied Satisfied"},
		"by the group of all accounts":  {[]object{sa, everything, clusterBinding(group("system:serviceaccounts"), "all")}, "Present Satisfied Satisfied"},
		"by the group of everybody":     {[]object{sa, everything, clusterBinding(group("system:authenticated"), "all")}, "Present Satisfied Satisfied"},
		"by another group":              {[]object{sa, everything, clusterBinding(group("system:serviceaccounts:other"), "all")}, "PresentNotSatisfied NotSatisfied NotSatisfied"},
		"by user name":                  {[]object{sa, everything, clusterBinding(rbacv1.Subject{Kind: "User", Name: "system:serviceaccount:operators:account"}, "all")}, "Present Satisfied Satisfied"},
		"a namesake elsewhere":          {[]object{sa, everything, clusterBinding(rbacv1.Subject{Kind: "ServiceAccount", Namespace: "other", Name: account}, "all")}, "PresentNotSatisfied NotSatisfied NotSatisfied"},
		"the role does not exist":       {[]object{sa, binding(self, "Role", "role")}, "PresentNotSatisfied NotSatisfied NotSatisfied"},
		"the role of another CSV":       {[]object{sa, foreignRole, binding(self, "Role", "role")}, "PresentNotSatisfied NotSatisfied NotSatisfied"},
		"the binding of another CSV":    {[]object{sa, role, foreignBinding}, "PresentNotSatisfied NotSatisfied NotSatisfied"},
		"the account of another CSV": {[]object{&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: account, OwnerReferences: other}}, everything, clusterBinding(self, "all")},
			"PresentNotSatisfied Satisfied Satisfied"},
		"the account of both": {[]object{&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: account, OwnerReferences: append(csvOwner("op.v1"), other...)}}, everything, clusterBinding(self, "all")},
			"Present Satisfied Satisfied"},
		"the account of a namesake that is gone": {[]object{&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: account, OwnerReferences: []metav1.OwnerReference{{Kind: "ClusterServiceVersion", Name: "op.v1", UID: "old"}}}}, everything, clusterBinding(self, "all")},
			"PresentNotSatisfied Satisfied Satisfied"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(ns), newCSV("op.v1"))
			for _, o := range tc.objects {
				k.create(o.DeepCopyObject().(object))
			}
			rows := k.pass("op.v1").Status.RequirementStatus
			if len(rows) != 1 || rows[0].Name != account || rows[0].Kind != "ServiceAccount" {
				t.Fatalf("rows: %+v", rows)
			}
			got := []string{string(rows[0].Status)}
			for _, d := range rows[0].Dependents {
				got = append(got, string(d.Status))
			}
			must.Equal(t, "the account and its rules", strings.Join(got, " "), tc.status)
		})
	}
}

func TestDependents(t *testing.T) {
	k := newCluster(t, newGroup(ns), newCSV("op.v1"), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "account", UID: "sa"}})
	csv := k.pass("op.v1")
	want := []row{{
		Version: "v1", Kind: "ServiceAccount", Name: "account", Status: "PresentNotSatisfied", Message: "Service account lacks permissions", UUID: "sa",
		Dependents: []v1alpha1.DependentStatus{
			{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "PolicyRule", Status: "NotSatisfied", Message: `namespaced rule:{"verbs":["get","list"],"apiGroups":[""],"resources":["pods","secrets"]}`},
			{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "PolicyRule", Status: "NotSatisfied", Message: `cluster rule:{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}`},
		},
	}}
	if diff := cmp.Diff(want, csv.Status.RequirementStatus, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	expect(t, csv, toPending, "RequirementsNotMet", `one or more requirements couldn't be found: ServiceAccount account: PresentNotSatisfied, `+
		`Service account lacks permissions: namespaced rule:{"verbs":["get","list"],"apiGroups":[""],"resources":["pods","secrets"]}`)
}

func TestInvalidStrategies(t *testing.T) {
	strategy := func(edit func(*v1alpha1.StrategyDetailsDeployment)) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) { edit(&csv.Spec.InstallStrategy.StrategySpec) }
	}
	badRule := func(r rbacv1.PolicyRule) func(*v1alpha1.ClusterServiceVersion) {
		return strategy(func(s *v1alpha1.StrategyDetailsDeployment) { s.ClusterPermissions[0].Rules = []rbacv1.PolicyRule{r} })
	}
	tests := map[string]struct {
		name    string
		edit    func(*v1alpha1.ClusterServiceVersion)
		message string
	}{
		"another strategy": {"op.v1", func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy.StrategyName = "magic" }, `spec.install.strategy "magic" is not known`},
		"no strategy":      {"op.v1", func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy = v1alpha1.NamedInstallStrategy{} }, `spec.install.strategy "" is not known`},
		"no verbs":         {"op.v1", badRule(rbacv1.PolicyRule{Resources: []string{"pods"}}), `it has no verbs: {"verbs":null,"resources":["pods"]}`},
		"mixed":            {"op.v1", badRule(rbacv1.PolicyRule{Verbs: []string{"get"}, Resources: []string{"pods"}, NonResourceURLs: []string{"/x"}}), "it mixes resources and nonResourceURLs"},
		"a CRD without group": {"op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things"}}
		}, `read CRD name "things": want <plural>.<group>`},
		"a CRD of lifecycle management": {"op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "operatorgroups.operators.coreos.com", Version: "v1", Kind: "OperatorGroup"}}
		}, `spec.customresourcedefinitions.owned: CustomResourceDefinition operatorgroups.operators.coreos.com: this API group is of operator lifecycle management itself`},
		"an aggregated API of Kubernetes": {"op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "clusterroles", Group: "rbac.authorization.k8s.io", Version: "v9", Kind: "ClusterRole", DeploymentName: "manager"}}
		}, `spec.apiservicedefinitions.owned: APIService v9.rbac.authorization.k8s.io: this API group is served by the API server of Kubernetes itself`},
		"a Deployment twice": {"op.v1", strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
			s.DeploymentSpecs = append(s.DeploymentSpecs, s.DeploymentSpecs[0])
		}), `spec.install.spec.deployments names "manager" more than once`},
		"a name that is too long": {strings.Repeat("x", 64), func(*v1alpha1.ClusterServiceVersion) {}, "has 64 characters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(ns), newCSV(tc.name, tc.edit))
			csv := k.pass(tc.name)
			expect(t, csv, toFailed, "InvalidInstallStrategy", "")
			if !strings.HasPrefix(csv.Status.Message, "install strategy invalid: ") || !strings.Contains(csv.Status.Message, tc.message) {
				t.Errorf("message %q, want it to tell %q", csv.Status.Message, tc.message)
			}
			k.rests(tc.name)
		})
	}
}

// TestRequirementsAreLost takes something away from an operator that runs, and gives it back.
func TestRequirementsAreLost(t *testing.T) {
	crd := newCRD("things.example.com", "v1")
	k := newCluster(t, newGroup(""), crd)
	k.installed(newCSV("op.v1", withoutAccounts, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: crd.Name, Version: "v1", Kind: "Thing"}}
	}))
	k.delete(newCRD(crd.Name))
	csv := k.pass("op.v1")
	expect(t, csv, toPending, "RequirementsNotMet", "one or more requirements couldn't be found: CustomResourceDefinition things.example.com: NotPresent, CRD is not present")
	must.Equal(t, "history", strings.Join(history(csv)[4:], " "), "Succeeded/InstallSucceeded Failed/RequirementsNotMet Pending/RequirementsNotMet")
	k.create(newCRD(crd.Name, "v1"))
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
}
