package catalogstore

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestWhatIsLeftOutIsKnown: an index has a problem of what is left out of a package, so that what asks for it is not said to be unknown.
func TestWhatIsLeftOutIsKnown(t *testing.T) {
	v1 := csv("1.0.0", "", "")
	pkg := catalog.Object{Schema: catalog.SchemaPackage, Name: "bad"}
	channel := catalog.Object{Schema: catalog.SchemaChannel, Package: "bad", Name: "x"}
	for name, test := range map[string]struct {
		bad, csvs string
		about     catalog.Object
		want      string
	}{
		"a head that is nowhere": {"{packageName: bad, channels: [{name: x, currentCSV: bad.v1}]}", v1, channel,
			`packages[1].channels[0]: error: channel "x" of package "bad": it is left out, because its head "bad.v1" is none of the clusterServiceVersions [manifests-left-out]; correct currentCSV, or add it`},
		"a head that cannot be read": {"{packageName: bad, channels: [{name: x, currentCSV: bad.v1}]}", v1 + "- {metadata: {name: bad.v1}, spec: {skips: x}}\n", channel,
			`it is left out, because its head "bad.v1" cannot be used: clusterServiceVersions[1] cannot be read: json: cannot unmarshal string`},
		"a head that is no object": {"{packageName: bad, channels: [{name: x, currentCSV: bad.v1}]}", v1 + "- {metadata: {name: bad.v1}}\n", pkg,
			"clusterServiceVersions[1]/csv.json: passed over: it is no Kubernetes object with apiVersion and kind"},
		"no channel":                  {"{packageName: bad, channels: []}", v1, pkg, "it is left out, because it has no channel that can be served [manifests-left-out]; add one"},
		"a package of the wrong form": {"{packageName: bad, channels: x}", v1, pkg, "it cannot be read and is left out: json: cannot unmarshal string"},
	} {
		t.Run(name, func(t *testing.T) {
			x := index(t, map[string]string{"packages": "- {packageName: op, channels: [{name: stable, currentCSV: op.v1.0.0}]}\n- " + test.bad + "\n", "clusterServiceVersions": test.csvs}, nil)
			must.Equal(t, "served", x.PackageNames(), []string{"op"})
			found := x.Problems().About("bad")
			if len(found) != 1 || found[0].Object != test.about || found[0].Rule != RuleLeftOut || !strings.Contains(found[0].String(), test.want) {
				t.Errorf("problems %v, want one of %s: %s", found, test.about, test.want)
			}
		})
	}
}

// TestABrokenVersionAloneIsLeftOut: the others of its package are served, and the order of them is as if it were there.
func TestABrokenVersionAloneIsLeftOut(t *testing.T) {
	const broken = "- {apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: op.v2.0.0}, spec: {version: two, replaces: op.v1.0.0, install: {strategy: deployment}}}\n"
	for name, test := range map[string]struct {
		channels, csvs string
		want           []string
		about          []catalog.Object
		missing        string
	}{
		"in the middle": {"[{name: stable, currentCSV: op.v3.0.0}]", csv("1.0.0", "", "") + broken + csv("3.0.0", "op.v2.0.0", ""),
			[]string{"op.v3.0.0", "op.v1.0.0"}, nil, "op.v2.0.0"},
		"the head": {"[{name: stable, currentCSV: op.v2.0.0}]", csv("1.0.0", "", "") + broken, []string{"op.v1.0.0"}, nil, "op.v2.0.0"},
		"all of another channel": {"[{name: stable, currentCSV: op.v1.0.0}, {name: next, currentCSV: op.v2.0.0}]", csv("1.0.0", "", "") + strings.ReplaceAll(broken, "replaces: op.v1.0.0, ", ""),
			[]string{"op.v1.0.0"}, []catalog.Object{{Schema: catalog.SchemaChannel, Package: "op", Name: "next"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			data := map[string]string{"packages": "- {packageName: op, defaultChannel: stable, channels: " + test.channels + "}\n", "clusterServiceVersions": test.csvs}
			x := index(t, data, nil)
			p, ok := x.Package("op")
			if !ok || len(p.Channels) != 1 {
				t.Fatalf("package %+v, problems %v", p, x.Problems())
			}
			var names []string
			for _, e := range p.Channels[0].Entries {
				names = append(names, e.Name)
			}
			must.Equal(t, "served", names, test.want)
			if test.missing != "" && (len(p.Channels[0].Missing) != 1 || p.Channels[0].Missing[0].Name != test.missing) {
				t.Errorf("missing %+v, want %s", p.Channels[0].Missing, test.missing)
			}
			read := must.Value(ReadConfigMap(t.Context(), data, nil))(t)
			var about []catalog.Object
			for _, problem := range read.Problems {
				about = append(about, problem.Object)
				must.Contain(t, "it does not say what is wrong", problem.Message, "two")
			}
			must.Equal(t, "problems", about, append([]catalog.Object{{Schema: catalog.SchemaBundle, Package: "op", Name: "op.v2.0.0"}}, test.about...))
			for _, problem := range x.Problems().Errors() {
				if !Noted(problem) {
					t.Errorf("no warning says %s", problem)
				}
			}
			must.Equal(t, "warnings problems", len(read.Warnings), len(read.Problems))
		})
	}
}
