package gitops

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

// blocks are the YAML blocks of a page.
var blocks = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// examples are the objects that docs/gitops.md shows, in order.
func examples(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, block := range blocks.FindAllStringSubmatch(read(t, "docs", "gitops.md"), -1) {
		decoder := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(block[1])))
		for {
			text, err := decoder.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			must.NoError(t, err)
			object := map[string]any{}
			must.NoError(t, yaml.UnmarshalStrict(text, &object))
			all = append(all, &unstructured.Unstructured{Object: object})
		}
	}
	return all
}

// TestExamples: every example is an object of a kind that its tool has, with what the page relies on.
func TestExamples(t *testing.T) {
	count := map[string]int{}
	for _, o := range examples(t) {
		kind := o.GroupVersionKind().GroupKind().String()
		count[kind]++
		spec := func(path ...string) any {
			value, _, _ := unstructured.NestedFieldNoCopy(o.Object, append([]string{"spec"}, path...)...)
			return value
		}
		switch kind {
		case "Application.argoproj.io":
			must.Equal(t, o.GetName()+" comes from", spec("source", "path"), any("extensions/argocd"))
		case "ApplicationSet.argoproj.io":
			rings(t, o)
		case "Kustomization.kustomize.toolkit.fluxcd.io":
			must.Equal(t, o.GetName()+" waits", spec("wait"), any(true))
			must.Equal(t, o.GetName()+" has a source", spec("sourceRef", "kind"), any("GitRepository"))
		case "ClusterExtension.olm.operatorframework.io":
			must.NoError(t, yaml.UnmarshalStrict(must.Value(yaml.Marshal(o.Object))(t), &olmv1.ClusterExtension{}))
		case "Kustomization.kustomize.config.k8s.io":
			patches, _, _ := unstructured.NestedSlice(o.Object, "patches")
			for _, p := range patches {
				shipped := map[string]string{"argocd-cm.yaml": "argocd", "health-checks.yaml": "flux"}
				path := p.(map[string]any)["path"].(string)
				read(t, "config", "gitops", shipped[path], path)
			}
		default:
			t.Errorf("%s is of no kind that the page is about", kind)
		}
	}
	must.Equal(t, "examples", count, map[string]int{"Application.argoproj.io": 1, "ApplicationSet.argoproj.io": 1, "Kustomization.kustomize.toolkit.fluxcd.io": 4,
		"ClusterExtension.olm.operatorframework.io": 1, "Kustomization.kustomize.config.k8s.io": 2})
}

// rings: each step of a rolling sync selects Applications by a label that the template gives them, and each ring that is generated has a step.
func rings(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	type expression struct {
		Key      string   `json:"key"`
		Operator string   `json:"operator"`
		Values   []string `json:"values"`
	}
	var set struct {
		Spec struct {
			Generators []struct {
				Clusters struct {
					Selector struct {
						MatchExpressions []expression `json:"matchExpressions"`
					} `json:"selector"`
				} `json:"clusters"`
			} `json:"generators"`
			Strategy struct {
				Type        string `json:"type"`
				RollingSync struct {
					Steps []struct {
						MatchExpressions []expression `json:"matchExpressions"`
					} `json:"steps"`
				} `json:"rollingSync"`
			} `json:"strategy"`
			Template struct {
				Metadata struct {
					Labels map[string]string `json:"labels"`
				} `json:"metadata"`
			} `json:"template"`
		} `json:"spec"`
	}
	must.NoError(t, json.Unmarshal(must.Value(json.Marshal(o.Object))(t), &set))
	must.Equal(t, "strategy", set.Spec.Strategy.Type, "RollingSync")
	var staged []string
	for _, step := range set.Spec.Strategy.RollingSync.Steps {
		for _, e := range step.MatchExpressions {
			if _, labelled := set.Spec.Template.Metadata.Labels[e.Key]; !labelled {
				t.Errorf("no Application has the label %s", e.Key)
			}
			staged = append(staged, e.Values...)
		}
	}
	must.Equal(t, "rings", staged, set.Spec.Generators[0].Clusters.Selector.MatchExpressions[0].Values)
}

// TestExpressionsOfExamples: what the page shows of health check expressions is what is shipped, and each kind has them.
func TestExpressionsOfExamples(t *testing.T) {
	shipped, shown := shippedExpressions(t), 0
	for kind, apiVersion := range kinds {
		must.Equal(t, "version of "+kind, shipped[kind].APIVersion, apiVersion)
	}
	must.Equal(t, "kinds", len(shipped), len(kinds))
	for _, o := range examples(t) {
		all, _, _ := unstructured.NestedSlice(o.Object, "spec", "healthCheckExprs")
		for _, one := range all {
			var e expressions
			must.NoError(t, json.Unmarshal(must.Value(json.Marshal(one))(t), &e))
			must.Equal(t, "expressions of "+e.Kind, e, shipped[e.Kind])
			shown++
		}
	}
	if shown == 0 {
		t.Error("the page shows none")
	}
	if page := read(t, "docs", "gitops.md"); !strings.Contains(page, "kubectl wait --for=condition=Ready clusterextension/") {
		t.Error("the page shows no kubectl wait")
	}
}

// TestKindsOfThePage: each kind that has a verdict has a row that says what Ready means.
func TestKindsOfThePage(t *testing.T) {
	page := read(t, "docs", "gitops.md")
	for kind := range kinds {
		if !strings.Contains(page, "\n| "+kind+" | ") {
			t.Errorf("the page does not say what Ready means of %s", kind)
		}
	}
}
