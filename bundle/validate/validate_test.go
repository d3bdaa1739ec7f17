package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// only are the findings of one rule.
func only(r Report, rule bundle.Rule) []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Rule != rule })
}

// noise is text that cannot be compressed well.
func noise(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, size)
	for i := range out {
		out[i] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[random.IntN(64)]
	}
	return string(out)
}

func TestSize(t *testing.T) {
	for size, want := range map[int]catalog.Severity{800 << 10: "", 900 << 10: catalog.Warning, 1100 << 10: catalog.Error} {
		files := edited(t, []edit{{"manifests/x.yaml", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {x: " + noise(size) + "}\n"}})
		found := only(run(t, files, Options{}), RuleSize)
		switch {
		case want == "" && len(found) != 0, want != "" && (len(found) != 1 || found[0].Severity != want):
			t.Errorf("%d bytes: %v, want %q", size, found, want)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	images := strings.Repeat("  - {image: 'A B'}\n", 2*maxFindings)
	report := run(t, edited(t, []edit{{csvFile, "  relatedImages:\n", "  relatedImages:\n" + images}}), Options{})
	if len(report.Findings) != maxFindings || len(only(report, RuleMore)) != 1 || report.Passed {
		t.Errorf("%d findings, %d say that there are more", len(report.Findings), len(only(report, RuleMore)))
	}
}

// TestHostile shows that untrusted content ends in findings, not in memory.
func TestHostile(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i, i, i, i, i)
	}
	tests := map[string][]edit{
		"giant":                {{"manifests/x.yaml", "", strings.Repeat("x", 9<<20)}},
		"deep":                 {{"manifests/x.yaml", "", strings.Repeat("[", 100_000)}},
		"aliases":              {{"manifests/x.yaml", "", bomb}},
		"aliases of metadata":  {{"metadata/dependencies.yaml", "", bomb + "dependencies: *a12\n"}},
		"an alias of itself":   {{"manifests/x.yaml", "", "apiVersion: v1\nkind: Secret\nmetadata: &m {name: x, labels: *m}\n"}},
		"no UTF-8":             {{"manifests/x.yaml", "", "\xff\xfe\x00"}},
		"a deep rule":          {{"metadata/dependencies.yaml", "properties.exists(p, p.type == 'x')", strings.Repeat("(", 10_000)}},
		"a large constraint":   {{"metadata/dependencies.yaml", "no way", noise(200 << 10)}},
		"a giant annotation":   {{csvFile, "alm-examples: '[", "alm-examples: '[" + strings.Repeat("[", 1_000_000)}},
		"a million separators": {{"manifests/x.yaml", "", strings.Repeat("- a\n", 1_000_000)}},
	}
	for name, edits := range tests {
		t.Run(name, func(t *testing.T) {
			if report := run(t, edited(t, edits), Options{Optional: allValidators(t)}); report.Passed {
				t.Errorf("passed: %+v", report)
			}
		})
	}
}

func TestFindingsDoNotSteerTerminals(t *testing.T) {
	report := run(t, edited(t, []edit{
		{"manifests/a\nb\x1b[31m.yaml", "", "apiVersion: v1\nkind: Secret\nmetadata: {name: \"x\\e[2J\\n/y\"}\n"},
		{"metadata/dependencies.yaml", "p.type == 'x'", "p.type +"},
	}), Options{})
	if len(report.Findings) < 2 {
		t.Errorf("findings %v", report.Findings)
	}
	for _, f := range report.Findings {
		if text := f.String(); strings.ContainsAny(text, "\n\x1b") {
			t.Errorf("%q", text)
		}
	}
}

func TestLinksAreNoManifests(t *testing.T) {
	dir := t.TempDir()
	must.NoError(t, os.CopyFS(dir, baseFiles(t)))
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	must.NoError(t, os.WriteFile(outside, []byte("password: hunter2"), 0o600))
	must.NoError(t, os.Symlink(outside, filepath.Join(dir, "manifests", "link.yaml")))
	report, err := Run(t.Context(), bundle.Inspect(os.DirFS(dir)), Options{})
	if err != nil || len(only(report, RuleIgnored)) != 1 || strings.Contains(fmt.Sprint(report), "hunter2") {
		t.Errorf("%v, %v", report, err)
	}
}

func TestManifestsHaveNoMetadata(t *testing.T) {
	in := bundle.Inspect(baseFiles(t))
	var manifests []json.RawMessage
	for _, object := range in.Bundle.AllObjects() {
		raw := must.Value(json.Marshal(object.Object))(t)
		manifests = append(manifests, raw)
	}
	report, err := Run(t.Context(), bundle.InspectManifests(manifests), Options{})
	if err != nil || len(report.Findings) != 0 || !report.Passed {
		t.Errorf("%+v, %v", report, err)
	}
	report, err = Run(t.Context(), bundle.InspectManifests(manifests[1:]), Options{})
	if err != nil || len(only(report, RuleNoCSV)) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestSelect(t *testing.T) {
	tests := map[string]struct {
		selectors []string
		want      string
	}{
		"a name":           {[]string{"operatorhub/v2"}, "operatorhub/v2"},
		"an old name":      {[]string{"operatorhub"}, "operatorhub/v1"},
		"another old name": {[]string{"bundle-objects"}, "object"},
		"a label":          {[]string{"name=good-practices"}, "good-practices"},
		"a suite":          {[]string{"suite=operatorframework"}, "operatorhub/v2, standardcapabilities, standardcategories"},
		"each once":        {[]string{"suite=operatorframework", "standardcategories", "object", "object"}, "operatorhub/v2, standardcapabilities, standardcategories, object"},
		"a set":            {[]string{"name in (community, multiarch)"}, "community, multiarch"},
		"nothing":          {nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Select(tc.selectors...)
			if err != nil || names(got) != tc.want {
				t.Errorf("got %s, %v, want %s", names(got), err, tc.want)
			}
		})
	}
	for _, text := range []string{"", "nobody", "csv", "suite=other", "==", "name=csv"} {
		if got, err := Select(text); err == nil || !strings.Contains(err.Error(), "choose from alpha-deprecated-apis") {
			t.Errorf("%q selects %s, %v", text, names(got), err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := Run(t.Context(), bundle.Inspect(baseFiles(t)), Options{KubeVersion: "new"})
	must.Fail(t, "Run", err, "Kubernetes version")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, bundle.Inspect(baseFiles(t)), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestMultiarchNeedsRegistries(t *testing.T) {
	report, err := Run(t.Context(), bundle.Inspect(baseFiles(t)), Options{Optional: mustSelect("multiarch")})
	if err != nil || len(only(report, RuleInspect)) != 1 || !report.Passed {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestParseCategories(t *testing.T) {
	got, err := ParseCategories([]byte(`{"categories": ["a", "b"]}`))
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || err != nil {
		t.Errorf("%s %v", diff, err)
	}
	if _, err := ParseCategories([]byte(`[]`)); err == nil {
		t.Error("a list is accepted")
	}
}

func TestFindingOnOneLine(t *testing.T) {
	f := Finding{Severity: catalog.Error, Validator: "csv", Rule: "r", File: "f.yaml", Line: 3, Object: "Kind name", Field: "spec.x", Message: "is wrong", Fix: "mend it"}
	must.Equal(t, "f.String()", f.String(), "f.yaml:3: error: Kind name: spec.x: is wrong [csv/r]; mend it")
	must.Equal(t, "String", (Finding{Severity: catalog.Warning, Validator: "v", Rule: "r", Message: "is odd"}).String(), "warning: is odd [v/r]")
}

// FuzzRun judges whatever is in three files: nothing panics, and the same bundle has the same findings.
func FuzzRun(f *testing.F) {
	base := baseFiles(f)
	f.Add(base[annotationsFile].Data, base[csvFile].Data, base[crdFile].Data)
	f.Add([]byte("annotations: {a: b}\ndependencies: [{type: olm.constraint, value: {}}]"), []byte("kind: ClusterServiceVersion\napiVersion: x/v1\nmetadata: {name: x}\nspec: {release: 1, webhookdefinitions: [{}]}"), base["manifests/role.yaml"].Data)
	f.Fuzz(func(t *testing.T, metadata, csv, other []byte) {
		files := fstest.MapFS{"metadata/m.yaml": {Data: metadata}, "manifests/a.yaml": {Data: csv}, "manifests/b.yaml": {Data: other}}
		o := Options{Optional: allValidators(t)}
		first, second := run(t, files, o), run(t, files, o)
		must.Equal(t, "two verdicts", second, first)
		if _, err := bundle.Load(files); err != nil && first.Passed && bundle.Inspect(files).Bundle.Annotations[bundle.AnnotationMediaType] == "" {
			t.Errorf("passed, and cannot be loaded: %v", err)
		}
	})
}
