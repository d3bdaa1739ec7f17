package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestProblemString(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := map[string]struct {
		problem Problem
		want    string
	}{
		"everything": {
			Problem{Error, RuleChannelHead, Object{SchemaChannel, "p", "c"}, Position{"a/b.yaml", 7}, "no head", "add one"},
			`a/b.yaml:7: error: channel "c" of package "p": no head [channel-head]; add one`,
		},
		"of a file": {
			Problem{Warning, RuleFileNotCatalog, Object{}, Position{File: "README"}, "passed over", ""},
			`README: warning: passed over [file-not-catalog]`,
		},
		"of a file whose name would write to the terminal": {
			Problem{Warning, RuleFileNotCatalog, Object{}, Position{"a\x1b[31m\u202e.yaml", 7}, "passed over", ""},
			`"a\x1b[31m\u202e.yaml":7: warning: passed over [file-not-catalog]`,
		},
		"made in memory": {
			Problem{Error, RuleBundleName, Object{SchemaBundle, "p", ""}, Position{}, "no name", ""},
			`error: bundle of package "p": no name [bundle-name]`,
		},
		"package": {
			Problem{Error, RulePackageEmpty, Object{SchemaPackage, "", "p"}, Position{}, "empty", ""},
			`error: package "p": empty [package-empty]`,
		},
		"long names": {
			Problem{Error, RuleSyntax, Object{long, long, long}, Position{}, "x", ""},
			fmt.Sprintf(`error: object of schema "%[1]s..." "%[1]s..." of package "%[1]s...": x [syntax]`, long[:100]),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.problem.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestProblemsErr(t *testing.T) {
	warning := Problem{Severity: Warning, Message: "w"}
	problem := Problem{Severity: Error, Rule: RuleSyntax, Message: "e"}
	more := Problem{Severity: Error, Rule: RuleMoreProblems, Message: "7 more"}
	tests := map[string]struct {
		problems Problems
		want     string // empty when there is no error
	}{
		"none":          {nil, ""},
		"only warnings": {Problems{warning, warning}, ""},
		"one":           {Problems{warning, problem}, "error: e [syntax]"},
		"two":           {Problems{problem, problem}, "2 problems:\nerror: e [syntax]\nerror: e [syntax]"},
		"and more":      {Problems{problem, problem, more}, "2 problems:\nerror: e [syntax]\nerror: e [syntax]\n7 more"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.problems.Err()
			if test.want == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			var invalid *InvalidError
			if !errors.As(err, &invalid) || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
	var many Problems
	for range listed + 5 {
		many = append(many, problem)
	}
	if text := many.Err().Error(); strings.Count(text, "\n") != listed+1 || !strings.HasSuffix(text, "\nand 5 more") {
		t.Errorf("the error lists too much or too little:\n%s", text)
	}
}
