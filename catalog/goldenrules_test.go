package catalog

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// beyondArchives are the rules that need more than an archive can hold, with
// the test that shows them in both directions.
var beyondArchives = map[Rule]string{
	RuleFileUnreadable: "TestLoadReportsUnreadableFiles",
	RuleLimit:          "TestLoadLimits",
	RuleMoreProblems:   "TestLoadLimits",
}

// TestEveryRuleInBothDirections demands of each rule archives that break it,
// named broken-…, and near ones that are sound, named sound-…, all of them in a
// folder of its name.
func TestEveryRuleInBothDirections(t *testing.T) {
	folders := map[string]bool{}
	// Read the rules out of their source, so that none can be forgotten.
	source := must.Value(os.ReadFile("rules.go"))(t)
	var rules []Rule
	for _, m := range regexp.MustCompile(`Rule += "([a-z-]+)"|Rule = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		rules = append(rules, Rule(m[1]+m[2]))
	}
	if len(rules) < 40 {
		t.Fatalf("only %d rules were found in rules.go", len(rules))
	}
	for _, rule := range rules {
		folders[string(rule)] = true
		if beyondArchives[rule] != "" {
			continue
		}
		broken, sound := 0, 0
		// The expected outcomes of the archives in a folder.
		dir := filepath.Join("testdata/rules", string(rule))
		names := must.Value(filepath.Glob(filepath.Join(dir, "*.txtar")))(t)
		all := map[string]string{}
		for _, name := range names {
			archive := must.Value(txtar.ParseFile(name))(t)
			for _, f := range archive.Files {
				if f.Name == expected {
					all[filepath.Base(name)] = string(f.Data)
				}
			}
		}
		for name, want := range all {
			fires := strings.Contains(want, "["+string(rule)+"]")
			switch {
			case strings.HasPrefix(name, "broken-"):
				if broken++; !fires {
					t.Errorf("%s/%s does not break the rule", rule, name)
				}
			case strings.HasPrefix(name, "sound-"):
				if sound++; fires || regexp.MustCompile(`(?m)^(\S+: )?error: `).MatchString(want) {
					t.Errorf("%s/%s is not sound:\n%s", rule, name, want)
				}
			default:
				t.Errorf("%s/%s is neither broken-… nor sound-…", rule, name)
			}
		}
		if broken == 0 || sound == 0 {
			t.Errorf("rule %s has %d archives that break it and %d sound ones; it needs both", rule, broken, sound)
		}
	}
	entries := must.Value(os.ReadDir("testdata/rules"))(t)
	for _, entry := range entries {
		if !folders[entry.Name()] {
			t.Errorf("testdata/rules/%s is of no rule", entry.Name())
		}
	}
	if n := len(archives(t)); n < 200 {
		t.Errorf("there are %d archives, want at least 200", n)
	}
}

// differences is the page that lists where verdicts differ from those of opm.
const differences = "../docs/catalog-differences.md"

// TestDifferencesAreListed holds the page against the archives: a catalog whose
// verdict differs says so in a line "Differs: <name>" of its comment, the page
// has a row of that name, and every row has an archive.
func TestDifferencesAreListed(t *testing.T) {
	page := must.Value(os.ReadFile(differences))(t)
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, m[1])
	}
	var shown []string
	for _, name := range archives(t) {
		archive := must.Value(txtar.ParseFile(name))(t)
		for line := range strings.Lines(string(archive.Comment)) {
			if difference, ok := strings.CutPrefix(line, "Differs: "); ok {
				shown = append(shown, strings.TrimSpace(difference))
			}
		}
	}
	for _, list := range []*[]string{&listed, &shown} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if diff := cmp.Diff(listed, shown); diff != "" {
		t.Errorf("differences (-listed in %s +shown by an archive):\n%s", differences, diff)
	}
}
