package permissions

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestCompare reads files with the sections old and new, and compares what is added with the section added.
func TestCompare(t *testing.T) {
	each(t, "testdata/compare/*.txtar", func(t *testing.T, sections map[string]string) map[string]string {
		old, new := documents(t, sections["old"]), documents(t, sections["new"])
		increase := Compare(old, new)
		if increase.Empty() != (increase.Digest() == "") || increase.Empty() != (increase.Message() == "") {
			t.Errorf("empty is %t, the digest %q, the message %q", increase.Empty(), increase.Digest(), increase.Message())
		}
		if !increase.Empty() && !strings.Contains(increase.Message(), AcknowledgedKey+": "+increase.Digest()) {
			t.Errorf("the message does not tell how to agree: %s", increase.Message())
		}
		if again := Compare(new, new); !again.Empty() && again.Unjudged == "" {
			t.Errorf("the new objects allow more than themselves:\n%s", again)
		}
		text := increase.String()
		if text != "" {
			text += "\n"
		}
		return map[string]string{"added": text}
	})
}

func TestDigestNamesWhatIsAdded(t *testing.T) {
	object := func(resource, verbs string) string {
		return `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules: [{apiGroups: [""], resources: [` + resource + `], verbs: [` + verbs + `]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: ops}]
`
	}
	digest := func(old, new string) string { return Compare(documents(t, old), documents(t, new)).Digest() }
	secrets := digest(object("pods", "get"), object("secrets, pods", "get"))
	if got := digest(object("pods", "list, get"), object("pods, secrets", "get, list")); got == secrets {
		t.Error("more verbs have the same digest")
	}
	must.Equal(t, "the same addition to other rules has the digest", digest(object("pods, configmaps", "get"), object("pods, secrets", "get")), secrets)
	must.Equal(t, "the same addition in other words has the digest", digest(object("pods", "get"), object("secrets, secrets, pods", "get, get")), secrets)
}
