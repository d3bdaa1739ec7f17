package catalogstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// crd is a definition of things.example.com with some versions.
func crd(note string, versions ...string) string {
	var list []string
	for i, v := range versions {
		list = append(list, fmt.Sprintf("{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, description: %q}}}", v, i == 0, note))
	}
	return fmt.Sprintf(`
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: things.example.com}
  spec:
    group: example.com
    scope: Namespaced
    names: {plural: things, singular: thing, kind: Thing}
    versions: [%s]
`, strings.Join(list, ", "))
}

// csv is a ClusterServiceVersion of op that owns versions of things.example.com.
func csv(version, replaces, displayName string, owns ...string) string {
	var list []string
	for _, v := range owns {
		list = append(list, fmt.Sprintf("{name: things.example.com, version: %s, kind: Thing}", v))
	}
	return fmt.Sprintf(`
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: op.v%[1]s}
  spec: {version: %[1]s, replaces: %[2]q, displayName: %[3]q, install: {strategy: deployment}, customresourcedefinitions: {owned: [%[4]s]}}
`, version, replaces, displayName, strings.Join(list, ", "))
}

// outline is what is served: packages with their default channel, channels with their head, and bundles with the versions that their
// definition has.
func outline(t *testing.T, x *catalog.Index) []string {
	t.Helper()
	var all []string
	for _, name := range x.PackageNames() {
		p, _ := x.Package(name)
		text := name + " " + p.DefaultChannel + ":"
		bundles := map[string]bool{}
		for _, c := range p.Channels {
			text += " " + c.Name + "=" + c.Head
			for _, e := range c.Entries {
				bundles[e.Name] = true
			}
		}
		all = append(all, text)
		for bundle := range bundles {
			b, _ := x.Bundle(name, bundle)
			manifests := must.Value(x.Manifests(b))(t)
			for _, m := range manifests {
				if kind := string(m); strings.Contains(kind, `"CustomResourceDefinition"`) {
					versions := []string{}
					for _, v := range []string{"v1alpha1", "v1beta1", "v1"} {
						if strings.Contains(kind, `"name":"`+v+`"`) {
							versions = append(versions, v)
						}
					}
					all = append(all, bundle+" defines "+strings.Join(versions, ","))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestWhatCanBeServedIs: ConfigMaps that other implementations serve are served, with a warning where something is left out or guessed.
func TestWhatCanBeServedIs(t *testing.T) {
	const one = "- {packageName: op, channels: [{name: stable, currentCSV: op.v1.0.0}]}\n"
	v1 := csv("1.0.0", "", "")
	for name, test := range map[string]struct {
		packages, csvs, crds string
		want, warnings       []string
	}{
		"two definitions of one name in different versions": {
			packages: "- {packageName: op, channels: [{name: stable, currentCSV: op.v2.0.0}]}",
			csvs:     csv("1.0.0", "", "", "v1alpha1") + csv("2.0.0", "op.v1.0.0", "", "v1beta1"),
			crds:     crd("", "v1alpha1") + crd("", "v1beta1"),
			want:     []string{"op stable: stable=op.v2.0.0", "op.v1.0.0 defines v1alpha1", "op.v2.0.0 defines v1beta1"},
		},
		"the one with most of what is owned": {
			packages: one, csvs: csv("1.0.0", "", "", "v1alpha1", "v1"), crds: crd("", "v1alpha1") + crd("", "v1alpha1", "v1"),
			want: []string{"op stable: stable=op.v1.0.0", "op.v1.0.0 defines v1alpha1,v1"},
		},
		"none has all that is owned": {
			packages: one, csvs: csv("1.0.0", "", "", "v1alpha1", "v1"), crds: crd("", "v1alpha1") + crd("", "v1"),
			want:     []string{"op stable: stable=op.v1.0.0", "op.v1.0.0 defines v1alpha1"},
			warnings: []string{"clusterServiceVersions[0]: no definition of things.example.com has all versions that are owned, [v1alpha1 v1]; customResourceDefinitions[0] is served with it: write all versions into one definition"},
		},
		"two definitions with the same versions": {
			packages: one, csvs: csv("1.0.0", "", "", "v1"), crds: crd("a", "v1") + crd("b", "v1") + crd("a", "v1"),
			want:     []string{"op stable: stable=op.v1.0.0", "op.v1.0.0 defines v1"},
			warnings: []string{"customResourceDefinitions[1]: things.example.com is listed before with the same versions, at customResourceDefinitions[0], and that one is served; keep one of the two"},
		},
		"a package twice, with other channels": {
			packages: "- {packageName: op, defaultChannel: alpha, channels: [{name: stable, currentCSV: op.v1.0.0}]}\n- {packageName: op, defaultChannel: stable, channels: [{name: alpha, currentCSV: op.v2.0.0}, {name: stable, currentCSV: op.v1.0.0}]}",
			csvs:     v1 + csv("2.0.0", "", ""),
			want:     []string{"op alpha: alpha=op.v2.0.0 stable=op.v1.0.0"},
			warnings: []string{"packages[1]: package op is listed before, at packages[0], and the channels of both are served; put them into one"},
		},
		"a channel twice": {
			packages: "- {packageName: op, channels: [{name: stable, currentCSV: op.v2.0.0}, {name: stable, currentCSV: op.v1.0.0}]}",
			csvs:     v1 + csv("2.0.0", "", ""),
			want:     []string{"op stable: stable=op.v2.0.0"},
			warnings: []string{"packages[0].channels[1]: channel stable of package op is listed before with the head op.v2.0.0, and that one is served; keep one of the two"},
		},
		"a default channel that is none of the channels": {
			packages: "- {packageName: op, defaultChannel: gone, channels: [{name: stable, currentCSV: op.v1.0.0}, {name: beta, currentCSV: op.v1.0.0}]}", csvs: v1,
			want:     []string{"op beta: beta=op.v1.0.0 stable=op.v1.0.0"},
			warnings: []string{`packages[0]: the default channel "gone" of package op is none of its channels; beta, the first by name, is served as such: correct defaultChannel`},
		},
		"several channels and no default": {
			packages: "- {packageName: op, channels: [{name: stable, currentCSV: op.v1.0.0}, {name: beta, currentCSV: op.v1.0.0}]}", csvs: v1,
			want:     []string{"op beta: beta=op.v1.0.0 stable=op.v1.0.0"},
			warnings: []string{`packages[0]: the default channel "" of package op is none of its channels; beta, the first by name, is served as such: correct defaultChannel`},
		},
		"one channel and no default": {packages: one, csvs: v1, want: []string{"op stable: stable=op.v1.0.0"}},
		"capitals in the name of a package": {
			packages: "- {packageName: MyOp, channels: [{name: stable, currentCSV: op.v1.0.0}]}", csvs: v1,
			want: []string{"MyOp stable: stable=op.v1.0.0"}, // the index has the warning
		},
		"a CSV twice": {
			packages: one, csvs: v1 + csv("1.0.0", "", "another") + v1,
			want:     []string{"op stable: stable=op.v1.0.0"},
			warnings: []string{"clusterServiceVersions[1]: op.v1.0.0 is listed before, at clusterServiceVersions[0], and that one is served; keep one of the two"},
		},
		"beside a package that cannot be served": {
			packages: one + "- {packageName: bad, channels: [{name: stable, currentCSV: bad.v1}]}\n- {channels: []}\n- 1\n", csvs: v1 + "- {metadata: {name: bad.v1}}\n- {kind: x}\n",
			want: []string{"op stable: stable=op.v1.0.0"},
			warnings: []string{"packages[3]: it cannot be read and is left out; correct it: json: cannot unmarshal number into Go value of type packagemanifest.Package",
				"clusterServiceVersions[2]: it has no metadata.name and is left out; name it", "packages[2]: it has no packageName and is left out; name the package",
				`packages[1]: package bad is left out: packages[1]/package.yaml:1: error: package "bad": the head of channel stable, bad.v1, is not there; there are no ClusterServiceVersions ` +
					"[package-file-head]; correct the name, or add the ClusterServiceVersion; packages[1]/clusterServiceVersions[1]/csv.json: passed over: it is no Kubernetes object with apiVersion and kind"},
		},
		"a channel that leads nowhere": {
			packages: "- {packageName: op, defaultChannel: next, channels: [{name: stable, currentCSV: op.v1.0.0}, {name: next, currentCSV: op.v9}, {currentCSV: op.v1.0.0}]}", csvs: v1,
			want: []string{"op stable: stable=op.v1.0.0"},
			warnings: []string{`packages[0].channels[1]: channel next of package op is left out, because its head "op.v9" is none of the clusterServiceVersions; correct currentCSV, or add it`,
				"packages[0].channels[2]: the channel of package op has no name and is left out; name it",
				`packages[0]: the default channel "next" of package op is none of its channels; stable, the first by name, is served as such: correct defaultChannel`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := map[string]string{"packages": test.packages, "clusterServiceVersions": test.csvs, "customResourceDefinitions": test.crds}
			must.Equal(t, "served", outline(t, index(t, data, nil)), test.want)
			read := must.Value(ReadConfigMap(t.Context(), data, nil))(t)
			must.Equal(t, "warnings", read.Warnings, test.warnings)
		})
	}
}
