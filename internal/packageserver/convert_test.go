package packageserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

func index(t testing.TB, files fstest.MapFS) *catalog.Index {
	t.Helper()
	c := must.Value(catalog.Load(t.Context(), files, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:test"))(t)
	return x
}

// TestPublicPackages holds what is shown of real packages against what was looked at by people: one with its ClusterServiceVersions in
// the catalog, one with many channels, one with deprecations where there is one.
func TestPublicPackages(t *testing.T) {
	names := map[string]bool{"kube-green": true, "rabbitmq-cluster-operator": true, "infinispan": true}
	files := fstest.MapFS{}
	publicdata.Each(t, publicdata.OwnCatalog, func(name string, content func() []byte) {
		if names[filepath.Base(filepath.Dir(name))] {
			files[name] = &fstest.MapFile{Data: content()}
		}
	})
	if len(files) < len(names) {
		t.Fatalf("found only %d files of the packages", len(files))
	}
	x := index(t, files)
	for name := range names {
		t.Run(name, func(t *testing.T) {
			p, ok, err := Convert(x, name)
			if !ok || err != nil {
				t.Fatalf("shown: %t, %v", ok, err)
			}
			// Cut texts that nobody would read in a golden file; their beginnings and lengths stay.
			const keep = 60
			cut := func(s string) string {
				if len(s) <= keep {
					return s
				}
				return fmt.Sprintf("%s... (%d bytes)", s[:keep], len(s))
			}
			for i := range p.Status.Channels {
				d := &p.Status.Channels[i].CurrentCSVDesc
				d.LongDescription = cut(d.LongDescription)
				for key, value := range d.Annotations {
					d.Annotations[key] = cut(value)
				}
			}
			data := must.Value(json.Marshal(p))(t)
			got := must.Value(yaml.JSONToYAML(data))(t)
			file := filepath.Join("testdata", name+".yaml")
			if *update {
				must.NoError(t, os.WriteFile(file, got, 0o644))
			}
			want := must.Value(os.ReadFile(file))(t)
			must.Equal(t, fmt.Sprintf("%s differs", file), string(got), string(want))
		})
	}
}

// sourceOf writes a catalog for the tests: a package with the default channel stable, and channels with one bundle each.
type sourceOf struct{ strings.Builder }

func (s *sourceOf) pkg(extra string) {
	fmt.Fprintf(s, `{"schema":"olm.package","name":"p","defaultChannel":"stable"%s}`+"\n", extra)
}

func (s *sourceOf) channel(name string, entries ...string) {
	fmt.Fprintf(s, `{"schema":"olm.channel","package":"p","name":%q,"entries":[%s]}`+"\n", name, strings.Join(entries, ","))
}

func (s *sourceOf) bundle(version string, properties ...string) {
	properties = append(properties, fmt.Sprintf(`{"type":"olm.package","value":{"packageName":"p","version":%q}}`, version))
	fmt.Fprintf(s, `{"schema":"olm.bundle","package":"p","name":"p.v%s","image":"quay.io/p/p@sha256:%064d","relatedImages":[{"name":"b","image":"quay.io/b"},{"name":"a","image":"quay.io/a"},{"name":"again","image":"quay.io/b"},{"name":"none","image":""}],"properties":[%s]}`+"\n",
		version, 1, strings.Join(properties, ","))
}

func metadataProperty(fields string) string {
	return fmt.Sprintf(`{"type":"olm.csv.metadata","value":{%s}}`, fields)
}

func (s *sourceOf) index(t testing.TB) *catalog.Index {
	t.Helper()
	return index(t, fstest.MapFS{"catalog.json": {Data: []byte(s.String())}})
}

func TestElision(t *testing.T) {
	good := metadataProperty(`"displayName":"P","provider":{"name":"Who"}`)
	tests := map[string]struct {
		write    func(s *sourceOf)
		channels []string
		byMain   string // the default channel; empty when the package is not shown
	}{
		"every channel can be described": {func(s *sourceOf) {
			s.channel("stable", `{"name":"p.v1.0.0"}`)
			s.channel("alpha", `{"name":"p.v2.0.0"}`)
			s.bundle("1.0.0", good)
			s.bundle("2.0.0", good)
		}, []string{"alpha", "stable"}, "stable"},
		"the default channel cannot": {func(s *sourceOf) {
			s.channel("stable", `{"name":"p.v1.0.0"}`)
			s.channel("beta", `{"name":"p.v2.0.0"}`)
			s.channel("alpha", `{"name":"p.v3.0.0"}`)
			s.bundle("1.0.0")
			s.bundle("2.0.0", good)
			s.bundle("3.0.0", good)
		}, []string{"alpha", "beta"}, "alpha"},
		"another channel cannot": {func(s *sourceOf) {
			s.channel("stable", `{"name":"p.v1.0.0"}`)
			s.channel("alpha", `{"name":"p.v2.0.0"}`)
			s.bundle("1.0.0", good)
			s.bundle("2.0.0", metadataProperty(`"links":[{"name":{}}]`))
		}, []string{"stable"}, "stable"},
		"none can": {func(s *sourceOf) {
			s.channel("stable", `{"name":"p.v1.0.0"}`)
			s.bundle("1.0.0")
		}, nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s sourceOf
			s.pkg("")
			test.write(&s)
			p, ok, err := Convert(s.index(t), "p")
			must.NoError(t, err)
			if ok != (test.byMain != "") || p.Status.DefaultChannel != test.byMain {
				t.Fatalf("shown: %t, the default channel is %q, want %q", ok, p.Status.DefaultChannel, test.byMain)
			}
			var channels []string
			for _, c := range p.Status.Channels {
				channels = append(channels, c.Name)
			}
			must.Equal(t, "channels", channels, test.channels)
		})
	}
	if _, ok, _ := Convert((&sourceOf{}).index(t), "p"); ok {
		t.Error("a package that is not there is shown")
	}
}

func TestEntries(t *testing.T) {
	var s sourceOf
	s.pkg("")
	s.channel("stable", `{"name":"p.v1.10.0","replaces":"p.v1.9.0","skips":["p.v1.8.0"]}`, `{"name":"p.v1.9.0"}`, `{"name":"p.v1.8.0"}`)
	s.bundle("1.8.0", `{"type":"olm.deprecated","value":{}}`)
	s.bundle("1.9.0")
	s.bundle("1.10.0", metadataProperty(`"displayName":"P"`))
	s.WriteString(`{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.bundle","name":"p.v1.9.0"},"message":"old bundle"},` +
		`{"reference":{"schema":"olm.channel","name":"stable"},"message":"old channel"},{"reference":{"schema":"olm.package"},"message":"old package"}]}`)
	p, _, _ := Convert(s.index(t), "p")
	got := must.Value(json.Marshal(map[string]any{"package": p.Status.Deprecation, "channel": p.Status.Channels[0].Deprecation, "entries": p.Status.Channels[0].Entries,
		"images": p.Status.Channels[0].CurrentCSVDesc.RelatedImages}))(t)
	want := `{"channel":{"message":"old channel"},"entries":[{"name":"p.v1.10.0","version":"1.10.0"},{"name":"p.v1.9.0","version":"1.9.0","deprecation":{"message":"old bundle"}}],` +
		`"images":["quay.io/a","quay.io/b"],"package":{"message":"old package"}}`
	must.Equal(t, "result", string(got), want)
}

// TestLifecycle: the phases of support are shown; what is written wrongly is not, and hides nothing else.
func TestLifecycle(t *testing.T) {
	shown := func(lifecycle string) string {
		var s sourceOf
		s.pkg("")
		s.channel("stable", `{"name":"p.v1.10.0"}`)
		s.bundle("1.10.0", metadataProperty(`"displayName":"P"`))
		s.WriteString(`{"schema":"` + catalog.SchemaLifecycles + `","package":"p","versions":` + lifecycle + `}`)
		p, ok, err := Convert(s.index(t), "p")
		if !ok || err != nil {
			t.Errorf("%s: shown %t, %v", lifecycle, ok, err)
		}
		return string(must.Value(json.Marshal(p.Status.Lifecycle))(t))
	}
	must.Equal(t, "lifecycle", shown(`[{"name":"1.10","phases":[{"name":"Full","startDate":"2026-01-01","endDate":"2026-12-31"},{"name":"More","startDate":"2027-01-01"}]},{"name":"2"}]`),
		`[{"version":"1.10","phases":[{"name":"Full","starts":"2026-01-01T00:00:00Z","ends":"2027-01-01T00:00:00Z"},{"name":"More","starts":"2027-01-01T00:00:00Z"}]},{"version":"2","phases":[]}]`)
	must.Equal(t, "what is written wrongly", shown(`[{"name":"one"}]`), "null")
	must.Equal(t, "nothing", shown(`[]`), "null")
}

func TestLabels(t *testing.T) {
	tests := map[string]struct {
		labels string
		want   map[string]string
	}{
		"none": {`{}`, map[string]string{"provider": "Who", "provider-url": "https://who", "operatorframework.io/os.linux": "supported", "operatorframework.io/arch.amd64": "supported"}},
		"an architecture": {`{"operatorframework.io/arch.arm64":"supported","x":"y"}`, map[string]string{"provider": "Who", "provider-url": "https://who", "x": "y",
			"operatorframework.io/os.linux": "supported", "operatorframework.io/arch.arm64": "supported"}},
		"a system": {`{"operatorframework.io/os.windows":"supported"}`, map[string]string{"provider": "Who", "provider-url": "https://who",
			"operatorframework.io/os.windows": "supported", "operatorframework.io/arch.amd64": "supported"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s sourceOf
			s.pkg("")
			s.channel("stable", `{"name":"p.v1.0.0"}`)
			s.bundle("1.0.0", metadataProperty(`"provider":{"name":"Who","url":"https://who"},"labels":`+test.labels))
			p, _, _ := Convert(s.index(t), "p")
			must.Equal(t, "result", p.Labels, test.want)
		})
	}
}

func TestFindIcon(t *testing.T) {
	packageIcon := `,"icon":{"base64data":"cGFja2FnZQ==","mediatype":"image/png"}`
	csv := func(icon string) string {
		return fmt.Sprintf(`{"type":"olm.bundle.object","value":{"data":%q}}`,
			base64.StdEncoding.EncodeToString([]byte(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"p.v1.0.0"},"spec":{"version":"1.0.0"`+icon+`}}`)))
	}
	tests := map[string]struct {
		pkg, bundle string
		want        *Icon
	}{
		"of the package":  {packageIcon, metadataProperty(`"displayName":"P"`), &Icon{[]byte("package"), "image/png", "p.stable.p.v1.0.0"}},
		"of the operator": {packageIcon, csv(`,"icon":[{"base64data":"b3BlcmF0b3I=","mediatype":"image/svg+xml"},{"base64data":"eA==","mediatype":"image/png"}]`), &Icon{[]byte("operator"), "image/svg+xml", "p.stable.p.v1.0.0"}},
		"none":            {"", metadataProperty(`"displayName":"P"`), nil},
		"not base64":      {"", csv(`,"icon":[{"base64data":"%%%","mediatype":"image/png"}]`), nil},
		"empty":           {"", csv(`,"icon":[{"base64data":"","mediatype":"image/png"}]`), nil},
		"over the limit":  {"", csv(`,"icon":[{"base64data":"` + string(bytes.Repeat([]byte("A"), maxIcon*3/2)) + `","mediatype":"image/png"}]`), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s sourceOf
			s.pkg(test.pkg)
			s.channel("stable", `{"name":"p.v1.0.0"}`)
			s.bundle("1.0.0", test.bundle)
			icon, found, err := FindIcon(s.index(t), "p")
			if !found || err != nil {
				t.Fatalf("found: %t, %v", found, err)
			}
			must.Equal(t, "result", icon, test.want)
		})
	}
	if _, found, _ := FindIcon((&sourceOf{}).index(t), "p"); found {
		t.Error("a package that is not there is found")
	}
}

func TestDescriptionOfACSV(t *testing.T) {
	const manifest = `{"kind":"ClusterServiceVersion","metadata":{"annotations":{"a":"b"},"labels":{"c":"d"}},"spec":{"displayName":"P","version":"1.2.3",
		"description":"text","provider":{"name":"Who"},"keywords":["k"],"links":[{"name":"l","url":"u"}],"maintainers":[{"name":"m","email":"e"}],"maturity":"alpha",
		"installModes":[{"type":"OwnNamespace","supported":true}],"nativeAPIs":[{"group":"g","version":"v1","kind":"K"}],"minKubeVersion":"1.20.0",
		"customresourcedefinitions":{"owned":[{"name":"ks.g","version":"v1","kind":"K"}]},"apiservicedefinitions":{"required":[{"group":"g","version":"v1","kind":"A"}]},
		"relatedImages":[{"name":"r","image":"quay.io/r"}],
		"install":{"spec":{"deployments":[{"spec":{"template":{"spec":{"initContainers":[{"image":"quay.io/i"}],"containers":[{"image":"quay.io/c"},{"image":"quay.io/r"}]}}}}]}}}}`
	o := must.Value(fromCSV([]byte(manifest)))(t)
	got := must.Value(json.Marshal(o.description))(t)
	const want = `{"displayName":"P","version":"1.2.3","provider":{"name":"Who"},"annotations":{"a":"b"},"keywords":["k"],"links":[{"name":"l","url":"u"}],` +
		`"maintainers":[{"name":"m","email":"e"}],"maturity":"alpha","description":"text","installModes":[{"type":"OwnNamespace","supported":true}],` +
		`"customresourcedefinitions":{"owned":[{"name":"ks.g","version":"v1","kind":"K"}]},"apiservicedefinitions":{"required":[{"name":"","group":"g","version":"v1","kind":"A"}]},` +
		`"nativeApis":[{"group":"g","version":"v1","kind":"K"}],"minKubeVersion":"1.20.0","relatedImages":["quay.io/c","quay.io/i","quay.io/r"]}`
	must.Equal(t, "result", string(got), want)
	must.Equal(t, "result", o.labels, map[string]string{"c": "d"})
}
