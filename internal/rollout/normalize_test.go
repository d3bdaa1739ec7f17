package rollout

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// TestPruneKeepsFalseOverTrue: a false that the type omits has to be applied where another client has set true.
func TestPruneKeepsFalseOverTrue(t *testing.T) {
	scheme := runtime.NewScheme()
	must.NoError(t, corev1.AddToScheme(scheme))
	pod := func(spec string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		must.NoError(t, yaml.Unmarshal([]byte("{apiVersion: v1, kind: Pod, spec: "+spec+"}"), &u.Object))
		return u
	}
	tests := map[string]struct{ desired, live, want, warning string }{
		"over a true":         {desired: "{nodeName: a, hostNetwork: false}", live: "{hostNetwork: true}", want: "{nodeName: a, hostNetwork: false}"},
		"over nothing":        {desired: "{nodeName: a, hostNetwork: false}", live: "{nodeName: a}", want: "{nodeName: a}"},
		"over another field":  {desired: "{nodeName: a, hostNetwork: false}", live: "{hostPID: true}", want: "{nodeName: a}"},
		"of an unknown field": {desired: "{nodeName: a, hostRadio: false}", live: "{nodeName: a}", want: "{nodeName: a}", warning: `unknown field "spec.hostRadio"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			desired := pod(test.desired)
			warnings := prune(scheme, desired, pod(test.live))
			must.Equal(t, "pruned", desired.Object["spec"], pod(test.want).Object["spec"])
			if test.warning == "" {
				must.Empty(t, "warnings", warnings)
			} else {
				must.Equal(t, "warnings", warnings, []string{test.warning})
			}
		})
	}
}
