package graph

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// archive is a small catalog, and what is expected of it.
type archive struct {
	*txtar.Archive
	name  string
	files map[string]string
}

func archives(t *testing.T, pattern string) []archive {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives %s (%v)", pattern, err)
	}
	var all []archive
	for _, name := range names {
		parsed := must.Value(txtar.ParseFile(name))(t)
		a := archive{Archive: parsed, name: name, files: map[string]string{}}
		for _, f := range parsed.Files {
			a.files[f.Name] = string(f.Data)
		}
		all = append(all, a)
	}
	return all
}

func (a archive) catalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(context.Background(), fstest.MapFS{"catalog.yaml": {Data: []byte(a.files["catalog.yaml"])}}, catalog.LoadOptions{})
	var invalid *catalog.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	return c
}

// expect compares a file of the archive with what was made, or rewrites it.
func (a archive) expect(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		for i := range a.Files {
			if a.Files[i].Name == file {
				a.Files[i].Data = []byte(got)
			}
		}
		must.NoError(t, os.WriteFile(a.name, txtar.Format(a.Archive), 0o644))
		return
	}
	must.Equal(t, string(a.Comment)+file, got, a.files[file])
}

func stem(name string) string { return strings.TrimSuffix(filepath.Base(name), ".txtar") }

func TestCheck(t *testing.T) {
	for _, a := range archives(t, "testdata/check/*.txtar") {
		t.Run(stem(a.name), func(t *testing.T) {
			opts := Options{}
			for line := range strings.Lines(a.files["installed"]) {
				in := must.Value(ParseInstalled(strings.TrimSpace(line)))(t)
				opts.Installed = append(opts.Installed, in)
			}
			var got strings.Builder
			for _, f := range Check(a.catalog(t), opts) {
				fmt.Fprintln(&got, f)
			}
			a.expect(t, "expected", got.String())
		})
	}
}

// TestCheckCoversEveryRule demands for each rule an archive named after it that
// breaks it, and one that nearly does.
func TestCheckCoversEveryRule(t *testing.T) {
	rules := []catalog.Rule{
		catalog.RuleChannelHead, catalog.RuleChannelCycle, catalog.RuleChannelStranded, catalog.RuleChannelDuplicate, catalog.RuleChannelEmpty,
		catalog.RuleEntryName, catalog.RuleEntryDuplicate, catalog.RuleEntryWithoutBundle, catalog.RuleEntrySkipRange, catalog.RuleBundleVersion,
	}
	rules = append(rules, declaredRules(t)...)
	if len(rules) < 25 {
		t.Fatalf("only %d rules were found", len(rules))
	}
	expected := map[string]string{}
	for _, a := range archives(t, "testdata/check/*.txtar") {
		expected[stem(a.name)] = a.files["expected"]
	}
	for _, rule := range rules {
		marked := "[" + string(rule) + ","
		if found := expected[string(rule)]; !strings.Contains(found, marked) {
			t.Errorf("%s.txtar does not break the rule: %s", rule, found)
		}
		if found, ok := expected[string(rule)+"-not"]; !ok || strings.Contains(found, marked) {
			t.Errorf("%s-not.txtar breaks the rule or is missing: %s", rule, found)
		}
	}
}

// declaredRules are the constants of finding.go of type catalog.Rule.
func declaredRules(t *testing.T) []catalog.Rule {
	t.Helper()
	file := must.Value(parser.ParseFile(token.NewFileSet(), "finding.go", nil, 0))(t)
	var rules []catalog.Rule
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, "Rule") {
			if value, ok := spec.Values[0].(*ast.BasicLit); ok {
				text := must.Value(strconv.Unquote(value.Value))(t)
				rules = append(rules, catalog.Rule(text))
			}
		}
		return true
	})
	return rules
}
