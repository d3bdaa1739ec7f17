package manager

import (
	"context"
	"fmt"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestLimitedManagersSeeRolesAndGroupsEverywhere: the operators of their namespaces have roles in others, and groups of others compete with
// theirs, but nothing else there is read.
func TestLimitedManagersSeeRolesAndGroupsEverywhere(t *testing.T) {
	w := newWorldAlone(t)
	target := devcluster.Namespace(t)
	options := cacheOptions([]string{w.namespace})
	options.Scheme = w.client.Scheme()
	limited := must.Value(cache.New(devcluster.Config(), options))(t)
	go func() { _ = limited.Start(t.Context()) }()
	named := metav1.ObjectMeta{Namespace: target, Name: "copied"}
	w.create(&rbacv1.Role{ObjectMeta: named}, &rbacv1.RoleBinding{ObjectMeta: named, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "copied"}})
	w.create(&operatorsv1.OperatorGroup{ObjectMeta: named})
	for _, o := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}, &operatorsv1.OperatorGroup{}} {
		w.eventually(fmt.Sprintf("a %T of another namespace to be seen", o), func() error {
			return limited.Get(t.Context(), client.ObjectKey{Namespace: target, Name: "copied"}, o)
		})
	}
	if err := limited.List(t.Context(), &appsv1.DeploymentList{}, client.InNamespace(target)); err == nil {
		t.Error("Deployments of other namespaces are read")
	}
}

// TestLimitedManagersSayWhichRightTheyLack: without the groups of all namespaces no operator with APIs could be installed. That is said at
// once, and what to do.
func TestLimitedManagersSayWhichRightTheyLack(t *testing.T) {
	w := newWorldAlone(t)
	meta := metav1.ObjectMeta{Name: w.namespace}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorgroups"}, Verbs: []string{"get", "list"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: w.namespace}}}
	limited := Options{Config: devcluster.Config(), StoreDir: t.TempDir(), Namespaces: []string{"one", "two"}}
	limited.Config.Impersonate = rest.ImpersonationConfig{UserName: w.namespace}
	lacks := func(verb string) error {
		err := Run(t.Context(), limited)
		want := "the manager is limited to one, two, but has to see the OperatorGroups of all namespaces, because groups of others may provide the same APIs; " +
			"it may not " + verb + " operatorgroups.operators.coreos.com there ("
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "bind its account to a ClusterRole with get, list and watch on them") {
			return fmt.Errorf("it ends with %w, want %q", err, want)
		}
		return nil
	}
	if err := lacks("list"); err != nil {
		t.Error(err)
	}
	w.create(role, binding)
	t.Cleanup(func() {
		_, _ = w.client.Delete(context.Background(), role), w.client.Delete(context.Background(), binding)
	})
	w.eventually("the right to list to be known", func() error { return lacks("watch") })
	role.Rules[0].Verbs = append(role.Rules[0].Verbs, "watch")
	must.NoError(t, w.client.Update(t.Context(), role))
	w.eventually("the right to watch to be known", func() error { return mayReadGroups(t.Context(), limited) })
}
