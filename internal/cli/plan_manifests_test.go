package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"
)

// greeter is an example bundle, and its image in a registry of the test.
func greeter(t *testing.T) (content fs.FS, b *bundle.Bundle, ref string) {
	t.Helper()
	content, err := fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if b, err = bundle.Load(content); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	ref = strings.TrimPrefix(server.URL, "http://") + "/greeter:v1"
	must.Value(image.Push(t.Context(), ref, content, nil, image.PushOptions{}))(t)
	return content, b, ref
}

// referringPlan has all manifests of a bundle by reference but the first, and a pull secret.
func referringPlan(t *testing.T, b *bundle.Bundle, path string) *v1alpha1.InstallPlan {
	t.Helper()
	lookup := v1alpha1.BundleLookup{Identifier: b.Name, Path: path, Replaces: "greeter-operator.v0.9.0",
		Properties: `{"properties":[{"type":"olm.package","value":{"packageName":"greeter-operator","version":"1.0.0"}}]}`}
	p := &v1alpha1.InstallPlan{}
	p.APIVersion, p.Kind, p.Namespace, p.Name = v1alpha1.GroupVersion.String(), v1alpha1.InstallPlanKind, "ops", "mine"
	p.Status.BundleLookups = []v1alpha1.BundleLookup{lookup}
	p.Status.Plan = []*v1alpha1.Step{{Resource: v1alpha1.StepResource{Kind: "Secret", Name: "pull", Version: "v1"}}}
	steps := must.Value(bundleio.Steps(b, p.Namespace, lookup))(t)
	for i, s := range steps {
		manifest := must.Value(json.Marshal(s.Object))(t)
		text := string(manifest)
		if i > 0 {
			text = fmt.Sprintf(`{"kind":"ContentReference","digest":%q,"size":%d}`, bundleio.Digest(manifest), len(manifest))
		}
		p.Status.Plan = append(p.Status.Plan, &v1alpha1.Step{Resolving: b.Name, Resource: v1alpha1.StepResource{Kind: s.Kind, Name: s.Object.GetName(), Manifest: text}})
	}
	return p
}

func TestPlanShowManifests(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	content, b, ref := greeter(t)
	same, changed := filepath.Join(t.TempDir(), "same"), filepath.Join(t.TempDir(), "changed")
	for _, dir := range []string{same, changed} {
		must.NoError(t, os.CopyFS(dir, content))
	}
	changeScope(t, changed)
	foreign := referringPlan(t, b, ref)
	for _, s := range foreign.Status.Plan[1:] {
		s.Resource.Manifest = `{"kind":"ConfigMap","name":"4f53","namespace":"olm","catalogSourceName":"c","catalogSourceNamespace":"olm"}`
	}
	renamed := referringPlan(t, b, ref)
	renamed.Status.Plan[2].Resource.Name = "other"
	tests := map[string]struct {
		plan  *v1alpha1.InstallPlan
		flags []string
		code  int
		errs  string
	}{
		"from its image":              {referringPlan(t, b, ref), nil, 0, ""},
		"from a directory":            {referringPlan(t, b, "127.0.0.1:1/none@sha256:"+strings.Repeat("0", 64)), []string{"--bundle", same}, 0, ""},
		"that only a catalog has":     {referringPlan(t, b, ""), nil, command.ExitFailed, "the InstallPlan names no image of bundle greeter-operator.v1.0.0: name its directory or image by --bundle"},
		"of a registry that is gone":  {referringPlan(t, b, "127.0.0.1:1/none:v1"), nil, command.ExitFailed, "without that registry, name a directory or another image of it by --bundle"},
		"of a directory, not of ours": {referringPlan(t, b, same), nil, command.ExitFailed, "read bundle greeter-operator.v1.0.0"},
		"from another bundle":         {referringPlan(t, b, ref), []string{"--bundle", changed}, command.ExitFailed, "is not the one that the InstallPlan was made for: its manifest has digest sha256:"},
		"of another implementation":   {foreign, nil, 0, ""},
		"that the bundle has not":     {renamed, nil, command.ExitFailed, "other: bundle greeter-operator.v1.0.0 is not the one that the InstallPlan was made for: it does not hold this object"},
		"from nowhere":                {referringPlan(t, b, ref), []string{"--bundle", "./nowhere"}, command.ExitFailed, "there is no file or directory of that name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := must.Value(json.Marshal(tc.plan))(t)
			show := func(more ...string) (string, string) {
				var out, errs bytes.Buffer
				args := append([]string{"plan", "show", "mine", "-f", "-", "--manifests"}, append(tc.flags, more...)...)
				if code := Run(t.Context(), args, bytes.NewReader(text), &out, &errs); code != tc.code {
					t.Fatalf("exit code %d, want %d: %s", code, tc.code, errs.String())
				}
				return out.String(), errs.String()
			}
			out, errs := show()
			contains(t, errs, tc.errs)
			if tc.code != 0 {
				return
			}
			contains(t, out, "# step 0 of InstallPlan ops/mine, for no operator: Secret pull Unknown\n# copied from the namespace of the manager")
			out, _ = show("-o", "json")
			// Compare the objects that are shown with those of the bundle.
			var view preview.PlanView
			must.NoError(t, json.Unmarshal([]byte(out), &view))
			want := must.Value(bundleio.Steps(b, "ops", referringPlan(t, b, "").Status.BundleLookups[0]))(t)
			shown := view.Operators[1].Steps
			if len(shown) != len(want) || len(want) < 4 {
				t.Fatalf("%d objects are shown, want %d", len(shown), len(want))
			}
			for i, s := range shown {
				got, err1 := json.Marshal(s.Object)
				whole, err2 := json.Marshal(want[i].Object)
				if err1 != nil || err2 != nil || string(got) != string(whole) {
					t.Errorf("%s %s is shown as %.200s", s.Kind, s.Name, got)
				}
			}
		})
	}
}

// changeScope makes the CRDs of a bundle others, as a tag that was pushed again might.
func changeScope(t *testing.T, dir string) {
	t.Helper()
	files := must.Value(filepath.Glob(filepath.Join(dir, "manifests", "*")))(t)
	changed := false
	for _, file := range files {
		text := must.Value(os.ReadFile(file))(t)
		other := strings.ReplaceAll(string(text), "Namespaced", "Cluster")
		changed = changed || other != string(text)
		must.NoError(t, os.WriteFile(file, []byte(other), 0o600))
	}
	if !changed {
		t.Fatal("nothing in the bundle to change")
	}
}

func TestPlanShowBundleNeedsManifests(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Run(t.Context(), []string{"plan", "show", "mine", "-f", "-", "--bundle", "x"}, strings.NewReader(planList), &out, &errs); code != command.ExitUsage {
		t.Errorf("exit code %d", code)
	}
	contains(t, errs.String(), "it needs --manifests")
}
