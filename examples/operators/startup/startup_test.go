package startup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

func TestNamespaces(t *testing.T) {
	tests := map[string]map[string]cache.Config{
		"":       nil,
		"a":      {"a": {}},
		"a, b,":  {"a": {}, "b": {}},
		" ,\t, ": nil,
	}
	for list, want := range tests {
		t.Run(list, func(t *testing.T) {
			if diff := cmp.Diff(want, namespaces(list)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
