package operatorgroup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

const conflict = v1alpha1.CSVReasonInterOperatorGroupOwnerConflict

// lists waits until the OperatorGroup of a namespace lists the kinds of the test.
func (w *world) lists(namespace string, plurals ...string) {
	w.Helper()
	var want []string
	for _, plural := range plurals {
		want = append(want, w.api(plural))
	}
	slices.Sort(want)
	must.Eventually(w, fmt.Sprintf("the group of %s to list %v", namespace, plurals), func() error {
		group := &v1.OperatorGroup{}
		if w.In(namespace).Read("group", group); group.Annotations["olm.providedAPIs"] != strings.Join(want, ",") {
			return fmt.Errorf("it lists %q", group.Annotations["olm.providedAPIs"])
		}
		return nil
	})
}

// TestIntersection has five groups. Who comes second to the same API in the same namespace is refused, both are named, and each way out of
// the conflict works: other targets, no operator, another API.
func TestIntersection(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(7)
	a, b, c, d, e, x, y := n[0], n[1], n[2], n[3], n[4], n[5], n[6]
	w.crds("geese", "ducks")
	w.group(a, naming(x))
	w.group(b, naming(y))
	w.group(c, naming(x, y))
	w.group(d, naming(a)) // the namespace of a group is always among those it reaches
	w.group(e, naming(x))
	w.install(a, w.providing("geese"))
	w.install(b, w.providing("geese"))
	w.lists(a, "geese")
	w.lists(b, "geese")
	for _, second := range []string{c, d} {
		w.Make(w.operator(second, w.providing("geese")))
		csv := w.In(second).Is(w.csv, v1alpha1.CSVPhaseFailed, conflict)
		for _, words := range []string{w.api("geese"), "OperatorGroup " + a + "/group", second + "/group"} {
			must.Contain(t, "message", csv.Status.Message, words)
		}
		w.lists(second)
		if w.In(second).Read("manager", &appsv1.Deployment{}) {
			t.Errorf("the operator of %s runs", second)
		}
	}
	w.install(e, w.providing("ducks"))
	w.lists(e, "ducks")
	// d moves out of the way of a.
	w.targets(d, d)
	w.In(d).Succeeds(w.csv)
	w.lists(d, "geese")
	// a loses its operator; b is still in the way of c, until that one leaves its namespace.
	w.Remove(w.operator(a))
	w.lists(a)
	w.In(c).Is(w.csv, v1alpha1.CSVPhaseFailed, conflict)
	w.targets(c, x)
	w.In(c).Succeeds(w.csv)
	// c grows into what b has: c gives way and stops, b runs on.
	w.targets(c, x, y)
	w.In(c).Is(w.csv, v1alpha1.CSVPhaseFailed, conflict)
	w.In(c).Goes("manager", &appsv1.Deployment{})
	w.In(b).Succeeds(w.csv)
	w.lists(b, "geese")
	w.lists(c)
	// Another API is no conflict.
	edit(w, c, w.csv, &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = nil
	})
	w.In(c).Succeeds(w.csv)
}

// TestStaticGroups keep what their author says: nobody else provides it there, and they take no more.
func TestStaticGroups(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(3)
	guard, home, x := n[0], n[1], n[2]
	w.crds("geese", "ducks")
	w.Make(&v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: guard, Name: "group", Annotations: map[string]string{"olm.providedAPIs": w.api("geese")}},
		Spec: v1.OperatorGroupSpec{TargetNamespaces: []string{x}, StaticProvidedAPIs: true}})
	w.group(home, naming(x))
	w.Make(w.operator(home, w.providing("geese")))
	w.In(home).Is(w.csv, v1alpha1.CSVPhaseFailed, conflict)
	w.Make(w.operator(guard, w.providing("ducks")))
	csv := w.In(guard).Is(w.csv, v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs)
	must.Contain(t, "message", csv.Status.Message, "add "+w.api("ducks"))
	w.lists(guard, "geese")
	// The author gives the one up and takes the other one.
	edit(w, guard, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Annotations["olm.providedAPIs"] = w.api("ducks") })
	w.In(home).Succeeds(w.csv)
	w.In(guard).Succeeds(w.csv)
	w.lists(guard, "ducks")
	w.lists(home, "geese")
}

// TestAccess: who is bound to a role of the group has that access to what its operators provide, and nobody else.
func TestAccess(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(2)
	home, x := n[0], n[1]
	w.crds("geese")
	w.group(home, naming(x))
	w.install(home, w.providing("geese"))
	var roles rbacv1.ClusterRoleList
	if err := w.List(t.Context(), &roles, client.MatchingLabels{"olm.owner": "group", "olm.owner.namespace": home, "olm.owner.kind": "OperatorGroup"}); err != nil || len(roles.Items) != 3 {
		t.Fatalf("%d roles of the group (%v)", len(roles.Items), err)
	}
	for _, role := range roles.Items {
		level := strings.TrimPrefix(role.Name[:strings.LastIndex(role.Name, "-")], "olm.og.group.")
		w.Make(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: x, Name: level}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: w.Namespace + "-" + level}}})
	}
	may := func(level, verb string) bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: w.Namespace + "-" + level,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: x, Verb: verb, Group: w.apiGroup(), Version: "v1", Resource: "geese"}}}
		w.Make(review)
		return review.Status.Allowed
	}
	for level, verbs := range map[string][]string{"admin": {"deletecollection", "create", "get"}, "edit": {"create", "update", "patch", "delete"}, "view": {"get", "list", "watch"}} {
		for _, verb := range verbs {
			must.Eventually(w, level+" to "+verb, func() error {
				if !may(level, verb) {
					return fmt.Errorf("not allowed")
				}
				return nil
			})
		}
	}
	for level, verb := range map[string]string{"view": "create", "edit": "deletecollection", "nobody": "get"} {
		if may(level, verb) {
			t.Errorf("%s may %s", level, verb)
		}
	}
}

// TestServiceAccountOfAGroup: what the named account may not do, is not done, and said; it is once the account may, or counts no more.
func TestServiceAccountOfAGroup(t *testing.T) {
	sweep.Nightly(t, "TestServiceAccountOfTheGroup of test/e2e/clusterserviceversion")
	t.Parallel()
	for way, out := range map[string]func(w *world, home string){
		"more permissions": func(w *world, home string) {
			w.Make(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "all"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
				Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: home, Name: "default"}}})
		},
		"no account": func(w *world, home string) {
			edit(w, home, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Spec.ServiceAccountName = "" })
		},
	} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t)
			home := w.Namespace
			w.group(home, v1.OperatorGroupSpec{TargetNamespaces: []string{home}, ServiceAccountName: "default"})
			w.Make(w.operator(home))
			csv := w.In(home).Is(w.csv, v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonComponentFailedNoRetry)
			must.Contain(t, "message", csv.Status.Message, "forbidden", "default")
			out(w, home)
			w.In(home).Succeeds(w.csv)
		})
	}
}
