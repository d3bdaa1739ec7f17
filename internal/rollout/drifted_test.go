package rollout

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// TestDriftOfWhatAnotherManagerWrote: an object that this manager has never written is left as it is while it has all that is desired.
func TestDriftOfWhatAnotherManagerWrote(t *testing.T) {
	object := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		must.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
		return u
	}
	desired := `{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: "1"}}, spec: {replicas: 2, containers: [{name: c, args: [x]}]}}`
	tests := map[string]struct {
		live, manager string
		want          bool
	}{
		"the same, and defaults":    {live: `{metadata: {name: p, labels: {a: "1", b: "2"}}, spec: {replicas: 2, dns: d, containers: [{name: c, args: [x], pull: Always}]}}`},
		"another value":             {live: `{metadata: {name: p, labels: {a: "1"}}, spec: {replicas: 3, containers: [{name: c, args: [x]}]}}`, want: true},
		"a missing label":           {live: `{metadata: {name: p}, spec: {replicas: 2, containers: [{name: c, args: [x]}]}}`, want: true},
		"a missing item":            {live: `{metadata: {name: p, labels: {a: "1"}}, spec: {replicas: 2, containers: [{name: c}]}}`, want: true},
		"one item more":             {live: `{metadata: {name: p, labels: {a: "1"}}, spec: {replicas: 2, containers: [{name: c, args: [x, y]}]}}`, want: true},
		"no object below":           {live: `{metadata: {name: p, labels: {a: "1"}}, spec: none}`, want: true},
		"fields of ours, no digest": {live: `{metadata: {name: p, labels: {a: "1"}}, spec: {replicas: 2, containers: [{name: c, args: [x]}]}}`, manager: "ours", want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			live := object(test.live)
			if test.manager != "" {
				live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: test.manager, Operation: metav1.ManagedFieldsOperationApply}})
			}
			must.Equal(t, "drifted", Drifted(object(desired), live, "ours"), test.want)
		})
	}
}
