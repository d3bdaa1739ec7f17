package indexignore

import (
	"path"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestIgnored(t *testing.T) {
	tests := map[string]struct {
		rules   map[string]string // directory to text
		ignored []string
		kept    []string
	}{
		"no rules": {kept: []string{"a", "a/b"}},
		"a name matches at any depth, files and directories": {
			rules:   map[string]string{".": "skip"},
			ignored: []string{"skip", "a/skip", "skip/a", "a/skip/b/c"},
			kept:    []string{"skipped", "a/noskip"},
		},
		"a glob does not cross slashes": {
			rules:   map[string]string{".": "a/*.json\n*.md"},
			ignored: []string{"a/b.json", "README.md", "x/y/README.md"},
			kept:    []string{"a/b/c.json", "b.json"},
		},
		"a slash in front anchors": {
			rules:   map[string]string{".": "/skip"},
			ignored: []string{"skip", "skip/a"},
			kept:    []string{"a/skip"},
		},
		"a slash inside anchors": {
			rules:   map[string]string{".": "a/skip"},
			ignored: []string{"a/skip", "a/skip/b"},
			kept:    []string{"b/a/skip"},
		},
		"a slash at the end means directories": {
			rules:   map[string]string{".": "skip/"},
			ignored: []string{"skip/a", "b/skip/c/d"},
			kept:    []string{"skip", "b/skip"},
		},
		"two stars": {
			rules:   map[string]string{".": "**/x\na/**/b\nc/**"},
			ignored: []string{"x", "y/x", "a/b", "a/y/b", "a/y/z/b/w", "c/y", "c/y/z"},
			kept:    []string{"c", "a/y", "z/a/b"},
		},
		"the last match decides": {
			rules:   map[string]string{".": "*.yaml\n!keep.yaml\n/a/keep.yaml"},
			ignored: []string{"x.yaml", "a/keep.yaml"},
			kept:    []string{"keep.yaml", "b/keep.yaml"},
		},
		"everything but catalog files": {
			rules:   map[string]string{".": "# keep only objects\n**/*\n!*.json\n!*.yaml\n**/objects/*.json\n**/objects/*.yaml\n"},
			ignored: []string{"README.md", "p/README", "p/objects/a.json", "objects/b.yaml"},
			kept:    []string{"index.yaml", "p/index.json"},
		},
		"a directory left out can be reached into": {
			rules:   map[string]string{".": "a/\n!a/b.yaml"},
			ignored: []string{"a/c.yaml"},
			kept:    []string{"a/b.yaml"},
		},
		"rules of a directory stay in it": {
			rules:   map[string]string{"p": "/x\ny"},
			ignored: []string{"p/x", "p/y", "p/q/y"},
			kept:    []string{"x", "y", "q/p/y", "p/q/x"},
		},
		"inner rules take precedence": {
			rules:   map[string]string{".": "*.txt", "p": "!*.txt", "p/q": "a.txt"},
			ignored: []string{"a.txt", "p/q/a.txt"},
			kept:    []string{"p/a.txt", "p/q/b.txt"},
		},
		"blank lines, comments, space around": {
			rules:   map[string]string{".": "\n  \n# a\n  b  \r\n"},
			ignored: []string{"b"},
			kept:    []string{"a", "#"},
		},
		"escapes": {
			rules:   map[string]string{".": "\\#a\n\\!b\nc\\*"},
			ignored: []string{"#a", "!b", "c*"},
			kept:    []string{"cd"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var rules Rules
			for _, dir := range []string{".", "p", "p/q"} {
				var bad []Malformed
				if rules, bad = rules.With(dir, test.rules[dir]); bad != nil {
					t.Fatalf("malformed: %v", bad)
				}
			}
			for _, file := range test.ignored {
				if !rules.Ignored(file) {
					t.Errorf("%s is kept", file)
				}
			}
			for _, file := range test.kept {
				if rules.Ignored(file) {
					t.Errorf("%s is ignored", file)
				}
			}
		})
	}
}

func TestWithLeavesTheRulesAsTheyAre(t *testing.T) {
	outer, _ := Rules{}.With(".", "a\nb\nc")
	left, _ := outer.With("p", "x")
	right, _ := outer.With("q", "y")
	if outer.Len() != 3 || !left.Ignored("p/x") || left.Ignored("q/y") || !right.Ignored("q/y") {
		t.Error("rules of one directory reached another")
	}
}

func TestWithReportsMalformedLines(t *testing.T) {
	rules, got := Rules{}.With(".", "a\n[b\n!\n/\n")
	want := []Malformed{{2, "[b"}, {3, "!"}, {4, "/"}}
	must.Equal(t, "malformed lines", got, want)
	if rules.Len() != 1 || !rules.Ignored("a") {
		t.Error("the well-formed line was not kept")
	}
}

// FuzzIgnored checks what must hold for any rules: a pattern without wildcards
// matches its own path, and taking everything back in leaves nothing out.
func FuzzIgnored(f *testing.F) {
	f.Add("**/*\n!*.json\n", "a/b.json")
	f.Add("/a/**/b/\n\\#x\n[a-z]?\n", "a/x/b/c")
	f.Add("**/**/**/**/**/**/x", strings.Repeat("y/", 50)+"x")
	f.Fuzz(func(t *testing.T, text, name string) {
		name = strings.TrimPrefix(path.Clean("/"+name), "/")
		if name == "" {
			t.Skip("not a file")
		}
		rules, _ := Rules{}.With(".", text)
		rules.Ignored(name)
		if all, _ := rules.With(".", "!**"); all.Ignored(name) {
			t.Errorf("%q is ignored although everything is taken back in", name)
		}
		if strings.ContainsAny(name, "*?[\\\n\r!#") || strings.TrimSpace(name) != name {
			return
		}
		if own, _ := rules.With(".", "/"+name); !own.Ignored(name) || !own.Ignored(name+"/below") {
			t.Errorf("%q is not ignored by its own path", name)
		}
	})
}
