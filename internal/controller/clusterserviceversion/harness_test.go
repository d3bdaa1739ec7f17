package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/sets"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/tenancy"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

const ns = "operators"

// cluster is a cluster of the fake client with the controller in it.
type cluster struct {
	t      testing.TB
	client client.WithWatch // of others
	api    *fakeapi.Server  // of the manager
	c      *Controller
	clock  *clocktesting.FakeClock
	mapper *meta.DefaultRESTMapper
	server *server
	// silent Services have no endpoints.
	silent bool
}

// server has a version, or none.
type server struct {
	version string
	err     error
	asked   int
}

func (s *server) ServerVersion() (*apimachineryversion.Info, error) {
	s.asked++
	return &apimachineryversion.Info{GitVersion: s.version}, s.err
}

var testScheme = fakeapi.Scheme(corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, admissionv1.AddToScheme,
	apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme, v2.AddToScheme, addThings)

// converters know the types of server-side apply. They are made once: that takes a while.
var converters = sync.OnceValue(func() []managedfields.TypeConverter {
	return []managedfields.TypeConverter{applyconfigurations.NewTypeConverter(clientgoscheme.Scheme), managedfields.NewDeducedTypeConverter()}
})

func newCluster(t testing.TB, objects ...client.Object) *cluster {
	t.Helper()
	builder := fake.NewClientBuilder().WithReturnManagedFields().WithScheme(testScheme).WithObjects(objects...).WithTypeConverters(converters()...).
		WithStatusSubresource(&v1alpha1.ClusterServiceVersion{}, &appsv1.Deployment{}, &apiregistrationv1.APIService{})
	for _, i := range indexes() {
		builder.WithIndex(i.object, i.name, i.values)
	}
	api := fakeapi.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), builder)
	api.Beneath(generations)
	k := &cluster{t: t, client: api.Inner, api: api, clock: api.Clock, server: &server{version: "v1.36.3"}, mapper: meta.NewDefaultRESTMapper(nil)}
	api.Answer = k.endpoints
	k.c = k.restarted()
	return k
}

// restarted is the controller of a manager that has just started.
func (k *cluster) restarted() *Controller {
	return &Controller{
		client:   k.api,
		live:     k.api,
		accounts: everyAccount{k.api},
		mapper:   k.mapper,
		server:   k.server,
		events:   k.api.Events,
		clock:    k.clock,
		counted:  metrics.NewClusterServiceVersions(),
		limits:   limits{install: DefaultInstallTimeout, certificate: 1000 * time.Hour},
	}
}

// everyAccount may do whatever the manager may.
type everyAccount struct{ as client.Client }

func (a everyAccount) Client(context.Context, string, string) (client.Client, error) {
	return a.as, nil
}

// endpoints answers lists of EndpointSlices: Services have a ready and another endpoint, but for silent ones.
func (k *cluster) endpoints(list client.ObjectList) bool {
	slices, ok := list.(*discoveryv1.EndpointSliceList)
	if ok && !k.silent {
		slices.Items = []discoveryv1.EndpointSlice{{
			AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("443"), Port: new(int32(9443))}},
			Endpoints: []discoveryv1.Endpoint{
				{Addresses: []string{"192.0.2.1"}, Conditions: discoveryv1.EndpointConditions{Ready: new(false)}},
				{Addresses: []string{"192.0.2.2"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}},
			},
		}}
	}
	return ok
}

// generations counts those of Deployments, which the fake client does not.
var generations = interceptor.Funcs{
	Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		if u, ok := o.(*unstructured.Unstructured); ok && u.GetKind() == "Deployment" {
			u.SetGeneration(1)
		}
		return c.Create(ctx, o, opts...)
	},
	Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
		request := o.(interface {
			GetKind() string
			GetNamespace() string
			GetName() string
			SetGeneration(int64)
		})
		if request.GetKind() != "Deployment" || len((&client.ApplyOptions{}).ApplyOptions(opts).DryRun) > 0 {
			return c.Apply(ctx, o, opts...)
		}
		name := types.NamespacedName{Namespace: request.GetNamespace(), Name: request.GetName()}
		before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
		if err := errors.Join(client.IgnoreNotFound(c.Get(ctx, name, before)), c.Apply(ctx, o, opts...)); err != nil {
			return err
		}
		if err := c.Get(ctx, name, after); err != nil || equality.Semantic.DeepEqual(before.Spec, after.Spec) {
			return err
		}
		after.Generation = before.Generation + 1
		request.SetGeneration(after.Generation)
		return c.Update(ctx, after)
	},
}

// reconcile makes a pass over a CSV of the namespace.
func (k *cluster) reconcile(name string) (reconcile.Result, error) {
	k.listAPIs()
	return k.c.Reconcile(k.t.Context(), reconcile.Request{NamespacedName: key(ns, name)})
}

// pass makes a pass that has to go well, as if the last write were a while ago, and returns the CSV after it.
func (k *cluster) pass(name string) *v1alpha1.ClusterServiceVersion {
	k.t.Helper()
	k.c.writtenAt.Clear()
	if _, err := k.reconcile(name); err != nil {
		k.t.Fatalf("reconcile %s: %v", name, err)
	}
	return k.csv(name)
}

// fails makes a pass that has to return an error, so that it is retried.
func (k *cluster) fails(name string) {
	k.t.Helper()
	_, err := k.reconcile(name)
	must.Fail(k.t, "the pass over "+name, err)
}

// applied is a write with the verb apply where it creates, applies or tries to do so.
func applied(write string) string {
	if verb, rest, _ := strings.Cut(write, " "); verb == "create" || verb == "try" {
		return "apply " + rest
	}
	return write
}

// failAt makes the writes fail that begin with a prefix; an apply is a create where nothing is there.
func (k *cluster) failAt(prefix string, err error) {
	k.api.Before = func(write string) error {
		if strings.HasPrefix(applied(write), prefix) {
			return err
		}
		return nil
	}
}

// rests makes a pass that has to write nothing.
func (k *cluster) rests(name string) {
	k.t.Helper()
	k.wrote()
	k.pass(name)
	must.Empty(k.t, "writes", k.wrote())
}

// goes makes a pass after which the CSV has to be gone.
func (k *cluster) goes(name string) {
	k.t.Helper()
	if left := k.pass(name); left != nil {
		k.t.Errorf("%s is still there with finalizers %v: %s", name, left.Finalizers, left.Status.Message)
	}
}

// rollsOut brings the Deployments to their end, with which the CSV has to succeed.
func (k *cluster) rollsOut(name string) {
	k.t.Helper()
	k.rollOut()
	expect(k.t, k.pass(name), toSucceeded, "InstallSucceeded", "")
}

// tells expects one event, which begins with a prefix.
func (k *cluster) tells(prefix string) {
	k.t.Helper()
	if told := k.told(); len(told) != 1 || !strings.HasPrefix(told[0], prefix) {
		k.t.Errorf("events: %q, want %q", told, prefix)
	}
}

// ready is a cluster with a CSV that can be installed.
func ready(t testing.TB) *cluster {
	t.Helper()
	k, csv := newCluster(t, newGroup(ns)), newCSV("op.v1")
	k.create(csv)
	k.create(permissions(t, csv)...)
	return k
}

// listAPIs does what the controller of OperatorGroups does: a group lists what its members provide.
func (k *cluster) listAPIs() {
	k.t.Helper()
	var groups v1.OperatorGroupList
	must.NoError(k.t, k.client.List(k.t.Context(), &groups))
	var all []*v1.OperatorGroup
	for i := range groups.Items {
		all = append(all, &groups.Items[i])
	}
	for _, group := range all {
		var csvs v1alpha1.ClusterServiceVersionList
		must.NoError(k.t, k.client.List(k.t.Context(), &csvs, client.InNamespace(group.Namespace)))
		var members []tenancy.Member
		for i := range csvs.Items {
			read := func(name string, into client.Object) (metav1.Object, error) {
				if err := k.client.Get(k.t.Context(), key("", name), into); err != nil {
					return nil, client.IgnoreNotFound(err)
				}
				return into, nil
			}
			claim, err := tenancy.ClaimedBy(&csvs.Items[i], group.Spec.ServiceAccountName != "", tenancy.Definitions{
				CRD: func(name string) (metav1.Object, error) {
					return read(name, &apiextensionsv1.CustomResourceDefinition{})
				},
				APIService: func(name string) (metav1.Object, error) { return read(name, &apiregistrationv1.APIService{}) },
			})
			must.NoError(k.t, err)
			members = append(members, tenancy.Member{ClusterServiceVersion: &csvs.Items[i], Claim: claim})
		}
		claim := strings.Join(sets.List(tenancy.Claim(group, members, all)), ",")
		if group.Spec.StaticProvidedAPIs || claim == group.Annotations[v1alpha1.ProvidedAPIsAnnotation] {
			continue
		}
		group.Annotations = map[string]string{v1alpha1.ProvidedAPIsAnnotation: claim}
		must.NoError(k.t, k.client.Update(k.t.Context(), group))
	}
}

// csv reads a CSV; nil when it is gone.
func (k *cluster) csv(name string) *v1alpha1.ClusterServiceVersion {
	k.t.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	if !k.get(ns, name, csv) {
		return nil
	}
	return csv
}

// get reads an object, and reports whether it is there.
func (k *cluster) get(namespace, name string, into client.Object) bool {
	k.t.Helper()
	err := k.client.Get(k.t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, into)
	if client.IgnoreNotFound(err) != nil {
		k.t.Fatal(err)
	}
	return err == nil
}

func (k *cluster) create(objects ...client.Object) {
	k.t.Helper()
	for _, o := range objects {
		must.NoError(k.t, k.client.Create(k.t.Context(), o))
	}
}

func (k *cluster) delete(o client.Object) {
	k.t.Helper()
	must.NoError(k.t, k.client.Delete(k.t.Context(), o))
}

// edit reads an object, changes it and writes it back.
func edit[T client.Object](k *cluster, namespace, name string, into T, how func(T)) {
	k.t.Helper()
	if !k.get(namespace, name, into) {
		k.t.Fatalf("%T %s/%s is not there", into, namespace, name)
	}
	how(into)
	must.NoError(k.t, k.client.Update(k.t.Context(), into))
}

// rollOut lets all Deployments of the namespace become available.
func (k *cluster) rollOut() {
	k.t.Helper()
	k.rollOutIn(ns)
}

func (k *cluster) rollOutIn(namespace string) {
	k.t.Helper()
	var list appsv1.DeploymentList
	must.NoError(k.t, k.client.List(k.t.Context(), &list, client.InNamespace(namespace)))
	for i := range list.Items {
		k.setStatus(&list.Items[i], appsv1.DeploymentStatus{
			ObservedGeneration: list.Items[i].Generation,
			Replicas:           1, UpdatedReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		})
	}
}

func (k *cluster) setStatus(d *appsv1.Deployment, status appsv1.DeploymentStatus) {
	k.t.Helper()
	d.Status = status
	must.NoError(k.t, k.client.Status().Update(k.t.Context(), d))
}

// wrote takes the writes since the last time, without dry runs.
func (k *cluster) wrote() []string {
	return slices.DeleteFunc(k.api.Taken(), func(write string) bool { return strings.HasPrefix(write, "try ") })
}

// told takes the Events since the last time.
func (k *cluster) told() []string {
	var out []string
	for {
		select {
		case e := <-k.api.Events.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// expect checks phase, reason and message.
func expect(t testing.TB, csv *v1alpha1.ClusterServiceVersion, wantPhase phase, wantReason reason, message string) {
	t.Helper()
	if csv == nil {
		t.Fatalf("the CSV is gone, want %s/%s", wantPhase, wantReason)
	}
	s := csv.Status
	if s.Phase != wantPhase || s.Reason != wantReason || message != "" && s.Message != message {
		t.Fatalf("status is %s/%s %q, want %s/%s %q; history %v", s.Phase, s.Reason, s.Message, wantPhase, wantReason, message, history(csv))
	}
}

func history(csv *v1alpha1.ClusterServiceVersion) []string {
	var out []string
	for _, c := range csv.Status.Conditions[len(csv.Status.TypedConditions()):] {
		out = append(out, fmt.Sprintf("%s/%s", c.Phase, c.Reason))
	}
	return out
}

// newGroup is an OperatorGroup with its targets selected.
func newGroup(targets ...string) *v1.OperatorGroup {
	now := metav1.Now()
	group := &v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "group", Namespace: ns, UID: "group-uid"}}
	if !slices.Contains(targets, "") {
		group.Spec.TargetNamespaces = targets
	}
	group.Status = v1.OperatorGroupStatus{Namespaces: targets, LastUpdated: &now}
	return group
}

// newCSV is a CSV with one Deployment, one permission and one cluster permission, that supports all install modes.
func newCSV(name string, edits ...func(*v1alpha1.ClusterServiceVersion)) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, UID: types.UID(name + "-uid"), CreationTimestamp: metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))},
	}
	csv.Spec.DisplayName = name
	for _, mode := range []v1alpha1.InstallModeType{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"} {
		csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
	}
	csv.Spec.InstallStrategy = v1alpha1.NamedInstallStrategy{
		StrategyName: "deployment",
		StrategySpec: v1alpha1.StrategyDetailsDeployment{
			DeploymentSpecs: []v1alpha1.StrategyDeploymentSpec{newStrategy("manager")},
			Permissions: []v1alpha1.StrategyDeploymentPermissions{{
				ServiceAccountName: "account",
				Rules:              []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"pods", "secrets"}}},
			}},
			ClusterPermissions: []v1alpha1.StrategyDeploymentPermissions{{
				ServiceAccountName: "account",
				Rules:              []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes"}}},
			}},
		},
	}
	for _, edit := range edits {
		edit(csv)
	}
	return csv
}

func newStrategy(name string) v1alpha1.StrategyDeploymentSpec {
	labels := map[string]string{"app": name}
	return v1alpha1.StrategyDeploymentSpec{Name: name, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				ServiceAccountName: "account",
				Containers:         []corev1.Container{{Name: "manager", Image: "example.com/manager:1"}},
			},
		},
	}}
}

// permissions are the objects that an InstallPlan makes for the permissions of a CSV.
func permissions(t testing.TB, csv *v1alpha1.ClusterServiceVersion) []client.Object {
	t.Helper()
	accounts := must.Value(bundle.RBAC(csv))(t)
	var out []client.Object
	for _, a := range accounts {
		if a.ServiceAccount != nil {
			out = append(out, a.ServiceAccount)
		}
		for i := range a.Roles {
			out = append(out, a.Roles[i], a.RoleBindings[i])
		}
		for i := range a.ClusterRoles {
			out = append(out, a.ClusterRoles[i], a.ClusterRoleBindings[i])
		}
	}
	return out
}

// newCRD is a CRD that is served at the versions.
func newCRD(name string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	crd.Annotations = map[string]string{v1alpha1.AdoptableByAnnotation: ns} // what no InstallPlan brought is not converted
	for _, v := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: v, Served: true})
	}
	for _, c := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.Established, apiextensionsv1.NamesAccepted} {
		crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{Type: c, Status: apiextensionsv1.ConditionTrue})
	}
	return crd
}

// serve makes the cluster serve a kind.
func (k *cluster) serve(gvk schema.GroupVersionKind) { k.mapper.Add(gvk, meta.RESTScopeNamespace) }

// webhookKinds lists the names of the webhook configurations by kind.
func (k *cluster) webhookConfigurations() []string {
	k.t.Helper()
	var validating admissionv1.ValidatingWebhookConfigurationList
	var mutating admissionv1.MutatingWebhookConfigurationList
	var out []string
	for _, list := range []client.ObjectList{&validating, &mutating} {
		must.NoError(k.t, k.client.List(k.t.Context(), list))
	}
	for _, w := range validating.Items {
		out = append(out, "validating "+w.Webhooks[0].Name)
	}
	for _, w := range mutating.Items {
		out = append(out, "mutating "+w.Webhooks[0].Name)
	}
	return out
}

// clusterRoles lists the names of the ClusterRoles and ClusterRoleBindings.
func (k *cluster) clusterRoles() []string {
	k.t.Helper()
	var roles rbacv1.ClusterRoleList
	var bindings rbacv1.ClusterRoleBindingList
	for _, list := range []client.ObjectList{&roles, &bindings} {
		must.NoError(k.t, k.client.List(k.t.Context(), list))
	}
	var out []string
	for _, r := range roles.Items {
		out = append(out, "role "+r.Name)
	}
	for _, b := range bindings.Items {
		out = append(out, "binding "+b.Name)
	}
	return out
}

type installMode = v1alpha1.InstallMode

// admissionWebhooks counts the admission webhooks of a CSV.
func admissionWebhooks(csv *v1alpha1.ClusterServiceVersion) int {
	count := 0
	for _, d := range csv.Spec.WebhookDefinitions {
		if d.Type != v1alpha1.ConversionWebhook {
			count++
		}
	}
	return count
}

type object = client.Object
