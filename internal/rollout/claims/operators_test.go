package claims

import (
	"context"
	"encoding/json"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestLine(t *testing.T) {
	all := Operators{
		{Namespace: "ns", Name: "op.v1"}, {Namespace: "ns", Name: "op.v2", Replaces: "op.v1"}, {Namespace: "ns", Name: "op.v4", Replaces: "op.v3"},
		{Namespace: "ns", Name: "other.v1"}, {Namespace: "elsewhere", Name: "op.v9", Replaces: "op.v2"},
		{Namespace: "ns", Name: "self", Replaces: "self"},
	}
	tests := map[string]struct {
		incoming Operator
		want     []string
	}{
		"the next version":            {Operator{Namespace: "ns", Name: "op.v3", Replaces: "op.v2"}, []string{"op.v1", "op.v2", "op.v3", "op.v4"}},
		"a first version":             {Operator{Namespace: "ns", Name: "new.v1"}, []string{"new.v1"}},
		"replaced one is gone":        {Operator{Namespace: "ns", Name: "op.v8", Replaces: "op.v7"}, []string{"op.v7", "op.v8"}},
		"an operator replaces itself": {Operator{Namespace: "ns", Name: "self", Replaces: "self"}, []string{"self"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := map[string]bool{}
			for _, n := range tc.want {
				want[n] = true
			}
			must.Equal(t, "line", all.line(tc.incoming), want)
		})
	}
}

// TestOperatorsOfManyPages: what a ClusterServiceVersion does not say is not what one of the page before said. Lists are decoded as the API server's answers
// are: into the list that is given.
func TestOperatorsOfManyPages(t *testing.T) {
	const first = `{"metadata":{"continue":"more"},"items":[{"metadata":{"namespace":"a","name":"kite.v2","deletionTimestamp":"2026-01-01T00:00:00Z"},
		"spec":{"replaces":"kite.v1","skips":["kite.v0"],"customresourcedefinitions":{"owned":[{"name":"kites.example.com","version":"v1"}]}}}]}`
	const second = `{"metadata":{},"items":[{"metadata":{"namespace":"b","name":"hawk.v1"},"spec":{}}]}`
	reader := interceptor.NewClient(fake.NewClientBuilder().WithScheme(fakeapi.Scheme(v1alpha1.AddToScheme)).Build(), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			var asked client.ListOptions
			asked.ApplyOptions(options)
			text := first
			if asked.Continue != "" {
				text = second
			}
			return json.Unmarshal([]byte(text), list)
		}})
	all := must.Value(Operators{}.Beyond(t.Context(), reader, []string{"kites.example.com"}))(t)
	must.Equal(t, "operators", len(all), 2)
	kite, _ := all.find("a", "kite.v2")
	hawk, _ := all.find("b", "hawk.v1")
	if kite.Replaces != "kite.v1" || len(kite.Skips) != 1 || len(kite.crds) != 1 || !kite.Leaving {
		t.Errorf("the first page: %+v", kite)
	}
	if hawk.Replaces != "" || len(hawk.Skips) != 0 || len(hawk.crds) != 0 || hawk.Leaving {
		t.Errorf("the second page has something of the first: %+v", hawk)
	}
}
