package crd

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
	"fairlead.dev/fairlead/version"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// release is what a published bundle has to do with CRDs.
type release struct {
	version  string
	files    map[string][]byte
	crds     map[string]*definition
	examples []map[string]any
}

// releases are the newest of the public bundles, so many of each package, oldest first.
func releases(t *testing.T, most int) map[string][]*release {
	t.Helper()
	found := map[string]*release{}
	packages := map[string][]*release{}
	publicdata.Each(t, publicdata.Bundles, func(name string, content func() []byte) {
		parts := strings.Split(name, "/")
		if len(parts) < 5 || parts[3] != "manifests" {
			return
		}
		key := parts[1] + "/" + parts[2]
		if found[key] == nil {
			found[key] = &release{version: parts[2], files: map[string][]byte{}, crds: map[string]*definition{}}
			packages[parts[1]] = append(packages[parts[1]], found[key])
		}
		found[key].files[name] = content()
	})
	for name, list := range packages {
		slices.SortFunc(list, func(a, b *release) int {
			left, errLeft := version.Parse(a.version)
			right, errRight := version.Parse(b.version)
			if errLeft != nil || errRight != nil {
				return cmp.Compare(a.version, b.version)
			}
			return left.Compare(right)
		})
		packages[name] = list[max(0, len(list)-most):]
		for _, r := range packages[name] {
			for file, content := range r.files {
				r.read(t, file, content)
			}
		}
	}
	return packages
}

func (r *release) read(t *testing.T, name string, content []byte) {
	var o struct {
		APIVersion, Kind string
		Metadata         struct{ Annotations map[string]string }
	}
	if yaml.Unmarshal(content, &o) != nil {
		return
	}
	switch {
	case o.Kind == "CustomResourceDefinition" && o.APIVersion == "apiextensions.k8s.io/v1":
		c := &definition{}
		must.NoErrorf(t, yaml.Unmarshal(content, c), "%s", name)
		c.Status.StoredVersions = []string{StorageVersion(c)}
		r.crds[c.Name] = c
	case o.Kind == "ClusterServiceVersion":
		var examples []map[string]any
		if json.Unmarshal([]byte(o.Metadata.Annotations["alm-examples"]), &examples) == nil {
			r.examples = examples
		}
	}
}

// TestPublicHistories upgrades every public CRD through its releases, every day through the last ones. A CRD that has not changed has no finding, and an example of an
// author that an upgrade makes invalid is an upgrade that the checks find unsafe.
func TestPublicHistories(t *testing.T) {
	var steps, unchanged, unsafe, broken, refused, warned, examples int
	for name, history := range releases(t, sweep.Of(2, 2, math.MaxInt)) {
		for i := range len(history) - 1 {
			for crd, old := range history[i].crds {
				new := history[i+1].crds[crd]
				if new == nil {
					continue
				}
				steps++
				findings := safety(old, new, Policy{})
				verdict := planRules(Change{Live: old, Desired: new})
				changed := verdict.Changed
				refused += len(verdict.Refused)
				warned += len(verdict.Warnings)
				if len(findings) > 0 {
					unsafe++
				}
				if len(changed) == 0 {
					unchanged++
				}
				if len(changed) == 0 && slices.ContainsFunc(findings, func(f Finding) bool { return !strings.Contains(f.Version, "->") && f.Version != "" }) {
					t.Errorf("%s %s -> %s: %s has not changed, but %v", name, history[i].version, history[i+1].version, crd, findings)
				}
				v, err := NewValidator(old, new, changed)
				if err != nil {
					t.Errorf("%s %s: %s: %v", name, history[i+1].version, crd, err)
					continue
				}
				for _, example := range history[i].examples {
					if example["kind"] != old.Spec.Names.Kind {
						continue
					}
					examples++
					budget := int64(celconfig.RuntimeCELCostBudget)
					problems, err := v.Check(t.Context(), whole(example).(map[string]any), "", &budget)
					must.NoErrorf(t, err, "%s", crd)
					if len(problems) > 0 {
						broken++
					}
					if len(problems) > 0 && len(findings) == 0 {
						t.Errorf("%s %s -> %s: %s is found safe, but %v", name, history[i].version, history[i+1].version, crd, problems)
					}
				}
			}
		}
	}
	t.Logf("%d steps of CRDs, %d without a change of a schema, %d unsafe, %d refused and %d warned of by the rules for InstallPlans; %d examples, %d of them become invalid",
		steps, unchanged, unsafe, refused, warned, examples, broken)
	if steps < 100 {
		t.Errorf("only %d steps: the bundles were not read", steps)
	}
}
