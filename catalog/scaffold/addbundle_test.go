package scaffold

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// added is what becomes of a catalog with a version more, by file.
func added(t *testing.T, files fstest.MapFS, a Addition) (map[string]string, error) {
	t.Helper()
	c := must.Value(catalog.Load(t.Context(), files, catalog.LoadOptions{}))(t)
	changed, err := AddBundle(c, func(name string) ([]byte, error) { return fs.ReadFile(files, name) }, a)
	if err != nil {
		return nil, err
	}
	out := fstest.MapFS{}
	for name, f := range files {
		out[name] = f
	}
	texts := map[string]string{}
	for _, f := range changed {
		if _, there := files[f.Name]; there == f.New {
			t.Errorf("%s is new: %t, and was there: %t", f.Name, f.New, there)
		}
		out[f.Name], texts[f.Name] = &fstest.MapFile{Data: f.Content}, string(f.Content)
	}
	after := must.Value(catalog.Load(t.Context(), out, catalog.LoadOptions{}))(t)
	must.NoError(t, catalog.Validate(after).Err())
	return texts, nil
}

func versionOf(pkg, version string) catalog.Bundle {
	value, _ := json.Marshal(map[string]string{"packageName": pkg, "version": version})
	return catalog.Bundle{Schema: catalog.SchemaBundle, Package: pkg, Name: pkg + ".v" + version, Image: "registry.example.com/" + pkg + ":" + version,
		Properties: []catalog.Property{{Type: catalog.PropertyPackage, Value: value}}}
}

const commented = `# the package
schema: olm.package
name: app
defaultChannel: stable
---
# The stable channel.
schema: olm.channel
package: app
name: stable
entries:
- name: app.v1.0.0 # the first
---
schema: olm.bundle
package: app
name: app.v1.0.0
image: registry.example.com/app:1.0.0
properties:
- type: olm.package
  value: {packageName: app, version: 1.0.0} # kept as it is
`

// TestAddBundle: the entry comes into the channel where that stands, with what it replaces, and everything else stays as it is, comments included.
func TestAddBundle(t *testing.T) {
	files := fstest.MapFS{"app/catalog.yaml": {Data: []byte(commented)}}
	texts := must.Value(added(t, files, Addition{Bundle: versionOf("app", "1.1.0"), Channels: []string{"stable", "fast"}, Skips: []string{"app.v1.0.1"}, SkipRange: ">=1.0.0 <1.1.0"}))(t)
	want := strings.Replace(commented, "- name: app.v1.0.0 # the first\n", `- name: app.v1.0.0 # the first
- name: app.v1.1.0
  replaces: app.v1.0.0
  skips: [app.v1.0.1]
  skipRange: '>=1.0.0 <1.1.0'
`, 1)
	got := strings.ReplaceAll(strings.ReplaceAll(texts["app/catalog.yaml"], "\n    ", "\n  "), "\n  - ", "\n- ") // however lists are indented
	must.Equal(t, "the channel", got, want)
	must.Contain(t, "the bundle", texts["app/app.v1.1.0.yaml"], "name: app.v1.1.0")
	must.Contain(t, "a new channel", texts["app/channel-fast.yaml"], "name: fast")
	must.Equal(t, "files", len(texts), 3)

	none := ""
	texts = must.Value(added(t, fstest.MapFS{"README.md": {Data: []byte("# words")}}, Addition{Bundle: versionOf("new", "0.1.0"), Channels: []string{"alpha"}, Replaces: &none}))(t)
	for _, name := range []string{"new/package.yaml", "new/channel-alpha.yaml", "new/new.v0.1.0.yaml"} {
		if texts[name] == "" {
			t.Errorf("there is no %s: %v", name, texts)
		}
	}
	must.Contain(t, "the package", texts["new/package.yaml"], "defaultChannel: alpha")
}

// TestAddBundleToMoreChannels: a version that is there is put into the channels that do not have it, and its bundle stays as it is.
func TestAddBundleToMoreChannels(t *testing.T) {
	files := fstest.MapFS{"app/catalog.yaml": {Data: []byte(commented)}, "app/fast.yaml": {Data: []byte("schema: olm.channel\npackage: app\nname: fast\nentries:\n- name: app.v1.1.0\n")},
		"app/second.yaml": {Data: []byte("schema: olm.bundle\npackage: app\nname: app.v1.1.0\nimage: registry.example.com/app:1.1.0\nproperties:\n- type: olm.package\n  value: {packageName: app, version: 1.1.0}\n")}}
	texts := must.Value(added(t, files, Addition{Bundle: versionOf("app", "1.1.0"), Channels: []string{"stable"}}))(t)
	if len(texts) != 1 || !strings.Contains(strings.ReplaceAll(texts["app/catalog.yaml"], "  ", ""), "- name: app.v1.1.0\nreplaces: app.v1.0.0\n") {
		t.Errorf("%v", texts)
	}
}

// TestAddBundleToJSON: one object of a stream changes.
func TestAddBundleToJSON(t *testing.T) {
	const first = `{"schema":"olm.package","name":"app","defaultChannel":"stable"}
`
	const last = `
{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}
`
	files := fstest.MapFS{"catalog.json": {Data: []byte(first + `{"schema":"olm.channel","package":"app","name":"stable","entries":[{"name":"app.v1.0.0"}]}` + last)}}
	texts := must.Value(added(t, files, Addition{Bundle: versionOf("app", "1.1.0"), Channels: []string{"stable"}}))(t)
	text := texts["catalog.json"]
	if !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) || !strings.Contains(text, `"replaces": "app.v1.0.0"`) {
		t.Errorf("%s", text)
	}
	must.Contain(t, "the bundle", texts["app.v1.1.0.yaml"], "name: app.v1.1.0")
}

// TestAddBundleRefuses: nothing changes when it is not clear what is meant, or when the catalog would not be sound.
func TestAddBundleRefuses(t *testing.T) {
	two := strings.Replace(commented, "- name: app.v1.0.0 # the first\n", "- name: app.v1.0.0\n- name: app.v0.9.0\n", 1)
	gone := "app.v0.1.0"
	otherImage := versionOf("app", "1.0.0")
	otherImage.Image = "elsewhere/app"
	for name, test := range map[string]struct {
		text string
		a    Addition
		want string
	}{
		"a version that is there":      {commented, Addition{Bundle: versionOf("app", "1.0.0"), Channels: []string{"stable"}}, "it is there already, at catalog.yaml:13, and in channel \"stable\": name channels that do not have it"},
		"another image of the version": {commented, Addition{Bundle: otherImage, Channels: []string{"fast"}}, `it is there already, at catalog.yaml:13, with image "registry.example.com/app:1.0.0" rather than "elsewhere/app"`},
		"the head is newer":            {commented, Addition{Bundle: versionOf("app", "0.9.0"), Channels: []string{"stable"}}, `the head of channel "stable", "app.v1.0.0", is newer, so it is not clear what the version replaces: say it`},
		"no channel":                   {commented, Addition{Bundle: versionOf("app", "1.1.0")}, "no channel is named"},
		"two heads":                    {two, Addition{Bundle: versionOf("app", "1.1.0"), Channels: []string{"stable"}}, `channel "stable" has 2 heads ("app.v1.0.0", "app.v0.9.0"), so it is not clear what the version replaces`},
		"a name that leads outside":    {commented, Addition{Bundle: versionOf("app", "1.1.0"), Channels: []string{"../x"}}, `"../x" cannot be the name of a file`},
		"a second head":                {commented, Addition{Bundle: versionOf("app", "1.1.0"), Channels: []string{"stable"}, Replaces: &gone}, "the catalog would break rules"},
	} {
		_, err := added(t, fstest.MapFS{"catalog.yaml": {Data: []byte(test.text)}}, test.a)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("add bundle %q to package", test.a.Bundle.Name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
