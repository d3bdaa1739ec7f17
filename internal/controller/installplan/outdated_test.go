package installplan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// version gives a ClusterServiceVersion a version, and the package op.
func version(csv *v1alpha1.ClusterServiceVersion, text string) *v1alpha1.ClusterServiceVersion {
	if err := yaml.Unmarshal([]byte(text), &csv.Spec.Version); err != nil {
		panic(err)
	}
	return ofPackage(csv, "op")
}

// TestAnOldPlanDoesNotGoBehindWhatIsInstalled has a plan for op.v1 carried out, such as one that was approved late, when the namespace has
// something else of that operator already. What the plan replaces is no reason to refuse it, whatever its version.
func TestAnOldPlanDoesNotGoBehindWhatIsInstalled(t *testing.T) {
	going := version(csv("ns", "op.v2", ""), "2.0.0")
	going.Finalizers, going.DeletionTimestamp = []string{"example.com/wait"}, new(metav1.NewTime(epoch))
	copied := csv("ns", "op.v2", "op.v1")
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}
	skipping := csv("ns", "op.v2", "op.v0")
	skipping.Spec.Skips = []string{"op.v1"}
	tests := map[string]struct {
		there    []client.Object
		replaces string // by op.v1
		refused  string // empty: it is carried out
	}{
		"nothing is there":                       {nil, "", ""},
		"what is there replaces it":              {[]client.Object{csv("ns", "op.v2", "op.v1")}, "", "ns has ClusterServiceVersion op.v2, which replaces it"},
		"it is there, and replaced by now":       {[]client.Object{csv("ns", "op.v1", ""), csv("ns", "op.v2", "op.v1")}, "", "op.v2, which replaces it"},
		"what is there replaces it indirectly":   {[]client.Object{csv("ns", "op.v2", "op.v1"), csv("ns", "op.v3", "op.v2")}, "", "which replaces it"},
		"what is there skips it":                 {[]client.Object{skipping}, "op.v0", "op.v2, which replaces it"},
		"a newer version of its package":         {[]client.Object{version(csv("ns", "op.v2", "op.v0"), "2.0.0")}, "op.v0", "op.v2, which is a newer version of package op"},
		"a newer version that goes away":         {[]client.Object{going}, "", ""},
		"an older version of its package":        {[]client.Object{version(csv("ns", "op.v0", ""), "0.9.0")}, "op.v0", ""},
		"it replaces what has a higher version":  {[]client.Object{version(csv("ns", "op.v2", ""), "2.0.0")}, "op.v2", ""},
		"it replaces what once replaced it":      {[]client.Object{version(csv("ns", "op.v2", "op.v1"), "2.0.0")}, "op.v2", ""},
		"it replaces what replaces the higher":   {[]client.Object{version(csv("ns", "op.v2", ""), "2.0.0"), version(csv("ns", "op.v0", "op.v2"), "0.9.0")}, "op.v0", ""},
		"another package has a newer version":    {[]client.Object{ofPackage(version(csv("ns", "other.v2", ""), "2.0.0"), "other")}, "", ""},
		"another namespace has what replaces it": {[]client.Object{csv("elsewhere", "op.v2", "op.v1")}, "", ""},
		"a copy would replace it":                {[]client.Object{copied}, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			incoming := version(csv("ns", "op.v1", tc.replaces), "1.0.0")
			incoming.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind}
			text := must.Value(yaml.Marshal(incoming))(t)
			w := newWorld(t, append(deepCopies(tc.there), liveCRD(t, "v2, v1 served", "v1"), newPlan(step(t, string(text)), step(t, withVersions("v1 served"))))...)
			p := w.settle(t, time.Hour)
			if tc.refused == "" {
				must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseComplete)
				return
			}
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
			must.Contain(t, "message", p.Status.Message, tc.refused)
			crd := &apiextensionsv1.CustomResourceDefinition{}
			w.get(t, crd, "", "widgets.example.com")
			must.Equal(t, "the CRD went back", len(crd.Spec.Versions), 2)
			for _, write := range w.Taken() {
				must.Equal(t, "it has done", write, reported)
			}
		})
	}
}

// TestAPlanWithSeveralOfALine installs a version and its successor at once. Neither makes the plan an old one.
func TestAPlanWithSeveralOfALine(t *testing.T) {
	second := step(t, strings.NewReplacer("op.v1", "op.v2", "displayName: Op", "replaces: op.v1").Replace(csvYAML))
	service := step(t, serviceYAML)
	second.Resolving, service.Resolving = "op.v2", "op.v2"
	w := newWorld(t, newPlan(step(t, csvYAML), second, service))
	broken := true
	w.Fault(func(what string, _ bool) error {
		if broken && what == "create Service web" {
			broken = false
			return errors.New("boom")
		}
		return nil
	})
	if p := w.settle(t, 10*time.Minute); broken || p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}
