package authoring

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/must"
)

// upgrades is a catalog in which nothing upgrades from 1.0.0 under v0, and only 1.1.0 does so under v1.
const upgrades = `---
schema: olm.package
name: foo
defaultChannel: stable
---
schema: olm.channel
package: foo
name: stable
entries:
- name: foo.v1.0.0
- name: foo.v1.1.0
  replaces: foo.v1.0.0
  skips: [foo.v1.0.0]
- name: foo.v1.2.0
  skips: [foo.v1.1.0]
---
{schema: olm.bundle, package: foo, name: foo.v1.0.0, image: "example.com/foo@sha256:1111111111111111111111111111111111111111111111111111111111111111", properties: [{type: olm.package, value: {packageName: foo, version: 1.0.0}}]}
---
{schema: olm.bundle, package: foo, name: foo.v1.1.0, image: "example.com/foo@sha256:2222222222222222222222222222222222222222222222222222222222222222", properties: [{type: olm.package, value: {packageName: foo, version: 1.1.0}}]}
---
{schema: olm.bundle, package: foo, name: foo.v1.2.0, image: "example.com/foo@sha256:3333333333333333333333333333333333333333333333333333333333333333", properties: [{type: olm.package, value: {packageName: foo, version: 1.2.0}}]}
`

const sound = `---
schema: olm.package
name: bar
defaultChannel: stable
---
{schema: olm.channel, package: bar, name: stable, entries: [{name: bar.v1.0.0}, {name: bar.v1.1.0, replaces: bar.v1.0.0}]}
---
{schema: olm.bundle, package: bar, name: bar.v1.0.0, image: "example.com/bar@sha256:1111111111111111111111111111111111111111111111111111111111111111", properties: [{type: olm.package, value: {packageName: bar, version: 1.0.0}}]}
---
{schema: olm.bundle, package: bar, name: bar.v1.1.0, image: "example.com/bar@sha256:2222222222222222222222222222222222222222222222222222222222222222", properties: [{type: olm.package, value: {packageName: bar, version: 1.1.0}}]}
`

// graphCatalogs are directories with these catalogs: of each alone, of both, and of one beside a file that cannot be read.
func graphCatalogs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"foo/catalog.yaml": upgrades, "bar/catalog.yaml": sound,
		"both/foo.yaml": upgrades, "both/bar.yaml": sound,
		"renamed.yaml": strings.Replace(sound, "value: {packageName: bar, version: 1.1.0}}", "value: {packageName: bar, version: 1.1.0}}, {type: olm.bundle.object, value: {data: "+
			base64.StdEncoding.EncodeToString([]byte(`{"kind":"ClusterServiceVersion","metadata":{"name":"other.v1.1.0"}}`))+"}}", 1),
		"broken/bar.yaml": sound, "broken/torn.yaml": "schema: olm.bundle\n  name: [",
		"empty.yaml": "schema: olm.package\nname: foo\ndefaultChannel: stable\n", "fleet.txt": "# what runs\nbar=1.0.0\n\nbar/stable=bar.v1.1.0\n", "bad.txt": "bar=1.0.0\nbar\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	}
	return dir
}

// run runs a command and returns its exit code and what it says.
func runGraph(t *testing.T, dir, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	s := command.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs}
	root := &cobra.Command{Use: "catalog", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	root.AddCommand(newCatalogCheckCommand(s), newCatalogGraphCommand(s), newCatalogPathCommand(s))
	t.Chdir(dir)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var exit command.ExitError
	var usage command.UsageError
	switch {
	case err == nil:
		return command.ExitOK, out.String(), errs.String()
	case errors.As(err, &exit):
		return exit.Code, out.String(), errs.String()
	case errors.As(err, &usage):
		return command.ExitUsage, out.String(), errs.String() + err.Error()
	}
	return command.ExitFailed, out.String(), errs.String() + err.Error()
}

func TestGraphCommands(t *testing.T) {
	dir := graphCatalogs(t)
	for name, test := range map[string]struct {
		args  string
		stdin string
		code  int
		out   []string // on stdout
		errs  []string // on stderr
		not   []string // on neither
	}{
		"sound":                         {args: "check bar", out: []string{"bar: 0 errors, 0 warnings\n"}},
		"a warning is no failure":       {args: "check foo", out: []string{"catalog.yaml:6: warning: ", "[skipped-edges-ignored, v0]", "--all lists 2 more"}, not: []string{"info:"}},
		"unless it is strict":           {args: "check foo --strict", code: 3},
		"everything":                    {args: "check foo --all", out: []string{"info: ", "[skipped-version-taken, v1]"}},
		"one package":                   {args: "check both --strict -p bar", out: []string{"both: 0 errors"}},
		"a CSV of another name":         {args: "check renamed.yaml", code: 3, out: []string{`its ClusterServiceVersion is named "other.v1.1.0"`, "[csv-name, v0]", "1 error"}},
		"no such package":               {args: "check both -p baz", code: 1, errs: []string{`no package "baz"`}},
		"installed and stuck":           {args: "check foo --installed foo=1.0.0", code: 3, out: []string{"[installed-stuck, v0]", "0 of 1 installed versions"}},
		"installed and well":            {args: "check bar --installed bar=1.0.0 --installed bar/stable=1.1.0", out: []string{"2 of 2 installed versions"}},
		"a fleet":                       {args: "check bar --installed-from fleet.txt", out: []string{"2 of 2 installed versions"}},
		"a fleet from stdin":            {args: "check bar --installed-from -", stdin: "bar=0.1.0\n", code: 3, out: []string{"0 of 1 installed versions"}},
		"a line of the fleet is wrong":  {args: "check bar --installed-from bad.txt", code: 1, errs: []string{"bad.txt: line 2: ", "write package=version"}},
		"no fleet":                      {args: "check bar --installed-from none.txt", code: 1, errs: []string{"none.txt"}},
		"installed is wrong":            {args: "check bar --installed bar", code: 2, errs: []string{"write package=version"}},
		"what can be read is judged":    {args: "check broken", code: 3, out: []string{"broken: 0 errors"}, errs: []string{"torn.yaml", "the rest of the catalog"}},
		"no catalog":                    {args: "check none", code: 1, errs: []string{`"none"`, "no file or directory"}},
		"no channel":                    {args: "check empty.yaml", code: 1, errs: []string{"holds no channel"}},
		"no channel to draw":            {args: "graph empty.yaml", code: 1, errs: []string{"holds no channel"}},
		"no channel to follow":          {args: "path empty.yaml 1.0.0", code: 1, errs: []string{"holds no channel"}},
		"no argument":                   {args: "check", code: 2},
		"no such output":                {args: "check bar -o xml", code: 2, errs: []string{"text, json or yaml"}},
		"a way":                         {args: "path bar 1.0.0", out: []string{"v0: 1 upgrade\n  bar.v1.0.0 -> bar.v1.1.0  (replaces in channel \"stable\")\n", "v1: 1 upgrade\n"}},
		"it is there":                   {args: "path bar bar.v1.1.0 -c stable", out: []string{"v0: it is there already", "channel stable: from bar.v1.1.0"}},
		"no way under v0":               {args: "path foo 1.0.0 1.2.0", code: 3, out: []string{"v0: no way\n  why: ", "foo.v1.1.0 does, but does not count: foo.v1.2.0 skips it", "what to do: add \"foo.v1.0.0\" to the skips of entry \"foo.v1.2.0\"", "v1: 2 upgrades"}},
		"a way needs a package":         {args: "path both 1.0.0", code: 2, errs: []string{"--package"}},
		"a way in one of them":          {args: "path both 1.0.0 -p bar", out: []string{"v0: 1 upgrade"}},
		"a way from nowhere":            {args: "path bar latest", code: 1, errs: []string{`"latest"`, "bar.v1.1.0"}},
		"a way to nowhere":              {args: "path bar 1.0.0 9.0.0", code: 1, errs: []string{`"9.0.0"`}},
		"a way in no channel":           {args: "path bar 1.0.0 -c fast", code: 1, errs: []string{`no channel "fast"`, "stable"}},
		"a drawing for the terminal":    {args: "graph bar", out: []string{"● bar.v1.1.0  (head)\n", "● bar.v1.0.0\n"}},
		"mermaid":                       {args: "graph foo -o mermaid --draw-v0-semantics", out: []string{"graph LR\n", "linkStyle 1,2 "}},
		"mermaid without v0":            {args: "graph foo -o mermaid", out: []string{"graph LR\n"}, not: []string{"linkStyle"}},
		"dot":                           {args: "graph bar -o dot", out: []string{"digraph catalog {"}},
		"svg":                           {args: "graph bar -o svg", out: []string{"<svg "}},
		"a drawing for programs":        {args: "graph bar -o yaml", out: []string{"packages:\n- channels:"}},
		"a drawing of one package":      {args: "graph both -p bar", out: []string{"bar.v1.0.0"}, not: []string{"foo"}},
		"a drawing from an edge on":     {args: "graph both --minimum-edge foo.v1.1.0", out: []string{"foo.v1.2.0"}, not: []string{"bar", "foo.v1.0.0"}},
		"a drawing from no edge on":     {args: "graph both --minimum-edge foo.v9.0.0", code: 1, errs: []string{"unknown minimum edge name"}},
		"a drawing of what can be read": {args: "graph broken", out: []string{"bar.v1.1.0"}, errs: []string{"torn.yaml"}},
		"no such drawing":               {args: "graph bar -o png", code: 2, errs: []string{"mermaid"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runGraph(t, dir, test.stdin, strings.Fields(test.args)...)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, want := range test.out {
				if !strings.Contains(out, want) {
					t.Errorf("stdout lacks %q", want)
				}
			}
			for _, want := range test.errs {
				if !strings.Contains(errs, want) {
					t.Errorf("stderr lacks %q", want)
				}
			}
			for _, not := range test.not {
				if strings.Contains(out+errs, not) {
					t.Errorf("it says %q", not)
				}
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", out, errs)
			}
		})
	}
}

// TestGraphCommandsForPrograms reads what is printed for programs.
func TestGraphCommandsForPrograms(t *testing.T) {
	dir := graphCatalogs(t)
	var verdict judgement
	code, out, _ := runGraph(t, dir, "", "check", "foo", "-o", "json", "--installed", "foo=1.0.0")
	if err := json.Unmarshal([]byte(out), &verdict); err != nil || code != command.ExitNo {
		t.Fatalf("%v, exit code %d, in %s", err, code, out)
	}
	if verdict.Passed || len(verdict.Findings) != 2 || len(verdict.Installed) != 1 {
		t.Fatalf("%+v", verdict)
	}
	for _, f := range verdict.Findings {
		if f.Rule == "" || f.Position.Line == 0 || f.Object.Name == "" || f.Fix == "" || len(f.Semantics) == 0 {
			t.Errorf("incomplete: %+v", f)
		}
	}
	if o := verdict.Installed[0]; o.Version != "1.0.0" || o.Journey == nil || o.Journey.V0.Reached || !o.Journey.V1.Reached {
		t.Errorf("installed: %+v", o)
	}
	var journey graph.Journey
	code, out, _ = runGraph(t, dir, "", "path", "foo", "1.0.0", "-o", "json")
	if err := json.Unmarshal([]byte(out), &journey); err != nil || code != command.ExitNo || len(journey.V1.Hops) != 2 {
		t.Errorf("%v, exit code %d, in %s", err, code, out)
	}
	var picture graph.Picture
	code, out, _ = runGraph(t, dir, "", "graph", "both", "-o", "json")
	if err := json.Unmarshal([]byte(out), &picture); err != nil || code != command.ExitOK || len(picture.Packages) != 2 {
		t.Errorf("%v, exit code %d, in %s", err, code, out)
	}
	_, empty, _ := runGraph(t, dir, "", "check", "bar", "-o", "json")
	if !strings.Contains(empty, `"findings": []`) {
		t.Errorf("no findings are not an empty list: %s", empty)
	}
}
