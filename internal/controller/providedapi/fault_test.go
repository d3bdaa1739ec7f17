package providedapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

func (k *cluster) try(kind, name string) error {
	_, err := k.controller().Reconcile(k.t.Context(), request(kind, name))
	return err
}

func (k *cluster) roles() map[string]rbacv1.ClusterRole {
	k.t.Helper()
	var list rbacv1.ClusterRoleList
	must.NoError(k.t, k.client.List(k.t.Context(), &list))
	out := map[string]rbacv1.ClusterRole{}
	for _, r := range list.Items {
		out[r.Name] = r
	}
	return out
}

// TestKilledAtEveryWrite, and conflicts at every write: the next pass finishes, and the roles are as if nothing had happened. One role that
// cannot be written keeps none of the others.
func TestKilledAtEveryWrite(t *testing.T) {
	want := newCluster(t, crd(), operator("a", 1, nil)).pass(kindCRD, etcd)
	versions := cmp.Options{cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion"), cmpopts.IgnoreFields(metav1.ManagedFieldsEntry{}, "Time")}
	set := map[string]func(*cluster, func(string) error){
		"before it is done":          func(k *cluster, f func(string) error) { k.Before = f },
		"before the answer is there": func(k *cluster, f func(string) error) { k.After = f },
	}
	for when, hook := range set {
		for what, failure := range map[string]error{"killed": fakeapi.ErrKilled, "conflict": apierrors.NewConflict(schema.GroupResource{}, "role", errors.New("changed"))} {
			for role := range want {
				t.Run(fmt.Sprint(what, " at ", role, " ", when), func(t *testing.T) {
					k := newCluster(t, crd(), operator("a", 1, nil))
					hook(k, func(write string) error {
						if write == "apply ClusterRole "+role {
							return failure
						}
						return nil
					})
					if err := k.try(kindCRD, etcd); err == nil || !strings.Contains(err.Error(), role) {
						t.Errorf("error %v", err)
					}
					if got := len(k.roles()); got < len(want)-1 {
						t.Errorf("%d roles though only one could not be written", got)
					}
					hook(k, nil)
					if diff := cmp.Diff(want, k.pass(kindCRD, etcd), versions); diff != "" {
						t.Error(diff)
					}
					k.Taken()
					k.pass(kindCRD, etcd)
					must.Empty(t, "writes though nothing has changed", k.Taken())
				})
			}
		}
	}
}

// TestNamesThatAreNone: the names of roles begin with what an operator calls its API, and must not be those of the cluster's own roles.
func TestNamesThatAreNone(t *testing.T) {
	aggregated := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "system:aggregate-to-admin"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}
	hostile := operator("a", 1, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = nil
		csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "system:aggregate", Group: "a.io", Version: "to", Kind: "Goose"}}
	})
	k := newCluster(t, service("to.a.io"), aggregated, hostile)
	roles := k.pass(kindAPIService, "to.a.io")
	if len(roles) != 1 || roles[aggregated.Name].Rules[0].Resources[0] != "pods" || k.Made() > 0 {
		t.Errorf("roles %+v, %d writes", roles, k.Made())
	}
}
