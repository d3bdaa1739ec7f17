package clusterserviceversion

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func names(requests []reconcile.Request) string {
	var out []string
	for _, r := range requests {
		out = append(out, r.String())
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

func TestWhatWakesUp(t *testing.T) {
	in := func(namespace string, csv *v1alpha1.ClusterServiceVersion) *v1alpha1.ClusterServiceVersion {
		csv.Namespace = namespace
		return csv
	}
	copied := in("other", newCSV("op.v1", withAPIService))
	copied.Labels = map[string]string{"olm.copiedFrom": ns}
	needsNative := newCSV("native", withoutAccounts, withDeployments("of-native"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"operatorframework.io/properties": `{"properties":[{"type":"olm.package","value":{"packageName":"pkg"}}]}`}
		csv.Spec.NativeAPIs = []metav1.GroupVersionKind{{Group: "example.com", Version: "v1", Kind: "X"}}
	})
	far := in("far", newCSV("far", withWebhooks))
	k := newCluster(t, newCSV("op.v1", withWebhooks, withAPIService), newCSV("op.v2", withoutAccounts, withDeployments("of-v2"), replacing("op.v1")), copied, needsNative, far, newGroup("target"),
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "bound"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "role"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "far", Name: "account"}}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "bound"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "role"},
			Subjects: []rbacv1.Subject{{Kind: "Group", Name: "system:serviceaccounts"}}})
	c := k.c.triggers()
	owned := metav1.ObjectMeta{Namespace: ns, Name: "x", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: "op.v9"}, {APIVersion: "example.com/v1", Kind: "ClusterServiceVersion", Name: "no"},
	}}
	subject := func(kind, namespace, name string) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{Subjects: []rbacv1.Subject{{Kind: kind, Namespace: namespace, Name: name}}}
	}
	crd := newCRD("things.example.com")
	crd.Spec.Group = "example.com"
	tests := map[string]struct {
		wakes  func(context.Context, client.Object) []reconcile.Request
		object client.Object
		want   string
	}{
		"owner references":              {c.owner, &appsv1.Deployment{ObjectMeta: owned}, "operators/op.v9"},
		"owner labels":                  {c.owner, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Labels: managedLabels(far)}}, "far/far"},
		"no owner":                      {c.owner, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"olm.owner": "x"}}}, ""},
		"a Deployment of the name":      {c.named(indexByDeploy), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "of-v2", Labels: ownerLabels("op.v1")}}, "operators/op.v2"},
		"a CSV that is replaced":        {c.neighbours, newCSV("op.v1"), "operators/op.v2"},
		"a CSV that replaces":           {c.neighbours, newCSV("op.v2", replacing("op.v1")), "operators/op.v1"},
		"a CSV with the same CRD":       {c.neighbours, newCSV("third", withWebhooks), "far/far operators/op.v1"},
		"a CSV with the same API":       {c.neighbours, newCSV("third", withAPIService), "operators/op.v1"},
		"a CSV with that Deployment":    {c.neighbours, newCSV("third", withDeployments("of-native")), "operators/native"},
		"a CSV that replaces it too":    {c.neighbours, newCSV("op.v3", withDeployments(), replacing("op.v1")), "operators/op.v1 operators/op.v2"},
		"a copy":                        {c.neighbours, copied, ""},
		"a Subscription":                {c.subscribed, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: "a", CurrentCSV: "b"}}, "operators/a operators/b"},
		"a Subscription to the package": {c.subscribed, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns}, Spec: &v1alpha1.SubscriptionSpec{Package: "pkg"}}, "operators/native"},
		"a Subscription to another":     {c.subscribed, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns}, Spec: &v1alpha1.SubscriptionSpec{Package: "x"}}, ""},
		"a new Subscription":            {c.subscribed, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns}}, ""},
		"a group":                       {c.members, &v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns}}, "operators/native operators/op.v1 operators/op.v2"},
		"a target namespace":            {c.targeting, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "target"}}, "operators/native operators/op.v1 operators/op.v2"},
		"their namespace":               {c.targeting, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "far"}}, ""},
		"their namespace that goes":     {c.targeting, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "far", DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}}, "far/far"},
		"another namespace":             {c.targeting, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, ""},
		"an account":                    {c.named(indexByAccount), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "account"}}, "operators/op.v1"},
		"another account":               {c.named(indexByAccount), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x"}}, ""},
		"a CRD":                         {c.usingCRD, crd, "far/far operators/native operators/op.v1"},
		"another CRD":                   {c.usingCRD, newCRD("others.other.com"), ""},
		"an APIService": {c.usingAPIService, &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: apiService, Labels: managedLabels(newCSV("gone"))}, Spec: apiregistrationv1.APIServiceSpec{Group: "example.com"}},
			"operators/gone operators/native operators/op.v1"},
		"a binding of an account":       {c.usingBinding, subject("ServiceAccount", "far", "account"), "far/far"},
		"a binding of its user":         {c.usingBinding, subject("User", "", "system:serviceaccount:far:account"), "far/far"},
		"a binding of another user":     {c.usingBinding, subject("User", "", "somebody"), ""},
		"a binding of a namespace":      {c.usingBinding, subject("Group", "", "system:serviceaccounts:far"), "far/far"},
		"a binding of everybody":        {c.usingBinding, subject("Group", "", "system:authenticated"), "far/far operators/native operators/op.v1 operators/op.v2"},
		"a binding of another group":    {c.usingBinding, subject("Group", "", "somebody"), ""},
		"a binding in a namespace":      {c.usingBinding, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "far"}, Subjects: subject("Group", "", "system:serviceaccounts").Subjects}, "far/far"},
		"a binding of an account there": {c.usingBinding, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns}, Subjects: subject("ServiceAccount", "far", "account").Subjects}, ""},
		"a role that is bound":          {c.usingRole, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role"}}, "far/far operators/native operators/op.v1 operators/op.v2"},
		"a role that is not bound":      {c.usingRole, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "role"}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "requests", names(tc.wakes(t.Context(), tc.object)), tc.want)
		})
	}
}

// TestOtherNamespacesAreLeftToOtherManagers: objects without namespace name their owner in labels.
func TestOtherNamespacesAreLeftToOtherManagers(t *testing.T) {
	k := newCluster(t)
	k.c.limits.namespaces = []string{ns}
	elsewhere := newCSV("op.v1")
	elsewhere.Namespace = "elsewhere"
	for csv, want := range map[*v1alpha1.ClusterServiceVersion]string{newCSV("op.v1"): "operators/op.v1", elsewhere: ""} {
		must.Equal(t, "requests", names(k.c.triggers().owner(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Labels: managedLabels(csv)}})), want)
	}
}

func TestChangesThatMatter(t *testing.T) {
	changed := func(edit func(*v1alpha1.ClusterServiceVersion)) event.UpdateEvent {
		return event.UpdateEvent{ObjectOld: newCSV("op.v1"), ObjectNew: newCSV("op.v1", edit)}
	}
	now := metav1.Now()
	for name, tc := range map[string]struct {
		event event.UpdateEvent
		want  bool
	}{
		"phase":    {changed(func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.Phase = "Failed" }), true},
		"spec":     {changed(func(csv *v1alpha1.ClusterServiceVersion) { csv.Generation = 2 }), true},
		"deletion": {changed(func(csv *v1alpha1.ClusterServiceVersion) { csv.DeletionTimestamp = &now }), true},
		"message":  {changed(func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.Message = "x" }), false},
	} {
		must.Equal(t, "a change of the "+name+" matters to neighbours", matterToNeighbours.Update(tc.event), tc.want)
	}
	subscription := func(edit func(*v1alpha1.Subscription)) event.UpdateEvent {
		s := &v1alpha1.Subscription{}
		edit(s)
		return event.UpdateEvent{ObjectOld: &v1alpha1.Subscription{}, ObjectNew: s}
	}
	if !configMatters.Update(subscription(func(s *v1alpha1.Subscription) { s.Generation = 2 })) ||
		!configMatters.Update(subscription(func(s *v1alpha1.Subscription) { s.Status.CurrentCSV = "x" })) ||
		configMatters.Update(subscription(func(s *v1alpha1.Subscription) { s.Status.State = "x" })) {
		t.Error("the wrong changes of a Subscription matter")
	}
	going := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}
	if !comesOrGoes.Update(event.UpdateEvent{ObjectOld: &corev1.Namespace{}, ObjectNew: going}) || comesOrGoes.Update(event.UpdateEvent{ObjectOld: going, ObjectNew: going}) {
		t.Error("the wrong changes of a namespace matter")
	}
	if goes.Create(event.CreateEvent{}) || goes.Update(event.UpdateEvent{}) || goes.Generic(event.GenericEvent{}) || !goes.Delete(event.DeleteEvent{}) {
		t.Error("the wrong changes tell that an object is gone")
	}
}

// TestSetup adds the controller to a manager that never starts: every kind is in the scheme, every index registered once.
func TestSetup(t *testing.T) {
	mgr := must.Value(manager.New(&rest.Config{Host: "127.0.0.1:1"}, manager.Options{
		Scheme: testScheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			mapper := meta.NewDefaultRESTMapper(nil)
			for gvk := range testScheme.AllKnownTypes() {
				mapper.Add(gvk, meta.RESTScopeNamespace)
			}
			return mapper, nil
		},
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{ByObject: CacheOptions()},
	}))(t)
	if err := Setup(mgr, Options{}); err != nil {
		t.Error(err)
	}
}

func TestTrimCRD(t *testing.T) {
	crd := newCRD("things.example.com", "v1")
	crd.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "long", "kept": "yes"}
	crd.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: "None"}
	want := crd.DeepCopy()
	crd.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{}
	want.ManagedFields = nil
	want.Annotations = map[string]string{"kept": "yes"}
	got := must.Value(trimCRD(crd))(t)
	if diff := cmp.Diff(client.Object(want), got); diff != "" {
		t.Error(diff)
	}
	if other, err := trimCRD("other"); err != nil || other != "other" {
		t.Errorf("something else becomes %v (%v)", other, err)
	}
}
