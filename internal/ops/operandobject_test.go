package ops

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var kiteKind = OperandKind{Kind: "Kite", Definition: "kites.example.com", Version: "v1"}

// TestOneOperand: a custom resource is shown, created and deleted, and its kind is one that an operator owns.
func TestOneOperand(t *testing.T) {
	c := removalCluster(t, append(classic(nil), definition("kites.example.com", true), kite("a", "example.com/x"))...)
	kind, _, err := FindOperandKind(t.Context(), c, "ops", "kites.example.com")
	must.NoError(t, err)
	must.Equal(t, "kind", []string{kind.Kind, kind.Version}, []string{"Kite", "v1"})
	_, _, err = FindOperandKind(t.Context(), c, "ops", "secrets")
	must.Fail(t, "a kind that no operator owns", err, "no operator that you may see here owns that definition")
	if !apierrors.IsNotFound(err) {
		t.Errorf("it is %v", err)
	}
	o := must.Value(ReadOperand(t.Context(), c, *kind, client.ObjectKey{Namespace: "sky", Name: "a"}))(t)
	must.Contain(t, "YAML", o.YAML, "kind: Kite\n", "name: a\n")
	must.Equal(t, "finalizers", o.Finalizers, []string{"example.com/x"})

	server := &fakeapi.Server{Inner: c}
	server.WithWatch = server.As("")
	made := must.Value(ParseOperand(*kind, "sky", "apiVersion: example.com/v1\nkind: Kite\nmetadata: {name: b}\n"))(t)
	must.NoError(t, CreateOperand(t.Context(), server, made.DeepCopy(), true))
	must.Equal(t, "a dry run", server.Taken(), []string{"try Kite b"})
	if there(t, c, kite("b")) {
		t.Error("a dry run has created it")
	}
	must.NoError(t, CreateOperand(t.Context(), c, made, false))
	if !there(t, c, kite("b")) {
		t.Error("it is not created")
	}
	must.NoError(t, DeleteOperand(t.Context(), c, *kind, client.ObjectKey{Namespace: "sky", Name: "b"}))
	if there(t, c, kite("b")) {
		t.Error("it is not deleted")
	}
}

// TestWhatIsNoOperand is refused with what to write instead.
func TestWhatIsNoOperand(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nothing":       {"\n---\n", "there is no object"},
		"no YAML":       {"a: [", "it is no YAML"},
		"another kind":  {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}", "it is a Secret of v1: only apiVersion example.com/VERSION and kind Kite"},
		"another group": {"apiVersion: evil.example.com/v1\nkind: Kite\nmetadata: {name: x}", "it is a Kite of evil.example.com/v1"},
		"two":           {"apiVersion: example.com/v1\nkind: Kite\nmetadata: {name: x}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: x}", "there is more than one object"},
		"no name":       {"apiVersion: example.com/v1\nkind: Kite\n", "write metadata.name"},
		"no kind":       {"metadata: {name: x}", "it needs apiVersion, kind and metadata"},
		"a list":        {"[1]", "read the Kite"},
		"too long":      {strings.Repeat("#", maxOperand+1), "may have 1048576"},
	} {
		_, err := ParseOperand(kiteKind, "sky", test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := must.Value(ParseOperand(kiteKind, "sky", "apiVersion: example.com/v2\nkind: Kite\nmetadata: {name: x, namespace: other}"))(t)
	must.Equal(t, "the namespace that it names", o.GetNamespace(), "other")
}

// TestExamples of operators are shown without status; what a hostile bundle has there does no harm.
func TestExamples(t *testing.T) {
	for name, test := range map[string]struct {
		annotation string
		want       []string
	}{
		"none":          {"", []string{"apiVersion: example.com/v1\nkind: Kite\nmetadata:\n  name: example\nspec: {}\n"}},
		"no JSON":       {"<script>", []string{"apiVersion: example.com/v1\nkind: Kite\nmetadata:\n  name: example\nspec: {}\n"}},
		"of its kind":   {`[{"apiVersion":"example.com/v1","kind":"Kite","metadata":{"name":"e"},"status":{"x":1}},{"apiVersion":"v1","kind":"Secret"}]`, []string{"apiVersion: example.com/v1\nkind: Kite\nmetadata:\n  name: e\n"}},
		"nothing in it": {`[null]`, []string{"apiVersion: example.com/v1\nkind: Kite\nmetadata:\n  name: example\nspec: {}\n"}},
	} {
		c := removalCluster(t, classic(func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Annotations = map[string]string{examplesKey: test.annotation}
		})...)
		must.Equal(t, name, must.Value(OperandExamples(t.Context(), c, "ops", kiteKind))(t), test.want)
	}
}
