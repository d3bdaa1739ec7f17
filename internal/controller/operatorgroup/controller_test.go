package operatorgroup

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

const ns = "operators"

var testScheme = fakeapi.Scheme(corev1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme)

// cluster is a cluster of the fake client with the controller in it.
type cluster struct {
	t      testing.TB
	client client.Client // of others
	*fakeapi.Server
	c *Controller
}

// newCluster has the objects, and definitions of the kinds of operators that no InstallPlan brought, unless they are among the objects.
func newCluster(t testing.TB, objects ...client.Object) *cluster {
	t.Helper()
	for _, name := range []string{"gooses.example.com", "ducks.example.com", "swans.example.com"} {
		if !slices.ContainsFunc(objects, func(o client.Object) bool { return o.GetNamespace() == "" && o.GetName() == name }) {
			objects = append(objects, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}
	builder := fake.NewClientBuilder().WithScheme(testScheme).WithObjects(objects...).WithStatusSubresource(&v1.OperatorGroup{})
	for _, i := range indexes() {
		builder.WithIndex(i.object, i.name, i.values)
	}
	server := fakeapi.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), builder)
	k := &cluster{t: t, client: server.Inner, Server: server}
	k.restart()
	return k
}

// restart replaces the controller by one that knows nothing.
func (k *cluster) restart() {
	k.c = &Controller{client: k.Server, live: k.Server, clock: k.Clock}
}

// pass reconciles a group of the namespace, which has to go well, and returns it; nil when it is gone.
func (k *cluster) pass(name string) *v1.OperatorGroup {
	k.t.Helper()
	must.NoErrorf(k.t, k.try(name), "reconcile %s", name)
	return k.group(name)
}

func (k *cluster) try(name string) error {
	_, err := k.c.Reconcile(k.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: ns, Name: name}})
	return err
}

func (k *cluster) group(name string) *v1.OperatorGroup {
	k.t.Helper()
	g := &v1.OperatorGroup{}
	err := k.client.Get(k.t.Context(), types.NamespacedName{Namespace: ns, Name: name}, g)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must.NoError(k.t, err)
	return g
}

func (k *cluster) update(o client.Object) {
	k.t.Helper()
	must.NoError(k.t, k.client.Update(k.t.Context(), o))
}

func (k *cluster) create(o client.Object) {
	k.t.Helper()
	must.NoError(k.t, k.client.Create(k.t.Context(), o))
}

// quiet fails when a pass over the group writes something.
func (k *cluster) quiet(name string) {
	k.t.Helper()
	k.Taken()
	k.pass(name)
	must.Empty(k.t, "writes of a pass that changes nothing", k.Taken())
}

// labelled are the namespaces that carry the label of the group with this UID.
func (k *cluster) labelled(uid string) []string {
	k.t.Helper()
	var list corev1.NamespaceList
	must.NoError(k.t, k.client.List(k.t.Context(), &list, client.HasLabels{uidLabel(uid)}))
	var out []string
	for _, n := range list.Items {
		out = append(out, n.Name)
	}
	return out
}

func (k *cluster) roles() []rbacv1.ClusterRole {
	k.t.Helper()
	var list rbacv1.ClusterRoleList
	must.NoError(k.t, k.client.List(k.t.Context(), &list))
	return list.Items
}

func newGroup(name string, spec v1.OperatorGroupSpec) *v1.OperatorGroup {
	return &v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(name + "-uid")}, Spec: spec}
}

func namespace(name string, labels ...string) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for _, l := range labels {
		n.Labels[l] = "yes"
	}
	return n
}

func byLabel(label string) v1.OperatorGroupSpec {
	return v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{label: "yes"}}}
}

func TestTargets(t *testing.T) {
	tests := map[string]struct {
		spec v1.OperatorGroupSpec
		want []string
		fail string
	}{
		"all":                        {v1.OperatorGroupSpec{}, []string{""}, ""},
		"an empty selector":          {v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{}}, []string{""}, ""},
		"named":                      {v1.OperatorGroupSpec{TargetNamespaces: []string{"b", "missing", "a", "b"}}, []string{"a", "b", "missing"}, ""},
		"named, whatever it selects": {v1.OperatorGroupSpec{TargetNamespaces: []string{"b"}, Selector: byLabel("x").Selector}, []string{"b"}, ""},
		"by label":                   {byLabel("x"), []string{"a", "c"}, ""},
		"by label, none":             {byLabel("z"), []string{}, ""},
		"by expression": {v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "DoesNotExist"}}}},
			[]string{"b"}, ""},
		"all among others": {v1.OperatorGroupSpec{TargetNamespaces: []string{"a", ""}}, nil, "spec.targetNamespaces has an empty name"},
		"unreadable": {v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Maybe"}}}},
			nil, "spec.selector cannot be read"},
	}
	var namespaces []metav1.PartialObjectMetadata
	for _, n := range []*corev1.Namespace{namespace("c", "x"), namespace("a", "x", "y"), namespace("b")} {
		namespaces = append(namespaces, metav1.PartialObjectMetadata{ObjectMeta: n.ObjectMeta})
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := targets(&tc.spec, namespaces)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tc.fail == "") || err != nil && !strings.Contains(err.Error(), tc.fail) {
				t.Errorf("error %v, want %q", err, tc.fail)
			}
		})
	}
}

func TestStatusIsWrittenOnlyOnChange(t *testing.T) {
	k := newCluster(t, newGroup("group", byLabel("x")), namespace("a", "x"), namespace("b"))
	g := k.pass("group")
	if diff := cmp.Diff([]string{"a"}, g.Status.Namespaces); diff != "" || !g.Status.LastUpdated.Time.Equal(k.Clock.Now()) {
		t.Errorf("status: %+v\n%s", g.Status, diff)
	}
	k.Clock.SetTime(k.Clock.Now().Add(time.Hour))
	k.quiet("group")
	b := namespace("b", "x")
	k.update(b)
	g = k.pass("group")
	if diff := cmp.Diff([]string{"a", "b"}, g.Status.Namespaces); diff != "" || !g.Status.LastUpdated.Time.Equal(k.Clock.Now()) {
		t.Errorf("status: %+v\n%s", g.Status, diff)
	}
}

// onlyReady reports whether a group is ready, and has no other condition.
func onlyReady(g *v1.OperatorGroup) bool {
	return len(g.Status.Conditions) == 1 && meta.IsStatusConditionTrue(g.Status.Conditions, "Ready")
}

func TestSeveralGroups(t *testing.T) {
	k := newCluster(t, newGroup("one", v1.OperatorGroupSpec{}), newGroup("two", v1.OperatorGroupSpec{}))
	for _, name := range []string{"one", "two"} {
		c := meta.FindStatusCondition(k.pass(name).Status.Conditions, "MultipleOperatorGroup")
		if c == nil || c.Status != "True" || c.Reason != "MultipleOperatorGroupsFound" || c.Message != "Multiple OperatorGroup found in the same namespace: one, two; delete all but one" {
			t.Errorf("condition of %s: %+v", name, c)
		}
		k.quiet(name)
	}
	must.NoError(t, k.client.Delete(t.Context(), k.group("two")))
	if g := k.pass("one"); !onlyReady(g) {
		t.Errorf("conditions of the only group: %v", g.Status.Conditions)
	}
	k.quiet("one")
}

func TestServiceAccount(t *testing.T) {
	k := newCluster(t, newGroup("group", v1.OperatorGroupSpec{ServiceAccountName: "installer"}))
	g := k.pass("group")
	c := meta.FindStatusCondition(g.Status.Conditions, "OperatorGroupServiceAccount")
	if c == nil || c.Status != "True" || c.Reason != "ServiceAccountNotFound" || c.Message != "ServiceAccount installer not found" || g.Status.ServiceAccountRef != nil {
		t.Errorf("condition %+v, reference %v", c, g.Status.ServiceAccountRef)
	}
	must.Equal(t, "targets of a group without its service account", g.Status.Namespaces, []string{""})
	k.quiet("group")

	k.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer", UID: "sa"}})
	g = k.pass("group")
	want := &corev1.ObjectReference{APIVersion: "v1", Kind: "ServiceAccount", Namespace: ns, Name: "installer", UID: "sa"}
	if diff := cmp.Diff(want, g.Status.ServiceAccountRef); diff != "" || !onlyReady(g) {
		t.Errorf("conditions %v, reference:\n%s", g.Status.Conditions, diff)
	}
	account := &corev1.ServiceAccount{}
	if err := k.client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: "installer"}, account); err != nil || account.Labels["olm.managed"] != "true" {
		t.Errorf("service account: %v (%v)", account.ObjectMeta, err)
	}
	k.quiet("group")

	// Another change keeps the reference; without the name, reference and condition go.
	g.Spec.TargetNamespaces = []string{"a"}
	k.update(g)
	if g = k.pass("group"); g.Status.ServiceAccountRef == nil {
		t.Error("the reference was dropped by a change of targets")
	}
	g.Spec.ServiceAccountName = ""
	k.update(g)
	if g = k.pass("group"); g.Status.ServiceAccountRef != nil || !onlyReady(g) {
		t.Errorf("reference %v, conditions %v", g.Status.ServiceAccountRef, g.Status.Conditions)
	}
}

func TestInvalidTargetsKeepTheLastOnes(t *testing.T) {
	k := newCluster(t, newGroup("group", v1.OperatorGroupSpec{TargetNamespaces: []string{"a"}}), namespace("a"))
	g := k.pass("group")
	g.Spec.TargetNamespaces = []string{"a", ""}
	k.update(g)
	g = k.pass("group")
	c := meta.FindStatusCondition(g.Status.Conditions, ConditionInvalid)
	if c == nil || !strings.Contains(c.Message, "spec.targetNamespaces has an empty name") || !slices.Equal(g.Status.Namespaces, []string{"a"}) {
		t.Errorf("status: %+v", g.Status)
	}
	must.Equal(t, "labelled namespaces", k.labelled("group-uid"), []string{"a"})
	k.quiet("group")
	g.Spec.TargetNamespaces = []string{"b"}
	k.update(g)
	if g = k.pass("group"); !onlyReady(g) || !slices.Equal(g.Status.Namespaces, []string{"b"}) {
		t.Errorf("status: %+v", g.Status)
	}
}

func TestNamespaceLabels(t *testing.T) {
	k := newCluster(t, newGroup("group", v1.OperatorGroupSpec{TargetNamespaces: []string{"a", "b", "missing"}}),
		newGroup("other", byLabel("x")), namespace("a", "x"), namespace("b"), namespace("c"))
	k.pass("group")
	k.pass("other")
	must.Equal(t, "labelled namespaces", [][]string{k.labelled("group-uid"), k.labelled("other-uid")}, [][]string{{"a", "b"}, {"a"}})
	k.create(namespace("missing"))
	g := k.group("group")
	g.Spec.TargetNamespaces = []string{"b", "missing"}
	k.update(g)
	k.pass("group")
	must.Equal(t, "labelled namespaces after a change", [][]string{k.labelled("group-uid"), k.labelled("other-uid")}, [][]string{{"b", "missing"}, {"a"}})
	k.quiet("group")
	g = k.group("group")
	g.Spec.TargetNamespaces = nil
	k.update(g)
	k.pass("group")
	must.Empty(t, "a group that targets all namespaces labels", k.labelled("group-uid"))
}

func TestClusterRoles(t *testing.T) {
	group := newGroup("global-operators", v1.OperatorGroupSpec{StaticProvidedAPIs: true})
	group.Annotations = map[string]string{"olm.providedAPIs": "EtcdCluster.v1beta2.etcd.database.coreos.com, Ghost.v1alpha1.ghouls,nonsense,Ghost.v1alpha1.ghouls,.v1.x,A.b."}
	k := newCluster(t, group)
	k.pass("global-operators")
	roles := k.roles()
	if len(roles) != 3 {
		t.Fatalf("%d roles", len(roles))
	}
	hashes := map[string]string{
		"admin": "5UD4U2IfBGbw51Qy2Jaefk1uawvkj2OJILlc3w", "edit": "9ZbzBIwu1SlHO7KbWinNtOfyGaVjTWIYhNkNP", "view": "6lzJtrbG08ne4wrZHGxP3h1MBUjq5e7nOF4gax",
	}
	for i, suffix := range []string{"admin", "edit", "view"} {
		must.Equal(t, "name", roles[i].Name, "olm.og.global-operators."+suffix+"-"+hashes[suffix])
		want := []metav1.LabelSelector{
			{MatchLabels: map[string]string{"olm.opgroup.permissions/aggregate-to-c571d720f17289d3-" + suffix: "true"}},
			{MatchLabels: map[string]string{"olm.opgroup.permissions/aggregate-to-6435ab0d7c6bda64-" + suffix: "true"}},
		}
		must.Equal(t, "selectors of "+suffix, roles[i].AggregationRule.ClusterRoleSelectors, want)
		labels := map[string]string{"olm.managed": "true", "olm.owner": "global-operators", "olm.owner.namespace": ns, "olm.owner.kind": "OperatorGroup",
			"olm.operatorgroup.uid/global-operators-uid": ""}
		must.Equal(t, "labels of "+suffix, roles[i].Labels, labels)
	}

	// What the cluster writes stays, what others break is mended.
	roles[0].Rules = []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"x"}, Resources: []string{"y"}}}
	k.update(&roles[0])
	k.quiet("global-operators")
	roles[1].AggregationRule = nil
	k.update(&roles[1])
	delete(roles[2].Labels, "olm.owner")
	k.update(&roles[2])
	k.pass("global-operators")
	for _, r := range k.roles() {
		if r.AggregationRule == nil || r.Labels["olm.owner"] == "" {
			t.Errorf("not mended: %+v", r)
		}
	}
	k.quiet("global-operators")
}

func TestRoleNames(t *testing.T) {
	tests := map[string]struct{ namespace, name, suffix, want string }{
		"documented": {"operator-ns", "operator-group-1", "admin", "olm.og.operator-group-1.admin-8rdAjL0E35JMMAkOqYmoorzjpIIihfnj3DcgDU"},
		"long":       {"n", strings.Repeat("g", 253), "view", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := roleName(types.NamespacedName{Namespace: tc.namespace, Name: tc.name}, tc.suffix)
			if tc.want != "" && got != tc.want {
				t.Errorf("name %s, want %s", got, tc.want)
			}
			if len(got) > 253 || !strings.Contains(got, "."+tc.suffix+"-") {
				t.Errorf("name %s has %d characters", got, len(got))
			}
		})
	}
}

func TestNameThatCannotBeALabel(t *testing.T) {
	name := strings.Repeat("g", 64)
	k := newCluster(t, newGroup(name, v1.OperatorGroupSpec{}))
	g := k.pass(name)
	c := meta.FindStatusCondition(g.Status.Conditions, ConditionInvalid)
	if c == nil || c.Reason != ReasonInvalidName || !strings.Contains(c.Message, "64 characters") || len(k.roles()) != 0 || !slices.Equal(g.Status.Namespaces, []string{""}) {
		t.Errorf("status %+v, %d roles", g.Status, len(k.roles()))
	}
	k.quiet(name)
}

func TestDeletion(t *testing.T) {
	spec := v1.OperatorGroupSpec{TargetNamespaces: []string{"a"}}
	k := newCluster(t, newGroup("group", spec), newGroup("other", spec), namespace("a"), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}})
	k.pass("group")
	k.pass("other")
	must.NoError(t, k.client.Delete(t.Context(), k.group("group")))
	// The roles, which remember the UID, stay until the labels are gone.
	k.Before = func(write string) error {
		if write == "patch Namespace a" {
			return errors.New("no")
		}
		return nil
	}
	if err := k.try("group"); err == nil || len(k.roles()) != 7 {
		t.Errorf("%d roles are left (%v)", len(k.roles()), err)
	}
	k.Before = nil
	k.pass("group")
	must.Empty(t, "labelled namespaces", k.labelled("group-uid"))
	if got := k.labelled("other-uid"); len(got) != 1 {
		t.Errorf("the label of another group is gone: %v", got)
	}
	if got := k.roles(); len(got) != 4 {
		t.Errorf("%d roles are left, want those of the other group and the foreign one", len(got))
	}
}

// TestGroupThatIsMadeAnew has another UID than the one of the same name before.
func TestGroupThatIsMadeAnew(t *testing.T) {
	spec := v1.OperatorGroupSpec{TargetNamespaces: []string{"a"}}
	k := newCluster(t, newGroup("group", spec), namespace("a"), namespace("b"))
	k.pass("group")
	must.NoError(t, k.client.Delete(t.Context(), k.group("group")))
	anew := newGroup("group", v1.OperatorGroupSpec{TargetNamespaces: []string{"b"}})
	anew.UID = "new-uid"
	k.create(anew)
	k.pass("group")
	must.Equal(t, "labelled namespaces", [][]string{k.labelled("group-uid"), k.labelled("new-uid")}, [][]string{nil, {"b"}})
	for _, r := range k.roles() {
		must.Equal(t, "role "+r.Name+" remembers", groupUIDs(&r), []string{"new-uid"})
	}
	k.quiet("group")
}

func TestConflictIsQuiet(t *testing.T) {
	k := newCluster(t, newGroup("group", v1.OperatorGroupSpec{}))
	k.Before = func(write string) error {
		if write == "patch status OperatorGroup group" {
			return apierrors.NewConflict(schema.GroupResource{}, "group", errors.New("changed"))
		}
		return nil
	}
	if err := k.try("group"); err != nil {
		t.Errorf("a conflict is an error: %v", err)
	}
	k.Before = nil
	if k.pass("group").Status.LastUpdated == nil {
		t.Error("the status was not written")
	}
}

// TestStatusIsWrittenWhenOtherThingsFail: the reason why something does not work must not hide what does.
func TestStatusIsWrittenWhenOtherThingsFail(t *testing.T) {
	k := newCluster(t, newGroup("group", v1.OperatorGroupSpec{}))
	k.Before = func(write string) error {
		if strings.HasPrefix(write, "apply ClusterRole") {
			return errors.New("no")
		}
		return nil
	}
	if err := k.try("group"); err == nil {
		t.Error("the failure is not tried again")
	}
	must.Equal(t, "targets", k.group("group").Status.Namespaces, []string{""})
}

func TestWhatWakesUp(t *testing.T) {
	named := newGroup("named", v1.OperatorGroupSpec{TargetNamespaces: []string{"a"}, ServiceAccountName: "installer"})
	selecting := newGroup("selecting", byLabel("x"))
	selecting.Status.Namespaces = []string{"was"}
	broken := newGroup("broken", v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Maybe"}}}})
	elsewhere := newGroup("elsewhere", v1.OperatorGroupSpec{})
	elsewhere.Namespace = "elsewhere"
	k := newCluster(t, named, selecting, broken, elsewhere)
	role := func(namespace string) *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"olm.owner": "gone", "olm.owner.namespace": namespace, "olm.owner.kind": "OperatorGroup"}}}
	}
	k.c.namespaces = []string{ns}
	for name, tc := range map[string]struct {
		wakes func(context.Context, client.Object) []reconcile.Request
		o     client.Object
		want  string
	}{
		"a sibling":             {k.c.watches().siblings, named, "operators/broken operators/named operators/selecting"},
		"a named namespace":     {k.c.watches().groupsOfNamespace, namespace("a"), "operators/named"},
		"a matching namespace":  {k.c.watches().groupsOfNamespace, namespace("z", "x"), "operators/selecting"},
		"a namespace that was":  {k.c.watches().groupsOfNamespace, namespace("was"), "operators/selecting"},
		"another namespace":     {k.c.watches().groupsOfNamespace, namespace("z"), ""},
		"the account":           {k.c.watches().groupsOfAccount, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer"}}, "operators/named"},
		"another account":       {k.c.watches().groupsOfAccount, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x"}}, ""},
		"a role":                {k.c.watches().groupOfRole, role(ns), "operators/gone"},
		"a role of elsewhere":   {k.c.watches().groupOfRole, role("elsewhere"), ""},
		"a role without labels": {k.c.watches().groupOfRole, &rbacv1.ClusterRole{}, ""},
	} {
		var got []string
		for _, r := range tc.wakes(t.Context(), tc.o) {
			got = append(got, r.String())
		}
		slices.Sort(got)
		must.Equal(t, "requests of "+name, strings.Join(got, " "), tc.want)
	}
}

// TestSetup adds the controller to a manager that never starts.
func TestSetup(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for gvk := range testScheme.AllKnownTypes() {
		mapper.Add(gvk, meta.RESTScopeNamespace)
	}
	mgr := must.Value(manager.New(&rest.Config{Host: "127.0.0.1:1"}, manager.Options{
		Scheme:         testScheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		Metrics:        metricsserver.Options{BindAddress: "0"},
	}))(t)
	if err := Setup(mgr, Options{}); err != nil {
		t.Error(err)
	}
}

// FuzzReconcile makes passes over odd groups: nothing panics, and the second pass has nothing to do.
func FuzzReconcile(f *testing.F) {
	f.Add("a", "x", "In", "installer", "Thing.v1.example.com", true)
	f.Add("", "", "", "", ",.,..", false)
	f.Fuzz(func(t *testing.T, target, key, operator, account, apis string, selector bool) {
		group := newGroup("group", v1.OperatorGroupSpec{ServiceAccountName: account, UpgradeStrategy: v1.UpgradeStrategy(operator)})
		group.Annotations = map[string]string{"olm.providedAPIs": apis}
		if target != "" {
			group.Spec.TargetNamespaces = strings.Split(target, ",")
		}
		if selector {
			group.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOperator(operator), Values: []string{target}}}}
		}
		k := newCluster(t, group, namespace("a", "x"))
		if k.try("group") == nil {
			k.quiet("group")
		}
	})
}
