package preview

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestRoleNameOfASubscription: Subscriptions of one name in several namespaces, and a ClusterExtension of that name, do not share ClusterRoles.
func TestRoleNameOfASubscription(t *testing.T) {
	must.Equal(t, "name", roleName("ops", "mine"), "ops:mine-installer")
	long := strings.Repeat("n", 63)
	seen := map[string]bool{"mine-installer": true}
	for _, sub := range [][2]string{{"ops", "mine"}, {"team", "mine"}, {"a", "b-c"}, {"a-b", "c"}, {long, strings.Repeat("s", 252) + "a"}, {long, strings.Repeat("s", 252) + "b"}} {
		name := roleName(sub[0], sub[1])
		if seen[name] || len(name) > 253 || !strings.HasPrefix(name, sub[0]+":") || !strings.HasSuffix(name, "-installer") {
			t.Errorf("%s/%s: %s", sub[0], sub[1], name)
		}
		seen[name] = true
	}
}
