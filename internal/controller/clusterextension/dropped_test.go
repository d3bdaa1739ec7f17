package clusterextension

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// brings makes a bundle have a CRD.
func (w *world) brings(bundle string, crd *apiextensionsv1.CustomResourceDefinition) {
	w.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	w.must(err)
	w.extra[bundle] = append(w.extra[bundle], &unstructured.Unstructured{Object: content})
}

// installCRD puts a CRD into the cluster, where a revision controls it.
func (w *world) installCRD(crd *apiextensionsv1.CustomResourceDefinition, by *olmv1.ClusterObjectSet) {
	w.t.Helper()
	by.UID = types.UID("uid-of-" + by.Name)
	w.must(w.client.Update(w.t.Context(), by))
	crd.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(by, olmv1.GroupVersion.WithKind(olmv1.ClusterObjectSetKind))}
	w.must(w.client.Create(w.t.Context(), crd))
}

// counted makes all CRDs have as many custom resources, and returns how often a person has counted.
func (w *world) counted(n int64, err error) *int {
	asked := 0
	w.controller.count = func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) (int64, bool, error) {
		asked++
		return n, false, err
	}
	return &asked
}

// TestUpgradeThatDropsACRD is refused while there are custom resources.
func TestUpgradeThatDropsACRD(t *testing.T) {
	const refused = `True/Retrying: validating upgrade for CRD "things.example.com": removal: bundle a.v1.1.0 does not have it, so that it would be deleted, but `
	annotate := func(text string) func(*olmv1.ClusterExtension) {
		return func(ext *olmv1.ClusterExtension) { ext.Annotations = map[string]string{revision.ExemptionsKey: text} }
	}
	for name, test := range map[string]struct {
		n       int64
		err     error
		foreign bool
		change  func(*olmv1.ClusterExtension)
		want    string // the beginning of Progressing; empty is an upgrade
	}{
		"custom resources":      {n: 3, want: refused + "it has 3 custom resources; delete them if they are not needed, or let them be deleted"},
		"one custom resource":   {n: 1, want: refused + "it has 1 custom resource;"},
		"none":                  {},
		"it is not known":       {err: errors.New("the webhook is down"), want: refused + "it is not known whether it has custom resources: the webhook is down"},
		"somebody else has it":  {n: 3, foreign: true},
		"it is exempt":          {n: 3, change: annotate("minimum; removal things.example.com")},
		"another one is exempt": {n: 3, change: annotate("removal others.example.com"), want: refused},
		"an exemption of what?": {n: 3, change: annotate("a b c d"), want: "False/InvalidConfiguration"},
		"no checks of schemas": {n: 3, change: func(ext *olmv1.ClusterExtension) {
			ext.Spec.Install = &olmv1.ClusterExtensionInstallConfig{Preflight: &olmv1.PreflightConfig{CRDUpgradeSafety: &olmv1.CRDUpgradeSafetyPreflightConfig{
				Enforcement: olmv1.CRDUpgradeSafetyEnforcementNone}}}
		}, want: refused},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			w.brings("a.v1.0.0", definition(2))
			w.serve("cat", pkg("a", "1.0.0"))
			w.settle("my")
			owner := w.newest("my")
			if test.foreign {
				owner = &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "else"}}
				w.add(owner)
			}
			w.installCRD(definition(2), owner)
			if test.change != nil {
				w.change("my", test.change)
			}
			asked := w.counted(test.n, test.err)
			if w.settle("my"); *asked != 0 {
				t.Errorf("custom resources are counted although nothing is to be written, %d times", *asked)
			}
			w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
			result := w.pass("my")
			if test.want == "" {
				must.Equal(t, "there is no upgrade", w.newest("my").Spec.Revision, 2)
				return
			}
			if got := w.condition("my", "Progressing"); w.newest("my").Spec.Revision != 1 || !strings.HasPrefix(got, test.want) || result.RequeueAfter == 0 {
				t.Errorf("%v, %s, want %s", names(w.revisions("my")), got, test.want)
			}
			w.server.Taken()
			w.pass("my")
			must.Empty(t, "the same is written again", w.server.Writes())
			w.counted(0, nil)
			w.change("my", func(ext *olmv1.ClusterExtension) { ext.Annotations = nil })
			w.pass("my")
			must.Equal(t, "without custom resources there is no upgrade", w.newest("my").Spec.Revision, 2)
		})
	}
}

// TestRollbackThatDropsACRD is refused, whether a person asks for it or a rollout has failed.
func TestRollbackThatDropsACRD(t *testing.T) {
	for name, ask := range map[string]func(w *world){
		"asked for": func(w *world) { w.annotate("my", desired.RollbackToKey, "1") },
		"by itself": func(w *world) {
			w.annotate("my", revision.OnFailureKey, revision.OnFailureRollback)
			w.says(w.newest("my"), exceeded...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			w.brings("a.v1.1.0", definition(2))
			w.serve("cat", pkg("a", "1.0.0"))
			w.settle("my")
			w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
			w.pass("my")
			w.installCRD(definition(2), w.newest("my"))
			w.counted(2, nil)
			ask(w)
			w.pass("my")
			got := progressOf(w.extension("my")).Message
			if w.newest("my").Spec.Revision != 2 || !revision.Active(w.newest("my")) || !strings.Contains(got, "bundle a.v1.0.0 does not have it") {
				t.Errorf("%v: %s", names(w.revisions("my")), got)
			}
			if told := strings.Contains(got, "revision my-2, whose rollout has failed, stays"); told != (name == "by itself") {
				t.Error(got)
			}
			w.counted(0, nil)
			w.pass("my")
			must.Equal(t, "without custom resources there is no way back", w.newest("my").Spec.Revision, 3)
		})
	}
}
