package permissions

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/auth/rbac/validation"

	"fairlead.dev/fairlead/test/must"
)

// TestMissingAgreesWithBruteForce compares random clusters and bundles with an evaluation that goes through every combination by itself, with
// the comparison of rules that the API server uses.
func TestMissingAgreesWithBruteForce(t *testing.T) {
	for seed := range uint64(400) {
		g := generator{rand.New(rand.NewPCG(seed, 7))}
		cluster, objects := g.cluster(), g.bundle(t)
		subject := ServiceAccount("a", "installer")
		missing, err := Missing(subject, cluster.Source(), objects)
		if incomplete := (*IncompleteError)(nil); err != nil && !errors.As(err, &incomplete) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := bruteForce(t, cluster, subject, objects)
		for _, w := range want {
			if ok, _ := validation.Covers(rulesIn(missing, w.Namespace), []rbacv1.PolicyRule{w.PolicyRule}); !ok {
				t.Errorf("seed %d: %s is missing, and not told", seed, w)
			}
		}
		for _, m := range missing {
			if ok, extra := validation.Covers(rulesIn(want, m.Namespace), []rbacv1.PolicyRule{m.PolicyRule}); !ok {
				t.Errorf("seed %d: told as missing, and is not: %v of %s", seed, extra, m)
			}
		}
		for i := range missing {
			others := slices.Delete(slices.Clone(missing), i, i+1)
			if ok, _ := validation.Covers(rulesIn(others, missing[i].Namespace), []rbacv1.PolicyRule{missing[i].PolicyRule}); ok {
				t.Errorf("seed %d: %s is told twice in %v", seed, missing[i], missing)
			}
		}
		g.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		again, _ := Missing(subject, cluster.Source(), objects)
		if diff := cmp.Diff(missing, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d: another order of the objects gives another answer:\n%s", seed, diff)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// rulesIn are the rules that hold in a namespace: its own, and those of the whole cluster.
func rulesIn(missing []MissingRule, namespace string) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, m := range missing {
		if m.Namespace == "" || m.Namespace == namespace {
			rules = append(rules, m.PolicyRule)
		}
	}
	return rules
}

// bruteForce knows nothing of aggregation and of roles that exist already: the generator makes neither.
func bruteForce(t *testing.T, cluster RBAC, subject Subject, objects []*unstructured.Unstructured) []MissingRule {
	held := func(namespace string) []rbacv1.PolicyRule {
		var rules []rbacv1.PolicyRule
		for _, b := range cluster.ClusterRoleBindings {
			if subject.is(b.Subjects, "") {
				rules = append(rules, findRole(cluster, nil, "", b.RoleRef)...)
			}
		}
		for _, b := range cluster.RoleBindings {
			if b.Namespace == namespace && subject.is(b.Subjects, namespace) {
				rules = append(rules, findRole(cluster, nil, namespace, b.RoleRef)...)
			}
		}
		return rules
	}
	var missing []MissingRule
	want := func(namespace string, rules ...rbacv1.PolicyRule) {
		_, lacking := validation.Covers(held(namespace), rules)
		for _, rule := range lacking {
			missing = append(missing, MissingRule{namespace, rule})
		}
	}
	may := func(namespace, verb, resource, name string) bool {
		rule := rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{resource}}
		if name != "" {
			rule.ResourceNames = []string{name}
		}
		ok, _ := validation.Covers(held(namespace), []rbacv1.PolicyRule{rule})
		return ok
	}
	for _, object := range objects {
		group := object.GroupVersionKind().Group
		resource := map[string]string{"ConfigMap": "configmaps", "Role": "roles", "ClusterRole": "clusterroles", "RoleBinding": "rolebindings", "ClusterRoleBinding": "clusterrolebindings"}[object.GetKind()]
		namespace := object.GetNamespace()
		want(namespace,
			rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{group}, Resources: []string{resource}},
			rbacv1.PolicyRule{Verbs: []string{"get", "patch", "update", "delete"}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: []string{object.GetName()}})
		switch resource {
		case "roles", "clusterroles":
			if !may(namespace, "escalate", resource, "") {
				want(namespace, decode(t, object, &rbacv1.Role{}).Rules...)
			}
		case "rolebindings", "clusterrolebindings":
			ref := decode(t, object, &rbacv1.RoleBinding{}).RoleRef
			if !may(namespace, "bind", map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[ref.Kind], ref.Name) {
				want(namespace, findRole(cluster, objects, namespace, ref)...)
			}
		}
	}
	return missing
}

func decode[T any](t *testing.T, object *unstructured.Unstructured, into *T) *T {
	must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into))
	return into
}

func findRole(cluster RBAC, objects []*unstructured.Unstructured, namespace string, ref rbacv1.RoleRef) []rbacv1.PolicyRule {
	for _, object := range objects {
		if object.GetKind() == ref.Kind && object.GetName() == ref.Name && (ref.Kind == "ClusterRole" || object.GetNamespace() == namespace) {
			role := &rbacv1.Role{}
			if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role) == nil {
				return role.Rules
			}
		}
	}
	for _, role := range cluster.Roles {
		if ref.Kind == "Role" && role.Namespace == namespace && role.Name == ref.Name {
			return role.Rules
		}
	}
	for _, role := range cluster.ClusterRoles {
		if ref.Kind == "ClusterRole" && role.Name == ref.Name {
			return role.Rules
		}
	}
	return nil
}

// generator makes small clusters and bundles of few words, so that much of it matches.
type generator struct{ *rand.Rand }

func (g generator) some(words ...string) []string {
	var chosen []string
	for _, word := range words {
		if g.IntN(3) == 0 {
			chosen = append(chosen, word)
		}
	}
	if len(chosen) == 0 {
		chosen = append(chosen, words[g.IntN(len(words))])
	}
	return chosen
}

func (g generator) rules(urls bool) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for range g.IntN(4) {
		if urls && g.IntN(6) == 0 {
			rules = append(rules, rbacv1.PolicyRule{Verbs: g.some("get", "post", "*"), NonResourceURLs: g.some("/a", "/a/*", "/a/b", "/a*", "*")})
			continue
		}
		rule := rbacv1.PolicyRule{
			Verbs:     g.some("get", "create", "patch", "update", "delete", "escalate", "bind", "*"),
			APIGroups: g.some("", "rbac.authorization.k8s.io", "*"),
			Resources: g.some("configmaps", "roles", "clusterroles", "rolebindings", "clusterrolebindings", "pods/log", "pods", "*/log", "*"),
		}
		if g.IntN(3) == 0 {
			rule.ResourceNames = g.some("x", "y", "r0")
		}
		rules = append(rules, rule)
	}
	return rules
}

func (g generator) cluster() RBAC {
	cluster := RBAC{Resources: someResources()}
	subjects := func() []rbacv1.Subject {
		return []rbacv1.Subject{[]rbacv1.Subject{
			{Kind: "ServiceAccount", Namespace: "a", Name: "installer"}, {Kind: "ServiceAccount", Namespace: "b", Name: "installer"},
			{Kind: "Group", Name: "system:serviceaccounts"}, {Kind: "User", Name: "system:serviceaccount:a:installer"},
		}[g.IntN(4)]}
	}
	for i := range 1 + g.IntN(3) {
		name := fmt.Sprintf("held%d", i)
		meta := metav1.ObjectMeta{Name: name}
		cluster.ClusterRoles = append(cluster.ClusterRoles, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: g.rules(true)})
		cluster.ClusterRoleBindings = append(cluster.ClusterRoleBindings, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects(), RoleRef: roleRef("ClusterRole", name)})
		meta.Namespace = g.some("a", "b")[0]
		cluster.Roles = append(cluster.Roles, &rbacv1.Role{ObjectMeta: meta, Rules: g.rules(false)})
		cluster.RoleBindings = append(cluster.RoleBindings, &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects(), RoleRef: roleRef("Role", name)})
	}
	return cluster
}

// bundle never grants paths in a namespace: where a binding of a namespace would, it is told for the whole cluster.
func (g generator) bundle(t *testing.T) []*unstructured.Unstructured {
	objects := []*unstructured.Unstructured{}
	add := func(kind, apiVersion string, object any) {
		content := must.Value(runtime.DefaultUnstructuredConverter.ToUnstructured(object))(t)
		content["kind"], content["apiVersion"] = kind, apiVersion
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	for i := range g.IntN(3) {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("r%d", i), Namespace: g.some("a", "b")[0]}
		add("ConfigMap", "v1", &metav1.PartialObjectMetadata{ObjectMeta: meta})
		add("Role", "rbac.authorization.k8s.io/v1", &rbacv1.Role{ObjectMeta: meta, Rules: g.rules(false)})
		ref := roleRef("Role", fmt.Sprintf("%s%d", g.some("r", "held")[0], g.IntN(2)))
		add("RoleBinding", "rbac.authorization.k8s.io/v1", &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref})
		meta.Namespace = ""
		add("ClusterRole", "rbac.authorization.k8s.io/v1", &rbacv1.ClusterRole{ObjectMeta: meta, Rules: g.rules(true)})
		ref = roleRef("ClusterRole", fmt.Sprintf("%s%d", g.some("r", "held")[0], g.IntN(2)))
		add("ClusterRoleBinding", "rbac.authorization.k8s.io/v1", &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref})
	}
	return objects
}
