package validate

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// edit replaces a text in a file of the base bundle. Without old text the file is added, without both it is removed.
type edit struct{ file, old, new string }

// The files that most rows change.
const (
	annotationsFile = "metadata/annotations.yaml"
	csvFile         = "manifests/csv.yaml"
	crdFile         = "manifests/things.crd.yaml"
)

// registry knows the platforms of images.
type registry map[string][]Platform

func (r registry) Platforms(_ context.Context, image string) ([]Platform, error) {
	if platforms, ok := r[image]; ok {
		return platforms, nil
	}
	return nil, errors.New("not found")
}

func baseFiles(t testing.TB) fstest.MapFS {
	t.Helper()
	archive := must.Value(txtar.ParseFile("testdata/base.txtar"))(t)
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return files
}

func edited(t testing.TB, edits []edit) fstest.MapFS {
	t.Helper()
	files := baseFiles(t)
	for _, e := range edits {
		switch {
		case e.old != "":
			text := string(files[e.file].Data)
			if !strings.Contains(text, e.old) {
				t.Fatalf("%s does not contain %q", e.file, e.old)
			}
			files[e.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, e.old, e.new, 1))}
		case e.new != "":
			files[e.file] = &fstest.MapFile{Data: []byte(e.new)}
		default:
			delete(files, e.file)
		}
	}
	return files
}

// allValidators are the optional ones that can be satisfied at once.
func allValidators(t testing.TB) []Validator {
	t.Helper()
	optional := slices.DeleteFunc(Validators(), func(v Validator) bool { return !v.Optional || v.Name == "operatorhub/v1" })
	return optional
}

func run(t testing.TB, files fstest.MapFS, o Options) Report {
	t.Helper()
	if o.Platforms == nil {
		o.Platforms = registry{"example.com/op:1": {{"linux", "amd64"}, {"unknown", "unknown"}}}
	}
	return must.Value(Run(t.Context(), bundle.Inspect(files), o))(t)
}

func TestBaseIsClean(t *testing.T) {
	report := run(t, baseFiles(t), Options{Optional: allValidators(t), KubeVersion: "1.30"})
	if !report.Passed || len(report.Findings) != 0 || report.Bundle != "op.v1.0.0" {
		t.Errorf("%+v", report)
	}
}

type row struct {
	edits   []edit
	options func(*Options)
	want    []string // severity validator/rule file:line, then what the message has to say
}

// broken is a row with one edit.
func broken(file, old, with string, want ...string) row {
	return row{edits: []edit{{file, old, with}}, want: want}
}

// TestRules breaks one thing at a time and expects exactly the findings for it, each in its line.
func TestRules(t *testing.T) {
	for name, tc := range ruleRows() {
		t.Run(name, func(t *testing.T) {
			// The optional ones that the row is about, so that one broken thing is not found twice.
			var out []Validator
			for _, v := range Validators() {
				about := slices.ContainsFunc(tc.want, func(w string) bool { return strings.Contains(w, " "+v.Name+"/") })
				if v.Optional && about {
					out = append(out, v)
				}
			}
			o := Options{Optional: out}
			if tc.options != nil {
				tc.options(&o)
			}
			report := run(t, edited(t, tc.edits), o)
			var got []string
			for _, f := range report.Findings {
				if f.Message == "" || f.Type == "" || f.Fix == "" {
					t.Errorf("finding without message, type or remedy: %+v", f)
				}
				got = append(got, fmt.Sprintf("%s %s/%s %s:%d", f.Severity, f.Validator, f.Rule, f.File, f.Line))
			}
			must.Equal(t, "result", got, tc.want)
			failed := slices.ContainsFunc(tc.want, func(w string) bool { return strings.HasPrefix(w, "Error") })
			if report.Passed == failed {
				t.Errorf("passed is %t", report.Passed)
			}
		})
	}
}

// TestEveryRuleHasARow finds rules that no row breaks.
func TestEveryRuleHasARow(t *testing.T) {
	broken := map[string]bool{}
	for _, tc := range ruleRows() {
		for _, w := range tc.want {
			place := strings.Fields(w)[1]
			broken[place[strings.LastIndex(place, "/")+1:]] = true
		}
	}
	rules := append(constants(t, "rules.go"), constants(t, "../finding.go")...)
	if len(rules) < 80 {
		t.Errorf("only %d rules found", len(rules))
	}
	// Those are not reported as such: the validator format checks the same more thoroughly.
	covered := []string{string(bundle.RulePackage), string(bundle.RuleChannels)}
	covered = append(covered, string(RuleSize), string(RuleMore)) // they have tests of their own
	for _, rule := range rules {
		if !broken[rule] && !slices.Contains(covered, rule) {
			t.Errorf("no row breaks the rule %s", rule)
		}
	}
}

// constants are the values of the constants in a file whose names begin with Rule.
func constants(t *testing.T, file string) []string {
	t.Helper()
	parsed := must.Value(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
	var out []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Rule") || len(spec.Values) != 1 {
			return true
		}
		value := spec.Values[0]
		if call, ok := value.(*ast.CallExpr); ok {
			value = call.Args[0]
		}
		if literal, ok := value.(*ast.BasicLit); ok {
			text := must.Value(strconv.Unquote(literal.Value))(t)
			out = append(out, text)
		}
		return true
	})
	return out
}

// images is the option that makes platforms of images known: the image, then its platforms.
func images(pairs ...string) func(*Options) {
	known := registry{}
	for i := 0; i+1 < len(pairs); i += 2 {
		for _, text := range strings.Fields(pairs[i+1]) {
			os, architecture, _ := strings.Cut(text, "/")
			known[pairs[i]] = append(known[pairs[i]], Platform{os, architecture})
		}
	}
	return func(o *Options) { o.Platforms = known }
}

func mustSelect(names ...string) []Validator {
	validators, err := Select(names...)
	if err != nil {
		panic(err)
	}
	return validators
}
