package permissions

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// FuzzMissing holds that no objects, whatever they look like, crash anything, that their order does not matter, and that what is said to be
// missing is enough.
func FuzzMissing(f *testing.F) {
	each := "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
	f.Add([]byte(each+"Role\nmetadata: {name: r, namespace: a}\nrules:\n- {apiGroups: ['', '*'], resources: [pods/log], verbs: ['*']}\n"), []byte(each+"ClusterRole\nmetadata: {name: held0}\nrules:\n- {nonResourceURLs: ['/a*'], verbs: [get]}\n"))
	f.Add([]byte(each+"ClusterRole\nmetadata: {name: r}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\n"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: b}\n"))
	f.Add([]byte(each+"RoleBinding\nmetadata: {name: r, namespace: a}\nroleRef: {kind: ClusterRole, name: held0}\nsubjects: [{kind: Group, name: g}]\n"), []byte(each+"Role\nmetadata: 7\n"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var objects []*unstructured.Unstructured
		for _, document := range [][]byte{first, second} {
			object := map[string]any{}
			if len(document) > 1<<16 || yaml.Unmarshal(document, &object) != nil {
				t.Skip()
			}
			objects = append(objects, &unstructured.Unstructured{Object: object})
		}
		subject := ServiceAccount("a", "installer")
		cluster := RBAC{Resources: someResources(), ClusterRoles: []*rbacv1.ClusterRole{{ObjectMeta: metav1.ObjectMeta{Name: "held0"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"*"}}}}}}
		missing, err := Missing(subject, cluster.Source(), objects)
		slices.Reverse(objects)
		again, _ := Missing(subject, cluster.Source(), objects)
		if diff := cmp.Diff(missing, again, cmpopts.EquateEmpty()); diff != "" && objects[0].GetName() != objects[1].GetName() {
			t.Errorf("the order of objects matters:\n%s", diff)
		}
		if incomplete := (*IncompleteError)(nil); err != nil && !errors.As(err, &incomplete) {
			return
		}
		if _, err := Manifests("x", subject, missing); err != nil {
			t.Error(err)
		}
		if message := Message(missing, err); len(message) > 2*maxMessage {
			t.Errorf("a message of %d bytes", len(message))
		}
		for i, object := range granting("granted", subject, missing) {
			switch object := object.(type) {
			case *rbacv1.ClusterRole:
				cluster.ClusterRoles = append(cluster.ClusterRoles, object)
			case *rbacv1.ClusterRoleBinding:
				cluster.ClusterRoleBindings = append(cluster.ClusterRoleBindings, object)
			case *rbacv1.Role:
				cluster.Roles = append(cluster.Roles, object)
			case *rbacv1.RoleBinding:
				cluster.RoleBindings = append(cluster.RoleBindings, object)
			default:
				t.Fatalf("object %d is a %T", i, object)
			}
		}
		if rest, _ := Missing(subject, cluster.Source(), objects); len(rest) > 0 {
			t.Errorf("with %v granted, %v is still missing", missing, rest)
		}
		increase := Compare(objects[:1], objects)
		if increase.Digest() != Compare(objects[:1], objects).Digest() || increase.Empty() != (increase.Digest() == "") {
			t.Errorf("the digest of the same increase differs, or belongs to none: %q", increase.Digest())
		}
		if !Compare(objects, objects).Empty() && Compare(objects, objects).Unjudged == "" {
			t.Errorf("objects allow more than themselves:\n%s", Compare(objects, objects))
		}
	})
}

// TestLimits holds that objects which ask for too much are refused soon, and told of in few words.
func TestLimits(t *testing.T) {
	words := func(n int) []string {
		var all []string
		for i := range n {
			all = append(all, strings.Repeat("x", 1+i%40)+string(rune('a'+i%26)))
		}
		return all
	}
	many := func(n int, rule rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return slices.Repeat([]rbacv1.PolicyRule{rule}, n)
	}
	rule := rbacv1.PolicyRule{Verbs: words(40), APIGroups: words(10), Resources: words(40)}
	tests := map[string]struct{ held, wanted []rbacv1.PolicyRule }{
		"too many rights":         {nil, []rbacv1.PolicyRule{{Verbs: words(5000), APIGroups: words(5000), Resources: words(5000), ResourceNames: words(5000)}}},
		"too many paths":          {nil, []rbacv1.PolicyRule{{Verbs: words(5000), NonResourceURLs: words(5000)}}},
		"too many rules":          {nil, many(1000, rule)},
		"too long a word":         {nil, []rbacv1.PolicyRule{{Verbs: []string{strings.Repeat("x", maxWord+1)}, APIGroups: []string{""}, Resources: []string{"pods"}}}},
		"too many rules are held": {many(20_000, rbacv1.PolicyRule{Verbs: []string{"none"}, APIGroups: []string{"*"}, Resources: []string{"*"}}), many(5, rule)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			subject := ServiceAccount("a", "installer")
			meta := metav1.ObjectMeta{Name: "held"}
			cluster := RBAC{Resources: someResources(),
				ClusterRoles:        []*rbacv1.ClusterRole{{ObjectMeta: meta, Rules: test.held}},
				ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{{ObjectMeta: meta, RoleRef: roleRef("ClusterRole", "held"), Subjects: []rbacv1.Subject{subject.bindable()}}}}
			objects := documents(t, manifest(t, &rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: "wanted"}, Rules: test.wanted})+"---\n"+
				manifest(t, &rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: "wanted"}, RoleRef: roleRef("ClusterRole", "wanted"), Subjects: []rbacv1.Subject{subject.bindable()}}))
			begin := time.Now()
			missing, err := Missing(subject, cluster.Source(), objects)
			if limit := (limitError{}); !errors.As(err, &limit) || len(missing) > 0 {
				t.Errorf("Missing = %d rules, %v; want an error about a limit", len(missing), err)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if test.held != nil {
				return
			}
			increase := Compare(nil, objects)
			if increase.Unjudged == "" || increase.Empty() || len(increase.Message()) > 2*maxMessage {
				t.Errorf("Compare = %s", increase)
			}
			objects[0].SetLabels(map[string]string{"changed": "true"})
			if Compare(nil, objects).Digest() == increase.Digest() {
				t.Error("other objects that cannot be judged have the same digest")
			}
		})
	}
}

func manifest(t testing.TB, object any) string {
	t.Helper()
	text := must.Value(yaml.Marshal(object))(t)
	return string(bytes.TrimSpace(text)) + "\n"
}
