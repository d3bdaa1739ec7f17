package manager

import (
	"testing"

	"fairlead.dev/fairlead/internal/devcluster"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestLimitedManagersSeeRolesEverywhere: the operators of their namespaces have roles in others, but nothing else there is read.
func TestLimitedManagersSeeRolesEverywhere(t *testing.T) {
	w := newWorld(t)
	target := devcluster.Namespace(t)
	options := cacheOptions([]string{w.namespace}, DefaultGlobalNamespace)
	options.Scheme = w.client.Scheme()
	limited, err := cache.New(devcluster.Config(), options)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = limited.Start(t.Context()) }()
	named := metav1.ObjectMeta{Namespace: target, Name: "copied"}
	w.create(&rbacv1.Role{ObjectMeta: named}, &rbacv1.RoleBinding{ObjectMeta: named, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "copied"}})
	for _, o := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		w.eventually("a role in a target namespace to be seen", func() error {
			return limited.Get(t.Context(), client.ObjectKey{Namespace: target, Name: "copied"}, o)
		})
	}
	if err := limited.List(t.Context(), &appsv1.DeploymentList{}, client.InNamespace(target)); err == nil {
		t.Error("Deployments of other namespaces are read")
	}
}
