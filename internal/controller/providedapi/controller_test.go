package providedapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

var testScheme = fakeapi.Scheme(rbacv1.AddToScheme, operatorsv1.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, v1alpha1.AddToScheme)

type cluster struct {
	t      *testing.T
	client client.Client // of others
	*fakeapi.Server
	namespaces []string // those that the manager is limited to
	denied     bool     // to list the operators of all namespaces
	told       map[string]map[types.UID]string
	seen       map[string]memory
	// managerRoles is set where the manager has no rule for every resource.
	managerRoles bool
}

// newCluster has the objects, and an OperatorGroup in the namespaces a and b unless it is among them.
func newCluster(t *testing.T, objects ...client.Object) *cluster {
	k := &cluster{t: t, told: map[string]map[types.UID]string{}, seen: map[string]memory{}}
	for _, namespace := range []string{"a", "b", "mine", "theirs"} {
		if !slices.ContainsFunc(objects, func(o client.Object) bool {
			_, ok := o.(*operatorsv1.OperatorGroup)
			return ok && o.GetNamespace() == namespace
		}) {
			objects = append(objects, group(namespace, ""))
		}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), meta.RESTScopeRoot)
	k.Server = fakeapi.New(time.Now(), fake.NewClientBuilder().WithScheme(testScheme).WithRESTMapper(mapper).WithReturnManagedFields().WithObjects(objects...).
		WithIndex(&v1alpha1.ClusterServiceVersion{}, indexByOwned, owned).WithIndex(&rbacv1.ClusterRole{}, indexByDefinition, definitions).
		WithInterceptorFuncs(interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				if options := (&client.DeleteOptions{}).ApplyOptions(opts); options.Preconditions == nil || *options.Preconditions.UID != o.GetUID() {
					t.Errorf("%s is deleted whatever it has become", o.GetName())
				}
				return c.Delete(ctx, o)
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				options := (&client.ListOptions{}).ApplyOptions(opts)
				if _, ok := list.(*v1alpha1.ClusterServiceVersionList); !ok || len(k.namespaces) == 0 {
					return c.List(ctx, list, opts...)
				}
				if options.Limit > 0 && k.denied {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "clusterserviceversions"}, "", errors.New("not allowed"))
				}
				err := c.List(ctx, list, opts...)
				if all := list.(*v1alpha1.ClusterServiceVersionList); options.Limit == 0 {
					all.Items = slices.DeleteFunc(all.Items, func(csv v1alpha1.ClusterServiceVersion) bool { return !slices.Contains(k.namespaces, csv.Namespace) })
				}
				return err
			},
		}))
	k.client = k.Inner
	return k
}

// controller is one that has told before what others of the cluster have told.
func (k *cluster) controller() *Controller {
	return &Controller{client: k.Server, live: k.Server, clock: k.Clock, events: k.Events, namespaces: k.namespaces, told: k.told, seen: k.seen, managerRoles: k.managerRoles}
}

func group(namespace, account string) *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "group"}, Spec: operatorsv1.OperatorGroupSpec{ServiceAccountName: account}}
}

// pass reconciles a definition and returns the roles by name.
func (k *cluster) pass(kind, name string) map[string]rbacv1.ClusterRole {
	k.t.Helper()
	if _, err := k.controller().Reconcile(k.t.Context(), request(kind, name)); err != nil {
		k.t.Fatal(err)
	}
	var list rbacv1.ClusterRoleList
	must.NoError(k.t, k.client.List(k.t.Context(), &list))
	out := map[string]rbacv1.ClusterRole{}
	for _, r := range list.Items {
		out[r.Name] = r
	}
	return out
}

func names(roles map[string]rbacv1.ClusterRole) string {
	var out []string
	for name := range roles {
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

const etcd = "etcdclusters.etcd.database.coreos.com"

func operator(namespace string, created int64, edit func(*v1alpha1.ClusterServiceVersion)) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "op.v1", UID: types.UID(namespace + "-op"), CreationTimestamp: metav1.NewTime(time.Unix(created, 0)),
		Annotations: map[string]string{"olm.operatorGroup": namespace + "-group"}}}
	csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: etcd, Version: "v1beta2", Kind: "EtcdCluster"}}
	if edit != nil {
		edit(csv)
	}
	return csv
}

// crd was brought for the operators of the namespaces of the tests.
func crd() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: etcd, UID: "crd", Annotations: map[string]string{v1alpha1.OriginAnnotation: v1alpha1.OriginInstallPlan + "/ns"}}}
	for _, namespace := range []string{"a", "b", "mine", "theirs"} {
		crd.Annotations[bundle.InstalledAlongsideKey(namespace, "op.v1")] = namespace + "/op.v1"
		crd.Annotations[bundle.BroughtByKey(namespace, "op.v1")] = "plan"
	}
	return crd
}

// TestRolesWaitForALull: as long as other operators are being installed, and no longer than that takes.
func TestRolesWaitForALull(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := metav1.NewTime(now)
	changed := func(phase v1alpha1.ClusterServiceVersionPhase) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.Phase, csv.Status.LastUpdateTime = phase, &at }
	}
	k := newCluster(t, crd(), operator("a", 1, changed(v1alpha1.CSVPhaseSucceeded)), operator("b", 2, func(csv *v1alpha1.ClusterServiceVersion) {
		changed(v1alpha1.CSVPhaseInstalling)(csv)
		csv.Spec.CustomResourceDefinitions.Owned = nil
	}))
	c := k.controller()
	c.clock = clocktesting.NewFakePassiveClock(now)
	result, err := c.Reconcile(t.Context(), request(kindCRD, etcd))
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > reconcile.QuietPeriod || k.Made() != 0 {
		t.Errorf("while another operator is being installed: asked again after %s, %d roles, %v", result.RequeueAfter, k.Made(), err)
	}
	c.clock = clocktesting.NewFakePassiveClock(now.Add(reconcile.QuietPeriod))
	result, err = c.Reconcile(t.Context(), request(kindCRD, etcd))
	if err != nil || result.RequeueAfter != 0 || k.Made() != 4 {
		t.Errorf("afterwards: asked again after %s, %d roles, %v", result.RequeueAfter, k.Made(), err)
	}
}

// TestAnotherTenantHoldsNoRolesUp: the operator of another tenant, which owns the same API and never comes to rest, puts the roles off no
// longer than is written.
func TestAnotherTenantHoldsNoRolesUp(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := metav1.NewTime(now)
	clock := clocktesting.NewFakePassiveClock(now)
	theirs := operator("theirs", 2, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Status.Phase, csv.Status.LastUpdateTime = v1alpha1.CSVPhasePending, &at
	})
	k := newCluster(t, crd(), theirs, operator("mine", 1, func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.LastUpdateTime = &at }))
	c := k.controller()
	c.clock = clock
	for clock.Since(now) < reconcile.MaxQuietWait {
		if _, err := c.Reconcile(t.Context(), request(kindCRD, etcd)); err != nil || k.Made() != 0 {
			t.Fatalf("%s after the operator runs, while another is being installed: %d roles, %v", clock.Since(now), k.Made(), err)
		}
		clock.SetTime(clock.Now().Add(reconcile.QuietPeriod / 5))
		theirs.Status.LastUpdateTime = &metav1.Time{Time: clock.Now()}
		must.NoError(t, k.client.Update(t.Context(), theirs))
	}
	if result, err := c.Reconcile(t.Context(), request(kindCRD, etcd)); err != nil || result.RequeueAfter != 0 || k.Made() != 4 {
		t.Errorf("%s after the operator runs: asked again after %s, %d roles, %v", reconcile.MaxQuietWait, result.RequeueAfter, k.Made(), err)
	}
}

func service(name string) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name),
		Labels: map[string]string{v1alpha1.OwnerLabel: "op.v1", v1alpha1.OwnerNamespaceLabel: "a", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind}}}
}

// TestRolesOfACRD have the documented names, rules, labels and owner.
func TestRolesOfACRD(t *testing.T) {
	k := newCluster(t, crd(), operator("a", 1, nil))
	roles := k.pass(kindCRD, etcd)
	prefix := etcd + "-v1beta2-"
	if got, want := names(roles), prefix+"admin "+prefix+"crdview "+prefix+"edit "+prefix+"view"; got != want {
		t.Fatalf("roles %s, want %s", got, want)
	}
	rule := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: []string{"etcd.database.coreos.com"}, Resources: []string{"etcdclusters"}}}
	}
	desired := map[string]struct {
		level string
		rules []rbacv1.PolicyRule
	}{
		"admin":   {"admin", rule("*")},
		"edit":    {"edit", rule("create", "update", "patch", "delete")},
		"view":    {"view", rule("get", "list", "watch")},
		"crdview": {"view", []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{etcd}}}},
	}
	for suffix, want := range desired {
		role := roles[prefix+suffix]
		must.Equal(t, "rules of "+suffix, role.Rules, want.rules)
		labels := map[string]string{"olm.managed": "true", "rbac.authorization.k8s.io/aggregate-to-" + want.level: "true",
			"olm.opgroup.permissions/aggregate-to-c571d720f17289d3-" + want.level: "true", "olm.opgroup.permissions/aggregate-to-" + want.level: "a-group"}
		must.Equal(t, "labels of "+suffix, role.Labels, labels)
		if r := role.OwnerReferences; len(r) != 1 || r[0].Kind != "CustomResourceDefinition" || r[0].UID != "crd" || r[0].Controller != nil || r[0].BlockOwnerDeletion != nil {
			t.Errorf("owners of %s: %+v", suffix, r)
		}
	}
	k.Taken()
	k.pass(kindCRD, etcd)
	must.Empty(t, "writes though nothing has changed", k.Taken())
}

// TestRolesOfAnAPIService, and of another one whose roles would have the same names.
func TestRolesOfAnAPIService(t *testing.T) {
	serves := func(groups ...string) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Owned = nil
			for _, group := range groups {
				csv.Spec.APIServiceDefinitions.Owned = append(csv.Spec.APIServiceDefinitions.Owned, v1alpha1.APIServiceDescription{Name: "geese", Group: group, Version: "v1", Kind: "Goose"})
			}
		}
	}
	k := newCluster(t, service("v1.a.io"), service("v1.b.io"), operator("a", 1, serves("a.io", "b.io")))
	roles := k.pass(kindAPIService, "v1.a.io")
	must.Equal(t, "roles", names(roles), "geese-v1-admin geese-v1-edit geese-v1-view")
	if r := roles["geese-v1-view"]; r.Rules[0].APIGroups[0] != "a.io" || r.OwnerReferences[0].Kind != "APIService" || r.OwnerReferences[0].APIVersion != "apiregistration.k8s.io/v1" {
		t.Errorf("role %+v", r)
	}
	roles = k.pass(kindAPIService, "v1.b.io")
	if roles["geese-v1-view"].Rules[0].APIGroups[0] != "a.io" || roles["geese.b.io-v1-view"].Rules[0].APIGroups[0] != "b.io" {
		t.Errorf("roles %s", names(roles))
	}
}

// TestRolesAreHealed: rules, labels and owners come back, and what others add stays.
func TestRolesAreHealed(t *testing.T) {
	k := newCluster(t, crd(), operator("a", 1, nil))
	name := etcd + "-v1beta2-view"
	role := k.pass(kindCRD, etcd)[name]
	role.Rules[0].Verbs = []string{"get"}
	role.OwnerReferences = nil
	delete(role.Labels, "olm.managed")
	role.Labels["mine"] = "stays"
	must.NoError(t, k.client.Update(t.Context(), &role))
	got := k.pass(kindCRD, etcd)[name]
	if len(got.Rules[0].Verbs) != 3 || len(got.OwnerReferences) != 1 || got.Labels["olm.managed"] != "true" || got.Labels["mine"] != "stays" {
		t.Errorf("role %+v", got)
	}
}

// TestWhoseRoles: only those of operators that run; of two tenants with the same API the older one is named.
func TestWhoseRoles(t *testing.T) {
	failed := func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.Phase = v1alpha1.CSVPhaseFailed }
	copied := func(csv *v1alpha1.ClusterServiceVersion) { csv.Labels = map[string]string{"olm.copiedFrom": "x"} }
	v1 := func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned[0].Version = "v1"
	}
	longName := func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations["olm.operatorGroup"] = strings.Repeat("g", 64)
	}
	going := crd()
	going.Finalizers, going.DeletionTimestamp = []string{"x/y"}, &metav1.Time{Time: time.Unix(1, 0)}
	tests := map[string]struct {
		objects []client.Object
		roles   int
		group   string
	}{
		"failed":         {[]client.Object{crd(), operator("a", 1, failed)}, 0, ""},
		"copied":         {[]client.Object{crd(), operator("a", 1, copied)}, 0, ""},
		"no CRD":         {[]client.Object{operator("a", 1, nil)}, 0, ""},
		"a CRD going":    {[]client.Object{going, operator("a", 1, nil)}, 0, ""},
		"two tenants":    {[]client.Object{crd(), operator("a", 2, nil), operator("b", 1, nil)}, 4, "b-group"},
		"two versions":   {[]client.Object{crd(), operator("a", 2, v1), operator("b", 1, nil)}, 8, "b-group"},
		"no label value": {[]client.Object{crd(), operator("a", 1, longName)}, 4, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			roles := newCluster(t, test.objects...).pass(kindCRD, etcd)
			if len(roles) != test.roles {
				t.Errorf("roles %s", names(roles))
			}
			must.Equal(t, "group", roles[etcd+"-v1beta2-edit"].Labels["olm.opgroup.permissions/aggregate-to-edit"], test.group)
		})
	}
}

func TestWhatWakesUp(t *testing.T) {
	csv := operator("a", 1, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "geese", Group: "a.io", Version: "v1", Kind: "Goose"}}
	})
	copied := operator("a", 1, func(csv *v1alpha1.ClusterServiceVersion) { csv.Labels = map[string]string{"olm.copiedFrom": "x"} })
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: "p"}, {Kind: "APIService", Name: "v1.a.io"}}}}
	for name, test := range map[string]struct {
		wakes func() string
		want  string
	}{
		"an operator": {func() string { return text(ofOperator(t.Context(), csv)) }, "CustomResourceDefinition/" + etcd + " APIService/v1.a.io"},
		"a copy":      {func() string { return text(ofOperator(t.Context(), copied)) }, ""},
		"a CRD":       {func() string { return text(ofDefinition(t.Context(), crd())) }, "CustomResourceDefinition/" + etcd},
		"an APIService": {func() string {
			return text(ofDefinition(t.Context(), &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.a.io"}}))
		}, "APIService/v1.a.io"},
		"a role": {func() string { return text(ofRole(t.Context(), role)) }, "APIService/v1.a.io"},
	} {
		must.Equal(t, "requests of "+name, test.wakes(), test.want)
	}
	pending := operator("a", 1, func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.Phase = "Pending" })
	for name, test := range map[string]struct {
		before, after *v1alpha1.ClusterServiceVersion
		want          bool
	}{"comes to run": {pending, csv, true}, "stays": {csv, csv, false}, "no longer runs": {csv, pending, true}} {
		must.Equal(t, name, stands.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}), test.want)
	}
}

func text(requests []ctrl.Request) string {
	var out []string
	for _, r := range requests {
		out = append(out, r.String())
	}
	return strings.Join(out, " ")
}

// TestSetup adds the controller to a manager that never starts.
func TestSetup(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for gvk := range testScheme.AllKnownTypes() {
		mapper.Add(gvk, meta.RESTScopeRoot)
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
