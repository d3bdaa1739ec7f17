package ops

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMisnamedDefinitions: what an operator says of a definition, and cannot be, is said for that one, and nothing is read with it; the others are counted.
func TestMisnamedDefinitions(t *testing.T) {
	long := strings.Repeat("a", 150) + "." + strings.Repeat("b.", 70) + "example.com"
	for name, test := range map[string]struct {
		of   v1alpha1.CRDDescription
		want string
	}{
		"a slash":                        {v1alpha1.CRDDescription{Name: "kites/x.example.com", Kind: "Kite", Version: "v1"}, `no CustomResourceDefinition can be called "kites/x.example.com": a name is PLURAL.GROUP`},
		"a slash in a group":             {v1alpha1.CRDDescription{Name: "kites.example.com/x", Kind: "Kite", Version: "v1"}, `can be called "kites.example.com/x"`},
		"no name":                        {v1alpha1.CRDDescription{Kind: "Kite", Version: "v1"}, `can be called ""`},
		"spaces":                         {v1alpha1.CRDDescription{Name: "my kites.example.com", Kind: "Kite", Version: "v1"}, `can be called "my kites.example.com"`},
		"dots":                           {v1alpha1.CRDDescription{Name: "..", Kind: "Kite", Version: "v1"}, `can be called ".."`},
		"a way up":                       {v1alpha1.CRDDescription{Name: "../../api.v1", Kind: "Kite", Version: "v1"}, `can be called "../../api.v1"`},
		"too long":                       {v1alpha1.CRDDescription{Name: long, Kind: "Kite", Version: "v1"}, `which has 302 characters: a name has at most 253`},
		"no group, as Secrets have none": {v1alpha1.CRDDescription{Name: "secrets", Kind: "Secret", Version: "v1"}, `can be called "secrets"`},
		"what is not seen":               {v1alpha1.CRDDescription{Name: "kites\u202e.example.com", Kind: "Kite", Version: "v1"}, `can be called "kites\u202e.example.com"`},
		"a kind with a slash":            {v1alpha1.CRDDescription{Name: "x.example.com", Kind: "Ki/te", Version: "v1"}, `no kind can be called "Ki/te"`},
		"no kind":                        {v1alpha1.CRDDescription{Name: "x.example.com", Version: "v1"}, `no kind can be called ""`},
		"a version with a slash":         {v1alpha1.CRDDescription{Name: "x.example.com", Kind: "Kite", Version: "v1/x"}, `no version can be called "v1/x"`},
	} {
		t.Run(name, func(t *testing.T) {
			listed := 0
			c := operandCluster(t, func(kind, _ string) error {
				if strings.HasPrefix(kind, "Ki") {
					listed++
				}
				if kind != "KiteList" && (strings.HasPrefix(kind, "Ki") || kind == "List" || kind == "SecretList") {
					return errors.New("it is read")
				}
				return nil
			})
			var csv v1alpha1.ClusterServiceVersion
			must.NoError(t, c.Get(context.Background(), client.ObjectKey{Namespace: "ops", Name: "kite.v2"}, &csv))
			csv.Spec.CustomResourceDefinitions.Owned = append([]v1alpha1.CRDDescription{test.of}, csv.Spec.CustomResourceDefinitions.Owned...)
			must.NoError(t, c.Update(context.Background(), &csv))
			found := must.Value(ReadOperands(t.Context(), c, "ops", "my"))(t)
			must.Equal(t, "kinds", len(found.Kinds), 2)
			must.Equal(t, "lists of the kind that is right", listed, 1)
			for _, k := range found.Kinds {
				if k.Definition == "kites.example.com" {
					must.Equal(t, "the other one", []any{k.Count, k.Problem}, []any{8, ""})
					continue
				}
				must.Equal(t, "count", k.Count, -1)
				must.Contain(t, "the problem", k.Problem, test.want, "; correct spec.customresourcedefinitions.owned of ClusterServiceVersion ops/kite.v2")
			}
			must.Contain(t, "the table", operandText(t, c, "ops", "my"), "are not counted: no ", test.want, "kite-0, kite-1")
			_, _, err := FindOperandKind(t.Context(), c, "ops", test.of.Name)
			must.Fail(t, "to find it", err, test.want)
			must.Equal(t, "it is the fault of the question", messages.Asked(err).Lack, messages.NotFit)
		})
	}
}
