package bundle

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestHashes holds the names that clusters already have: another value would orphan existing objects.
func TestHashes(t *testing.T) {
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	tests := map[string]struct {
		got  func() (string, error)
		want string
	}{
		"role of a group":      {text(StringHash62("operator-ns/operator-group-1/admin")), "8rdAjL0E35JMMAkOqYmoorzjpIIihfnj3DcgDU"},
		"admin role":           {text(StringHash62("operators/global-operators/admin")), "5UD4U2IfBGbw51Qy2Jaefk1uawvkj2OJILlc3w"},
		"edit role":            {text(StringHash62("operators/global-operators/edit")), "9ZbzBIwu1SlHO7KbWinNtOfyGaVjTWIYhNkNP"},
		"view role":            {text(StringHash62("operators/global-operators/view")), "6lzJtrbG08ne4wrZHGxP3h1MBUjq5e7nOF4gax"},
		"API":                  {text(GVKHash(catalog.GVK{Group: "ghouls", Version: "v1alpha1", Kind: "Ghost"})), "6435ab0d7c6bda64"},
		"API with a long name": {text(GVKHash(catalog.GVK{Group: "etcd.database.coreos.com", Version: "v1beta2", Kind: "EtcdCluster"})), "c571d720f17289d3"},
		"alongside":            {text(InstalledAlongsideKey("operators", "etcdoperator.v0.9.4")), "operatorframework.io/installed-alongside-4b21bc9c2e75a808"},
		"empty object":         {func() (string, error) { return Hash62(struct{}{}) }, "4JmfNSKty2gqXbrQg2UonZs2626R3g4xHXikSh"},
		"null":                 {func() (string, error) { return Hash62(nil) }, "a4RLNWGF3wSwU3ZnthCsifWQxo6Y0mf6jrpF2c"},
		"rules":                {func() (string, error) { return PermissionHash(rules) }, "3Y9YdhK7d3Fe0rjjaFPWtPIIUI2QxhrMcQX5Z1"},
		"binding": {func() (string, error) {
			return BindingHash(rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "r"},
				[]rbacv1.Subject{{Kind: "ServiceAccount", Name: "sa", Namespace: "ns"}})
		}, "5xasUEoevBXLH8uOQsXTr3GPmeI0H06RYE4fKm"},
		"authority": {text(CAHash([]byte("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.got()
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func text(s string) func() (string, error) { return func() (string, error) { return s, nil } }

func TestHashesRefuse(t *testing.T) {
	_, err := Hash62(func() {})
	must.Fail(t, "Hash62", err, "hash func()")
}

func TestJoinName(t *testing.T) {
	suffix := strings.Repeat("h", 38)
	tests := map[string]struct {
		base string
		want string
	}{
		"short":            {"csv", "csv-" + suffix},
		"just fits":        {strings.Repeat("a", 24), strings.Repeat("a", 24) + "-" + suffix},
		"one too many":     {strings.Repeat("a", 25), strings.Repeat("a", 24) + "-" + suffix},
		"far too many":     {strings.Repeat("a", 200), strings.Repeat("a", 24) + "-" + suffix},
		"nothing to begin": {"", "-" + suffix},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := joinName(tc.base, suffix)
			if got != tc.want || len(got) > maxNameLength {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
